/* SPDX-License-Identifier: MIT */
/* Names and numbers of sections are those of FIPS 180-4. */
#include "sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 64 }; /* bytes */

/* 4.2.2: fractions of the cube roots of the first 64 primes. */
static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* n from 1 to 31 */
static uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* 6.2.2, steps 1 to 4 */
static void add_block(uint32_t hash[8], const unsigned char block[BLOCK])
{
    uint32_t w[64], v[8];

    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 |
               (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        uint32_t a = w[t - 15], b = w[t - 2];

        w[t] = (rotr(b, 17) ^ rotr(b, 19) ^ b >> 10) + w[t - 7] +
               (rotr(a, 7) ^ rotr(a, 18) ^ a >> 3) + w[t - 16];
    }
    memcpy(v, hash, sizeof v);
    for (unsigned t = 0; t < 64; t++) {
        /* The working variables stay where they are; their names move on. */
        uint32_t a = v[(0 - t) & 7], b = v[(1 - t) & 7], c = v[(2 - t) & 7];
        uint32_t e = v[(4 - t) & 7], f = v[(5 - t) & 7], g = v[(6 - t) & 7];
        uint32_t *d = &v[(3 - t) & 7], *h = &v[(7 - t) & 7];

        *h += (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) +
              k[t] + w[t];
        *d += *h;
        *h += (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) +
              ((a & b) ^ (a & c) ^ (b & c));
    }
    for (int i = 0; i < 8; i++)
        hash[i] += v[i];
}

void jg_sha256(const void *bytes, size_t size,
               unsigned char digest[JG_SHA256_SIZE])
{
    /* 5.3.3 */
    uint32_t hash[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const unsigned char *at = bytes;
    unsigned char last[2 * BLOCK] = {0}; /* padded as in 5.1.1 */
    size_t left = size, padded;

    for (; left >= BLOCK; left -= BLOCK, at += BLOCK)
        add_block(hash, at);
    if (left)
        memcpy(last, at, left);
    last[left] = 0x80;
    padded = left < BLOCK - 8 ? BLOCK : 2 * BLOCK;
    for (int i = 0; i < 8; i++)
        last[padded - 1 - (size_t)i] =
            (unsigned char)((uint64_t)size << 3 >> (8 * i));
    for (size_t i = 0; i < padded; i += BLOCK)
        add_block(hash, last + i);
    for (int i = 0; i < JG_SHA256_SIZE; i++)
        digest[i] = (unsigned char)(hash[i / 4] >> (24 - 8 * (i % 4)));
}

void jg_sha256_text(const unsigned char digest[JG_SHA256_SIZE],
                    char hex[2 * JG_SHA256_SIZE + 1])
{
    for (int i = 0; i < JG_SHA256_SIZE; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned)digest[i]);
}
