/* SPDX-License-Identifier: MIT */
/* Planted bugs of tensor memory.
 * Usage: e_tcgen05_bugs [BUG]; emu/planted.h. */
#include "emu/pipeline_case.h"
#include "emu/planted_tensor_bugs.h"

#include "test.h"

using namespace emu_test;

int main(int argc, char **argv)
{
    pipeline_case pipeline;

    planted_kernel kernel = {
        "tcgen05_pipeline", tensor_bugs, tensor_bugs_count,
        [&](run_function run, uint64_t seed) {
            return pipeline.run(run, seed, 1 + seed % 2);
        }};

    CHECK_INT(planted_check(kernel, argc > 1 ? argv[1] : nullptr), 0);
    return test_end();
}
