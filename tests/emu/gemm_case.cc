/* SPDX-License-Identifier: MIT */
/* Memory with guard pages, the table of groups, launches and the comparison.
 */
#include "gemm_case.h"
#include "tensor_map.h"

extern "C" {
#include "../reference.h"
}

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

const jg_device &device_of(const jg_config &config)
{
    static jg_device devices[2];
    jg_device &device = devices[config.family];

    jg_device_of_arch(config.family == JG_SM90 ? "sm_90a" : "sm_100a",
                      &device);
    return device;
}

jg_spec spec_of(const jg_config &config, kernel_kind kind)
{
    jg_spec spec;

    jg_spec_make(&config, &device_of(config),
                 kind == PRODUCT ? jg_spec_count(&config) - 1 : 0, &spec);
    return spec;
}

struct group {
    ref_operand a, b;
    buffer a_values, a_scales, b_values, b_scales, c, bias;
    float alpha;
    std::vector<double> exact, magnitude;
};

} // namespace

struct gemm_case::state {
    jg_config config;
    std::vector<size> sizes;
    std::vector<std::unique_ptr<group>> groups;
    buffer memory; /* of a plan */
    jg_layout layout;
    jg_table argument;
    uint64_t seed;
    struct kernels kernels;
    std::string report;

    void make_group(size_t g);
    void make_bias(size_t g);
    void make_table();
    void fill_row(size_t g, jg_group *row, unsigned char *maps);
    int launch(kernel_kind kind, unsigned grid, int (*depend)(void *));
    static int launch_activations(void *state);
    std::string compare() const;
};

compile_job job_of(const jg_config &config, kernel_kind kind,
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

    if (config.input == JG_IN_NVFP4)
        ref_operand_alloc(&made.a, size.m, size.k);
    else
        ref_operand_alloc_type(&made.a, size.m, size.k,
                               config.input == JG_IN_BF16 ? REF_BF16
                                                          : REF_F16);
    (config.weights == JG_W_MXFP4 ? ref_operand_alloc_mx : ref_operand_alloc)(
        &made.b, size.n, size.k);
    ref_operand_fill(&made.a, REF_FULL, fill_seed);
    ref_operand_fill(&made.b, REF_FULL, fill_seed + 1);
    made.alpha = g % 3 == 1 ? -0.375f : 0.0009765625f;
    made.exact.resize(cells);
    made.magnitude.resize(cells);
    if (cells)
        ref_product(&made.a, &made.b, static_cast<double>(made.alpha),
                    made.exact.data(), made.magnitude.data(), 1);
    made.a_values.make(made.a.value_bytes, made.a.values);
    made.a_scales.make(made.a.scale_bytes, made.a.scales);
    made.b_values.make(made.b.value_bytes, made.b.values);
    made.b_scales.make(made.b.scale_bytes, made.b.scales);
    made.c.make(cells * (config.output == JG_F32 ? 4 : 2));
    make_bias(g);
    for (const buffer *b : {&made.a_values, &made.a_scales, &made.b_values,
                            &made.b_scales})
        ranges.push_back({b->data, b->bytes, false});
}

/* Every other group has one. */
void gemm_case::state::make_bias(size_t g)
{
    struct size size = sizes[g];
    group &made = *groups[g];
    ref_type type = static_cast<ref_type>(config.output);
    std::vector<double> bias;
    uint64_t random = seed;

    if (g % 2)
        return;
    made.bias.make(static_cast<size_t>(size.n) * (type == REF_F32 ? 4 : 2));
    for (int j = 0; j < size.n; j++) {
        double any = static_cast<double>(ref_random(&random) % 4096) / 8 - 256;

        ref_store(type, made.bias.data, j, any);
        bias.push_back(ref_load(type, made.bias.data, j));
    }
    ref_add_bias(bias.data(), size.m, size.n, made.exact.data(),
                 made.magnitude.data());
}

static void encode(const void *address, int elements, int rows, int box_rows,
                   uint32_t element_bytes, uint32_t swizzle,
                   unsigned char *map)
{
    emu_tensor_map made{};

    made.address = reinterpret_cast<uintptr_t>(address);
    made.rank = 2;
    made.extent[0] = static_cast<uint64_t>(elements);
    made.extent[1] = static_cast<uint64_t>(rows);
    made.stride[0] = made.extent[0] * element_bytes;
    made.box[0] = swizzle ? swizzle : 256;
    made.box[1] = static_cast<uint32_t>(box_rows);
    made.element_bytes = element_bytes;
    made.swizzle = swizzle;
    emu_tensor_map_encode(&made, map);
}

