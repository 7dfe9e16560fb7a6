/* SPDX-License-Identifier: MIT */
/* Bugs planted in a kernel of tests/: sed puts each into a copy of the text,
 * and the emulator must report it by name. */
#ifndef EMU_PLANTED_H
#define EMU_PLANTED_H

#include "compile.h"

#include <functional>

namespace emu_test {

struct planted_bug {
    const char *title, *sed;
    const char *names; /* of the report: "one" or "one|other" */
};

struct planted_kernel {
    const char *name; /* of tests/NAME.cu, and of its function */
    const planted_bug *bugs;
    size_t count;
    /* "", or what the emulator or the comparison reports. */
    std::function<std::string(run_function, uint64_t seed)> run;
};

/* Runs the kernel as it is under 50 seeds, and with each bug under as many as
 * it takes to find it; two at a time. Prints "bug | seed | report" for each.
 * `only` is the title of one, or null. With E_SEEDS set it also tries all
 * seeds. How many are wrong. */
int planted_check(const planted_kernel &kernel, const char *only);

} // namespace emu_test

#endif
