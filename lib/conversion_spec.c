/* SPDX-License-Identifier: MIT */
#include "conversion_spec.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "abi.h"
#include "rows.h"

_Static_assert((int)JG_F16 == (int)JITGEMM_F16 &&
                   (int)JG_BF16 == (int)JITGEMM_BF16 &&
                   (int)JG_F32 == (int)JITGEMM_F32,
               "one numbering");
_Static_assert((int)JG_SWIGLU == (int)JITGEMM_SWIGLU &&
                   (int)JG_SWIGLU_INTERLEAVED ==
                       (int)JITGEMM_SWIGLU_INTERLEAVED &&
                   (int)JG_SWIGLU_OAI == (int)JITGEMM_SWIGLU_OAI &&
                   (int)JG_SWIGLU_OAI_INTERLEAVED ==
                       (int)JITGEMM_SWIGLU_OAI_INTERLEAVED,
               "one numbering");

enum { THREADS = 256, QUANTIZE_K = 512, BLOCKED_SCALES_K = 2048 };
enum { CAST_THREADS = 128, CAST_K = 4 * 8 * CAST_THREADS };

static jitgemm_status check_type(jitgemm_type type)
{
    if (type == JITGEMM_F16 || type == JITGEMM_BF16 || type == JITGEMM_E4M3)
        return JITGEMM_OK;
    return jg_fail_argument(JITGEMM_E_ARGUMENT, "options.x_type", -1,
                            (int64_t)type, JITGEMM_E4M3,
                            "options.x_type is %d; it must be JITGEMM_F16 "
                            "(0), JITGEMM_BF16 (1) or JITGEMM_E4M3 (3)",
                            (int)type);
}

/* Linear scales are where their rows are. */
static jitgemm_status check_order(const jitgemm_conversion_options *options)
{
    if (options->scale_order == JITGEMM_SCALES_BLOCKED)
        return JITGEMM_OK;
    if (options->x_type == JITGEMM_E4M3)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "options.scale_order", -1,
                                (int64_t)options->scale_order, 0,
                                "options.scale_order is JITGEMM_SCALES_LINEAR;"
                                " scales can only be made blocked");
    if (options->place == JITGEMM_PLACE_TIGHT)
        return JITGEMM_OK;
    return jg_fail_argument(JITGEMM_E_ARGUMENT, "options.place", -1,
                            (int64_t)options->place, 0,
                            "options.place is %d; with JITGEMM_SCALES_LINEAR "
                            "it must be 0",
                            (int)options->place);
}

static jitgemm_status check_flags(const jitgemm_conversion_options *options)
{
    uint32_t kernel = options->flags & ~(uint32_t)JITGEMM_DEPENDENT_LAUNCH;

    if (options->flags & JITGEMM_GATHER && options->x_type == JITGEMM_E4M3)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "options.flags", -1,
                                options->flags, 0,
                                "options.flags has JITGEMM_GATHER; scales are "
                                "converted where they are");
    if (kernel == (JITGEMM_GATHER | JITGEMM_COMBINE))
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "options.flags", -1,
                                options->flags, JITGEMM_COMBINE,
                                "options.flags has JITGEMM_GATHER beside "
                                "JITGEMM_COMBINE, which gathers anyhow");
    if (kernel & JITGEMM_CAST && kernel & JITGEMM_COMBINE)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "options.flags", -1,
                                options->flags, JITGEMM_COMBINE,
                                "options.flags has JITGEMM_CAST beside "
                                "JITGEMM_COMBINE, which has a c_type anyhow");
    return jg_rows_check_range(
        "options.flags", kernel & ~(uint32_t)JITGEMM_CAST, JITGEMM_COMBINE);
}

/* Of types only; what else there is, is 0. */
static jitgemm_status
read_combine(const jitgemm_conversion_options *options,
             struct jg_conversion_kind *to)
{
    jitgemm_status status;

