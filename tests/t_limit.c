/* SPDX-License-Identifier: MIT */
/* problem.sm_limit and its like of conversions: no grid is larger, whatever
 * the configuration; on a fake driver, whose device has 132 multiprocessors. */
#include <stdbool.h>
#include <stdlib.h>

#include "check_error.h"
#include "conversion_case.h"
#include "fake/fakes.h"
#include "launch.h"
#include "model.h"
#include "plan.h"
#include "test.h"

#define SMS          132
#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct fakes fakes;
static jitgemm_context *context;
static const int64_t n = 1024, k = 4096;
static const int32_t limits[] = {1, 2, 7, 40, SMS - 1};

static jitgemm_problem one_group(bool on_device, const int64_t *rows,
                                 int32_t limit)
{
    return (jitgemm_problem){.size = sizeof(jitgemm_problem),
                             .flags = JITGEMM_ALLOW_SPLIT_K,
                             .groups = 1,
                             .m = on_device ? NULL : rows,
                             .n = &n,
                             .k = &k,
                             .sizes = on_device ? JITGEMM_SIZES_DEVICE
                                                : JITGEMM_SIZES_HOST,
                             .max_rows = on_device ? *rows : 0,
                             .sm_limit = limit};
}

/* A plan in that configuration, or NULL if the problem may not run in it. */
static jitgemm_plan *plan_in(const struct jg_config *config,
                             const jitgemm_problem *problem)
{
    struct jg_config whole = *config;
    struct jg_problem checked;
    jitgemm_plan *plan = NULL;

    CHECK_INT(jg_problem_read(problem, &checked), JITGEMM_OK);
    if (jg_cut_allows(config, &checked, &context->device)) {
        jg_plan_complete(&checked, &whole);
        CHECK_INT(jg_launch_create(context, &checked, &whole, &plan),
                  JITGEMM_OK);
    }
    jg_problem_free(&checked);
    return plan;
}

/* The largest grid, whole clusters each; 0 if the problem may not run so. */
static int largest(const struct jg_config *config,
                   const jitgemm_problem *problem)
{
    jitgemm_plan *plan = plan_in(config, problem);
    unsigned most = 0;

    for (int i = 0; plan && i < plan->kernels; i++) {
        unsigned blocks = plan->launches[i].blocks;
        unsigned cluster = plan->launches[i].cluster;

        CHECK(blocks > 0 && (!cluster || blocks % cluster == 0));
        most = blocks > most ? blocks : most;
    }
    jitgemm_plan_destroy(plan);
    return (int)most;
}

/* Of work for the whole device, and of what split k takes: few tokens. */
static void test_plans(void)
{
    static const int64_t many = 100000, few = 8;
    const struct jg_model *model = jg_model_of(context->device.family);
    int beyond = 0, split = 0;

    for (int i = 0; i < 2 * 2 * model->count; i++) {
        const struct jg_config *config = &model->configs[i / 4];
        const int64_t *rows = i & 1 ? &few : &many;
        jitgemm_problem problem = one_group(i & 2, rows, 0);
        int all = largest(config, &problem);

        for (size_t l = 0; l < COUNT(limits); l++) {
            int got;

            problem.sm_limit = limits[l];
            got = largest(config, &problem);
            CHECK(got <= limits[l]);
            CHECK(got == (all < limits[l] ? all : limits[l]) ||
                  config->ctas > 1);
            split += got && config->ctas > 1;
        }
        problem.sm_limit = SMS;
        CHECK_INT(largest(config, &problem), all);
        problem.sm_limit = INT32_MAX;
        CHECK_INT(largest(config, &problem), all);
        beyond += all > SMS;
    }
    CHECK(beyond > 0 || context->device.family != JG_SM90);
    CHECK(split > 0);
}

static void test_conversions(void)
{
    static _Alignas(16) unsigned char memory[16];
    jitgemm_conversion_options options = conversion_options(
        JITGEMM_F16, JITGEMM_ROWS_STACKED, JITGEMM_PLACE_TIGHT);
    jitgemm_conversion_options combine = {.size = sizeof combine,
                                          .flags = JITGEMM_COMBINE};
    jitgemm_conversion_arguments arguments = {.size = sizeof arguments,
                                              .groups = 1,
                                              .k = 1056,
                                              .max_rows = 1000000,
                                              .x = memory,
                                              .rows = (int32_t *)memory,
                                              .values = memory,
                                              .scales = memory};
    jitgemm_conversion *conversion;

    for (size_t l = 0; l < 3 * COUNT(limits); l++) {
        if (l == COUNT(limits)) {
            options.flags = JITGEMM_CAST;
            arguments.scales = NULL;
        }
        if (l == 2 * COUNT(limits)) {
            options = combine;
            arguments.rows = NULL;
            arguments.gather = (int32_t *)memory;
            arguments.top_k = 8;
        }
        options.sm_limit = limits[l % COUNT(limits)];
        CHECK_INT(jitgemm_conversion_create(context, &options, &conversion),
                  JITGEMM_OK);
        CHECK_INT(jitgemm_conversion_run(conversion, &arguments, NULL),
                  JITGEMM_OK);
        CHECK_INT(fakes.cuda->grid, options.sm_limit);
        jitgemm_conversion_destroy(conversion);
    }
    options.sm_limit = SMS;
    CHECK_INT(jitgemm_conversion_create(context, &options, &conversion),
              JITGEMM_OK);
    CHECK_INT(jitgemm_conversion_run(conversion, &arguments, NULL),
              JITGEMM_OK);
    CHECK_INT(fakes.cuda->grid, 16 * SMS);
    jitgemm_conversion_destroy(conversion);
}

static void test_rules(void)
{
    static const int64_t rows = 8;
    jitgemm_problem problem = one_group(false, &rows, -1);
    jitgemm_conversion_options options = {.size = sizeof options,
                                          .sm_limit = -1};
    jitgemm_conversion *conversion;
    jitgemm_plan *plan;

    CHECK_ERROR(jitgemm_plan_create(context, &problem, &plan),
                JITGEMM_E_ARGUMENT, "problem.sm_limit");
    CHECK_ERROR(jitgemm_conversion_create(context, &options, &conversion),
                JITGEMM_E_ARGUMENT, "options.sm_limit");
}

int main(void)
{
    static const int majors[] = {9, 10};

    fakes = fakes_open();
    for (size_t i = 0; i < COUNT(majors); i++) {
        fakes.cuda->major = majors[i];
        CHECK_INT(jitgemm_context_create(NULL, &context), JITGEMM_OK);
        CHECK_INT(context->device.sms, SMS);
        test_plans();
        test_conversions();
        test_rules();
        jitgemm_context_destroy(context);
    }
    fakes_close(&fakes);
    return test_end();
}
