/* SPDX-License-Identifier: MIT */
/* For tests whose kernels are functions of their own: one block of threads, or
 * one cluster, under several seeds. */
#ifndef EMU_UNIT_H
#define EMU_UNIT_H

#include "emu.h"

#include "../test.h"

#include <string>

namespace emu_test {

constexpr int seeds = 20;

inline std::string run_once(void (*kernel)(), unsigned threads, uint64_t seed,
                            size_t shared_bytes = 4096, unsigned blocks = 1)
{
    char report[2048];
    emu_launch launch{};

    launch.grid[0] = launch.cluster[0] = blocks;
    launch.grid[1] = launch.grid[2] = 1;
    launch.block[0] = threads;
    launch.block[1] = launch.block[2] = 1;
    launch.shared_bytes = shared_bytes;
    launch.seed = seed;
    launch.report = report;
    launch.report_bytes = sizeof report;
    CHECK_INT(emu::run_function(&launch, kernel), report[0] != 0);
    return report;
}

/* The report, up to where it says who and when, for every seed. */
inline void check_report(void (*kernel)(), unsigned threads, const char *want)
{
    for (uint64_t seed = 0; seed < seeds; seed++) {
        std::string report = run_once(kernel, threads, seed);

        report = report.substr(0, report.find(" ["));
        CHECK_STR(report.c_str(), want);
    }
}

/* Only its name: addresses depend on the seed. */
inline void check_named(void (*kernel)(), unsigned threads, const char *name)
{
    for (uint64_t seed = 0; seed < seeds; seed++) {
        std::string report = run_once(kernel, threads, seed);

        report = report.substr(0, report.find(':'));
        CHECK_STR(report.c_str(), name);
    }
}

} // namespace emu_test

#endif