    if ((status = jg_rows_check_range("options.x_type",
                                      (int64_t)options->x_type,
                                      JITGEMM_F32)) ||
        (status = jg_rows_check_range("options.c_type",
                                      (int64_t)options->c_type,
                                      JITGEMM_F32)) ||
        (status = jg_rows_check_range("options.layout",
                                      (int64_t)options->layout, 0)) ||
        (status = jg_rows_check_range("options.place",
                                      (int64_t)options->place, 0)) ||
        (status = jg_rows_check_range("options.scale_order",
                                      (int64_t)options->scale_order, 0)) ||
        (status = jg_rows_check_range("options.activation",
                                      (int64_t)options->activation, 0)))
        return status;
    *to = (struct jg_conversion_kind){.x_type = options->x_type,
                                      .layout = JG_MASKED,
                                      .linear = true,
                                      .gather = true,
                                      .combine = true,
                                      .c_type = options->c_type,
                                      .dependent = options->flags &
                                                   JITGEMM_DEPENDENT_LAUNCH,
                                      .sm_limit = options->sm_limit};
    return JITGEMM_OK;
}

/* There are no scales. */
static jitgemm_status check_cast(const jitgemm_conversion_options *options)
{
    jitgemm_status status;

    if (!(options->flags & JITGEMM_CAST))
        return jg_rows_check_range("options.c_type", (int64_t)options->c_type,
                                   0);
    if ((status = jg_rows_check_range("options.x_type",
                                      (int64_t)options->x_type,
                                      JITGEMM_BF16)) ||
        (status = jg_rows_check_range("options.c_type",
                                      (int64_t)options->c_type,
                                      JITGEMM_BF16)) ||
        (status = jg_rows_check_range("options.place",
                                      (int64_t)options->place, 0)))
        return status;
    return jg_rows_check_range("options.scale_order",
                               (int64_t)options->scale_order, 0);
}

static jitgemm_status
check_activation(const jitgemm_conversion_options *options)
{
    jitgemm_status status = jg_rows_check_range(
        "options.activation", (int64_t)options->activation,
        JITGEMM_SWIGLU_OAI_INTERLEAVED);

    if (status != JITGEMM_OK || !options->activation ||
        options->x_type != JITGEMM_E4M3)
        return status;
    return jg_fail_argument(JITGEMM_E_ARGUMENT, "options.activation", -1,
                            (int64_t)options->activation, 0,
                            "options.activation is %d; scales have none",
                            (int)options->activation);
}

jitgemm_status jg_conversion_kind_read(const jitgemm_conversion_options *from,
                                       struct jg_conversion_kind *to)
{
    jitgemm_conversion_options known;
    jitgemm_status status =
        jg_abi_read(&known, sizeof known,
                    offsetof(jitgemm_conversion_options, activation), from,
                    "options");

    if (status != JITGEMM_OK)
        return status;
    if ((status = check_flags(&known)) ||
        (status = jg_rows_check_range("options.sm_limit", known.sm_limit,
                                      INT32_MAX)))
        return status;
    if (known.flags & JITGEMM_COMBINE)
        return read_combine(&known, to);
    if ((status = check_cast(&known)) || (status = check_type(known.x_type)) ||
        (status = jg_rows_check_kind("options.layout", known.layout,
                                     "options.place", known.place)) ||
        (status = jg_rows_check_range("options.scale_order",
                                      (int64_t)known.scale_order,
                                      JITGEMM_SCALES_LINEAR)) ||
        (status = check_order(&known)) || (status = check_activation(&known)))
        return status;
    *to = (struct jg_conversion_kind){
        .x_type = known.x_type,
        .layout = (enum jg_rows)known.layout,
        .place = (enum jg_scale_place)known.place,
        .activation = (enum jg_activation)known.activation,
        .gather = known.flags & JITGEMM_GATHER,
        .cast = known.flags & JITGEMM_CAST,
        .c_type = known.c_type,
        .linear = known.scale_order == JITGEMM_SCALES_LINEAR ||
                  known.flags & JITGEMM_CAST,
        .dependent = known.flags & JITGEMM_DEPENDENT_LAUNCH,
        .sm_limit = known.sm_limit,
    };
    return JITGEMM_OK;
}

int jg_conversion_tile_k(const struct jg_conversion_kind *kind)
{
    return kind->x_type == JITGEMM_E4M3 ? BLOCKED_SCALES_K
           : !kind->cast                ? QUANTIZE_K
           : kind->activation           ? CAST_K / 2
                                        : CAST_K;
}

/* struct smem of both kernels, which check that it is this many: atoms 16
 * bytes apart, and two words a warp; quantize.cu: two words a row. */
