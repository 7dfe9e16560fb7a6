/* SPDX-License-Identifier: MIT */
/* Activations by their numbers, jg_activation: of a gate and its up. */
#pragma once
#include <base/conversion.h>
#include <quant/swiglu.cuh>

namespace quant {

/* Whether a gate's neighbour is its up, or all gates come first. */
__host__ __device__ constexpr bool is_interleaved(int activation)
{
    return activation == JG_SWIGLU_INTERLEAVED ||
           activation == JG_SWIGLU_OAI_INTERLEAVED;
}

template <int activation>
__device__ inline float activate(float gate, float up)
{
    constexpr bool oai = activation >= JG_SWIGLU_OAI;
    return oai ? swiglu_oai(gate, up) : swiglu(gate, up);
}

} // namespace quant
