/* SPDX-License-Identifier: MIT */
/* The table of groups that a kernel is given. */
#pragma once
#include <base/group.h>
#include <ptx/sync.cuh>

namespace sched
{

/* With its counts. If the host does not know them, this waits for the kernels
 * before: one of them writes the table. All threads come. */
__device__ inline jg_table complete(jg_table table)
{
    if (table.tiles < 0) {
        ptx::griddepcontrol_wait();
        table.tiles = table.first_tile[table.count];
        table.units = table.first_unit[table.count];
    }
    return table;
}

} // namespace sched
