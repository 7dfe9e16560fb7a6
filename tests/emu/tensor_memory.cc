/* SPDX-License-Identifier: MIT */
/* Contents and allocations; who may use them when is tensor_access.cc's. */
#include "tensor_memory.h"
#include "cluster.h"
#include "machine.h"

#include <string.h>

namespace emu {

namespace {

constexpr unsigned grain = 32; /* columns */
constexpr unsigned all_columns = cluster_most_blocks * tensor_columns;
constexpr unsigned grains = all_columns / grain;

uint32_t cells[all_columns][tensor_lanes];
tensor_allocation allocations[grains]; /* that begin there */
tensor_allocation *owners[grains];     /* of 32 columns each */
bool from_the_end;

void set_owner(const tensor_allocation &of, tensor_allocation *owner)
{
    for (unsigned i = of.first; i < of.first + of.columns; i += grain)
        owners[i / grain] = owner;
}

bool is_free(unsigned first, unsigned columns)
{
    for (unsigned i = first; i < first + columns; i += grain)
        if (owners[i / grain])
            return false;
    return true;
}

/* A number that no kernel computes. */
void poison(unsigned first, unsigned columns)
{
    memset(cells[first], 0xff, columns * sizeof *cells);
}

} // namespace

void tensor_begin_block()
{
    memset(allocations, 0, sizeof allocations);
    memset(owners, 0, sizeof owners);
    from_the_end = m->launch->seed % 2;
}

uint32_t (*tensor_at(unsigned column))[tensor_lanes]
{
    return cells + column;
}

unsigned tensor_first_column()
{
    return here->rank * tensor_columns;
}

bool tensor_take(unsigned rank, unsigned ctas, unsigned columns,
                 unsigned *place)
{
    unsigned first = rank * tensor_columns,
             end = first + ctas * tensor_columns;

    for (unsigned i = 0; i + columns <= tensor_columns; i += grain) {
        unsigned at = from_the_end ? tensor_columns - columns - i : i;

        if (!is_free(first + at, columns)) /* nor in a pair's other block */
            continue;
        for (unsigned j = first + at; j < end; j += tensor_columns) {
            tensor_allocation *made = &allocations[j / grain];

            made->first = j;
            made->columns = columns;
            set_owner(*made, made);
            poison(j, columns);
        }
        *place = at;
        return true;
    }
    return false;
}

void tensor_give_back(tensor_allocation *allocation)
{
    set_owner(*allocation, nullptr);
    allocation->columns = 0;
}

tensor_allocation *tensor_owner(unsigned column)
{
    return owners[column / grain];
}

tensor_range tensor_checked(uint32_t address, unsigned lane, unsigned count,
                            const char *what)
{
    unsigned column = address & 0xffff, first = tensor_first_column();

    if (address >> 16 != lane)
        fail("tensor-foreign-lanes",
             "%s at tensor memory 0x%08x: lanes from %u, where only those "
             "from %u can be",
             what, address, address >> 16, lane);
    const tensor_allocation *owner =
        column < tensor_columns ? tensor_owner(first + column) : nullptr;
    if (!owner || first + column + count > owner->first + owner->columns)
        fail("tensor-out-of-bounds",
             "%s of %u columns at tensor memory 0x%08x, %s", what, count,
             address,
             owner ? "which run out of its allocation"
                   : "which is not allocated");
    return {first + column, count};
}

} // namespace emu
