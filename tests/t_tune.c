/* SPDX-License-Identifier: MIT */
/* Tuning on a driver in which runs take as long as the test says: what is
 * chosen, what is refused, and that failures leave nothing behind. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "choice.h"
#include "fake/fakes.h"
#include "test.h"

static struct fakes fakes;
static jitgemm_context *context;
static int64_t m[] = {30, 0, 20}, n[] = {4096, 4096, 4096};
static int64_t k[] = {256, 256, 256};
static jitgemm_problem problem = {
    .size = sizeof problem, .groups = 3, .m = m, .n = n, .k = k};
static jitgemm_tuned tuned = {.size = sizeof tuned};

static void open_context(void)
{
    jitgemm_context_destroy(context);
    CHECK_INT(jitgemm_context_create(NULL, &context), JITGEMM_OK);
}

/* What a plan of a new context runs. */
static const char *planned(void)
{
    static jitgemm_kernel kernel;
    jitgemm_plan *plan = NULL;
    int last = -1;

    open_context();
    kernel.size = sizeof kernel;
    CHECK_INT(jitgemm_plan_create(context, &problem, &plan), JITGEMM_OK);
    while (jitgemm_plan_kernel(plan, last + 1, &kernel) == JITGEMM_OK)
        last++;
    jitgemm_plan_destroy(plan);
    return kernel.name;
}

/* The product of a row of the model. */
static struct jg_spec spec_of(int row)
{
    struct jg_config config = jg_model_sm90.configs[row];
    struct jg_spec spec;

    jg_spec_make(&config, &context->device, jg_spec_count(&config) - 1, &spec);
    return spec;
}

static void test_choice(void)
{
    static const float slower[] = {.985f, .975f};
    struct jg_spec other = spec_of(6);
    char model[sizeof tuned.model_kernel];

    snprintf(model, sizeof model, "%s", planned());
    CHECK(strcmp(model, other.name) != 0);
    fakes.cuda->fast = other.shared_bytes;
    for (int i = 0; i < 2; i++) { /* within the noise, and not */
        fakes.cuda->fast_ms = slower[i];
        CHECK_INT(jitgemm_tune(context, &problem, NULL, &tuned), JITGEMM_OK);
        CHECK_INT(tuned.tried, 12);
        CHECK_STR(tuned.model_kernel, model);
        CHECK_STR(tuned.kernel, i ? other.name : model);
        CHECK(tuned.model_us > 999 && tuned.model_us < 1001);
        CHECK((tuned.us < 980) == i);
        CHECK_STR(planned(), i ? other.name : model);
    }
    /* The same class, then another. */
    m[0] = 17;
    CHECK_STR(planned(), other.name);
    m[0] = 33;
    CHECK(strcmp(planned(), other.name) != 0);
    m[0] = 30;
    /* With parts of k there are more to try. */
    m[0] = m[2] = 4;
    problem.flags = JITGEMM_ALLOW_SPLIT_K;
    CHECK_INT(jitgemm_tune(context, &problem, NULL, &tuned), JITGEMM_OK);
    CHECK_INT(tuned.tried, 13);
    problem.flags = 0;
    m[0] = 30;
    m[2] = 20;
    fakes.cuda->fast_ms = 1.5f; /* measured anew: back to the model's */
    CHECK_INT(jitgemm_tune(context, &problem, NULL, &tuned), JITGEMM_OK);
    CHECK_STR(planned(), model);
    CHECK_INT(fakes.cuda->memory, 0);
    CHECK_INT(fakes.cuda->events, 0);
}

static void check(jitgemm_status want, const char *argument)
{
    CHECK_INT(jitgemm_tune(context, &problem, NULL, &tuned), want);
    CHECK_STR(jitgemm_last_error()->argument
                  ? jitgemm_last_error()->argument
                  : "",
              argument);
    CHECK_INT(fakes.cuda->memory, 0);
    CHECK_INT(fakes.cuda->events, 0);
}

