/* SPDX-License-Identifier: MIT */
/* A grouped product for tests/tcgen05_pipeline.cu: operands, launches with any
 * seed, and the comparison with a float64 reference. */
#ifndef EMU_PIPELINE_CASE_H
#define EMU_PIPELINE_CASE_H

#include "emu_launch.h"

#include <memory>
#include <string>

namespace emu_test {

struct pipeline_case {
    pipeline_case();
    ~pipeline_case();
    pipeline_case(const pipeline_case &) = delete;
    pipeline_case &operator=(const pipeline_case &) = delete;

    /* "", or what the emulator or the comparison reports. */
    std::string run(int (*kernel)(const emu_launch *), uint64_t seed,
                    unsigned blocks);

  private:
    struct data;
    std::unique_ptr<data> all;
};

} // namespace emu_test

#endif
