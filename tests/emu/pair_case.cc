/* SPDX-License-Identifier: MIT */
/* The struct of the kernel's parameter is repeated here: its text is for
 * other compilers. */
#include "pair_case.h"
#include "tensor_map.h"

extern "C" {
#include "../reference.h"
}

#include <math.h>
#include <stdio.h>

#include <vector>

namespace emu_test {

namespace {

struct alignas(64) tensor_map {
    unsigned char bytes[128];
};

struct problem {
    tensor_map a, b, sfa, sfb;
    float *c;
    int m, n, k;
};

/* Edges in every direction, and more stages than the ring has. */
constexpr int m = 300, n = 200, k = 640;
constexpr size_t shared_bytes = 3 * (16384 + 8192 + 2 * 2048) + 1024 + 128;

void encode(tensor_map *map, const uint8_t *address, size_t width, size_t rows,
            uint32_t box_rows, uint32_t swizzle)
{
    emu_tensor_map t{};

    t.address = reinterpret_cast<uintptr_t>(address);
    t.rank = 2;
    t.extent[0] = t.stride[0] = width;
    t.extent[1] = rows;
    t.box[0] = 128;
    t.box[1] = box_rows;
    t.element_bytes = 1;
    t.swizzle = swizzle;
    emu_tensor_map_encode(&t, map);
}

} // namespace

struct pair_case::data {
    ref_operand a, b;
    std::vector<float> c;
    std::vector<double> exact, magnitude;
    problem p;
};

pair_case::pair_case() : all(std::make_unique<data>())
{
    ref_operand &a = all->a, &b = all->b;

    ref_operand_alloc(&a, m, k);
    ref_operand_alloc(&b, n, k);
    ref_operand_fill(&a, REF_FULL, 1);
    ref_operand_fill(&b, REF_FULL, 2);
    all->c.resize(size_t(m) * n);
    all->exact.resize(all->c.size());
    all->magnitude.resize(all->c.size());
    ref_product(&a, &b, 1, all->exact.data(), all->magnitude.data(), 1);
    encode(&all->p.a, a.values, k / 2, m, 128, 128);
    encode(&all->p.b, b.values, k / 2, n, 64, 128);
    encode(&all->p.sfa, a.scales, 128, a.scale_bytes / 128, 16, 0);
    encode(&all->p.sfb, b.scales, 128, b.scale_bytes / 128, 16, 0);
    all->p.c = all->c.data();
    all->p.m = m;
    all->p.n = n;
    all->p.k = k;
}

pair_case::~pair_case()
{
    ref_operand_free(&all->a);
    ref_operand_free(&all->b);
}

/* On one pair or on two. */
std::string pair_case::run(int (*kernel)(const emu_launch *), uint64_t seed)
{
    char report[2048];
    void *parameters[] = {&all->p};
    emu_launch launch{};

    launch.grid[0] = 2 + 2 * (seed % 2);
    launch.grid[1] = launch.grid[2] = 1;
    launch.cluster[0] = 2;
    launch.block[0] = 192;
    launch.block[1] = launch.block[2] = 1;
    launch.shared_bytes = shared_bytes;
    launch.parameters = parameters;
    launch.seed = seed;
    launch.report = report;
    launch.report_bytes = sizeof report;
    for (float &x : all->c)
        x = NAN;
    if (kernel(&launch))
        return report;
    for (size_t i = 0; i < all->c.size(); i++) {
        double got = double(all->c[i]);

        if (fabs(got - all->exact[i]) <= ref_sum_bound(all->magnitude[i], k))
            continue;
        snprintf(report, sizeof report,
                 "wrong-result: row %zu, column %zu is %g, not %g", i / n,
                 i % n, got, all->exact[i]);
        return report;
    }
    return "";
}

} // namespace emu_test