static void test_refusals(void)
{
    const jitgemm_context_options options = {.size = sizeof options,
                                             .arch = "sm_90a"};
    jitgemm_context *gpu = context;

    CHECK_INT(jitgemm_tune(NULL, &problem, NULL, &tuned), JITGEMM_E_ARGUMENT);
    CHECK_INT(jitgemm_tune(context, NULL, NULL, &tuned), JITGEMM_E_ARGUMENT);
    CHECK_INT(jitgemm_tune(context, &problem, NULL, NULL),
              JITGEMM_E_ARGUMENT);
    tuned.size = 8;
    check(JITGEMM_E_VERSION, "tuned");
    tuned.size = sizeof tuned;
    n[1] = 8;
    check(JITGEMM_E_SHAPE, "problem");
    n[1] = 4096;
    m[0] = m[2] = 0;
    check(JITGEMM_E_SHAPE, "problem.m");
    m[0] = 30;
    m[0] = m[2] = 1 << 30; /* more memory than there is */
    n[0] = n[1] = n[2] = 1 << 14;
    problem.c_type = JITGEMM_F32;
    check(JITGEMM_E_MEMORY, "");
    problem.c_type = JITGEMM_F16;
    m[0] = 30;
    m[2] = 20;
    n[0] = n[1] = n[2] = 4096;
    CHECK_INT(jitgemm_context_create(&options, &context), JITGEMM_OK);
    check(JITGEMM_E_NO_DEVICE, "");
    jitgemm_context_destroy(context);
    context = gpu;
}

/* A class that has not been measured stays so. */
static void test_failed_calls(void)
{
    static const char *const calls[] = {
        "cuDeviceGetAttribute", "cuEventCreate",      "cuEventRecord",
        "cuEventSynchronize",   "cuEventElapsedTime", "cuMemAlloc",
        "cuMemcpyHtoDAsync",    "cuMemsetD8Async",    "cuLaunchKernelEx"};
    static const int after[] = {0, 1, 5};
    int failed = 0;

    problem.c_type = JITGEMM_BF16;
    for (size_t i = 0; i < 3 * sizeof calls / sizeof *calls; i++) {
        fakes.cuda->fail = calls[i / 3];
        fakes.cuda->fail_after = after[i % 3];
        fakes.cuda->fail_result = 999;
        if (jitgemm_tune(context, &problem, NULL, &tuned) == JITGEMM_OK) {
            CHECK(i % 3 != 0); /* not called so often */
            continue;
        }
        failed++;
        CHECK_INT(jitgemm_last_error()->cuda, 999);
        CHECK(strstr(jitgemm_last_error()->text, calls[i / 3]) != NULL);
        CHECK_INT(fakes.cuda->memory, 0);
        CHECK_INT(fakes.cuda->events, 0);
    }
    fakes.cuda->fail = NULL;
    CHECK(failed >= 22);
    problem.c_type = JITGEMM_F32;
    CHECK_INT(jitgemm_freeze(context), JITGEMM_OK);
    check(JITGEMM_E_FROZEN, "");
    problem.c_type = JITGEMM_F16;
}

/* Experts: rows and scales wherever the plan wants them, as many as typical. */
static void test_experts(void)
{
    static const int rows[][4] = {{0, 13, 26, 40}, {13, 13, 14, 40}};
    static const int scale_row[] = {0, 128, 256, 0};

    open_context();
    for (int layout = 0; layout < 2; layout++)
        for (int place = 0; place < 5; place++) {
            const jitgemm_problem experts = {
                .size = sizeof experts,
                .groups = 3,
                .n = n,
                .k = k,
                .sizes = JITGEMM_SIZES_DEVICE,
                .layout = (jitgemm_layout)layout,
                .place = (jitgemm_place)place,
                .max_rows = 100,
                .hint_rows = 40,
            };

            if (!layout && place == JITGEMM_PLACE_STRIDED)
                continue;
            CHECK_INT(jitgemm_tune(context, &experts, NULL, &tuned),
                      JITGEMM_OK);
            CHECK_INT(tuned.tried, 12);
            CHECK_INT(fakes.cuda->memory, 0);
            CHECK(!memcmp(fakes.cuda->copied[0], rows[layout], 16));
            CHECK(!memcmp(fakes.cuda->copied[1], scale_row, 16));
        }
}

/* Nowhere to keep it. */
static void test_no_cache(void)
{
    setenv("JITGEMM_MODE", "off", 1);
    open_context();
    check(JITGEMM_E_CACHE, "");
    unsetenv("JITGEMM_MODE");
}

int main(void)
{
    unsetenv("JITGEMM_MODE");
    fakes = fakes_open();
    open_context();
    test_choice();
    test_refusals();
    test_failed_calls();
    test_experts();
    test_no_cache();
    jitgemm_context_destroy(context);
    fakes_close(&fakes);
    return test_end();
}