static int shared_bytes(const struct jg_conversion_kind *kind)
{
    return jg_conversion_tile_k(kind) / JG_ATOM_K * (JG_ATOM_BYTES + 16) +
           THREADS / 32 * 8 +
           (kind->x_type == JITGEMM_E4M3 ? 0 : JG_ATOM_ROWS * 8);
}

static const char *const types[] = {"f16", "bf16", "f32", "e4m3"};
static const char *const layouts[] = {"stacked", "masked"};
static const char *const activations[] = {
    "", ", swiglu", ", swiglu interleaved", ", swiglu oai",
    ", swiglu oai interleaved"};

static void combine_spec(const struct jg_conversion_kind *kind,
                         struct jg_spec *spec)
{
    char constants[256];

    spec->program = "quant/combine.cu";
    spec->symbol = "combine";
    spec->threads = THREADS;
    snprintf(spec->name, sizeof spec->name, "%s %s to %s", spec->symbol,
             types[kind->x_type], types[kind->c_type]);
    snprintf(constants, sizeof constants,
             "constexpr int x_type = %d;\n"
             "constexpr int c_type = %d;\n"
             "constexpr int threads = %d;\n",
             (int)kind->x_type, (int)kind->c_type, spec->threads);
    jg_spec_write(spec, constants);
}

/* Shared are two words a warp. */
static void cast_spec(const struct jg_conversion_kind *kind,
                      struct jg_spec *spec)
{
    char constants[256];

    spec->program = "quant/cast.cu";
    spec->symbol = "cast";
    spec->threads = CAST_THREADS;
    spec->shared_bytes = CAST_THREADS / 32 * 8;
    snprintf(spec->name, sizeof spec->name, "%s %s to %s, %s%s%s",
             spec->symbol, types[kind->x_type], types[kind->c_type],
             layouts[kind->layout], activations[kind->activation],
             kind->gather ? ", gather" : "");
    snprintf(constants, sizeof constants,
             "constexpr int layout = %d;\n"
             "constexpr int x_type = %d;\n"
             "constexpr int c_type = %d;\n"
             "constexpr int activation = %d;\n"
             "constexpr bool gather = %s;\n"
             "constexpr int tile_k = %d;\n"
             "constexpr int threads = %d;\n"
             "constexpr int smem_bytes = %d;\n",
             (int)kind->layout, (int)kind->x_type, (int)kind->c_type,
             (int)kind->activation, kind->gather ? "true" : "false",
             jg_conversion_tile_k(kind), spec->threads, spec->shared_bytes);
    jg_spec_write(spec, constants);
}

void jg_conversion_spec(const struct jg_conversion_kind *kind,
                        const struct jg_device *device, struct jg_spec *spec)
{
    static const char *const places[] = {"tight", "floor", "ceil", "strided",
                                         "explicit"};
    bool scales_only = kind->x_type == JITGEMM_E4M3;
    char constants[256];

    memset(spec, 0, sizeof *spec);
    memcpy(spec->arch, device->arch, sizeof spec->arch);
    if (kind->combine || kind->cast) {
        (kind->cast ? cast_spec : combine_spec)(kind, spec);
        return;
    }
    spec->program =
        scales_only ? "quant/blocked_scales.cu" : "quant/quantize.cu";
    spec->symbol = scales_only ? "blocked_scales" : "quantize";
    spec->threads = THREADS;
    spec->shared_bytes = shared_bytes(kind);
    snprintf(spec->name, sizeof spec->name, "%s %s, %s, %s%s%s", spec->symbol,
             types[kind->x_type], layouts[kind->layout],
             kind->linear ? "linear" : places[kind->place],
             activations[kind->activation], kind->gather ? ", gather" : "");
    snprintf(constants, sizeof constants,
             "constexpr int layout = %d;\n"
             "constexpr int place = %d;\n"
             "constexpr bool linear = %s;\n"
             "constexpr bool bf16 = %s;\n"
             "constexpr int activation = %d;\n"
             "constexpr bool gather = %s;\n"
             "constexpr int threads = %d;\n"
             "constexpr int smem_bytes = %d;\n",
             (int)kind->layout,
             /* Any place that takes no search. */
             kind->linear ? (int)JG_FLOOR : (int)kind->place,
             kind->linear ? "true" : "false",
             kind->x_type == JITGEMM_BF16 ? "true" : "false",
             (int)kind->activation, kind->gather ? "true" : "false",
             spec->threads, spec->shared_bytes);
    jg_spec_write(spec, constants);
}
