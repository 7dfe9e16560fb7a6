/* SPDX-License-Identifier: MIT */
/* The table of shapes against flops and bytes computed from the published
 * sizes by another program. */
#include "cases.h"
#include "test.h"

static const struct {
    const char *name;
    int groups;
    long long flops, bytes;
} wanted[] = {
    {"public_1", 2, 39845888, 232960},
    {"public_2", 2, 81264640, 493696},
    {"public_3", 2, 33554432, 227328},
    {"public_4", 3, 66060288, 425216},
    {"public_5", 3, 61865984, 444160},
    {"public_6", 3, 100663296, 634880},
    {"public_7", 3, 134217728, 769024},
    {"public_8", 4, 50331648, 352256},
    {"public_9", 4, 105381888, 738816},
    {"public_10", 4, 402653184, 1466368},
    {"gm1", 8, 60129542144, 144637952},
    {"gm2", 8, 30064771072, 81920000},
    {"gm3", 2, 12884901888, 18481152},
    {"gm4", 2, 6442450944, 11714560},
    {"decode", 32, 15032385536, 531611648},
    {"prefill_up", 16, 481036337152, 364380160},
    {"prefill_down", 16, 240518168576, 258998272},
    {"dense_8192", 1, 1099511627776, 209715200},
    {"dense_4096", 1, 137438953472, 52428800},
};

static void test_totals(void)
{
    CHECK_INT(cases_count, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct gemm_case *c = case_find(wanted[i].name);

        if (!c) {
            CHECK_STR(NULL, wanted[i].name);
            continue;
        }
        CHECK(c == &cases[i]);
        CHECK_INT(c->groups, wanted[i].groups);
        CHECK_INT(case_flops(c), wanted[i].flops);
        CHECK_INT(case_bytes(c), wanted[i].bytes);
    }
    CHECK(!case_find("public_"));
    CHECK(!case_find("gm10"));
}

/* What jitgemm_plan_create() asks of sizes, and no stray entries. */
static void test_sizes(void)
{
    for (size_t i = 0; i < cases_count; i++)
        for (int g = 0; g < CASE_GROUPS; g++) {
            const struct gemm_case *c = &cases[i];
            int used = g < c->groups;

            CHECK_INT(c->m[g] > 0, used);
            CHECK_INT(c->n[g] > 0 && c->n[g] % 8 == 0, used);
            CHECK_INT(c->k[g] > 0 && c->k[g] % 32 == 0, used);
        }
}

static void test_kinds(void)
{
    int counts[3] = {0};

    for (size_t i = 0; i < cases_count; i++)
        counts[cases[i].kind]++;
    CHECK_INT(counts[CASE_TEST], 10);
    CHECK_INT(counts[CASE_BENCH], 4);
    CHECK_INT(counts[CASE_LAYER], 5);
    CHECK_INT(case_find("public_10")->kind, CASE_TEST);
    CHECK_INT(case_find("gm1")->kind, CASE_BENCH);
    CHECK_INT(case_find("decode")->kind, CASE_LAYER);
    CHECK_INT(case_find("gm1")->m[7], 160);
    CHECK_INT(case_find("public_9")->k[3], 256);
}

int main(void)
{
    test_totals();
    test_sizes();
    test_kinds();
    return test_end();
}
