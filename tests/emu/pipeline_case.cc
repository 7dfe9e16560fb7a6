/* SPDX-License-Identifier: MIT */
/* The structs of the kernel's parameters are repeated here: its text is for
 * other compilers. */
#include "pipeline_case.h"
#include "tensor_map.h"

extern "C" {
#include "../reference.h"
}

#include <math.h>
#include <string.h>

#include <vector>

namespace emu_test {

namespace {

struct group {
    const uint8_t *a, *b, *sfa, *sfb;
    float *c;
    int m, n, k;
};

struct alignas(64) tensor_map {
    unsigned char bytes[128];
};

struct problem {
    const group *groups;
    tensor_map *maps;
    int count;
};

/* Edges in every direction, and more stages than the ring has. */
constexpr int sizes[][3] = {{200, 136, 640}, {60, 128, 64}, {128, 72, 1344}};
constexpr int count = sizeof sizes / sizeof *sizes;
constexpr unsigned most_blocks = 2;
constexpr size_t shared_bytes = 3 * (2 * 16384 + 2 * 2048) + 1024 + 128;

/* What asynchronous instructions may use. */
struct range {
    const unsigned char *begin;
    size_t bytes;
    bool writable;
};
std::vector<range> ranges;

int check_access(const void *address, size_t bytes, int write)
{
    const unsigned char *first = static_cast<const unsigned char *>(address);

    for (const range &range : ranges)
        if (first >= range.begin && bytes <= range.bytes &&
            size_t(first - range.begin) <= range.bytes - bytes)
            return range.writable || !write;
    return 0;
}

} // namespace

struct pipeline_case::data {
    ref_operand a[count], b[count];
    std::vector<float> c[count];
    std::vector<double> exact[count], magnitude[count];
    group groups[count];
    tensor_map maps[2 * most_blocks];
    tensor_map prototype;
};

pipeline_case::pipeline_case() : all(std::make_unique<data>())
{
    static const uint8_t placeholder alignas(16) = 0;
    emu_tensor_map map{};

    ranges.clear();
    for (int i = 0; i < count; i++) {
        const int *size = sizes[i];
        size_t elements = size_t(size[0]) * size_t(size[1]);
        ref_operand &a = all->a[i], &b = all->b[i];

        ref_operand_alloc(&a, size[0], size[2]);
        ref_operand_alloc(&b, size[1], size[2]);
        ref_operand_fill(&a, REF_FULL, uint64_t(2 * i));
        ref_operand_fill(&b, REF_FULL, uint64_t(2 * i + 1));
        all->exact[i].resize(elements);
        all->magnitude[i].resize(elements);
        ref_product(&a, &b, 1, all->exact[i].data(), all->magnitude[i].data(),
                    1);
        all->c[i].resize(elements);
        all->groups[i] = {a.values,         b.values, a.scales, b.scales,
                          all->c[i].data(), size[0],  size[1],  size[2]};
        for (const ref_operand *o : {&a, &b}) {
            ranges.push_back({o->values, size_t(o->rows * o->k / 2), false});
            ranges.push_back({o->scales, o->scale_bytes, false});
        }
    }
    ranges.push_back({all->maps[0].bytes, sizeof all->maps, true});
    map.address = reinterpret_cast<uintptr_t>(&placeholder);
    map.rank = 2;
    map.extent[0] = map.extent[1] = 1;
    map.stride[0] = 16;
    map.box[0] = map.box[1] = 128;
    map.element_bytes = 1;
    map.swizzle = 128;
    emu_tensor_map_encode(&map, &all->prototype);
}

pipeline_case::~pipeline_case()
{
    for (int i = 0; i < count; i++) {
        ref_operand_free(&all->a[i]);
        ref_operand_free(&all->b[i]);
    }
}

std::string pipeline_case::run(int (*kernel)(const emu_launch *),
                               uint64_t seed, unsigned blocks)
{
    char report[2048];
    problem p = {all->groups, all->maps, count};
    void *parameters[] = {&p, &all->prototype};
    emu_launch launch{};

    launch.grid[0] = blocks;
    launch.grid[1] = launch.grid[2] = 1;
    launch.block[0] = 192;
    launch.block[1] = launch.block[2] = 1;
    launch.shared_bytes = shared_bytes;
    launch.parameters = parameters;
    launch.seed = seed;
    launch.check = check_access;
    launch.report = report;
    launch.report_bytes = sizeof report;
    memset(all->maps, 0, sizeof all->maps);
    for (auto &c : all->c)
        for (float &x : c)
            x = NAN;
    if (kernel(&launch))
        return report;
    for (int i = 0; i < count; i++)
        for (size_t j = 0; j < all->c[i].size(); j++) {
            double got = double(all->c[i][j]);
            double bound = ref_sum_bound(all->magnitude[i][j], sizes[i][2]);

            if (fabs(got - all->exact[i][j]) <= bound)
                continue;
            snprintf(report, sizeof report,
                     "wrong-result: group %d, row %zu, column %zu is %g, not "
                     "%g [seed %llu]",
                     i, j / size_t(sizes[i][1]), j % size_t(sizes[i][1]), got,
                     all->exact[i][j], static_cast<unsigned long long>(seed));
            return report;
        }
    return "";
}

} // namespace emu_test
