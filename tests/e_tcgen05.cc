/* SPDX-License-Identifier: MIT */
/* Block-scaled products on the emulator: one warp issues them, four load the
 * accumulator. Operands and scales are random; sums are in float64. */
#include "tensor_product.h"
#include "unit.h"

extern "C" {
#include "reference.h"
}

#include <math.h>
#include <time.h>

using namespace emu_test;

namespace {

double value(const u8 *row, int k)
{
    return ref_e2m1(row[k / 2] >> 4 * (k % 2));
}

double scale(u8 bits)
{
    if (test.instruction & 1 << 23)
        return bits == 255 ? double(NAN) : ldexp(1, bits - 127);
    return ref_e4m3(bits);
}

/* Each step truncates a sum of f32's bits: *bound is how much that can be. */
double exact(int row, int column, double *bound)
{
    double sum = 0;

    *bound = 0;
    for (int k = 0; k < test.k; k++) {
        sum += value(test.a[row], k) * value(test.b[column], k) *
               scale(test.scales_a[row][k / 16]) *
               scale(test.scales_b[column][k / 16]);
        if (k % 64 == 63)
            *bound += fabs(sum) * 0x1p-23;
    }
    return sum;
}

double sign()
{
    return (test.instruction >> 13 ^ test.instruction >> 14) & 1 ? -1 : 1;
}

void check(int n, int k, uint64_t seed)
{
    long wrong = 0;

    test.n = n;
    test.k = k;
    CHECK_STR(run_once(product, 128, seed, end_at + 1024 + 64).c_str(), "");
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double bound, want = sign() * exact(i, j, &bound);
            double got = double(test.d[i][j]);

            if (isnan(want) ? !isnan(got) : !(fabs(got - want) <= bound))
                wrong++;
            /* One step only truncates. */
            if (k == 64 && fabs(got) > fabs(want))
                wrong++;
        }
    CHECK_INT(wrong, 0);
}

void fill_random(uint64_t seed, bool ue8m0)
{
    for (u8 *byte = test.a[0]; byte < test.a[0] + sizeof test.a; byte++)
        *byte = u8(ref_random(&seed));
    for (u8 *byte = test.b[0]; byte < test.b[0] + sizeof test.b; byte++)
        *byte = u8(ref_random(&seed));
    auto finite = [&] {
        u8 bits = u8(ref_random(&seed));

        if (ue8m0)
            return u8(107 + bits % 40);
        return u8((bits & 0x7f) == 0x7f ? bits - 1 : bits);
    };
    for (auto &row : test.scales_a)
        for (u8 &byte : row)
            byte = finite();
    for (auto &row : test.scales_b)
        for (u8 &byte : row)
            byte = finite();
}

/* One 1 in each row of A, in another block for each; scales are powers of
 * two, different for each row and block. So an element is one of B's with two
 * scales, exactly. */
void test_identity()
{
    memset(test.a, 0, sizeof test.a);
    fill_random(7, false);
    memset(test.a, 0, sizeof test.a);
    for (int row = 0; row < m; row++) {
        int k = row * 37 % 64;

        test.a[row][k / 2] = k % 2 ? 0x20 : 0x02;
        for (int i = 0; i < 4; i++)
            test.scales_a[row][i] = u8((1 + (row + 3 * i) % 15) << 3);
    }
    for (int column = 0; column < most_n; column++)
        for (int i = 0; i < 4; i++)
            test.scales_b[column][i] = u8((1 + (2 * column + i) % 15) << 3);
    test.instruction = mma::product_instruction(m, 256);
    check(256, 64, 1);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < 256; j++) {
            int k = i * 37 % 64;
            double want = value(test.b[j], k) *
                          ldexp(1, (i + 3 * (k / 16)) % 15 - 6) *
                          ldexp(1, (2 * j + k / 16) % 15 - 6);

            if (double(test.d[i][j]) != want)
                CHECK_INT(i * 1000 + j, -1);
        }
}

void test_widths()
{
    test.span = 128;
    for (int n = 8; n <= 256; n += 8) {
        fill_random(u64(n), false);
        test.instruction = mma::product_instruction(m, n);
        check(n, n % 32 ? 64 : 256, u64(n));
        check(n, 128 + 64 * (n / 8 % 2), u64(n + 1));
    }
}

void test_swizzles()
{
    for (int span = 0; span <= 128; span = span ? 2 * span : 32) {
        test.span = span;
        fill_random(u64(span), false);
        test.instruction = mma::product_instruction(m, 128);
        check(128, 256, u64(span));
        check(128, 64, u64(span + 1));
    }
    test.span = 128;
}

void test_negation_and_ue8m0()
{
    fill_random(5, false);
    test.instruction = mma::product_instruction(m, 64) | 1 << 13;
    check(64, 192, 1);
    test.instruction = mma::product_instruction(m, 64) | 1 << 14;
    check(64, 192, 2);
    test.instruction |= 1 << 13;
    check(64, 192, 3);
    fill_random(6, true);
    test.instruction = mma::product_instruction(m, 64) | 1 << 23;
    check(64, 256, 4);
    test.scales_a[3][1] = 255;
    check(64, 256, 5);
    CHECK(isnan(test.d[3][5]) && !isnan(test.d[4][5]));
}

/* A scale that is not a number spoils its row, or column, and no more; even
 * where all that it scales is 0. */
void test_nan()
{
    fill_random(9, false);
    memset(test.a[17], 0, sizeof test.a[17]);
    test.instruction = mma::product_instruction(m, 40);
    test.scales_a[17][5] = 0x7f;
    test.scales_a[90][0] = 0xff;
    test.scales_b[33][7] = 0x7f;
    check(40, 256, 1);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < 40; j++)
            CHECK(isnan(test.d[i][j]) == (i == 17 || i == 90 || j == 33));
}

void test_speed()
{
    timespec begin, end;

    fill_random(1, false);
    test.instruction = mma::product_instruction(m, 128);
    test.n = 128;
    test.k = 256;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    run_once(product, 128, 1, end_at + 1024 + 64);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double ms = double(end.tv_sec - begin.tv_sec) * 1e3 +
                double(end.tv_nsec - begin.tv_nsec) * 1e-6;
    printf("a tile of 128 x 128 x 256: %.1f ms\n", ms);
    CHECK(ms < 1000);
}

} // namespace

int main()
{
    test.span = 128;
    test_identity();
    test_widths();
    test_swizzles();
    test_negation_and_ue8m0();
    test_nan();
    test_speed();
    return test_end();
}
