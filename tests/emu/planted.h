/* SPDX-License-Identifier: MIT */
/* Planted bugs: sed puts each into a copy of a kernel's text, and the emulator
 * must report it by name. */
#ifndef EMU_PLANTED_H
#define EMU_PLANTED_H

#include "compile.h"

#include <functional>
#include <vector>

namespace emu_test {

struct planted_bug {
    const char *title, *file;
    const char *sed;   /* what it does to the file; "" is nothing */
    const char *names; /* of the report: "one" or "one|other"; "": none */
    int config = -1;   /* row of the family's table, or the usual one */
    bool edits_maps = false;
};

/* A bug, and how to see it. */
struct planted_case {
    std::string title; /* all of it */
    const planted_bug *bug;
    std::string texts; /* folder of its file */
    compile_job job;   /* its folder gets the changed text */
    /* "", or what the emulator or the comparison reports. */
    std::function<std::string(run_function, uint64_t seed)> run;
};

/* Runs each under as many of 50 seeds as it takes to see something, two at a
 * time, and prints "bug | seed | report". `only` is the title of one, or null.
 * With E_SEEDS in the environment it then runs so many seeds, and counts what
 * they report. How many bugs are wrong, or -1 if there is none. */
int planted_check(const std::vector<planted_case> &cases, const char *only);

/* The folder of the sources. */
std::string planted_source();

} // namespace emu_test

#endif
