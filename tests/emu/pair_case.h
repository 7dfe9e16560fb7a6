/* SPDX-License-Identifier: MIT */
/* A product for tests/pair_pipeline.cu: operands, launches
 * with any seed, and the comparison with a float64 reference. */
#ifndef EMU_PAIR_CASE_H
#define EMU_PAIR_CASE_H

#include "emu_launch.h"

#include <memory>
#include <string>

namespace emu_test {

struct pair_case {
    pair_case();
    ~pair_case();
    pair_case(const pair_case &) = delete;
    pair_case &operator=(const pair_case &) = delete;

    /* "", or what the emulator or the comparison reports. */
    std::string run(int (*kernel)(const emu_launch *), uint64_t seed);

  private:
    struct data;
    std::unique_ptr<data> all;
};

} // namespace emu_test

#endif
