/* SPDX-License-Identifier: MIT */
/* spec.cuh of each kernel. */
#include "spec.h"

#include <stdio.h>
#include <string.h>

#define SHARED_BYTES 232448 /* most a block can have on sm_90: 227 KiB */

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

static void make_activations(struct jg_spec *spec)
{
    char constants[64];

    spec->program = "gemm/sm90_activations.cu";
    spec->symbol = "sm90_activations";
    spec->threads = 256;
    snprintf(spec->name, sizeof spec->name, "%s", spec->symbol);
    snprintf(constants, sizeof constants, "constexpr int threads = %d;\n",
             spec->threads);
    write_text(spec, constants);
}

/* Three warpgroups start with 168 registers a thread of the 65536; the
 * producer's gives up what the two consumers take. */
static void make_gemm(const struct jg_config *config, struct jg_spec *spec)
{
    char constants[512];

    spec->program = "gemm/sm90_nvfp4.cu";
    spec->symbol = "sm90_nvfp4";
    spec->threads = 384;
    spec->shared_bytes = SHARED_BYTES;
    snprintf(spec->name, sizeof spec->name, "%s %dx%dx%d, %d stages",
             spec->symbol, config->tile_m, config->tile_n, config->tile_k,
             config->stages);
    snprintf(constants, sizeof constants,
             "constexpr int tile_m = %d;\n"
             "constexpr int tile_n = %d;\n"
             "constexpr int tile_k = %d;\n"
             "constexpr int stages = %d;\n"
             "constexpr int threads = %d;\n"
             "constexpr int smem_bytes = %d;\n"
             "constexpr int producer_registers = 24;\n"
             "constexpr int consumer_registers = 240;\n",
             config->tile_m, config->tile_n, config->tile_k, config->stages,
             spec->threads, spec->shared_bytes);
    write_text(spec, constants);
}

void jg_spec_make(const struct jg_config *config,
                  const struct jg_device *device, int index,
                  struct jg_spec *spec)
{
    memset(spec, 0, sizeof *spec);
    memcpy(spec->arch, device->arch, sizeof spec->arch);
    if (index == 0)
        make_activations(spec);
    else
        make_gemm(config, spec);
}
