/* SPDX-License-Identifier: MIT */
/* The Hopper kernels in every configuration of lib/plan.c, under several
 * schedules. Usage: e_sm90 [SEEDS [FIRST]]; E_SEEDS is the same as SEEDS. */
#include "emu/gemm_case.h"

#include "test.h"

#include <stdlib.h>

using namespace emu_test;

/* Tails in every direction, several tiles a block, groups of nothing. */
static const std::vector<std::vector<size>> problems = {
    {{1, 8, 32}, {0, 128, 64}, {9, 136, 288}},
    {{0, 64, 64}, {131, 200, 544}, {3, 264, 96}, {0, 8, 32}},
    {{264, 128, 1056}, {17, 392, 32}},
};

int main(int argc, char **argv)
{
    const char *given = argc > 1 ? argv[1] : getenv("E_SEEDS");
    int seeds = given && *given ? atoi(given) : 2;
    int first = argc > 2 ? atoi(argv[2]) : 0;
    const char *source = getenv("JG_SRCDIR");
    std::string texts = std::string(source ? source : ".") + "/kernel_src";
    std::vector<config> configs = all_configs();
    std::vector<compile_job> jobs;
    std::vector<run_function> functions;

    for (size_t i = 0; i < configs.size(); i++)
        for (kernel_kind kind : {ACTIVATIONS, PRODUCT})
            jobs.push_back(job_of(configs[i], kind,
                                  "tests/emu_work/sm90-" + std::to_string(i) +
                                      "-" + std::to_string(kind),
                                  texts));
    int previous = compile_start(jobs[0]);
    for (size_t i = 0; i < jobs.size(); i++) { /* two at a time */
        int next = i + 1 < jobs.size() ? compile_start(jobs[i + 1]) : -1;

        functions.push_back(compile_finish(jobs[i], previous));
        CHECK(functions.back());
        previous = next;
    }
    for (size_t i = 0; i < configs.size() && !test_failures; i++)
        for (const std::vector<size> &sizes : problems) {
            gemm_case gemm(configs[i], sizes, i);

            for (int seed = first; seed < first + seeds; seed++) {
                std::string report =
                    gemm.run({functions[2 * i], functions[2 * i + 1]},
                             static_cast<uint64_t>(seed));

                CHECK_STR(report.c_str(), "");
            }
        }
    return test_end();
}
