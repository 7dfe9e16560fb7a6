/* SPDX-License-Identifier: MIT */
/* A tensor map as the emulated device has it: 128 opaque bytes for everybody
 * else. Only the two functions below know what is in them. C and C++. */
#ifndef EMU_TENSOR_MAP_H
#define EMU_TENSOR_MAP_H

#include <stdint.h>
#include <string.h>

enum { EMU_TENSOR_MAP_BYTES = 128, EMU_TENSOR_RANKS = 5 };

struct emu_tensor_map {
    uint64_t address;
    uint64_t extent[EMU_TENSOR_RANKS];     /* elements; 0 runs along memory */
    uint64_t stride[EMU_TENSOR_RANKS - 1]; /* bytes, of dimensions 1 and up */
    uint32_t box[EMU_TENSOR_RANKS];        /* elements */
    uint32_t rank;
    uint32_t element_bytes;
    uint32_t swizzle; /* bytes of its span: 0, 32, 64 or 128 */
};

#define EMU_TENSOR_MAP_MAGIC 0x70616d726f736e65u

/* The rules of cuTensorMapEncodeTiled for tiles without interleave and with
 * element strides of 1. NULL, or which rule is broken. */
static inline const char *emu_tensor_map_check(const struct emu_tensor_map *t)
{
    uint32_t i;

    if (t->rank < 1 || t->rank > EMU_TENSOR_RANKS)
        return "rank is not 1 to 5";
    if (t->element_bytes != 1 && t->element_bytes != 2 &&
        t->element_bytes != 4 && t->element_bytes != 8)
        return "elements are not of 1, 2, 4 or 8 bytes";
    if (!t->address || t->address % 16)
        return "the address is not a multiple of 16";
    if (t->swizzle != 0 && t->swizzle != 32 && t->swizzle != 64 &&
        t->swizzle != 128)
        return "the swizzle is not of 0, 32, 64 or 128 bytes";
    for (i = 0; i < t->rank; i++) {
        if (!t->extent[i] || t->extent[i] > (uint64_t)1 << 32)
            return "an extent is not 1 to 2^32";
        if (!t->box[i] || t->box[i] > 256)
            return "a side of the box is not 1 to 256";
        if (i > 0 && (t->stride[i - 1] % 16 || !t->stride[i - 1] ||
                      t->stride[i - 1] >= (uint64_t)1 << 40))
            return "a stride is not a multiple of 16 below 2^40";
    }
    if (t->box[0] * t->element_bytes % 16)
        return "a row of the box is not a multiple of 16 bytes";
    /* An H200 keeps narrower rows that far apart; no kernel has them. */
    if (t->swizzle && t->box[0] * t->element_bytes != t->swizzle)
        return "a row of the box is not as wide as the swizzle";
    return NULL;
}

/* Encodes a map that passes the check. */
static inline void emu_tensor_map_encode(const struct emu_tensor_map *t,
                                         void *map)
{
    uint64_t magic = EMU_TENSOR_MAP_MAGIC;
    unsigned char *to = (unsigned char *)map;
    uint32_t i;

    memset(to, 0, EMU_TENSOR_MAP_BYTES);
    memcpy(to, &magic, 8);
    memcpy(to + 8, &t->address, 8);
    for (i = 0; i < t->rank; i++) {
        uint32_t last = (uint32_t)(t->extent[i] - 1);

        memcpy(to + 16 + 4 * i, &last, 4);
        memcpy(to + 36 + 4 * i, &t->box[i], 4);
        if (i > 0)
            memcpy(to + 56 + 8 * (i - 1), &t->stride[i - 1], 8);
    }
    to[88] = (unsigned char)t->rank;
    to[89] = (unsigned char)t->element_bytes;
    to[90] = (unsigned char)t->swizzle;
}

/* 0, or -1 if the bytes are no map. */
static inline int emu_tensor_map_decode(const void *map,
                                        struct emu_tensor_map *t)
{
    const unsigned char *from = (const unsigned char *)map;
    uint64_t magic;
    uint32_t i;

    memset(t, 0, sizeof *t);
    memcpy(&magic, from, 8);
    if (magic != EMU_TENSOR_MAP_MAGIC)
        return -1;
    memcpy(&t->address, from + 8, 8);
    t->rank = from[88];
    t->element_bytes = from[89];
    t->swizzle = from[90];
    if (t->rank < 1 || t->rank > EMU_TENSOR_RANKS)
        return -1;
    for (i = 0; i < t->rank; i++) {
        uint32_t last;

        memcpy(&last, from + 16 + 4 * i, 4);
        t->extent[i] = (uint64_t)last + 1;
        memcpy(&t->box[i], from + 36 + 4 * i, 4);
        if (i > 0)
            memcpy(&t->stride[i - 1], from + 56 + 8 * (i - 1), 8);
    }
    return emu_tensor_map_check(t) ? -1 : 0;
}

#endif
