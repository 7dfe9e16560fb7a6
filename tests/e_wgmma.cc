/* SPDX-License-Identifier: MIT */
/* Matrix products on the emulator: every width and swizzle, A in registers
 * and in shared memory, against sums of integers. */
#include <emu.h>

#include <base/types.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <ptx/wgmma.cuh>

#include "half.h"
#include "unit.h"
#include "wgmma.h"

extern "C" {
#include "reference.h"
}

#include <stdlib.h>

using namespace emu_test;

namespace {

struct operands {
    u16 a[64][16], b[256][16];
    float d[64][256];
    long long exact[64][256]; /* of the product, in units of 2^-16 */
    uint64_t a_descriptor, b_descriptor;   /* less their addresses */
    u32 a_places[64][2], b_places[256][2]; /* of 16-byte units */
    bool a_shared, bf16;
} test;

constexpr u32 b_offset = 16384; /* of B in shared memory */

/* An integer times 2^-8. */
u16 number(uint64_t *seed)
{
    int limit = test.bf16 ? 255 : 1023; /* 8 or 10 bits */
    float value =
        float(int(ref_random(seed) % u64(2 * limit + 1)) - limit) / 256;

    return test.bf16 ? emu::bf16_of(value) : emu::half_of(value);
}

long long integer(u16 x)
{
    ref_type type = test.bf16 ? REF_BF16 : REF_F16;

    return (long long)(ref_load(type, &x, 0) * 256);
}

/* All sums are exact in f64, not in f32. */
void fill(uint64_t seed)
{
    for (auto &row : test.a)
        for (u16 &x : row)
            x = number(&seed);
    for (auto &row : test.b)
        for (u16 &x : row)
            x = number(&seed);
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 256; j++) {
            int start = int(ref_random(&seed) % 1048576) - 524288;

            test.d[i][j] = float(start);
            test.exact[i][j] = (long long)start * 65536;
            for (int k = 0; k < 16; k++)
                test.exact[i][j] +=
                    integer(test.a[i][k]) * integer(test.b[j][k]);
        }
}

/* The 24 highest bits of an integer. */
double truncated(long long exact)
{
    long long magnitude = llabs(exact), unit = 1;

    while (magnitude / unit >= 1 << 24)
        unit *= 2;
    magnitude = magnitude / unit * unit;
    return double(exact < 0 ? -magnitude : magnitude) / 65536;
}

/* PTX ISA 9.7.15.5.1.1: figures of the fragments of A and D. */
template <int n> void product()
{
    u8 *memory = ptx::dynamic_smem();
    u32 thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    float d[n / 2];
    u32 a[4];

    memory += -ptx::shared_address(memory) & 1023;
    for (u32 i = thread; i < 2 * n; i += 128)
        memcpy(memory + b_offset + test.b_places[i / 2][i % 2],
               &test.b[i / 2][i % 2 * 8], 16);
    if (test.a_shared && thread < 64)
        for (int k = 0; k < 2; k++)
            memcpy(memory + test.a_places[thread][k], &test.a[thread][8 * k],
                   16);
    for (u32 i = 0; i < 4; i++) {
        u32 row = 16 * warp + lane / 4 + i % 2 * 8;

        memcpy(&a[i], &test.a[row][lane % 4 * 2 + i / 2 * 8], 4);
    }
    for (u32 i = 0; i < n / 2; i++)
        d[i] = test.d[16 * warp + lane / 4 + i / 2 % 2 * 8]
                     [i / 4 * 8 + lane % 4 * 2 + i % 2];
    emu::fence_proxy_async();
    __syncthreads();
    u32 base = ptx::shared_address(memory) >> 4;
    u64 b = test.b_descriptor + base + (b_offset >> 4);
    ptx::wgmma_fence();
    if (test.a_shared)
        emu::wgmma_mma(
            {d, n, test.bf16, nullptr, test.a_descriptor + base, b});
    else if (test.bf16)
        ptx::wgmma_mma_async_bf16(d, a, b);
    else
        ptx::wgmma_mma_async(d, a, b);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>();
    for (u32 i = 0; i < n / 2; i++)
        test.d[16 * warp + lane / 4 + i / 2 % 2 * 8]
              [i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
}

/* Places of rows and the descriptor for them. `k_bytes` moves the operand
 * along a row of the swizzle. */
uint64_t lay(u32 span, u32 rows, u32 k_bytes, u32 (*places)[2])
{
    uint64_t layout = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
    u32 group = span ? 8 * span : 128, leading = span ? 0 : 8192;

    for (u32 row = 0; row < rows; row++)
        for (u32 k = 0; k < 2; k++) {
            u32 unit = k_bytes / 16 + k;     /* of a row of `span` bytes */
            u32 line = row % 8 * span / 128; /* 128 bytes: all the banks */

            if (span == 128)
                unit ^= row % 8;
            else if (span)
                unit ^= line & (span / 16 - 1);
            places[row][k] =
                span ? row / 8 * group + row % 8 * span + unit * 16
                     : row / 8 * group + row % 8 * 16 + k * leading;
        }
    return layout << 62 | uint64_t(group >> 4) << 32 |
           uint64_t(leading >> 4) << 16 | k_bytes >> 4;
}

template <int n> void check(u32 span, u32 k_bytes, bool a_shared)
{
    static uint64_t seed = 0;
    long wrong = 0;

    fill(seed);
    test.a_shared = a_shared;
    test.b_descriptor = lay(span, n, k_bytes, test.b_places);
    test.a_descriptor = lay(span, 64, k_bytes, test.a_places);
    std::string report = run_once(product<n>, 128, seed++, 65536);
    CHECK_STR(report.c_str(), "");
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < n; j++)
            wrong += double(test.d[i][j]) != truncated(test.exact[i][j]);
    CHECK_INT(wrong, 0);
}