void gemm_case::state::fill_row(size_t g, jg_group *row, unsigned char *maps)
{
    group &from = *groups[g];
    struct size size = sizes[g];
    uint32_t side = static_cast<uint32_t>(config.tile_k) / 2;
    row->a = from.a_values.data;
    row->sfa = from.a_scales.data;
    row->b = from.b_values.data;
    row->sfb = from.b_scales.data;
    row->c = reinterpret_cast<unsigned short *>(from.c.data);
    row->alpha = &from.alpha;
    row->bias = from.bias.data;
    if (!size.m)
        return;
    if (config.family == JG_SM100)
        encode(row->a, size.k / 2, size.m, config.tile_m / config.ctas, 1, side,
               maps);
    encode(row->b, size.k / 2, size.n,
           config.family == JG_SM90 ? config.tile_n
                                    : config.tile_n / config.ctas,
           1, side,
           config.family == JG_SM90 ? row->b_map : maps + JG_MAP_BYTES);
    if (config.family == JG_SM90 || config.ctas == 1)
        return;
    encode(row->sfa, (size.k + 63) / 64 * 64, (size.m + 127) / 128, 1, 8, 0,
           maps + 2 * JG_MAP_BYTES);
    encode(row->sfb, (size.k + 63) / 64 * 64, (size.n + 127) / 128, 1, 8, 0,
           maps + 3 * JG_MAP_BYTES);
}

/* As lib/launch.c and lib/bind.c do. */
void gemm_case::state::make_table()
{
    std::vector<jg_size> all;
    std::vector<int32_t> order(sizes.size());
    jg_problem problem{};

    for (const struct size &size : sizes)
        all.push_back({size.m, size.n, size.k});
    problem.groups = static_cast<int32_t>(all.size());
    problem.sizes = all.data();
    jg_table_order(&config, &problem, order.data());
    jg_table_measure(&config, &device_of(config), &problem, order.data(),
                     &argument, &layout);
    memory.make(layout.all);
    jg_table_fill(&config, &problem, order.data(), &layout, memory.data);
    jg_table_place(&layout, memory.data, &argument);
    for (size_t i = 0; i < sizes.size(); i++)
        fill_row(static_cast<size_t>(order[i]),
                 reinterpret_cast<jg_group *>(memory.data) + i,
                 memory.data + layout.maps +
                     (config.edits_maps ? 0
                                        : jg_table_group_maps(&config) * i));
    ranges.push_back({memory.data, layout.image, false});
    ranges.push_back({memory.data + layout.workspace,
                      layout.all - layout.workspace, true});
}

bool gemm_case::allows(const jg_config &config, const std::vector<size> &sizes)
{
    std::vector<jg_size> all;

    for (const struct size &size : sizes)
        all.push_back({size.m, size.n, size.k});
    jg_problem problem{};
    problem.groups = static_cast<int32_t>(all.size());
    problem.sizes = all.data();
    problem.split_k = true;
    return jg_cut_allows(&config, &problem, &device_of(config));
}

gemm_case::gemm_case(const jg_config &config, const std::vector<size> &sizes,
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
    launch.cluster[0] = static_cast<unsigned>(spec.cluster);
    launch.shared_bytes = static_cast<size_t>(spec.shared_bytes);
    launch.registers = static_cast<unsigned>(
        65536 /
        (spec.threads *
         (kind == PRODUCT && config.family == JG_SM90 ? config.blocks : 1)) /
        8 * 8);
    launch.parameters = parameters;
    launch.seed = seed;
    launch.check = check_access;
    launch.report = text;
    launch.report_bytes = sizeof text;
    launch.depend = depend;
    launch.depend_argument = this;
    int failed = (kind == PRODUCT ? kernels.product
                                  : kernels.activations)(&launch);
    if (failed && report.empty())
        report = text;
    return failed;
}

/* What the product depends on. */
int gemm_case::state::launch_activations(void *argument)
{
    state &s = *static_cast<state *>(argument);
    unsigned blocks = 3; /* fewer than there is work for */
    int failed = s.launch(ACTIVATIONS, blocks, nullptr);

    ranges.back().earlier = false;
    return failed;
}

/* Every element is right. */
std::string gemm_case::state::compare() const
{
    ref_type type = static_cast<ref_type>(config.output);

    for (size_t g = 0; g < sizes.size(); g++) {
        const group &group = *groups[g];
        char text[160];

        for (size_t i = 0; i < group.exact.size(); i++) {
            double got =
                ref_load(type, group.c.data, static_cast<int64_t>(i));

            if (ref_agrees(type, got, group.exact[i], group.magnitude[i],
                           sizes[g].k))
                continue;
            snprintf(text, sizeof text,
                     "wrong-result: group %zu, row %zu, column %zu: %g "
                     "for %g [seed %llu]",
                     g, i / static_cast<size_t>(sizes[g].n),
                     i % static_cast<size_t>(sizes[g].n), got, group.exact[i],
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
    bool split = s.config.family == JG_SM90 && s.config.ctas > 1;
    int tiles = split ? s.argument.tiles : std::min(s.argument.tiles, blocks);
    unsigned grid = static_cast<unsigned>(s.config.ctas * tiles);

    s.kernels = kernels;
    s.seed = seed;
    s.report.clear();
    memset(s.memory.data + s.layout.workspace, 0xff, /* NaN */
           s.layout.all - s.layout.workspace);
    for (auto &group : s.groups)
        memset(group->c.data, 0xff, group->c.bytes);
    ranges.back().earlier = jg_spec_count(&s.config) > 1;
    if (s.launch(PRODUCT, grid,
                 ranges.back().earlier ? state::launch_activations : nullptr))
        return s.report;
    return s.compare();
}

} // namespace emu_test
