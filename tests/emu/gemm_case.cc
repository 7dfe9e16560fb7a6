/* SPDX-License-Identifier: MIT */
/* Memory with guard pages, the table of groups, launches and the comparison.
 */
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
#include <sys/mman.h>

namespace emu_test {

namespace {

constexpr size_t page = 4096;

/* Memory of the emulated device: all that asynchronous copies may take. */
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

/* Ends where a page does that may not be touched. */
struct buffer {
    unsigned char *data = nullptr;
    size_t bytes = 0;

    void make(size_t size, const void *from = nullptr)
    {
        size_t whole = (size + page - 1) / page * page;
        void *memory = mmap(nullptr, whole + page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (memory == MAP_FAILED)
            abort();
        data = static_cast<unsigned char *>(memory) + whole - size;
        bytes = size;
        mprotect(data + size, page, PROT_NONE);
        if (from)
            memcpy(data, from, size);
    }
    buffer() = default;
    buffer(const buffer &) = delete;
    buffer &operator=(const buffer &) = delete;
    ~buffer()
    {
        size_t whole = (bytes + page - 1) / page * page;

        if (data)
            munmap(data + bytes - whole, whole + page);
    }
};

jg_config c_config(const config &config)
{
    return {config.tile_m, config.width_step, config.tile_n, config.tile_k,
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
    buffer a_values, a_scales, b_values, b_scales, c;
    float alpha;
    std::vector<double> exact, magnitude;
};

} // namespace

struct gemm_case::state {
    struct config config;
    std::vector<size> sizes;
    std::vector<std::unique_ptr<group>> groups;
    std::vector<int> first_tile, first_unit;
    buffer table, workspace;
    jg_table argument;
    uint64_t seed;
    struct kernels kernels;
    std::string report;

    void make_group(size_t g);
    void make_table();
    int launch(kernel_kind kind, unsigned grid, int (*depend)(void *));
    static int launch_activations(void *state);
    std::string compare() const;
};

std::vector<config> all_configs()
{
    std::vector<config> all;

    for (int i = 0; i < jg_model_sm90.count; i++) {
        const jg_config &row = jg_model_sm90.configs[i];

        all.push_back({row.tile_m, row.width_step, row.tile_n, row.tile_k, row.stages,
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
    group &made = *groups[g];
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
    made.a_values.make(static_cast<size_t>(size.m * size.k) / 2,
                       made.a.values);
    made.a_scales.make(made.a.scale_bytes, made.a.scales);
    made.b_values.make(static_cast<size_t>(size.n * size.k) / 2,
                       made.b.values);
    made.b_scales.make(made.b.scale_bytes, made.b.scales);
    made.c.make(cells * 2);
    ranges.push_back({made.b_values.data, made.b_values.bytes, false});
    ranges.push_back({made.b_scales.data, made.b_scales.bytes, false});
}

/* As lib/launch.c and lib/bind.c do. */
void gemm_case::state::make_table()
{
    jg_config row = c_config(config);
    int64_t tiles = 0, units = 0;

    table.make(sizes.size() * sizeof(jg_group));
    auto *rows = reinterpret_cast<jg_group *>(table.data);
    for (size_t g = 0; g < sizes.size(); g++) {
        jg_size size = {sizes[g].m, sizes[g].n, sizes[g].k};
        group &from = *groups[g];
        uint32_t side = static_cast<uint32_t>(row.tile_k) / 2;
        emu_tensor_map map{};

        rows[g].a = from.a_values.data;
        rows[g].sfa = from.a_scales.data;
        rows[g].b = from.b_values.data;
        rows[g].sfb = from.b_scales.data;
        rows[g].c = reinterpret_cast<unsigned short *>(from.c.data);
        rows[g].alpha = &from.alpha;
        rows[g].activations = static_cast<unsigned long long>(units) * 1024;
        rows[g].m = size.m;
        rows[g].n = size.n;
        rows[g].k = size.k;
        rows[g].chunks = static_cast<int>(jg_cut_chunks(&row, size));
        rows[g].tile_rows = jg_cut_tile_rows(&row, size);
        map.address = reinterpret_cast<uintptr_t>(from.b_values.data);
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
        tiles += jg_cut_tiles(&row, size);
        units += jg_cut_units(&row, size);
    }
    first_tile.push_back(static_cast<int>(tiles));
    first_unit.push_back(static_cast<int>(units));
    workspace.make(static_cast<size_t>(units) * 1024);
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
    for (size_t g = 0; g < sizes.size(); g++) {
        state_->groups.push_back(std::make_unique<group>());
        state_->make_group(g);
    }
    state_->make_table();
}

gemm_case::~gemm_case()
{
    for (auto &group : state_->groups) {
        ref_operand_free(&group->a);
        ref_operand_free(&group->b);
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

/* Every element is right. */
std::string gemm_case::state::compare() const
{
    for (size_t g = 0; g < sizes.size(); g++) {
        const group &group = *groups[g];
        const uint16_t *c = reinterpret_cast<const uint16_t *>(group.c.data);
        size_t cells = group.c.bytes / 2;
        char text[160];

        for (size_t i = 0; i < cells; i++) {
            if (ref_agrees(c[i], group.exact[i], group.magnitude[i],
                           sizes[g].k))
                continue;
            snprintf(text, sizeof text,
                     "wrong-result: group %zu, row %zu, column %zu: 0x%04x "
                     "for %g [seed %llu]",
                     g, i / static_cast<size_t>(sizes[g].n),
                     i % static_cast<size_t>(sizes[g].n), c[i], group.exact[i],
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
    memset(s.workspace.data, 0xff, s.workspace.bytes); /* NaN */
    for (auto &group : s.groups)
        memset(group->c.data, 0xff, group->c.bytes);
    ranges.back().earlier = true;
    if (s.launch(PRODUCT, grid,
                 s.config.fused ? nullptr : state::launch_activations))
        return s.report;
    return s.compare();
}

} // namespace emu_test
