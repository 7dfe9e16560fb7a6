/* SPDX-License-Identifier: MIT */
/* The table of groups that Blackwell's kernel is given. */
#pragma once
#include <base/group.h>
#include <ptx/sync.cuh>

namespace sched
{

/* With its count of tiles, once all threads, which come here, have waited for
 * the kernels before: one of them wrote what the host does not know. */
__device__ inline jg_table awaited(jg_table table)
{
    ptx::griddepcontrol_wait();
    if (table.tiles < 0)
        table.tiles = table.first_tile[table.count];
    return table;
}

} // namespace sched
