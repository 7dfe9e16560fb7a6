/* SPDX-License-Identifier: MIT */
/* The table of groups that a kernel is given. */
#pragma once
#include <base/group.h>
#include <ptx/sync.cuh>

namespace sched
{

/* Counts that the host does not know: a kernel before this one wrote them. */
__device__ inline void read_counts(jg_table &table)
{
    table.tiles = table.first_tile[table.count];
    table.units = table.first_unit[table.count];
}

/* With its counts, once all threads, which come here, have waited for the
 * kernels before. */
__device__ inline jg_table awaited(jg_table table)
{
    ptx::griddepcontrol_wait();
    if (table.tiles < 0)
        read_counts(table);
    return table;
}

/* The same for a kernel that has something to do before: only counts that the
 * host does not know are waited for. */
__device__ inline jg_table complete(jg_table table)
{
    if (table.tiles < 0) {
        ptx::griddepcontrol_wait();
        read_counts(table);
    }
    return table;
}

} // namespace sched
