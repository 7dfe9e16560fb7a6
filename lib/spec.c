/* SPDX-License-Identifier: MIT */
/* spec.cuh of each kernel. */
#include "spec.h"

#include <base/experts.h>
#include <stdio.h>
#include <string.h>

static const char *const outputs[] = {"f16", "bf16", "f32"}; /* jg_output */

/* spec.cuh of the constants. The kernel carries them, and its program's name,
 * as text: a cubin then says what it is. */
static void write_text(struct jg_spec *spec, const char *constants)
{
    snprintf(spec->text, sizeof spec->text,
             "#pragma once\n"
             "namespace spec {\n"
             "%s"
             "} // namespace spec\n"
             "extern \"C\" __device__ char jitgemm_spec[] = R\"(%s\n%s)\";\n",
             constants, spec->program, constants);
}

/* Into a kernel's name, behind the rest. */
static void name_option(struct jg_spec *spec, bool set, const char *name)
{
    size_t length = strlen(spec->name);

    if (set)
        snprintf(spec->name + length, sizeof spec->name - length, ", %s",
                 name);
}

/* ---- The table of groups, where the host cannot make it ---- */

static void make_experts(const struct jg_config *config, struct jg_spec *spec)
{
    static const char *const layouts[] = {"stacked", "masked"};
    static const char *const places[] = {"tight", "floor", "ceil", "strided",
                                         "explicit"};
    int maps = config->family == JG_SM90 ? 1 : 2 * config->ctas;
    char constants[256];

    spec->program = "gemm/experts.cu";
    spec->symbol = "experts";
    spec->threads = 512;
    spec->shared_bytes = spec->threads / 32 * 8; /* a number a warp */
    snprintf(spec->name, sizeof spec->name, "%s %s, %s, %d maps", spec->symbol,
             layouts[config->layout], places[config->place], maps);
    name_option(spec, config->strided, "strided");
    name_option(spec, config->zero_tail, "zero tail");
    snprintf(constants, sizeof constants,
             "constexpr int layout = %d;\n"
             "constexpr int place = %d;\n"
             "constexpr int maps = %d;\n"
             "constexpr bool strided = %s;\n"
             "constexpr bool zero_tail = %s;\n"
             "constexpr int threads = %d;\n"
             "constexpr int smem_bytes = %d;\n",
             (int)config->layout, (int)config->place, maps,
             config->strided ? "true" : "false",
             config->zero_tail ? "true" : "false", spec->threads,
             spec->shared_bytes);
    write_text(spec, constants);
}

/* ---- Hopper ---- */

/* struct own_table of sched/own_table.cuh, if the kernel has one. */
static int own_table_bytes(const struct jg_config *config, int threads,
                           bool decodes)
{
    int arrays = decodes ? 3 : 2, words = arrays * (threads / 32);
    int numbers = arrays * (JG_OWN_GROUPS + 1) + !decodes + words + 1;

    return config->own_table ? numbers * 4 : 0;
}

static void make_activations(const struct jg_config *config,
                             struct jg_spec *spec)
{
    bool nvfp4 = config->input == JG_IN_NVFP4;
    char constants[256];

    spec->program = "gemm/sm90_activations.cu";
    spec->symbol = "sm90_activations";
    spec->threads = 256;
    spec->shared_bytes = spec->threads * 32 + /* 16 f16 a thread */
                         own_table_bytes(config, spec->threads, true);
    snprintf(spec->name, sizeof spec->name, "%s %d, %s", spec->symbol,
             config->tile_k, nvfp4 ? "nvfp4" : "16 bits");
    name_option(spec, config->strided, "strided");
    name_option(spec, config->own_table, "own table");
    snprintf(constants, sizeof constants,
             "constexpr int tile_k = %d;\n"
             "constexpr bool nvfp4 = %s;\n"
             "constexpr bool strided = %s;\n"
             "constexpr bool own_table = %s;\n"
             "constexpr int threads = %d;\n"
             "constexpr int smem_bytes = %d;\n",
             config->tile_k, nvfp4 ? "true" : "false",
             config->strided ? "true" : "false",
             config->own_table ? "true" : "false", spec->threads,
             spec->shared_bytes);
    write_text(spec, constants);
}

