/* SPDX-License-Identifier: MIT */
/* Conversions: rules on options, launches, and what becomes of kernels; on a
 * fake driver. What they compute is tested by g_quantize.c. */
#include <cuda.h>
#include <stdlib.h>

#include "check_error.h"
#include "conversion_case.h"
#include "fake/fakes.h"
#include "jitgemm.h"
#include "test.h"

static struct fakes fakes;
static jitgemm_context *context;

static void test_options(void)
{
    static const struct {
        jitgemm_conversion_options options;
        const char *argument;
    } bad[] = {
        {{.flags = 1u << 30}, "options.flags"},
        {{.flags = JITGEMM_GATHER | JITGEMM_COMBINE}, "options.flags"},
        {{.flags = JITGEMM_GATHER | JITGEMM_COMBINE |
                   JITGEMM_DEPENDENT_LAUNCH},
         "options.flags"},
        {{.flags = JITGEMM_COMBINE, .x_type = JITGEMM_E4M3}, "options.x_type"},
        {{.flags = JITGEMM_COMBINE, .c_type = JITGEMM_E4M3}, "options.c_type"},
        {{.flags = JITGEMM_COMBINE, .layout = JITGEMM_ROWS_MASKED},
         "options.layout"},
        {{.flags = JITGEMM_COMBINE, .place = JITGEMM_PLACE_CEIL},
         "options.place"},
        {{.flags = JITGEMM_COMBINE, .scale_order = JITGEMM_SCALES_LINEAR},
         "options.scale_order"},
        {{.flags = JITGEMM_COMBINE, .activation = JITGEMM_SWIGLU},
         "options.activation"},
        {{.c_type = JITGEMM_BF16}, "options.c_type"},
        {{.flags = JITGEMM_CAST | JITGEMM_COMBINE}, "options.flags"},
        {{.flags = JITGEMM_CAST, .x_type = JITGEMM_E4M3}, "options.x_type"},
        {{.flags = JITGEMM_CAST, .x_type = JITGEMM_F32}, "options.x_type"},
        {{.flags = JITGEMM_CAST, .c_type = JITGEMM_F32}, "options.c_type"},
        {{.flags = JITGEMM_CAST, .place = JITGEMM_PLACE_CEIL},
         "options.place"},
        {{.flags = JITGEMM_CAST, .scale_order = JITGEMM_SCALES_LINEAR},
         "options.scale_order"},
        {{.flags = JITGEMM_CAST, .layout = (jitgemm_layout)2},
         "options.layout"},
        {{.flags = JITGEMM_CAST, .activation = (jitgemm_activation)5},
         "options.activation"},
        {{.x_type = JITGEMM_E4M3, .flags = JITGEMM_GATHER}, "options.flags"},
        {{.x_type = JITGEMM_F32}, "options.x_type"},
        {{.x_type = (jitgemm_type)4}, "options.x_type"},
        {{.layout = (jitgemm_layout)2}, "options.layout"},
        {{.place = (jitgemm_place)5}, "options.place"},
        {{.place = JITGEMM_PLACE_STRIDED}, "options.place"},
        {{.scale_order = (jitgemm_scale_order)2}, "options.scale_order"},
        {{.x_type = JITGEMM_E4M3, .scale_order = JITGEMM_SCALES_LINEAR},
         "options.scale_order"},
        {{.place = JITGEMM_PLACE_CEIL, .scale_order = JITGEMM_SCALES_LINEAR},
         "options.place"},
        {{.activation = (jitgemm_activation)5}, "options.activation"},
        {{.x_type = JITGEMM_E4M3, .activation = JITGEMM_SWIGLU},
         "options.activation"},
    };
    jitgemm_conversion_options options = {.size = sizeof options};
    jitgemm_conversion *conversion = NULL;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        options = bad[i].options;
        options.size = sizeof options;
        CHECK_ERROR(jitgemm_conversion_create(context, &options, &conversion),
                    JITGEMM_E_ARGUMENT, bad[i].argument);
    }
    options = (jitgemm_conversion_options){.size = 4};
    CHECK_ERROR(jitgemm_conversion_create(context, &options, &conversion),
                JITGEMM_E_VERSION, "options");
    CHECK_ERROR(jitgemm_conversion_create(context, NULL, &conversion),
                JITGEMM_E_ARGUMENT, "options");
    options.size = sizeof options;
    CHECK_ERROR(jitgemm_conversion_create(NULL, &options, &conversion),
                JITGEMM_E_ARGUMENT, "context");
    CHECK_ERROR(jitgemm_conversion_create(context, &options, NULL),
                JITGEMM_E_ARGUMENT, "conversion");
    CHECK(conversion == NULL);
}

