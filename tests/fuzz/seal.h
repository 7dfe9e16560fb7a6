/* SPDX-License-Identifier: MIT */
/* Makes the checksum of an entry's file form right, whatever is in it. */
#ifndef SEAL_H
#define SEAL_H

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static inline void seal_entry(unsigned char *bytes, size_t size)
{
    XXH128_canonical_t sum;

    if (size < sizeof sum)
        return;
    size -= sizeof sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(bytes, size));
    memcpy(bytes + size, &sum, sizeof sum);
}

#endif
