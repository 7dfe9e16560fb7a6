/* SPDX-License-Identifier: MIT */
/* Tensor maps and launches as the driver is asked for them. */
#include <cuda.h>
#include <stdlib.h>

#include "fake/fakes.h"
#include "jitgemm.h"
#include "test.h"

static struct fakes fakes;
static _Alignas(16) unsigned char memory[4][16]; /* a, sfa, b, sfb */

/* Binds and runs one group; the maps asked for are in fakes.cuda. */
static void run(int64_t m, int64_t n, int64_t k, jitgemm_type type)
{
    const void *in[] = {memory[0], memory[1], memory[2], memory[3]};
    static _Alignas(16) unsigned char c[16];
    void *out = c;
    jitgemm_problem problem = {.size = sizeof problem, .groups = 1,
                               .m = &m, .n = &n, .k = &k, .c_type = type};
    jitgemm_operands operands = {.size = sizeof operands,
                                 .a = &in[0],
                                 .sfa = &in[1],
                                 .b = &in[2],
                                 .sfb = &in[3],
                                 .c = &out};
    jitgemm_context *context = NULL;
    jitgemm_plan *plan = NULL;

    memset(fakes.cuda->maps, 0, sizeof fakes.cuda->maps);
    fakes.cuda->map_count = 0;
    CHECK_INT(jitgemm_context_create(NULL, &context), JITGEMM_OK);
    CHECK_INT(jitgemm_plan_create(context, &problem, &plan), JITGEMM_OK);
    CHECK_INT(jitgemm_plan_bind(plan, &operands, NULL), JITGEMM_OK);
    CHECK_INT(jitgemm_run(plan, NULL), JITGEMM_OK);
    jitgemm_plan_destroy(plan);
    jitgemm_context_destroy(context);
}

/* What all maps have in common, and a matrix of bytes. */
static void check_map(int index, const void *address, int type,
                      long long elements, long long rows, long long stride,
                      int wide, int high, int swizzle)
{
    const struct fake_map *map = &fakes.cuda->maps[index];

    CHECK(map->address == address);
    CHECK_INT(map->type, type);
    CHECK_INT(map->rank, 2);
    CHECK_INT(map->extent[0], elements);
    CHECK_INT(map->extent[1], rows);
    CHECK_INT(map->stride, stride);
    CHECK_INT(map->box[0], wide);
    CHECK_INT(map->box[1], high);
    CHECK_INT(map->step[0], 1);
    CHECK_INT(map->step[1], 1);
    CHECK_INT(map->interleave, CU_TENSOR_MAP_INTERLEAVE_NONE);
    CHECK_INT(map->swizzle, swizzle);
    CHECK_INT(map->promotion, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
    CHECK_INT(map->fill, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static void test_blackwell(void)
{
    enum {
        BYTES = CU_TENSOR_MAP_DATA_TYPE_UINT8,
        WORDS = CU_TENSOR_MAP_DATA_TYPE_INT64,
        PLAIN = CU_TENSOR_MAP_SWIZZLE_NONE,
        WIDE = CU_TENSOR_MAP_SWIZZLE_128B
    };

    fakes.cuda->major = 10;
    /* Few tokens, swapped: boxes of 32 of them, and of 128 weight rows. */
    run(9, 4096, 7168, JITGEMM_BF16);
    CHECK_INT(fakes.cuda->map_count, 2);
    check_map(0, memory[0], BYTES, 3584, 9, 3584, 128, 32, WIDE);
    check_map(1, memory[2], BYTES, 3584, 4096, 3584, 128, 128, WIDE);
    CHECK_INT(fakes.cuda->grid, 32);
    CHECK_INT(fakes.cuda->block, 192);
    CHECK_INT(fakes.cuda->cluster, 0);

    /* Pairs: each block copies 128 rows of both operands, and the scales of
     * 128 rows and 256 k, a row of their matrix 2048 bytes at a time. */
    run(8200, 8192, 8192, JITGEMM_F16);
    CHECK_INT(fakes.cuda->map_count, 4);
    check_map(0, memory[0], BYTES, 4096, 8200, 4096, 128, 128, WIDE);
    check_map(1, memory[2], BYTES, 4096, 8192, 4096, 128, 128, WIDE);
    check_map(2, memory[1], WORDS, 8192, 65, 65536, 256, 1, PLAIN);
    check_map(3, memory[3], WORDS, 8192, 64, 65536, 256, 1, PLAIN);
    CHECK_INT(fakes.cuda->grid, 132);
    CHECK_INT(fakes.cuda->cluster, 2);
}

static void test_hopper(void)
{
    enum { BYTES = CU_TENSOR_MAP_DATA_TYPE_UINT8 };

    fakes.cuda->major = 9;
    run(9, 4096, 7168, JITGEMM_F16); /* few tiles: of 64 weight rows */
    CHECK_INT(fakes.cuda->map_count, 1); /* the weights' */
    check_map(0, memory[2], BYTES, 3584, 4096, 3584, 128, 64,
              CU_TENSOR_MAP_SWIZZLE_128B);
    run(8192, 8192, 8192, JITGEMM_F16);
    check_map(0, memory[2], BYTES, 4096, 8192, 4096, 64, 128,
              CU_TENSOR_MAP_SWIZZLE_64B);
    CHECK_INT(fakes.cuda->cluster, 0);
}

/* The argument is named, and the group. */
static void test_failure(void)
{
    int64_t m[] = {0, 64}, n[] = {128, 128}, k[] = {64, 64};
    const void *in[] = {memory[0], memory[0]};
    void *out[] = {memory[1], memory[1]};
    jitgemm_problem problem = {.size = sizeof problem, .groups = 2,
                               .m = m, .n = n, .k = k, .c_type = JITGEMM_F16};
    jitgemm_operands operands = {.size = sizeof operands,
                                 .a = in,
                                 .sfa = in,
                                 .b = in,
                                 .sfb = in,
                                 .c = out};
    jitgemm_context *context = NULL;
    jitgemm_plan *plan = NULL;

    fakes.cuda->major = 10;
    CHECK_INT(jitgemm_context_create(NULL, &context), JITGEMM_OK);
    CHECK_INT(jitgemm_plan_create(context, &problem, &plan), JITGEMM_OK);
    fakes.cuda->fail = "cuTensorMapEncodeTiled";
    fakes.cuda->fail_result = CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < 2; i++) {
        fakes.cuda->fail_after = i;
        CHECK_INT(jitgemm_plan_bind(plan, &operands, NULL), JITGEMM_E_DRIVER);
        CHECK_STR(jitgemm_last_error()->argument,
                  i ? "operands.b" : "operands.a");
        CHECK_INT(jitgemm_last_error()->group, 1);
        CHECK_INT(jitgemm_run(plan, NULL), JITGEMM_E_NOT_READY);
    }
    fakes.cuda->fail = NULL;
    CHECK_INT(jitgemm_plan_bind(plan, &operands, NULL), JITGEMM_OK);
    jitgemm_plan_destroy(plan);
    jitgemm_context_destroy(context);
}

int main(void)
{
    fakes = fakes_open();
    test_blackwell();
    test_hopper();
    test_failure();
    fakes_close(&fakes);
    return test_end();
}