/* A block a tile, up to 16 a multiprocessor; none for nothing. */
static void test_grid(void)
{
    static _Alignas(16) unsigned char memory[16];
    jitgemm_conversion *conversion =
        conversion_make(context, JITGEMM_F16, JITGEMM_ROWS_STACKED, JITGEMM_PLACE_TIGHT);
    jitgemm_conversion_arguments arguments = {.size = sizeof arguments,
                                              .groups = 3,
                                              .k = 1056,
                                              .max_rows = 300,
                                              .x = memory,
                                              .rows =
                                                  (int32_t *)(void *)memory,
                                              .values = memory,
                                              .scales = memory};

    CHECK_INT(jitgemm_conversion_run(conversion, &arguments, NULL),
              JITGEMM_OK);
    CHECK_INT(fakes.cuda->grid, (300 + 3 * 127) / 128 * 3);
    CHECK_INT(fakes.cuda->block, 256);
    arguments.max_rows = 1000000;
    CHECK_INT(jitgemm_conversion_run(conversion, &arguments, NULL),
              JITGEMM_OK);
    CHECK_INT(fakes.cuda->grid, 16 * 132);
    fakes.cuda->grid = -1;
    arguments.max_rows = 0;
    CHECK_INT(jitgemm_conversion_run(conversion, &arguments, NULL),
              JITGEMM_OK);
    CHECK_INT(fakes.cuda->grid, -1);
    arguments.max_rows = 300;
    fakes.cuda->fail = "cuLaunchKernelEx";
    fakes.cuda->fail_after = 0;
    fakes.cuda->fail_result = CUDA_ERROR_LAUNCH_FAILED;
    CHECK_INT(jitgemm_conversion_run(conversion, &arguments, NULL),
              JITGEMM_E_DRIVER);
    fakes.cuda->fail = NULL;
    jitgemm_conversion_destroy(conversion);
}

/* A cast has a block for each 4096 k of a row, or half as many activated. */
static void test_cast_grid(void)
{
    static _Alignas(16) unsigned char memory[16];
    jitgemm_conversion_arguments arguments = {.size = sizeof arguments,
                                              .groups = 3,
                                              .k = 4112,
                                              .max_rows = 20,
                                              .x = memory,
                                              .rows =
                                                  (int32_t *)(void *)memory,
                                              .values = memory};

    for (int i = 0; i < 4; i++) {
        jitgemm_conversion_options options = conversion_options(
            JITGEMM_BF16, (jitgemm_layout)(i % 2), JITGEMM_PLACE_TIGHT);
        jitgemm_conversion *conversion;

        options.flags = JITGEMM_CAST;
        options.activation = (jitgemm_activation)(i / 2);
        CHECK_INT(jitgemm_conversion_create(context, &options, &conversion),
                  JITGEMM_OK);
        CHECK_INT(jitgemm_conversion_run(conversion, &arguments, NULL),
                  JITGEMM_OK);
        CHECK_INT(fakes.cuda->grid, (i % 2 ? 60 : 20) * (2 + i / 2));
        CHECK_INT(fakes.cuda->block, 128);
        jitgemm_conversion_destroy(conversion);
    }
}

static int events;

static void listen_in(void *user, const jitgemm_event *event)
{
    (void)user;
    events++;
    CHECK_STR(event->problem, event->kernel->name);
}

