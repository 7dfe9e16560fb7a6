/* SPDX-License-Identifier: MIT */
/* The table of groups that a kernel is given. */
#pragma once
#include <base/group.h>
#include <ptx/sync.cuh>

namespace sched
{

/* With its counts, once all threads have waited for the kernels before: one of
 * them writes the table if the host does not know the sizes. */
__device__ inline jg_table awaited(jg_table table)
{
    ptx::griddepcontrol_wait();
    if (table.tiles < 0) {
        table.tiles = table.first_tile[table.count];
        table.units = table.first_unit[table.count];
    }
    return table;
}

/* For kernels with something to do before: waits only if it must. */
__device__ inline jg_table complete(jg_table table)
{
    return table.tiles < 0 ? awaited(table) : table;
}

} // namespace sched
