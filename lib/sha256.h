/* SPDX-License-Identifier: MIT */
/* SHA-256 (FIPS 180-4): what a signature of a pack can rest on. All else is
 * found and checked by XXH3, which is many times faster. */
#ifndef JG_SHA256_H
#define JG_SHA256_H

#include <stddef.h>

enum { JG_SHA256_SIZE = 32 };

void jg_sha256(const void *bytes, size_t size,
               unsigned char digest[JG_SHA256_SIZE]);

/* As sha256sum(1) prints it, and a NUL. */
void jg_sha256_text(const unsigned char digest[JG_SHA256_SIZE],
                    char hex[2 * JG_SHA256_SIZE + 1]);

#endif
