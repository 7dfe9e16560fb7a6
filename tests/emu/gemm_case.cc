/* SPDX-License-Identifier: MIT */
#include "gemm_case.h"
#include "tensor_map.h"

#include <base/group.h>

/* C headers: a function there has the name of a struct. */
#if defined __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
extern "C" {
#include "../reference.h"
#include "spec.h"
}
#if defined __GNUC__
#pragma GCC diagnostic pop
#endif

#include <algorithm>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace emu_test {

namespace {

constexpr size_t page = 4096;
constexpr uint16_t untouched = 0xfdfd; /* in C before a run */

/* Memory of the emulated device, of which copies may take only what is
 * registered. The guards behind a range are checked after each run. */
struct range {
    const unsigned char *begin;
    size_t bytes;
    bool earlier; /* an earlier launch writes it */
};
std::vector<range> ranges;

int check_access(const void *address, size_t bytes, int)
{
    const unsigned char *first = static_cast<const unsigned char *>(address);

    for (const range &range : ranges)
        if (first >= range.begin && bytes <= range.bytes &&
            size_t(first - range.begin) <= range.bytes - bytes)
            return range.earlier ? -1 : 1;
    return 0;
}

struct buffer {
    std::vector<unsigned char> memory;
    unsigned char *data = nullptr;
    size_t bytes = 0;

    void make(size_t size, unsigned char fill)
    {
        bytes = size;
        memory.assign(size + 2 * page, fill);
        data = memory.data() + page -
               reinterpret_cast<uintptr_t>(memory.data()) % page;
    }
};

jg_config c_config(const config &config)
{
    return {config.tile_m, config.tile_n, config.tile_k,
            config.stages, config.blocks, config.fused};
}

jg_spec spec_of(const config &config, kernel_kind kind)
{
    jg_config row = c_config(config);
    jg_device device{};
    jg_spec spec;

    jg_device_of_arch("sm_90a", &device);
    jg_spec_make(&row, &device,
                 kind == PRODUCT ? jg_spec_count(&row) - 1 : 0, &spec);
    return spec;
}

struct group {
    ref_operand a, b;
    buffer c;
    float alpha;
    std::vector<double> exact, magnitude;
};

} // namespace

struct gemm_case::state {
    struct config config;
    std::vector<size> sizes;
    std::vector<group> groups;
    std::vector<int> first_tile, first_unit;
    buffer table, workspace;
    jg_table argument;
    uint64_t seed;
    struct kernels kernels;
    std::string report;
    int blocks;

    void make_group(size_t g);
    void make_table();
    int launch(kernel_kind kind, unsigned grid, int (*depend)(void *));
    static int launch_activations(void *state);
    std::string compare() const;
};

std::vector<config> all_configs()
{
    std::vector<config> all;

    for (int i = 0; i < jg_plan_configs_count; i++) {
        const jg_config &row = jg_plan_configs[i];

        all.push_back({row.tile_m, row.tile_n, row.tile_k, row.stages,
                       row.blocks, row.fused});
    }
    return all;
}

compile_job job_of(const config &config, kernel_kind kind,
                   const std::string &folder, const std::string &texts)
{
    jg_spec spec = spec_of(config, kind);

    return {folder, texts, spec.program, spec.symbol, spec.text};
}

void gemm_case::state::make_group(size_t g)
{
    struct size size = sizes[g];
    group &made = groups[g];
    size_t cells = static_cast<size_t>(size.m) * static_cast<size_t>(size.n);
    uint64_t fill_seed = seed + 2 * g;

    ref_operand_alloc(&made.a, size.m, size.k);
    ref_operand_alloc(&made.b, size.n, size.k);
    ref_operand_fill(&made.a, REF_FULL, fill_seed);
    ref_operand_fill(&made.b, REF_FULL, fill_seed + 1);
    made.alpha = g % 3 == 1 ? -0.375f : 0.0009765625f;
    made.exact.resize(cells);
    made.magnitude.resize(cells);
    if (cells)
        ref_product(&made.a, &made.b, static_cast<double>(made.alpha),
                    made.exact.data(), made.magnitude.data(), 1);
    made.c.make(cells * 2, 0);
    ranges.push_back({made.a.scales, made.a.scale_bytes, false});
    ranges.push_back(
        {made.b.values,
         static_cast<size_t>(size.n) * static_cast<size_t>(size.k) / 2,
         false});
    ranges.push_back({made.b.scales, made.b.scale_bytes, false});
}

