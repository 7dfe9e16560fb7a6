/* SPDX-License-Identifier: MIT */
/* Planted bugs of clusters: pairs of blocks with tensor memory, and copies to
 * several blocks. Usage: e_cluster_bugs [BUG]; emu/planted.h. */
#include "emu/multicast_case.h"
#include "emu/pair_case.h"
#include "emu/planted_cluster_bugs.h"

#include "test.h"

using namespace emu_test;

template <class T, size_t count>
static void check(const char *name, const planted_bug (&bugs)[count],
                  const char *only)
{
    T product;
    planted_kernel kernel = {name, bugs, count,
                             [&](run_function run, uint64_t seed) {
                                 return product.run(run, seed);
                             }};

    CHECK_INT(planted_check(kernel, only), 0);
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : nullptr;

    check<pair_case>("pair_pipeline", pair_bugs, only);
    check<multicast_case>("multicast_pipeline", multicast_bugs, only);
    return test_end();
}
