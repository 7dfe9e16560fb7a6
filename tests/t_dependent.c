/* SPDX-License-Identifier: MIT */
/* Which launches may start early, with JITGEMM_DEPENDENT_LAUNCH and without;
 * on a fake driver. */
#include <jitgemm.h>
#include <stdbool.h>

#include "fake/fakes.h"
#include "test.h"

static struct fakes fakes;
static jitgemm_context *context;
static _Alignas(256) unsigned char memory[256];

/* Two kernels: the second may always start early. */
static void test_run(uint32_t flags, int expected)
{
    static const int64_t m = 2000, n = 4096, k = 256;
    const jitgemm_problem problem = {.size = sizeof problem,
                                     .flags = flags,
                                     .groups = 1,
                                     .m = &m,
                                     .n = &n,
                                     .k = &k};
    const void *in = memory;
    void *out = memory;
    const jitgemm_operands operands = {.size = sizeof operands,
                                       .a = &in,
                                       .sfa = &in,
                                       .b = &in,
                                       .sfb = &in,
                                       .c = &out};
    jitgemm_plan *plan = NULL;

    CHECK_INT(jitgemm_plan_create(context, &problem, &plan), JITGEMM_OK);
    CHECK_INT(jitgemm_plan_bind(plan, &operands, NULL), JITGEMM_OK);
    fakes.cuda->early = fakes.cuda->launches = 0;
    CHECK_INT(jitgemm_run(plan, NULL), JITGEMM_OK);
    CHECK_INT(fakes.cuda->launches, 2);
    CHECK_INT(fakes.cuda->early, expected);
    jitgemm_plan_destroy(plan);
}

/* Of quantization or a cast, with a gather or without, or of sums. */
static void test_conversion(uint32_t flags, int expected)
{
    const jitgemm_conversion_options options = {.size = sizeof options,
                                                .flags = flags};
    const bool sums = flags & JITGEMM_COMBINE;
    const bool gathers = sums || flags & JITGEMM_GATHER;
    int32_t *words = (int32_t *)(void *)memory;
    const jitgemm_conversion_arguments arguments = {
        .size = sizeof arguments,
        .groups = 1,
        .k = 64,
        .max_rows = 1,
        .x = memory,
        .rows = sums ? NULL : words,
        .values = memory,
        .scales = sums || flags & JITGEMM_CAST ? NULL : memory,
        .gather = gathers ? words : NULL,
        .x_rows = gathers,
        .top_k = sums};
    jitgemm_conversion *conversion = NULL;

    CHECK_INT(jitgemm_conversion_create(context, &options, &conversion),
              JITGEMM_OK);
    fakes.cuda->early = fakes.cuda->launches = 0;
    CHECK_INT(jitgemm_conversion_run(conversion, &arguments, NULL),
              JITGEMM_OK);
    CHECK_INT(fakes.cuda->launches, 1);
    CHECK_INT(fakes.cuda->early, expected);
    jitgemm_conversion_destroy(conversion);
}

int main(void)
{
    static const uint32_t kinds[] = {0, JITGEMM_GATHER, JITGEMM_COMBINE,
                                     JITGEMM_CAST,
                                     JITGEMM_CAST | JITGEMM_GATHER};

    fakes = fakes_open();
    CHECK_INT(jitgemm_context_create(NULL, &context), JITGEMM_OK);
    test_run(0, 1);
    test_run(JITGEMM_DEPENDENT_LAUNCH, 2);
    for (int i = 0; i < 5; i++) {
        test_conversion(kinds[i], 0);
        test_conversion(kinds[i] | JITGEMM_DEPENDENT_LAUNCH, 1);
    }
    jitgemm_context_destroy(context);
    fakes_close(&fakes);
    return test_end();
}
