/* SPDX-License-Identifier: MIT */
/* Block-scaled products on the emulator: one warp issues them, four load the
 * accumulator. Operands and scales are random; sums are in float64. */
#include <emu.h>

#include <base/types.cuh>
#include <mma/tcgen05_tile.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <ptx/tcgen05.cuh>

#include "unit.h"

extern "C" {
#include "reference.h"
}

#include <math.h>
#include <time.h>

using namespace emu_test;

namespace {

constexpr int m = 128, most_n = 256, most_k = 256;
constexpr size_t a_at = 0, b_at = 16384, scales_at = 49152, end_at = 55296;

struct {
    int n, k;
    int span; /* of the swizzle; 0: none */
    u32 instruction;
    u8 a[m][most_k / 2], b[most_n][most_k / 2];
    u8 scales_a[m][most_k / 16], scales_b[most_n][most_k / 16];
    float d[m][most_n];
} test;

u64 layout_of(int span)
{
    return span == 128 ? 2 : span == 64 ? 4 : span == 32 ? 6 : 0;
}

/* Bytes of an operand: a part of `span` bytes of k after another; without a
 * swizzle, 16. */
u32 place(int row, int byte, int rows, int span)
{
    int width = span ? span : 16;
    int linear = row * width + byte % width;

    if (span)
        linear ^= (linear >> 7 & (span / 16 - 1)) << 4;
    return u32(byte / width * rows * width + linear);
}

u64 descriptor(u32 address, int rows, int step)
{
    int byte = step * 32;
    u32 width = test.span ? u32(test.span) : 16;

    if (test.span == 128)
        return mma::operand_descriptor(address) + mma::descriptor_step(byte);
    address += u32(byte) / width * u32(rows) * width + u32(byte) % width;
    return layout_of(test.span) << 61 | u64(1) << 46 |
           u64(8 * width >> 4) << 32 |
           u64(test.span ? 1 : rows * 16 >> 4) << 16 | address >> 4;
}

void fill_smem(u8 *memory)
{
    for (int row = int(threadIdx.x); row < m + test.n; row += 128) {
        bool is_a = row < m;
        int r = is_a ? row : row - m;
        u8 *scales = memory + scales_at + (is_a ? 0 : 2048);

        for (int i = 0; i < test.k / 2; i++)
            memory[(is_a ? a_at : b_at) +
                   place(r, i, is_a ? m : test.n, test.span)] =
                is_a ? test.a[r][i] : test.b[r][i];
        for (int i = 0; i < test.k / 16; i++)
            scales[mma::scale_offset(r, i, 4)] =
                is_a ? test.scales_a[r][i] : test.scales_b[r][i];
    }
}

/* Columns: the accumulator, four of A's scales a step, eight of B's. */
void issue(u8 *memory, u32 base)
{
    u32 from = ptx::shared_address(memory);
    u32 scales_a = base + 256, scales_b = base + 272;

    for (int i = 0; i < test.k / 64; i++) {
        u32 atom = from + u32(scales_at) + u32(512 * i);
        u32 sfa = scales_a + u32(4 * i), sfb = scales_b + u32(8 * i);

        ptx::tcgen05_cp_32x128b_warpx4(sfa, mma::scale_descriptor(atom));
        for (u32 j = 0; j < 2; j++)
            ptx::tcgen05_cp_32x128b_warpx4(
                sfb + 4 * j, mma::scale_descriptor(atom + 2048 * (1 + j)));
        ptx::tcgen05_mma_mxf4nvf4(base, descriptor(from, m, i),
                                  descriptor(from + u32(b_at), test.n, i),
                                  test.instruction, sfa, sfb, i > 0);
    }
}

void store(u32 base)
{
    u32 warp = threadIdx.x / 32;

    for (int column = 0; column < test.n; column += 8) {
        float d[8];

        ptx::tcgen05_ld_32x32b_x8(
            d, mma::tensor_address(base, int(32 * warp), column));
        ptx::tcgen05_wait_ld();
        for (int i = 0; i < 8; i++)
            test.d[threadIdx.x][column + i] = d[i];
    }
}

void product()
{
    u8 *memory = ptx::dynamic_smem();
    memory += -ptx::shared_address(memory) & 1023;
    auto *barrier = reinterpret_cast<ptx::mbarrier *>(memory + end_at);
    u32 *slot = reinterpret_cast<u32 *>(memory + end_at + 8);

    if (threadIdx.x < 32)
        ptx::tcgen05_alloc(slot, 512);
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(barrier, 1);
        ptx::fence_mbarrier_init();
    }
    fill_smem(memory);
    ptx::fence_proxy_async();
    ptx::tcgen05_fence_before_thread_sync();
    __syncthreads();
    ptx::tcgen05_fence_after_thread_sync();
    u32 base = *slot;
    if (threadIdx.x / 32 == 1 && ptx::elect_one()) {
        issue(memory, base);
        ptx::tcgen05_commit(barrier);
    }
    while (!ptx::mbarrier_try_wait(barrier, 0))
        continue;
    ptx::tcgen05_fence_after_thread_sync();
    store(base);
    ptx::tcgen05_fence_before_thread_sync();
    __syncthreads();
    ptx::tcgen05_fence_after_thread_sync();
    if (threadIdx.x < 32)
        ptx::tcgen05_dealloc(base, 512);
}

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
