/* SPDX-License-Identifier: MIT */
/* The struct of the kernel's parameter is repeated here: its text is for
 * other compilers. */
#include "multicast_case.h"
#include "tensor_map.h"

extern "C" {
#include "../reference.h"
}

#include <math.h>
#include <stdio.h>

#include <vector>

namespace emu_test {

namespace {

struct problem {
    alignas(64) unsigned char x[128];
    const uint16_t *w;
    float *c;
    int k;
};

constexpr int rows = 128, tokens = 32, k = 448; /* two blocks', 7 stages */
constexpr size_t shared_bytes = 3 * 4096 + 1024 + 64;

} // namespace

struct multicast_case::data {
    alignas(16) uint16_t w[rows][k], x[tokens][k]; /* f16 */
    double exact[rows][tokens], magnitude[rows][tokens];
    float c[rows][tokens];
    problem p;
};

multicast_case::multicast_case() : all(std::make_unique<data>())
{
    uint64_t seed = 7;
    emu_tensor_map map{};

    for (auto *row : {&all->w[0], &all->x[0]})
        for (int i = 0; i < (row == all->w ? rows : tokens); i++)
            for (uint16_t &value : row[i])
                value = ref_f16(double(ref_random(&seed) % 2001) / 1000 - 1);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < tokens; j++)
            for (int l = 0; l < k; l++) {
                double product =
                    ref_f16_value(all->w[i][l]) * ref_f16_value(all->x[j][l]);

                all->exact[i][j] += product;
                all->magnitude[i][j] += fabs(product);
            }
    map.address = reinterpret_cast<uintptr_t>(all->x);
    map.rank = 2;
    map.extent[0] = k;
    map.extent[1] = tokens;
    map.stride[0] = sizeof all->x[0];
    map.box[0] = 64;
    map.box[1] = tokens / 2;
    map.element_bytes = 2;
    map.swizzle = 128;
    emu_tensor_map_encode(&map, all->p.x);
    all->p.w = all->w[0];
    all->p.c = all->c[0];
    all->p.k = k;
}

multicast_case::~multicast_case() = default;

std::string multicast_case::run(int (*kernel)(const emu_launch *),
                                uint64_t seed)
{
    char report[2048];
    void *parameters[] = {&all->p};
    emu_launch launch{};

    launch.grid[0] = launch.cluster[0] = 2;
    launch.grid[1] = launch.grid[2] = 1;
    launch.block[0] = 256;
    launch.block[1] = launch.block[2] = 1;
    launch.shared_bytes = shared_bytes;
    launch.parameters = parameters;
    launch.seed = seed;
    launch.report = report;
    launch.report_bytes = sizeof report;
    for (auto &row : all->c)
        for (float &x : row)
            x = NAN;
    if (kernel(&launch))
        return report;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < tokens; j++) {
            double got = double(all->c[i][j]), exact = all->exact[i][j];

            if (fabs(got - exact) <= ref_sum_bound(all->magnitude[i][j], k))
                continue;
            snprintf(report, sizeof report,
                     "wrong-result: row %d, token %d is %g, not %g", i, j, got,
                     exact);
            return report;
        }
    return "";
}

} // namespace emu_test
