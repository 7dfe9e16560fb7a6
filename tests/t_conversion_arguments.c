/* SPDX-License-Identifier: MIT */
/* The rules on arguments of a conversion, on a fake driver. */
#include <stdlib.h>

#include "check_error.h"
#include "conversion_case.h"
#include "fake/fakes.h"
#include "jitgemm.h"
#include "test.h"

static jitgemm_context *context;
static _Alignas(16) unsigned char memory[64];

/* Good arguments, for tests to spoil. */
static jitgemm_conversion_arguments good(void)
{
    return (jitgemm_conversion_arguments){
        .size = sizeof(jitgemm_conversion_arguments),
        .groups = 3,
        .k = 1056,
        .max_rows = 300,
        .x = memory,
        .rows = (int32_t *)(void *)memory,
        .scale = (float *)(void *)memory,
        .values = memory,
        .scales = memory,
        .fault = (jitgemm_fault *)(void *)memory};
}

/* One argument after the other. */
#define SPOIL(field, value, status_)                                          \
    do {                                                                      \
        arguments = good();                                                   \
        arguments.field = (value);                                            \
        CHECK_ERROR(jitgemm_conversion_run(conversion, &arguments, NULL),     \
                    status_, "arguments." #field);                            \
    } while (0)

static void test_sizes(void)
{
    jitgemm_conversion *conversion =
        conversion_make(context, JITGEMM_F16, JITGEMM_ROWS_STACKED,
                        JITGEMM_PLACE_TIGHT);
    jitgemm_conversion_arguments arguments;

    SPOIL(flags, 2, JITGEMM_E_ARGUMENT);
    SPOIL(groups, 0, JITGEMM_E_ARGUMENT);
    SPOIL(groups, 65537, JITGEMM_E_ARGUMENT);
    SPOIL(k, 0, JITGEMM_E_SHAPE);
    SPOIL(k, -16, JITGEMM_E_SHAPE);
    SPOIL(k, 24, JITGEMM_E_SHAPE);
    SPOIL(k, INT64_C(1) << 31, JITGEMM_E_SHAPE);
    SPOIL(max_rows, -1, JITGEMM_E_SHAPE);
    SPOIL(max_rows, INT64_C(1) << 31, JITGEMM_E_SHAPE);
    SPOIL(ldx, 1048, JITGEMM_E_ARGUMENT);
    SPOIL(ldx, -8, JITGEMM_E_ARGUMENT);
    SPOIL(ldx, INT64_MAX, JITGEMM_E_ARGUMENT);
    SPOIL(ldx, 1060, JITGEMM_E_ALIGN);
    SPOIL(scale_rows, 128, JITGEMM_E_SHAPE);
    arguments = good(); /* as many tiles as a grid has no numbers for */
    arguments.max_rows = INT32_MAX;
    arguments.k = 1 << 20;
    CHECK_ERROR(jitgemm_conversion_run(conversion, &arguments, NULL),
                JITGEMM_E_SHAPE, "arguments.max_rows");
    arguments = good();
    arguments.size = offsetof(jitgemm_conversion_arguments, gather) - 8;
    CHECK_ERROR(jitgemm_conversion_run(conversion, &arguments, NULL),
                JITGEMM_E_VERSION, "arguments");
    arguments = good(); /* of the first version */
    arguments.size = offsetof(jitgemm_conversion_arguments, gather);
    arguments.gather = arguments.rows;
    CHECK_INT(jitgemm_conversion_run(conversion, &arguments, NULL),
              JITGEMM_OK);
    CHECK_ERROR(jitgemm_conversion_run(conversion, NULL, NULL),
                JITGEMM_E_ARGUMENT, "arguments");
    arguments = good();
    CHECK_ERROR(jitgemm_conversion_run(NULL, &arguments, NULL),
                JITGEMM_E_ARGUMENT, "conversion");
    jitgemm_conversion_destroy(conversion);
}

static void test_pointers(void)
{
    jitgemm_conversion *conversion =
        conversion_make(context, JITGEMM_BF16, JITGEMM_ROWS_STACKED,
                        JITGEMM_PLACE_FLOOR);
    jitgemm_conversion_arguments arguments;

    SPOIL(x, NULL, JITGEMM_E_ARGUMENT);
    SPOIL(x, memory + 8, JITGEMM_E_ALIGN);
    SPOIL(rows, NULL, JITGEMM_E_ARGUMENT);
    SPOIL(rows, (int32_t *)(void *)(memory + 2), JITGEMM_E_ALIGN);
    SPOIL(scale, (float *)(void *)(memory + 2), JITGEMM_E_ALIGN);
    SPOIL(scale_row, arguments.rows, JITGEMM_E_ARGUMENT);
    SPOIL(values, NULL, JITGEMM_E_ARGUMENT);
    SPOIL(values, memory + 8, JITGEMM_E_ALIGN);
    SPOIL(scales, NULL, JITGEMM_E_ARGUMENT);
    SPOIL(scales, memory + 4, JITGEMM_E_ALIGN);
    SPOIL(fault, (jitgemm_fault *)(void *)(memory + 4), JITGEMM_E_ALIGN);
    SPOIL(gather, arguments.rows, JITGEMM_E_ARGUMENT);
    SPOIL(x_rows, 1, JITGEMM_E_SHAPE);
    SPOIL(top_k, 1, JITGEMM_E_SHAPE);
    jitgemm_conversion_destroy(conversion);

    conversion =
        conversion_make(context, JITGEMM_E4M3, JITGEMM_ROWS_MASKED,
                        JITGEMM_PLACE_EXPLICIT);
    SPOIL(scale, arguments.scale, JITGEMM_E_ARGUMENT);
    arguments = good();
    arguments.scale = NULL;
    CHECK_ERROR(jitgemm_conversion_run(conversion, &arguments, NULL),
                JITGEMM_E_ARGUMENT, "arguments.values");
    arguments.values = NULL;
    CHECK_ERROR(jitgemm_conversion_run(conversion, &arguments, NULL),
                JITGEMM_E_ARGUMENT, "arguments.scale_row");
    arguments.scale_row = arguments.rows;
    arguments.scale_rows = 100;
    CHECK_ERROR(jitgemm_conversion_run(conversion, &arguments, NULL),
                JITGEMM_E_SHAPE, "arguments.scale_rows");
    arguments.scale_rows = 384;
    arguments.x = memory + 1; /* scales may be anywhere, and counts absent */
    arguments.ldx = 67;
    arguments.rows = NULL;
    CHECK_INT(jitgemm_conversion_run(conversion, &arguments, NULL),
              JITGEMM_OK);
    jitgemm_conversion_destroy(conversion);
    jitgemm_conversion_destroy(NULL);
}

static jitgemm_conversion *flagged(uint32_t flags, jitgemm_type x_type,
                                   jitgemm_layout layout)
{
    jitgemm_conversion_options options = {.size = sizeof options,
                                          .flags = flags,
                                          .x_type = x_type,
                                          .layout = layout};
    jitgemm_conversion *conversion = NULL;

    CHECK_INT(jitgemm_conversion_create(context, &options, &conversion),
              JITGEMM_OK);
    return conversion;
}

static void test_combine(void)
{
    jitgemm_conversion *conversion =
        flagged(JITGEMM_COMBINE, JITGEMM_F32, JITGEMM_ROWS_STACKED);
    jitgemm_conversion_arguments arguments = good();

    CHECK_ERROR(jitgemm_conversion_run(conversion, &arguments, NULL),
                JITGEMM_E_ARGUMENT, "arguments.groups");
    arguments.groups = 1;
    CHECK_ERROR(jitgemm_conversion_run(conversion, &arguments, NULL),
                JITGEMM_E_SHAPE, "arguments.top_k");
    arguments.top_k = 8;
    CHECK_ERROR(jitgemm_conversion_run(conversion, &arguments, NULL),
                JITGEMM_E_ARGUMENT, "arguments.scales");
    arguments.scales = NULL;
    CHECK_ERROR(jitgemm_conversion_run(conversion, &arguments, NULL),
                JITGEMM_E_ARGUMENT, "arguments.gather");
    arguments.gather = arguments.rows;
    CHECK_INT(jitgemm_conversion_run(conversion, &arguments, NULL),
              JITGEMM_OK);
    jitgemm_conversion_destroy(conversion);
}

/* No scales, neither global nor of blocks. */
static void test_cast(void)
{
    jitgemm_conversion *conversion =
        flagged(JITGEMM_CAST, JITGEMM_F16, JITGEMM_ROWS_STACKED);
    jitgemm_conversion_arguments arguments = good();

    CHECK_ERROR(jitgemm_conversion_run(conversion, &arguments, NULL),
                JITGEMM_E_ARGUMENT, "arguments.scale");
    arguments.scale = NULL;
    CHECK_ERROR(jitgemm_conversion_run(conversion, &arguments, NULL),
                JITGEMM_E_ARGUMENT, "arguments.scales");
    arguments.scales = NULL;
    arguments.top_k = 1;
    CHECK_ERROR(jitgemm_conversion_run(conversion, &arguments, NULL),
                JITGEMM_E_SHAPE, "arguments.top_k");
    arguments.top_k = 0;
    CHECK_INT(jitgemm_conversion_run(conversion, &arguments, NULL),
              JITGEMM_OK);
    arguments.k = INT64_C(1) << 30; /* more tiles than a grid has numbers */
    arguments.max_rows = INT32_MAX;
    CHECK_INT(jitgemm_conversion_run(conversion, &arguments, NULL),
              JITGEMM_OK);
    jitgemm_conversion_destroy(conversion);
    conversion = flagged(JITGEMM_CAST, JITGEMM_F16, JITGEMM_ROWS_MASKED);
    arguments.groups = 65536;
    CHECK_INT(jitgemm_conversion_run(conversion, &arguments, NULL),
              JITGEMM_OK);
    jitgemm_conversion_destroy(conversion);
}

static void test_gather(void)
{
    jitgemm_conversion *conversion =
        flagged(JITGEMM_GATHER, JITGEMM_F16, JITGEMM_ROWS_STACKED);
    jitgemm_conversion_arguments arguments = good();

    CHECK_ERROR(jitgemm_conversion_run(conversion, &arguments, NULL),
                JITGEMM_E_ARGUMENT, "arguments.gather");
    arguments.gather = (int32_t *)(void *)(memory + 2);
    CHECK_ERROR(jitgemm_conversion_run(conversion, &arguments, NULL),
                JITGEMM_E_ALIGN, "arguments.gather");
    arguments.gather = arguments.rows;
    arguments.x_rows = -1;
    CHECK_ERROR(jitgemm_conversion_run(conversion, &arguments, NULL),
                JITGEMM_E_SHAPE, "arguments.x_rows");
    arguments.x_rows = 0;
    CHECK_INT(jitgemm_conversion_run(conversion, &arguments, NULL),
              JITGEMM_OK);
    jitgemm_conversion_destroy(conversion);
}

int main(void)
{
    struct fakes fakes = fakes_open();

    CHECK_INT(jitgemm_context_create(NULL, &context), JITGEMM_OK);
    test_sizes();
    test_pointers();
    test_gather();
    test_cast();
    test_combine();
    jitgemm_context_destroy(context);
    fakes_close(&fakes);
    return test_end();
}
