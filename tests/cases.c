/* SPDX-License-Identifier: MIT */
/* The table of shapes. */
#include "cases.h"

#include <string.h>

#define X2(v)  v, v
#define X4(v)  X2(v), X2(v)
#define X8(v)  X4(v), X4(v)
#define X16(v) X8(v), X8(v)
#define X32(v) X16(v), X16(v)
#define X64(v) X32(v), X32(v)

/* clang-format off */
const struct gemm_case cases[] = {
    {"public_1", CASE_TEST, 2, {96, 128}, {128, 256}, {256, 512}},
    {"public_2", CASE_TEST, 2, {256, 72}, {512, 384}, {X2(256)}},
    {"public_3", CASE_TEST, 2, {X2(128)}, {128, 256}, {512, 256}},
    {"public_4", CASE_TEST, 3,
     {80, 128, 256}, {384, 256, 128}, {256, 512, 256}},
    {"public_5", CASE_TEST, 3,
     {64, 72, 96}, {128, 384, 512}, {512, 512, 256}},
    {"public_6", CASE_TEST, 3,
     {64, 256, 128}, {768, 128, 256}, {512, 256, 512}},
    {"public_7", CASE_TEST, 3,
     {128, 128, 64}, {256, 512, 512}, {768, 256, 768}},
    {"public_8", CASE_TEST, 4,
     {X4(128)}, {X4(128)}, {512, 256, 512, 256}},
    {"public_9", CASE_TEST, 4,
     {40, 56, 384, 512}, {512, 384, 256, 128}, {X4(256)}},
    {"public_10", CASE_TEST, 4,
     {512, 384, 256, 128}, {X4(256)}, {512, 768, 512, 768}},

    {"gm1", CASE_BENCH, 8,
     {80, 176, 128, 72, 64, 248, 96, 160}, {X8(4096)}, {X8(7168)}},
    {"gm2", CASE_BENCH, 8,
     {40, 76, 168, 72, 164, 148, 196, 160}, {X8(7168)}, {X8(2048)}},
    {"gm3", CASE_BENCH, 2, {192, 320}, {X2(3072)}, {X2(4096)}},
    {"gm4", CASE_BENCH, 2, {128, 384}, {X2(4096)}, {X2(1536)}},

    {"decode", CASE_LAYER, 32, {X32(8)}, {X32(4096)}, {X32(7168)}},
    {"decode_1", CASE_LAYER, 32, {X32(1)}, {X32(4096)}, {X32(7168)}},
    {"decode_16", CASE_LAYER, 32, {X32(16)}, {X32(4096)}, {X32(7168)}},
    {"decode_32", CASE_LAYER, 32, {X32(32)}, {X32(4096)}, {X32(7168)}},
    /* 588 r^4 / 63^4, cut to whole tokens, where r = (37 i + 11) mod 64 is
     * the group's rank; then as many tokens spread evenly. */
    {"uneven", CASE_LAYER, 64,
     {0, 198, 7, 422, 34, 0, 105, 1, 252, 12, 516, 49, 0, 139, 3, 317,
      19, 0, 69, 0, 182, 5, 394, 30, 0, 95, 1, 233, 10, 483, 44, 0,
      127, 2, 294, 17, 588, 62, 0, 167, 4, 367, 26, 0, 86, 0, 215, 8,
      452, 39, 0, 116, 1, 272, 14, 551, 56, 0, 153, 3, 341, 22, 0, 77},
     {X64(2048)}, {X64(7168)}},
    {"even", CASE_LAYER, 64, {X64(120)}, {X64(2048)}, {X64(7168)}},
    {"prefill_up", CASE_LAYER, 16, {X16(512)}, {X16(4096)}, {X16(7168)}},
    {"prefill_down", CASE_LAYER, 16, {X16(512)}, {X16(7168)}, {X16(2048)}},
    {"dense_8192", CASE_LAYER, 1, {8192}, {8192}, {8192}},
    {"dense_4096", CASE_LAYER, 1, {4096}, {4096}, {4096}},
    {"small_1x2048", CASE_LAYER, 1, {1}, {2048}, {2048}},
    {"small_4x2048", CASE_LAYER, 1, {4}, {2048}, {2048}},
    {"small_16x2048", CASE_LAYER, 1, {16}, {2048}, {2048}},
    {"small_1x4096", CASE_LAYER, 1, {1}, {4096}, {4096}},
    {"small_4x4096", CASE_LAYER, 1, {4}, {4096}, {4096}},
    {"small_16x4096", CASE_LAYER, 1, {16}, {4096}, {4096}},
    {"small_1x8192", CASE_LAYER, 1, {1}, {8192}, {8192}},
    {"small_4x8192", CASE_LAYER, 1, {4}, {8192}, {8192}},
    {"small_16x8192", CASE_LAYER, 1, {16}, {8192}, {8192}},
};
/* clang-format on */

const size_t cases_count = sizeof cases / sizeof *cases;

const struct gemm_case *case_find(const char *name)
{
    for (size_t i = 0; i < cases_count; i++)
        if (!strcmp(cases[i].name, name))
            return &cases[i];
    return NULL;
}

double case_flops(const struct gemm_case *c)
{
    double flops = 0;

    for (int32_t g = 0; g < c->groups; g++)
        flops += 2.0 * (double)c->m[g] * (double)c->n[g] * (double)c->k[g];
    return flops;
}

double case_bytes(const struct gemm_case *c)
{
    int64_t bytes = 0;

    for (int32_t g = 0; g < c->groups; g++)
        if (c->m[g] > 0)
            bytes += (c->m[g] + c->n[g]) * (c->k[g] / 2 + c->k[g] / 16) +
                     2 * c->m[g] * c->n[g];
    return (double)bytes;
}
