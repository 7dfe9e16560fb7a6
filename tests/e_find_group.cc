/* SPDX-License-Identifier: MIT */
/* The search for a group against the definition: of those that start at or
 * before the number, the last. */
#include <emu.h>

#include <sched/tiles.cuh>

#include "unit.h"
extern "C" {
#include "reference.h"
}

using namespace emu_test;

namespace {

long wrong;

/* Groups of none to three pieces each, every number. */
void compare()
{
    static int first[1026];
    uint64_t seed = 1;

    for (int count = 1; count <= 1025; count += count < 80 ? 1 : 63) {
        for (int g = 0; g < count; g++)
            first[g + 1] = first[g] + int(ref_random(&seed) >> 62);
        for (int i = 0, owner = 0; i < first[count]; i++) {
            while (owner + 1 < count && first[owner + 1] <= i)
                owner++;
            wrong += sched::find_group(first, count, i) != owner;
        }
    }
}

} // namespace

int main()
{
    check_report(compare, 1, "");
    CHECK_INT(wrong, 0);
    return test_end();
}
