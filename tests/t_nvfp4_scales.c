/* SPDX-License-Identifier: MIT */
/* Blocked scale layout: offsets worked out by hand, conversions both ways,
 * and the arguments that conversions reject. */
#include "jitgemm.h"
#include "reference.h"
#include "test.h"

#include <stdlib.h>

static void test_offset(void)
{
    static const struct {
        int64_t row, block, k;
        size_t byte;
    } wanted[] = {
        {0, 0, 64, 0},
        {0, 1, 64, 1},
        {1, 0, 64, 16},
        {31, 0, 64, 496},
        {32, 0, 64, 4},
        {64, 0, 64, 8},
        {96, 0, 64, 12},
        {127, 3, 64, 511},
        {128, 0, 64, 512},
        {0, 4, 128, 512},
        {128, 0, 128, 1024},
        /* tiles along k are rounded up */
        {128, 0, 16, 512},
        {128, 0, 80, 1024},
        {128, 4, 80, 1536},
        /* ((200 / 128) * 16 + 13 / 4) * 512 + 8 * 16 + 2 * 4 + 1 */
        {200, 13, 1024, 9865},
        /* the last byte of 2^25 tiles */
        {4294967295, 3, 64, 17179869183},
        {-1, 0, 64, 0},
        {128, -1, 64, 0},
        {128, 0, -64, 0},
    };

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        CHECK_INT(
            jitgemm_scale_offset(wanted[i].row, wanted[i].block, wanted[i].k),
            wanted[i].byte);
    for (int64_t row = 0; row < 300; row++)
        for (int64_t block = 0; block < 13; block++)
            CHECK_INT(jitgemm_scale_offset(row, block, 208),
                      ref_scale_offset(row, block, 208));
}

static void test_bytes(void)
{
    CHECK_INT(jitgemm_scale_bytes(0, 64), 0);
    CHECK_INT(jitgemm_scale_bytes(128, 0), 0);
    CHECK_INT(jitgemm_scale_bytes(1, 16), 512);
    CHECK_INT(jitgemm_scale_bytes(128, 64), 512);
    CHECK_INT(jitgemm_scale_bytes(129, 64), 1024);
    CHECK_INT(jitgemm_scale_bytes(128, 65), 1024);
    CHECK_INT(jitgemm_scale_bytes(4096, 7168), 32 * 112 * 512);
    CHECK_INT(jitgemm_scale_bytes(-1, 64), 0);
    CHECK_INT(jitgemm_scale_bytes(128, -64), 0);
    /* The most that fits, and what does not. */
    CHECK(jitgemm_scale_bytes((int64_t)1 << 61, 64) == (size_t)1 << 63);
    CHECK(jitgemm_scale_bytes((int64_t)1 << 62, 64) == 0);
    CHECK(jitgemm_scale_bytes(((int64_t)1 << 62) + 128, 64) == 0);
    CHECK(jitgemm_scale_bytes(INT64_MAX, INT64_MAX) == 0);
    CHECK(jitgemm_scale_bytes((int64_t)1 << 39, (int64_t)1 << 38) == 0);
}

/* Scales 1, 2, 3... so that none is the padding's 0. Blocked memory starts
 * as poison and ends in a guard. */
static void check_conversion(int64_t rows, int64_t k)
{
    size_t count = (size_t)(rows * k / 16), zeros = 0, wrong = 0;
    size_t bytes = jitgemm_scale_bytes(rows, k);
    uint8_t *row_major = malloc(count + 1), *back = malloc(count + 1);
    uint8_t *blocked = malloc(bytes + 1);

    for (size_t i = 0; i < count; i++)
        row_major[i] = (uint8_t)(1 + i % 255);
    memset(blocked, 0x7F, bytes + 1);
    memset(back, 0x55, count + 1);
    CHECK_INT(jitgemm_scales_to_blocked(rows, k, row_major, blocked), 0);
    for (int64_t row = 0; row < rows; row++)
        for (int64_t block = 0; block < k / 16; block++)
            wrong += blocked[ref_scale_offset(row, block, k)] !=
                     row_major[row * (k / 16) + block];
    for (size_t i = 0; i < bytes; i++)
        zeros += !blocked[i];
    CHECK_INT(wrong, 0);
    CHECK_INT(zeros, bytes - count);
    CHECK_INT(blocked[bytes], 0x7F);
    CHECK_INT(jitgemm_scales_from_blocked(rows, k, blocked, back), 0);
    CHECK(!memcmp(row_major, back, count));
    CHECK_INT(back[count], 0x55);
    free(row_major);
    free(back);
    free(blocked);
}

static void check_error(jitgemm_status got, jitgemm_status want,
                        const char *argument, int64_t value)
{
    const jitgemm_error *error = jitgemm_last_error();

    CHECK_INT(got, want);
    CHECK_INT(error->status, want);
    CHECK_STR(error->argument, argument);
    CHECK_INT(error->group, -1);
    CHECK_INT(error->got, value);
    CHECK(!strncmp(error->text, argument, strlen(argument)));
}

static void test_errors(void)
{
    static const struct {
        int64_t rows, k;
        const char *argument;
        int64_t got, want;
    } shapes[] = {
        {-1, 16, "rows", -1, 0},
        {1, 17, "k", 17, 16},
        {1, 8, "k", 8, 16},
        {1, -16, "k", -16, 16},
        {(int64_t)1 << 62, 64, "rows", (int64_t)1 << 62, 0},
    };
    const jitgemm_status argument = JITGEMM_E_ARGUMENT;
    uint8_t in[1] = {1}, out[512] = {9};

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        int64_t rows = shapes[i].rows, k = shapes[i].k;

        check_error(jitgemm_scales_to_blocked(rows, k, in, out),
                    JITGEMM_E_SHAPE, shapes[i].argument, shapes[i].got);
        CHECK_INT(jitgemm_last_error()->want, shapes[i].want);
        check_error(jitgemm_scales_from_blocked(rows, k, out, in),
                    JITGEMM_E_SHAPE, shapes[i].argument, shapes[i].got);
        CHECK_INT(jitgemm_last_error()->want, shapes[i].want);
    }
    check_error(jitgemm_scales_to_blocked(1, 16, NULL, out), argument,
                "row_major", 0);
    check_error(jitgemm_scales_to_blocked(1, 16, in, NULL), argument,
                "blocked", 0);
    check_error(jitgemm_scales_from_blocked(1, 16, NULL, in), argument,
                "blocked", 0);
    check_error(jitgemm_scales_from_blocked(1, 16, out, NULL), argument,
                "row_major", 0);
    CHECK_INT(in[0], 1);
    CHECK_INT(out[0], 9);
}

int main(void)
{
    static const int64_t rows[] = {0, 1, 31, 33, 127, 128, 129, 300};
    static const int64_t ks[] = {0, 16, 48, 64, 80, 128, 208};

    test_offset();
    test_bytes();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t j = 0; j < sizeof ks / sizeof *ks; j++)
            check_conversion(rows[i], ks[j]);
    test_errors();
    return test_end();
}
