/* SPDX-License-Identifier: MIT */
/* Planted bugs of copies to several blocks of a cluster.
 * Usage: e_multicast_bugs [BUG]; emu/planted.h. */
#include "emu/multicast_case.h"
#include "emu/planted_multicast_bugs.h"

#include "test.h"

using namespace emu_test;

int main(int argc, char **argv)
{
    multicast_case product;
    std::vector<planted_case> cases;
    std::string source = planted_source();

    for (const planted_bug &bug : multicast_bugs)
        cases.push_back(
            {bug.title,
             &bug,
             source + "/tests",
             {"tests/emu_work/multicast-" + std::to_string(cases.size()),
              source + "/kernel_src", bug.file, "multicast_pipeline", ""},
             [&](run_function run, uint64_t seed) {
                 return product.run(run, seed);
             }});
    CHECK_INT(planted_check(cases, argc > 1 ? argv[1] : nullptr), 0);
    return test_end();
}
