/* SPDX-License-Identifier: MIT */
/* PTX ISA 9.7.9.26 and 9.7.13.4. A thread's edits and copies are numbered.
 * Plain stores to a map show where it differs from what was acquired. */
#include "map_edits.h"
#include "global.h"
#include "instructions.h"
#include "machine.h"
#include "tensor_map.h"

#include <map>

#include <string.h>

namespace emu {

namespace {

struct use {
    uint32_t number;         /* of the copy among the thread's */
    std::vector<moment> end; /* of each barrier's last copy */
};

struct map_state {
    unsigned editor = 0;                    /* thread */
    moment edit = {0, 0};                   /* the last one, when released */
    unsigned edit_block = 0, use_block = 0; /* 1 + number in the launch */
    std::map<unsigned, use> uses;           /* in this block, of threads */
};

struct acquired_map {
    moment edit; /* that it was acquired after */
    unsigned char bytes[EMU_TENSOR_MAP_BYTES];
};

struct thread_state {
    unsigned edit_fact = 0, read_fact = 0;
    uint32_t edits = 0;
    std::map<const void *, acquired_map> acquired;
};

std::map<const void *, map_state> maps; /* of the launch */
std::vector<thread_state> threads;

thread_state &self()
{
    return threads[m->current->number];
}

unsigned fact(unsigned &fact)
{
    if (!fact)
        fact = new_fact();
    return fact;
}

void check_aligned(const void *map, const char *what)
{
    if (reinterpret_cast<uintptr_t>(map) % 64)
        fail("misaligned", "%s of a tensor map at %p, no multiple of 64", what,
             map);
}

bool known(unsigned thread, const use &use)
{
    const knowledge &knows = m->current->knows;

    if (threads[thread].read_fact &&
        knows.of(threads[thread].read_fact) >= use.number)
        return true;
    for (const moment &end : use.end)
        if (!end.known(knows))
            return false;
    return true;
}

/* A map among the kernel's parameters is on the stack here. */
bool is_parameter(const void *map)
{
    const char *stack = reinterpret_cast<const char *>(&map);
    ptrdiff_t distance = static_cast<const char *>(map) - stack;

    return distance > 0 && distance < 65536;
}

/* Begins an edit by the current thread. */
emu_tensor_map begin_edit(const void *map)
{
    const char *what = "tensormap.replace";
    map_state &state = maps[map];
    emu_tensor_map decoded;

    check_aligned(map, what);
    if (is_parameter(map))
        fail("bad-operand", "%s of a kernel's parameter at %p", what, map);
    check_global(map, EMU_TENSOR_MAP_BYTES, true, what);
    if (state.use_block && state.use_block != 1 + m->cluster_number)
        fail("tensormap-in-use",
             "%s of a tensor map at %p, which another block uses", what, map);
    for (const auto &entry : state.uses)
        if (!known(entry.first, entry.second))
            fail("tensormap-in-use",
                 "%s of a tensor map at %p; the thread does not know that the "
                 "copies of thread %u no longer read it",
                 what, map, entry.first);
    state.uses.clear();
    if (emu_tensor_map_decode(map, &decoded))
        fail("bad-tensor-map", "%s: no map at %p", what, map);
    return decoded;
}

void end_edit(void *map, const emu_tensor_map &edited)
{
    map_state &state = maps[map];
    thread_state &thread = self();
    const char *fault = emu_tensor_map_check(&edited);

    if (fault)
        fail("bad-tensor-map", "tensormap.replace of the map at %p: %s", map,
             fault);
    emu_tensor_map_encode(&edited, map);
    state.editor = m->current->number;
    state.edit = {fact(thread.edit_fact), ++thread.edits};
    state.edit_block = 1 + m->cluster_number;
    maybe_yield();
}

void check_acquired(const void *map, const char *what)
{
    const map_state &state = maps[map];
    const auto &acquired = self().acquired;
    auto found = acquired.find(map);

    if (found == acquired.end())
        fail("tensormap-no-fence",
             "%s with a tensor map at %p that the thread has not acquired",
             what, map);
    if (state.edit_block && state.edit_block != 1 + m->cluster_number)
        fail("tensormap-no-fence",
             "%s with a tensor map at %p that another block edits", what, map);
    if (state.edit_block && (found->second.edit.fact != state.edit.fact ||
                             found->second.edit.value != state.edit.value))
        fail("tensormap-no-fence",
             "%s with a tensor map at %p that thread %u edited; the thread "
             "has not acquired it since it learned of a release of that",
             what, map, state.editor);
    if (memcmp(found->second.bytes, map, EMU_TENSOR_MAP_BYTES))
        fail("tensormap-no-fence",
             "%s with a tensor map at %p that was written after the thread "
             "acquired it",
             what, map);
}

} // namespace

void map_edits_begin_block()
{
    threads.clear();
    threads.resize(m->threads_count);
    if (m->cluster_number == 0)
        maps.clear();
    for (auto &entry : maps)
        entry.second.uses.clear();
}

void map_check_use(const void *map, const char *what)
{
    check_aligned(map, what);
    if (is_parameter(map))
        return;
    check_global(map, EMU_TENSOR_MAP_BYTES, false, what);
    check_acquired(map, what);
}

void map_used(const void *map, uint32_t number, moment end)
{
    if (is_parameter(map))
        return;
    map_state &state = maps[map];
    use &use = state.uses[m->current->number];

    state.use_block = 1 + m->cluster_number;
    use.number = number;
    for (moment &other : use.end)
        if (other.fact == end.fact) {
            other = end;
            return;
        }
    use.end.push_back(end);
}

void map_reads_done(uint32_t number)
{
    m->current->knows.learn(fact(self().read_fact), number);
}

void fence_proxy_tensormap_acquire(const void *map)
{
    const moment &edit = maps[map].edit;
    acquired_map &acquired = self().acquired[map];

    check_aligned(map, "fence.proxy.tensormap");
    memcpy(acquired.bytes, map, EMU_TENSOR_MAP_BYTES);
    acquired.edit = {0, 0};
    if (edit.known(m->current->knows))
        acquired.edit = edit;
}

void fence_proxy_tensormap_release()
{
    thread_state &thread = self();

    if (thread.edits)
        m->current->knows.learn(thread.edit_fact, thread.edits);
    maybe_yield();
}

void prefetch_tensormap(const void *map)
{
    map_check_use(map, "prefetch.tensormap");
}

void tensormap_replace_address(void *map, const void *address)
{
    emu_tensor_map edited = begin_edit(map);

    edited.address = reinterpret_cast<uintptr_t>(address);
    end_edit(map, edited);
}

void tensormap_replace_extent(void *map, int dimension, uint32_t extent)
{
    emu_tensor_map edited = begin_edit(map);

    if (dimension < 0 || static_cast<uint32_t>(dimension) >= edited.rank)
        fail("bad-operand",
             "tensormap.replace of extent %d of a map of rank "
             "%u",
             dimension, edited.rank);
    edited.extent[dimension] = extent;
    end_edit(map, edited);
}

void tensormap_replace_stride(void *map, int dimension, uint64_t bytes)
{
    emu_tensor_map edited = begin_edit(map);

    if (dimension < 0 || static_cast<uint32_t>(dimension) + 1 >= edited.rank)
        fail("bad-operand",
             "tensormap.replace of stride %d of a map of rank "
             "%u",
             dimension, edited.rank);
    edited.stride[dimension] = bytes;
    end_edit(map, edited);
}

} // namespace emu
