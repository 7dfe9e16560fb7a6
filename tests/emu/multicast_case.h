/* SPDX-License-Identifier: MIT */
/* A product for tests/multicast_pipeline.cu: operands, launches
 * with any seed, and the comparison with a float64 reference. */
#ifndef EMU_MULTICAST_CASE_H
#define EMU_MULTICAST_CASE_H

#include "emu_launch.h"

#include <memory>
#include <string>

namespace emu_test {

struct multicast_case {
    multicast_case();
    ~multicast_case();
    multicast_case(const multicast_case &) = delete;
    multicast_case &operator=(const multicast_case &) = delete;

    /* "", or what the emulator or the comparison reports. */
    std::string run(int (*kernel)(const emu_launch *), uint64_t seed);

  private:
    struct data;
    std::unique_ptr<data> all;
};

} // namespace emu_test

#endif
