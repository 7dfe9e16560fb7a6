/* SPDX-License-Identifier: MIT */
/* A key and an entry to test with. The cubin is an ELF header as NVRTC 13.0
 * writes it for sm_90a, and 16 bytes. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <string.h>

#include "entry.h"
#include "key.h"

static const struct jg_key_fields sample_fields = {
    .kernel = "gemm/sm90.cu",
    .spec = "constexpr int block_m = 128;\n",
    .sources = "00112233445566778899aabbccddeeff",
    .options = "--std=c++17\n",
    .arch = "sm_90a",
    .output = "cubin",
    .nvrtc = "13.0",
    .nvrtc_id = "0123abcd",
    .builtins_id = "4567cdef",
};

static unsigned char sample_cubin[80] = {
    [0] = 0x7f, 'E', 'L', 'F', 2, 1, 1, 0x41, 8,
    [16] = 2, 0, 190, 0, 1,
    [48] = 0x04, 90, 0x00, 0x06,
    [64] = 'a', 'b', 'c',
};

#define SPAN(string) {(string), sizeof(string) - 1}

static inline struct jg_entry sample_entry(const struct jg_key *key)
{
    struct jg_entry entry = {
        .key = {key->blob.data, key->blob.size},
        .cubin = {sample_cubin, sizeof sample_cubin},
        .symbol = SPAN("gemm"),
        .arch = SPAN("sm_90a"),
        .compiler = SPAN("NVRTC 13.0"),
        .library = SPAN("0.1.0"),
        .host = SPAN("somewhere"),
        .log = SPAN(""),
        .sm = 90,
        .registers = 168,
        .spill_bytes = 8,
        .shared_bytes = 232448,
        .compile_ms = 123.5,
        .created = -2,
    };

    return entry;
}

static inline int same_span(struct jg_span a, struct jg_span b)
{
    return a.size == b.size && (!a.size || !memcmp(a.data, b.data, a.size));
}

static inline int same_entry(const struct jg_entry *a,
                             const struct jg_entry *b)
{
    return same_span(a->key, b->key) && same_span(a->cubin, b->cubin) &&
           same_span(a->symbol, b->symbol) && same_span(a->arch, b->arch) &&
           same_span(a->compiler, b->compiler) &&
           same_span(a->library, b->library) && same_span(a->host, b->host) &&
           same_span(a->log, b->log) && a->sm == b->sm &&
           a->registers == b->registers && a->spill_bytes == b->spill_bytes &&
           a->shared_bytes == b->shared_bytes && a->created == b->created &&
           !memcmp(&a->compile_ms, &b->compile_ms, sizeof a->compile_ms);
}

#endif