/* The registry, the cache, events and freezing are those of plans. */
static void test_kernels(void)
{
    jitgemm_context_options with = {.size = sizeof with, .event = listen_in};
    jitgemm_conversion_options options = conversion_options(
        JITGEMM_BF16, JITGEMM_ROWS_MASKED, JITGEMM_PLACE_CEIL);
    jitgemm_conversion *conversion = NULL;
    jitgemm_kernel kernel = {.size = sizeof kernel}, again = kernel;
    jitgemm_context *other = NULL;

    CHECK_INT(jitgemm_context_create(&with, &other), JITGEMM_OK);
    CHECK_INT(jitgemm_conversion_describe(other, &options, &again),
              JITGEMM_OK);
    CHECK_INT(events, 0);
    CHECK_INT(again.source, JITGEMM_SOURCE_NONE);
    CHECK_ERROR(jitgemm_conversion_describe(NULL, &options, &again),
                JITGEMM_E_ARGUMENT, "context");
    CHECK_ERROR(jitgemm_conversion_describe(other, NULL, &again),
                JITGEMM_E_ARGUMENT, "options");
    CHECK_ERROR(jitgemm_conversion_describe(other, &options, NULL),
                JITGEMM_E_ARGUMENT, "kernel");
    CHECK_INT(jitgemm_conversion_prepare(other, &options, &kernel),
              JITGEMM_OK);
    CHECK_STR(again.key, kernel.key);
    CHECK_STR(again.name, kernel.name);
    CHECK_INT(kernel.source, JITGEMM_SOURCE_COMPILED);
    CHECK_STR(kernel.name, "quantize bf16, masked, ceil");
    CHECK_INT(events, 1);
    CHECK_INT(jitgemm_freeze(other), JITGEMM_OK);
    CHECK_INT(jitgemm_conversion_create(other, &options, &conversion),
              JITGEMM_OK);
    CHECK_INT(events, 2);
    CHECK_INT(jitgemm_conversion_kernel(conversion, &again), JITGEMM_OK);
    CHECK_INT(again.source, JITGEMM_SOURCE_MEMORY);
    CHECK_STR(again.key, kernel.key);
    CHECK_ERROR(jitgemm_conversion_kernel(NULL, &again), JITGEMM_E_ARGUMENT,
                "conversion");
    CHECK_ERROR(jitgemm_conversion_kernel(conversion, NULL),
                JITGEMM_E_ARGUMENT, "kernel");
    jitgemm_conversion_destroy(conversion);
    conversion = NULL;
    options.scale_order = JITGEMM_SCALES_LINEAR;
    options.place = JITGEMM_PLACE_TIGHT;
    CHECK_INT(jitgemm_conversion_create(other, &options, &conversion),
              JITGEMM_E_FROZEN);
    CHECK(strstr(jitgemm_last_error()->text, "quantize bf16, masked, linear"));
    CHECK(conversion == NULL);
    jitgemm_context_destroy(other);

    with = (jitgemm_context_options){.size = sizeof with, .arch = "sm_100a"};
    CHECK_INT(jitgemm_context_create(&with, &other), JITGEMM_OK);
    CHECK_INT(jitgemm_conversion_create(other, &options, &conversion),
              JITGEMM_E_NO_DEVICE);
    CHECK_INT(jitgemm_conversion_prepare(other, &options, &kernel),
              JITGEMM_OK);
    CHECK_STR(kernel.arch, "sm_100a");
    jitgemm_context_destroy(other);
}

/* Kinds that differ have kernels that differ. */
static void test_keys(void)
{
    static char keys[256][36];
    jitgemm_kernel kernel = {.size = sizeof kernel};
    int count = 0;

    for (int i = 0; i < 3 * 2 * 6 * 5; i++) {
        jitgemm_conversion_options options = conversion_options(
            (jitgemm_type[]){JITGEMM_F16, JITGEMM_BF16, JITGEMM_E4M3}[i % 3],
            (jitgemm_layout)(i / 3 % 2), (jitgemm_place)(i % 36 / 6 % 5));

        options.scale_order = (jitgemm_scale_order)(i % 36 / 30);
        options.activation = (jitgemm_activation)(i / 36);
        if (jitgemm_conversion_prepare(context, &options, &kernel) !=
            JITGEMM_OK)
            continue;
        for (int j = 0; j < count; j++)
            CHECK(strcmp(keys[j], kernel.key) != 0);
        memcpy(keys[count++], kernel.key, sizeof kernel.key);
    }
    for (int i = 0; i < 2 * 2 * 2 * 2 * 5; i++) {
        jitgemm_conversion_options options = conversion_options(
            (jitgemm_type)(i % 2), (jitgemm_layout)(i / 2 % 2),
            JITGEMM_PLACE_TIGHT);

        options.flags = JITGEMM_CAST | (i / 4 % 2 ? JITGEMM_GATHER : 0);
        options.c_type = (jitgemm_type)(i / 8 % 2);
        options.activation = (jitgemm_activation)(i / 16);
        CHECK_INT(jitgemm_conversion_prepare(context, &options, &kernel),
                  JITGEMM_OK);
        for (int j = 0; j < count; j++)
            CHECK(strcmp(keys[j], kernel.key) != 0);
        memcpy(keys[count++], kernel.key, sizeof kernel.key);
    }
    CHECK_INT(count, 80 + 36 - 3 - 2 /* stacked strided; scales linear */
                         + 4 * (24 - 2)); /* those of activations */
}