/* As lib/launch.c and lib/bind.c do. */
void gemm_case::state::make_table()
{
    jg_config row = c_config(config);
    int64_t tiles = 0, units = 0;

    table.make(sizes.size() * sizeof(jg_group), 0);
    auto *rows = reinterpret_cast<jg_group *>(table.data);
    for (size_t g = 0; g < sizes.size(); g++) {
        jg_size size = {sizes[g].m, sizes[g].n, sizes[g].k};
        group &from = groups[g];
        uint32_t side = static_cast<uint32_t>(row.tile_k) / 2;
        emu_tensor_map map{};

        rows[g].a = from.a.values;
        rows[g].sfa = from.a.scales;
        rows[g].b = from.b.values;
        rows[g].sfb = from.b.scales;
        rows[g].c = reinterpret_cast<unsigned short *>(from.c.data);
        rows[g].alpha = &from.alpha;
        rows[g].activations = static_cast<unsigned long long>(units) * 1024;
        rows[g].m = size.m;
        rows[g].n = size.n;
        rows[g].k = size.k;
        rows[g].chunks = static_cast<int>(jg_plan_chunks(&row, size));
        map.address = reinterpret_cast<uintptr_t>(from.b.values);
        map.rank = 2;
        map.extent[0] = static_cast<uint64_t>(size.k) / 2;
        map.extent[1] = static_cast<uint64_t>(size.n);
        map.stride[0] = map.extent[0];
        map.box[0] = side;
        map.box[1] = static_cast<uint32_t>(row.tile_n);
        map.element_bytes = 1;
        map.swizzle = side;
        emu_tensor_map_encode(&map, rows[g].b_map);
        first_tile.push_back(static_cast<int>(tiles));
        first_unit.push_back(static_cast<int>(units));
        tiles += jg_plan_tiles(&row, size);
        units += jg_plan_units(&row, size);
    }
    first_tile.push_back(static_cast<int>(tiles));
    first_unit.push_back(static_cast<int>(units));
    workspace.make(static_cast<size_t>(units) * 1024, 0);
    ranges.push_back({table.data, table.bytes, false});
    ranges.push_back({workspace.data, workspace.bytes, true});
    argument = {rows,
                first_tile.data(),
                first_unit.data(),
                workspace.data,
                static_cast<int>(sizes.size()),
                static_cast<int>(tiles),
                static_cast<int>(units)};
}

gemm_case::gemm_case(const config &config, const std::vector<size> &sizes,
                     uint64_t seed)
    : state_(new state())
{
    ranges.clear();
    state_->config = config;
    state_->sizes = sizes;
    state_->seed = seed;
    state_->groups.resize(sizes.size());
    for (size_t g = 0; g < sizes.size(); g++)
        state_->make_group(g);
    state_->make_table();
}

gemm_case::~gemm_case()
{
    for (group &group : state_->groups) {
        ref_operand_free(&group.a);
        ref_operand_free(&group.b);
    }
}

int gemm_case::state::launch(kernel_kind kind, unsigned grid,
                             int (*depend)(void *))
{
    jg_spec spec = spec_of(config, kind);
    void *parameters[] = {&argument};
    char text[2048];
    emu_launch launch{};

    launch.grid[0] = grid;
    launch.block[0] = static_cast<unsigned>(spec.threads);
    launch.grid[1] = launch.grid[2] = launch.block[1] = launch.block[2] = 1;
    launch.shared_bytes = static_cast<size_t>(spec.shared_bytes);
    launch.registers = static_cast<unsigned>(
        65536 / (spec.threads * (kind == PRODUCT ? config.blocks : 1)) / 8 *
        8);
    launch.parameters = parameters;
    launch.seed = seed;
    launch.check = check_access;
    launch.report = text;
    launch.report_bytes = sizeof text;
    launch.depend = depend;
    launch.depend_argument = this;
    int failed = (kind == PRODUCT ? kernels.product : kernels.activations)(&launch);
    if (failed && report.empty())
        report = text;
    return failed;
}

/* What the product depends on. */
int gemm_case::state::launch_activations(void *argument)
{
    state &s = *static_cast<state *>(argument);
    unsigned blocks = static_cast<unsigned>((s.argument.units + 3) / 4);
    int failed = s.launch(ACTIVATIONS, blocks, nullptr);

    ranges.back().earlier = false;
    return failed;
}

/* Every element is right and nothing else was written. */
std::string gemm_case::state::compare() const
{
    for (size_t g = 0; g < sizes.size(); g++) {
        const group &group = groups[g];
        const uint16_t *c = reinterpret_cast<const uint16_t *>(group.c.data);
        size_t cells = group.c.bytes / 2;
        char text[160];

        for (size_t i = 0; i < cells + page / 4; i++) {
            bool right = i < cells ? ref_agrees(c[i], group.exact[i],
                                                group.magnitude[i], sizes[g].k)
                                   : c[i] == untouched;

            if (right)
                continue;
            snprintf(text, sizeof text,
                     "wrong-result: group %zu, row %zu, column %zu: 0x%04x "
                     "for %g [seed %llu]",
                     g, i / static_cast<size_t>(sizes[g].n),
                     i % static_cast<size_t>(sizes[g].n), c[i],
                     i < cells ? group.exact[i] : 0.0,
                     static_cast<unsigned long long>(seed));
            return text;
        }
    }
    return "";
}

std::string gemm_case::run(const struct kernels &kernels, uint64_t seed,
                           int blocks)
{
    state &s = *state_;
    unsigned grid = static_cast<unsigned>(std::min(s.argument.tiles, blocks));

    s.kernels = kernels;
    s.seed = seed;
    s.report.clear();
    std::fill(s.workspace.memory.begin(), s.workspace.memory.end(), 0xff);
    for (group &group : s.groups)
        std::fill(group.c.memory.begin(), group.c.memory.end(), 0xfd);
    ranges.back().earlier = true;
    if (s.launch(PRODUCT, grid,
                 s.config.fused ? nullptr : state::launch_activations))
        return s.report;
    return s.compare();
}

} // namespace emu_test