/* struct smem of gemm/sm90_nvfp4.cu, which checks that it is this many. */
static int sm90_shared_bytes(const struct jg_config *config)
{
    int activations = config->tile_m * config->tile_k * 2;
    int weights = config->tile_n * config->tile_k / 2;
    int scale_rows = config->tile_n < 128 ? 128 : config->tile_n; /* atoms */
    int scale_k = config->weights == JG_W_MXFP4 ? 32 : 16;
    int scales = scale_rows * config->tile_k / scale_k;
    int barriers = 2 * 8;
    int staging = config->tile_n * 2 * 16; /* 16 bytes a consumer's thread */
    int sums = config->ctas > 1 ? (config->ctas - 1) * config->tile_m *
                                      config->tile_n * 4
                                : 512;
    int alignment = 1024;

    return config->stages * (activations + weights + scales + barriers) +
           staging + sums + alignment;
}

/* Registers a thread, in the steps of 8 that setmaxnreg knows. A block starts
 * with equal shares for its warpgroups; what the producer's gives back is all
 * that the consumers can take, more would be waited for for ever. */
struct registers {
    int producer, consumer;
};

static struct registers share_registers(const struct jg_config *config,
                                        int threads)
{
    int entry = 65536 / (threads * config->blocks) / 8 * 8;
    int most = config->fused ? 104 : config->tile_n > 128 ? 32 : 24;
    int producer = most < entry ? most : entry;
    int consumers = config->tile_n / 64;

    return (struct registers){
        producer, ((1 + consumers) * entry - producer) / consumers / 8 * 8};
}

/* Adding to C takes registers that as many widths do not leave. */
static int width_step(const struct jg_config *config)
{
    int twice = 2 * config->width_step;

    return config->accumulate && config->tile_m % twice == 0
               ? twice
               : config->width_step;
}

static void make_sm90(const struct jg_config *config, struct jg_spec *spec)
{
    const char *inputs = config->weights == JG_W_MXFP4 ? "mxfp4 to "
                         : config->input == JG_IN_BF16 ? "bf16 to "
                         : config->input == JG_IN_F16  ? "f16 to "
                                                       : "";
    struct registers registers;
    char constants[640], split[24];

    spec->program = "gemm/sm90_nvfp4.cu";
    spec->symbol = "sm90_nvfp4";
    spec->threads = 128 + config->tile_n * 2;
    registers = share_registers(config, spec->threads);
    spec->shared_bytes = sm90_shared_bytes(config) +
                         own_table_bytes(config, spec->threads, config->fused);
    spec->cluster = config->ctas > 1 ? config->ctas : 0;
    snprintf(split, sizeof split, ", split k %d", config->ctas);
    snprintf(spec->name, sizeof spec->name,
             "%s %dx%dx%d, %d stages, %s%s%s%s%s",
             spec->symbol, config->tile_m, config->tile_n, config->tile_k,
             config->stages, inputs, outputs[config->output],
             config->blocks > 1 ? ", 2 blocks" : "",
             config->fused ? ", fused" : "",
             config->ctas > 1 ? split : "");
    name_option(spec, config->strided, "strided");
    name_option(spec, config->accumulate, "adds");
    name_option(spec, config->own_table, "own table");
    snprintf(constants, sizeof constants,
             "constexpr int tile_m = %d;\n"
             "constexpr int width_step = %d;\n"
             "constexpr int tile_n = %d;\n"
             "constexpr int tile_k = %d;\n"
             "constexpr int stages = %d;\n"
             "constexpr int blocks = %d;\n"
             "constexpr int split = %d;\n"
             "constexpr bool fused = %s;\n"
             "constexpr bool strided = %s;\n"
             "constexpr bool accumulate = %s;\n"
             "constexpr bool own_table = %s;\n"
             "constexpr int input = %d;\n"
             "constexpr int weights = %d;\n"
             "constexpr int output = %d;\n"
             "constexpr int threads = %d;\n"
             "constexpr int smem_bytes = %d;\n"
             "constexpr int producer_registers = %d;\n"
             "constexpr int consumer_registers = %d;\n",
             config->tile_m, width_step(config), config->tile_n, config->tile_k,
             config->stages, config->blocks, config->ctas,
             config->fused ? "true" : "false",
             config->strided ? "true" : "false",
             config->accumulate ? "true" : "false",
             config->own_table ? "true" : "false", (int)config->input,
             (int)config->weights, (int)config->output, spec->threads,
             spec->shared_bytes, registers.producer, registers.consumer);
    write_text(spec, constants);
}

