/* SPDX-License-Identifier: MIT */
/* The table of shapes against flops and bytes computed from the published
 * sizes by another program, and the layers of models. */
#include "models.h"
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
    {"decode_1", 32, 1879048192, 528873472},
    {"decode_16", 32, 30064771072, 534740992},
    {"decode_32", 32, 60129542144, 540999680},
    {"uneven", 64, 225485783040, 483557376},
    {"even", 64, 225485783040, 590905344},
    {"prefill_up", 16, 481036337152, 364380160},
    {"prefill_down", 16, 240518168576, 258998272},
    {"dense_8192", 1, 1099511627776, 209715200},
    {"dense_4096", 1, 137438953472, 52428800},
    {"small_1x2048", 1, 8388608, 2364544},
    {"small_4x2048", 1, 33554432, 2380288},
    {"small_16x2048", 1, 134217728, 2443264},
    {"small_1x4096", 1, 33554432, 9447680},
    {"small_4x4096", 1, 134217728, 9479168},
    {"small_16x4096", 1, 536870912, 9605120},
    {"small_1x8192", 1, 134217728, 37769728},
    {"small_4x8192", 1, 536870912, 37832704},
    {"small_16x8192", 1, 2147483648, 38084608},
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

            if (c != case_find("uneven"))
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
    CHECK_INT(counts[CASE_LAYER], 19);
    CHECK_INT(case_find("public_10")->kind, CASE_TEST);
    CHECK_INT(case_find("gm1")->kind, CASE_BENCH);
    CHECK_INT(case_find("decode")->kind, CASE_LAYER);
    CHECK_INT(case_find("gm1")->m[7], 160);
    CHECK_INT(case_find("public_9")->k[3], 256);
}

static void test_uneven(void)
{
    const struct gemm_case *uneven = case_find("uneven");
    const struct gemm_case *even = case_find("even");
    int empty = 0;

    for (int64_t i = 0; i < uneven->groups; i++) {
        int64_t r = (37 * i + 11) % 64;

        CHECK_INT(uneven->m[i], 588 * r * r * r * r / (63 * 63 * 63 * 63));
        empty += uneven->m[i] == 0;
    }
    CHECK(empty > 0);
    CHECK_INT(case_flops(uneven), case_flops(even));
}

static int64_t tokens_of(const struct gemm_case *c, int64_t *most)
{
    int64_t sum = 0;

    *most = 0;
    for (int g = 0; g < c->groups; g++) {
        sum += c->m[g];
        if (c->m[g] > *most)
            *most = c->m[g];
    }
    return sum;
}

/* A token goes to as many experts as the model says, to each at most once, and
 * they differ in how many like them. */
static void test_models(void)
{
    static struct gemm_case up, down, again;

    for (size_t i = 0; i < moe_models_count; i++) {
        const struct moe_model *model = &moe_models[i];
        int64_t most;

        CHECK(model == moe_model_find(model->name));
        CHECK(model->experts <= CASE_GROUPS);
        moe_model_cases(model, 1, &up, &down);
        CHECK_INT(tokens_of(&up, &most), model->top);
        CHECK_INT(most, 1);
        moe_model_cases(model, 500, &up, &down);
        CHECK_INT(tokens_of(&up, &most), 500 * model->top);
        CHECK(most > 500 * model->top / model->experts && most <= 500);
        CHECK(memcmp(up.m, down.m, sizeof up.m) == 0);
        CHECK_INT(case_flops(&up), 2 * case_flops(&down));
        moe_model_cases(model, 500, &again, &down);
        CHECK(memcmp(&up, &again, sizeof up) == 0);
    }
    moe_model_cases(moe_model_find("deepseek-v3"), 1, &up, &down);
    CHECK_INT(case_bytes(&up), 8 * (4097 * (3584 + 448) + 2 * 4096));
    moe_model_cases(moe_model_find("deepseek-v3"), 128, &up, &down);
    CHECK_STR(down.name, "deepseek-v3/down/128");
    CHECK_INT(up.groups, 256);
    CHECK_INT(up.n[255], 4096);
    CHECK_INT(up.k[255], 7168);
    CHECK_INT(down.n[0], 7168);
    CHECK_INT(down.k[0], 2048);
    CHECK(!moe_model_find("deepseek"));
}

int main(void)
{
    test_totals();
    test_sizes();
    test_kinds();
    test_uneven();
    test_models();
    return test_end();
}