static void test_driver_failures(void)
{
    static const char *const calls[] = {
        "cuLibraryLoadData", "cuKernelGetFunction", "cuFuncSetAttribute"};
    jitgemm_conversion_options options = conversion_options(
        JITGEMM_F16, JITGEMM_ROWS_MASKED, JITGEMM_PLACE_STRIDED);

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        jitgemm_context *other = NULL;
        jitgemm_conversion *conversion = NULL;

        CHECK_INT(jitgemm_context_create(NULL, &other), JITGEMM_OK);
        fakes.cuda->fail = calls[i];
        fakes.cuda->fail_after = 0;
        fakes.cuda->fail_result = CUDA_ERROR_OUT_OF_MEMORY;
        CHECK_INT(jitgemm_conversion_create(other, &options, &conversion),
                  JITGEMM_E_MEMORY);
        fakes.cuda->fail = NULL;
        CHECK(conversion == NULL);
        jitgemm_context_destroy(other);
    }
}

static void test_scale_rows(void)
{
    CHECK_INT(jitgemm_scale_rows(JITGEMM_PLACE_TIGHT, 5, 3), 384);
    CHECK_INT(jitgemm_scale_rows(JITGEMM_PLACE_FLOOR, 5, 3), 384);
    CHECK_INT(jitgemm_scale_rows(JITGEMM_PLACE_FLOOR, 2, 1), 128);
    CHECK_INT(jitgemm_scale_rows(JITGEMM_PLACE_FLOOR, 0, 1), 0);
    CHECK_INT(jitgemm_scale_rows(JITGEMM_PLACE_CEIL, 5, 3), 512);
    CHECK_INT(jitgemm_scale_rows(JITGEMM_PLACE_CEIL, 3, 3), 384);
    CHECK_INT(jitgemm_scale_rows(JITGEMM_PLACE_CEIL, 4, 1), 256);
    CHECK_INT(jitgemm_scale_rows(JITGEMM_PLACE_STRIDED, 129, 3), 768);
    CHECK_INT(jitgemm_scale_rows(JITGEMM_PLACE_STRIDED, INT64_C(1) << 33, 2),
              INT64_C(1) << 34);
    CHECK_INT(jitgemm_scale_rows(JITGEMM_PLACE_EXPLICIT, 5, 3), -1);
    CHECK_INT(jitgemm_scale_rows(JITGEMM_PLACE_TIGHT, -1, 3), -1);
    CHECK_INT(jitgemm_scale_rows(JITGEMM_PLACE_TIGHT, INT64_MAX, 3), -1);
    CHECK_INT(jitgemm_scale_rows(JITGEMM_PLACE_TIGHT, 5, -3), -1);
    CHECK_INT(jitgemm_scale_rows((jitgemm_place)9, 5, 3), -1);
}

int main(void)
{
    fakes = fakes_open();
    CHECK_INT(jitgemm_context_create(NULL, &context), JITGEMM_OK);
    test_options();
    test_grid();
    test_cast_grid();
    test_kernels();
    test_driver_failures();
    test_keys();
    test_scale_rows();
    jitgemm_context_destroy(context);
    CHECK_INT(fakes.cuda->loads, 0);
    fakes_close(&fakes);
    return test_end();
}