/* ---- Blackwell ---- */

static int columns(const struct jg_config *config)
{
    return config->swapped ? config->tile_m : config->tile_n;
}

/* struct smem of gemm/sm100_nvfp4.cu, which checks that it fits. */
static int sm100_shared_bytes(const struct jg_config *config)
{
    int operands = (128 + columns(config) / config->ctas) * 128;
    int scales = 2048 + (columns(config) + 127) / 128 * 2048;
    int barriers = 2 * 8;
    int element = config->output == JG_F32 || config->accumulate ? 4 : 2;
    int staging = config->swapped ? 8 * 128 * element : 16;
    int rest = config->accumulators * barriers + 8;
    int alignment = 1024;

    return config->stages * (operands + scales + barriers) + staging + rest +
           alignment;
}

/* Allocated are powers of two. */
static int tensor_columns(const struct jg_config *config)
{
    int scales = 16 + (columns(config) + 127) / 128 * 16;
    int used =
        config->accumulators * columns(config) + config->stages * scales;
    int allocated = 32;

    while (allocated < used)
        allocated *= 2;
    return allocated;
}

static void make_sm100(const struct jg_config *config, struct jg_spec *spec)
{
    char constants[512];

    spec->program = "gemm/sm100_nvfp4.cu";
    spec->symbol = "sm100_nvfp4";
    spec->threads = 192;
    spec->shared_bytes = sm100_shared_bytes(config);
    spec->cluster = config->ctas > 1 ? config->ctas : 0;
    snprintf(spec->name, sizeof spec->name, "%s %dx%dx%d, %d stages, %s%s%s%s",
             spec->symbol, config->tile_m, config->tile_n, config->tile_k,
             config->stages, outputs[config->output],
             config->ctas > 1 ? ", 2 CTAs" : "",
             config->swapped ? ", swapped" : "",
             config->edits_maps ? ", edits maps" : "");
    name_option(spec, config->strided, "strided");
    name_option(spec, config->accumulate, "adds");
    snprintf(constants, sizeof constants,
             "constexpr int columns = %d;\n"
             "constexpr int stages = %d;\n"
             "constexpr int ctas = %d;\n"
             "constexpr int accumulators = %d;\n"
             "constexpr bool swapped = %s;\n"
             "constexpr bool edits_maps = %s;\n"
             "constexpr bool strided = %s;\n"
             "constexpr bool accumulate = %s;\n"
             "constexpr int output = %d;\n"
             "constexpr int threads = %d;\n"
             "constexpr int smem_bytes = %d;\n"
             "constexpr int tensor_columns = %d;\n",
             columns(config), config->stages, config->ctas,
             config->accumulators,
             config->swapped ? "true" : "false",
             config->edits_maps ? "true" : "false",
             config->strided ? "true" : "false",
             config->accumulate ? "true" : "false", (int)config->output,
             spec->threads, spec->shared_bytes, tensor_columns(config));
    write_text(spec, constants);
}

/* ---- */

int jg_spec_count(const struct jg_config *config)
{
    bool ahead = config->family == JG_SM90 && !config->fused;

    return config->experts + ahead + 1;
}

void jg_spec_make(const struct jg_config *config,
                  const struct jg_device *device, int index,
                  struct jg_spec *spec)
{
    memset(spec, 0, sizeof *spec);
    memcpy(spec->arch, device->arch, sizeof spec->arch);
    if (config->experts && index == 0)
        make_experts(config, spec);
    else if (config->family == JG_SM100)
        make_sm100(config, spec);
    else if (index < jg_spec_count(config) - 1)
        make_activations(config, spec);
    else
        make_sm90(config, spec);
}

void jg_spec_write(struct jg_spec *spec, const char *constants)
{
    write_text(spec, constants);
}