template <int n> void check_width()
{
    for (int kind = 0; kind < 4; kind++) {
        int a_shared = kind % 2;

        test.bf16 = kind > 1;
        check<n>(0, 0, a_shared);
        check<n>(32, 0, a_shared);
        check<n>(64, 32, a_shared);
        for (u32 k_bytes = 0; k_bytes < 128; k_bytes += 32)
            check<n>(128, k_bytes, a_shared);
    }
}

void test_truncate()
{
    CHECK(emu::wgmma_truncate(16777217.0) == 16777216.0f);
    CHECK(emu::wgmma_truncate(16777219.0) == 16777218.0f);
    CHECK(emu::wgmma_truncate(-16777219.0) == -16777218.0f);
    CHECK(emu::wgmma_truncate(0x1.ffffffp0) == 0x1.fffffep0f);
    CHECK(emu::wgmma_truncate(0x1p-160) == 0);
}

u64 bad;

void multiply_bad()
{
    float d[4] = {};
    u32 a[4] = {};

    ptx::wgmma_fence();
    ptx::wgmma_mma_async(d, a, bad);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>();
}

void multiply_unfenced()
{
    float d[4] = {};
    u32 a[4] = {};

    ptx::wgmma_mma_async(d, a, 2048 >> 4);
}

void multiply_unwaited()
{
    float d[4] = {};
    u32 a[4] = {};

    ptx::wgmma_fence();
    ptx::wgmma_mma_async(d, a, 2048 >> 4);
    ptx::wgmma_commit_group();
}

void check_bad(u64 descriptor, const char *name)
{
    bad = descriptor;
    check_named(multiply_bad, 128, name);
}

void test_descriptors()
{
    constexpr u64 swizzle_128 = u64(1) << 62;

    check_bad(u64(1) << 15, "bad-descriptor");
    check_bad(u64(1) << 46, "bad-descriptor"); /* Blackwell's version */
    check_bad(u64(1) << 61, "bad-descriptor");
    check_bad(u64(1) << 49, "misaligned");
    check_bad(swizzle_128 | 0x880 >> 4, "misaligned");
    check_bad(swizzle_128 | 0x870 >> 4, "bad-descriptor"); /* out of a row */
    check_bad(swizzle_128 | 0x30000 >> 4, "shared-out-of-bounds");
    check_bad(0, "shared-out-of-bounds");
    check_named(multiply_unfenced, 128, "wgmma-no-fence");
    check_named(multiply_unwaited, 128, "missing-wait");
}

} // namespace

int main()
{
    test_descriptors();
    check_width<8>();
    check_width<16>();
    check_width<32>();
    check_width<64>();
    check_width<128>();
    check_width<256>();
    test_truncate();
    return test_end();
}
