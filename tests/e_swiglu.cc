/* SPDX-License-Identifier: MIT */
/* SwiGLU of the kernels against the reference, to the last bit: codes of four
 * bits hide most of what may be wrong. tests/g_wrappers compares the GPU with
 * this. */
#include <emu.h>

#include <quant/swiglu.cuh>

#include "unit.h"
extern "C" {
#include "conversion_case.h"
}

using namespace emu_test;

namespace {

long wrong;

/* Every bf16, and as many of all bits between -128 and 128. */
void compare()
{
    uint64_t seed = 1;

    for (u32 i = 0; i < 0x10000; i++) {
        u32 random = u32(ref_random(&seed));
        float gates[] = {__uint_as_float(i << 16),
                         float(int(random)) * 0x1p-24f};
        float up = float(int(ref_random(&seed) >> 40)) * 0x1p-20f;

        for (float gate : gates) {
            u32 right = __float_as_uint(ref_swiglu(gate, up));

            wrong += __float_as_uint(quant::swiglu(gate, up)) != right;
            if (gate >= -quant::most_gate && gate <= quant::most_gate)
                wrong += __float_as_uint(quant::swiglu_within(gate, up)) !=
                         right;
            wrong += __float_as_uint(quant::swiglu_oai(gate, up)) !=
                     __float_as_uint(ref_swiglu_oai(gate, up));
            wrong += __float_as_uint(quant::swiglu_oai(up, gate)) !=
                     __float_as_uint(ref_swiglu_oai(up, gate));
        }
    }
}

} // namespace

int main()
{
    check_report(compare, 1, "");
    CHECK_INT(wrong, 0);
    return test_end();
}
