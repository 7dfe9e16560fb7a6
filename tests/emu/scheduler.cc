/* SPDX-License-Identifier: MIT */
/* Runs the threads of a cluster in an order that the seed decides, and
 * asynchronous work in between. Clusters, most of them of one block, run one
 * after another. */
#include "async.h"
#include "barrier.h"
#include "cluster.h"
#include "fault.h"
#include "instructions.h"
#include "machine.h"
#include "report.h"
#include "shared.h"
#include "stacks.h"

#include <mutex>

#include <stdio.h>
#include <string.h>

namespace emu {

place *here;
machine *m;

namespace {

constexpr size_t poisoned_bytes = 8192;
constexpr int most_registers = 65536; /* of a multiprocessor */

/* Some seeds let copies land at once, some as late as they can; some run a
 * thread for long, some change after every instruction. */
void choose_schedule()
{
    static const unsigned chances[] = {0, 1, 8, 64, 192, 255};
    static const unsigned patiences[] = {1 << 30, 4096, 512, 64};

    m->async_chance = chances[m->random.below(6)];
    m->patience = patiences[m->random.below(4)];
    m->slow_turns = 0;
}

void refuel(thread *thread)
{
    thread->at.fuel = 1 + static_cast<int>(m->random.below(m->patience));
}

void to_scheduler()
{
    thread *self = m->current;

    m->current = nullptr;
    fiber_switch(&self->context, &m->scheduler);
}

void remove_ready(thread *thread)
{
    struct thread *last = m->ready.back();

    m->ready[thread->ready_index] = last;
    last->ready_index = thread->ready_index;
    m->ready.pop_back();
}

void add_ready(thread *thread)
{
    thread->state = thread::ready;
    thread->ready_index = m->ready.size();
    m->ready.push_back(thread);
}

void thread_main()
{
    thread *self = m->current;

    m->program->thread();
    cluster_thread_ended();
    self->state = thread::done;
    remove_ready(self);
    m->finished++;
    m->idle = 0;
    to_scheduler();
}

/* One warp at a time lags behind. */
thread *pick()
{
    thread *chosen = m->ready[m->random.below(m->ready.size())];

    if (!m->slow_turns--) {
        m->slow_turns = 64 + m->random.below(4096);
        m->slow_warp = m->random.below(m->warps.size());
    }
    for (int i = 0; i < 4; i++)
        if (chosen->number / warp_threads == m->slow_warp)
            chosen = m->ready[m->random.below(m->ready.size())];
    return chosen;
}

bool run_async()
{
    size_t count, steps = 0, chosen;
    engine *const *all = engines(&count);

    for (size_t i = 0; i < count; i++)
        steps += all[i]->steps();
    if (!steps)
        return false;
    chosen = m->random.below(steps);
    for (size_t i = 0; i < count; i++) {
        size_t own = all[i]->steps();

        if (chosen < own) {
            all[i]->run(chosen);
            return true;
        }
        chosen -= own;
    }
    return false;
}

/* The index-th of a grid of that size, x first. */
uint3 place_in(const unsigned *size, unsigned index)
{
    return {index % size[0], index / size[0] % size[1],
            index / size[0] / size[1]};
}

void make_thread(unsigned number, uint3 cluster, const stacks &stacks)
{
    const unsigned *size = m->launch->block, *grid = m->launch->grid;
    const unsigned *blocks = m->blocks;
    auto made = std::make_unique<thread>();

    made->number = number;
    made->at.thread = place_in(size, number % m->block_threads);
    made->at.rank = number / m->block_threads;
    made->at.ranks = m->ranks;
    uint3 block = place_in(blocks, made->at.rank);
    made->at.block = {cluster.x * blocks[0] + block.x,
                      cluster.y * blocks[1] + block.y,
                      cluster.z * blocks[2] + block.z};
    made->at.grid = {grid[0], grid[1], grid[2]};
    made->at.block_size = {size[0], size[1], size[2]};
    made->registers = static_cast<int>(m->launch->registers);
    if (!made->registers)
        made->registers = min(
            255, most_registers / static_cast<int>(m->block_threads) / 8 * 8);
    /* What a kernel leaves unset is not what another block left there. */
    memset(stacks.of(number) + stack_bytes - poisoned_bytes, 0xff,
           poisoned_bytes);
    fiber_make(&made->context, stacks.of(number) + guard_bytes,
               stack_bytes - guard_bytes, thread_main);
    refuel(made.get());
    m->threads.push_back(std::move(made));
    add_ready(m->threads.back().get());
}

void begin_cluster(uint3 cluster, const stacks &stacks)
{
    size_t count;
    engine *const *all = engines(&count);

    m->threads.clear();
    m->ready.clear();
    m->warps.clear();
    m->finished = 0;
    m->facts = thread_fact(m->threads_count);
    m->idle = 0;
    for (unsigned i = 0; i < m->threads_count; i++)
        make_thread(i, cluster, stacks);
    for (unsigned i = 0; i < m->threads_count; i += warp_threads) {
        warp warp{};

        warp.first = i;
        warp.lanes = min(warp_threads, m->threads_count - i);
        m->warps.push_back(warp);
    }
    cluster_begin();
    shared_begin_block();
    barriers_begin_block();
    warps_begin_block();
    for (size_t i = 0; i < count; i++)
        all[i]->begin_block();
}

/* Not on a fiber's small stack. */
void run_dependence()
{
    if (m->dependence_ran || !m->launch->depend)
        return;
    m->dependence_ran = true;
    if (m->launch->depend(m->launch->depend_argument))
        fail("failed-dependence", "the launch that this one waits for failed");
}

void run_thread(thread *thread)
{
    m->current = thread;
    here = &thread->at;
    fiber_switch(&m->scheduler, &thread->context);
    if (m->failed)
        throw failure();
    if (m->dependence_wanted)
        run_dependence();
    shared_thread_ran(thread->number);
}

/* A try_wait returns in the end even if nothing happens; who then does not
 * do anything but ask again, waits for ever. */
bool end_waits()
{
    if (m->idle++ == 2)
        return false;
    for (const auto &thread : m->threads)
        if (thread->waits)
            wake(thread.get());
    return !m->ready.empty();
}

void run_cluster(uint3 cluster, const stacks &stacks)
{
    size_t count;
    engine *const *all = engines(&count);

    begin_cluster(cluster, stacks);
    while (m->finished < m->threads_count) {
        bool first = m->random.below(256) < m->async_chance;

        if ((first || m->ready.empty()) && run_async())
            continue;
        if (m->ready.empty() && !end_waits())
            report_deadlock();
        run_thread(pick());
    }
    for (size_t i = 0; i < count; i++)
        all[i]->end_block();
    shared_end_block();
}

void run_grid(const stacks &stacks)
{
    unsigned clusters[3];
    size_t count = 1;

    for (int i = 0; i < 3; i++) {
        clusters[i] = m->launch->grid[i] / m->blocks[i];
        count *= clusters[i];
    }
    size_t offset = m->random.below(count); /* they begin in any order */
    for (size_t i = 0; i < count; i++) {
        m->cluster_number = static_cast<unsigned>(i);
        run_cluster(
            place_in(clusters, static_cast<unsigned>((i + offset) % count)),
            stacks);
    }
}

void check_launch(const emu_launch &launch)
{
    size_t threads = 1, blocks = 1;

    for (int i = 0; i < 3; i++) {
        threads *= launch.block[i];
        m->blocks[i] = max(launch.cluster[i], 1u);
        blocks *= m->blocks[i];
        if (!launch.grid[i] || launch.grid[i] % m->blocks[i])
            fail("bad-launch",
                 "a grid of no blocks, or not of whole clusters");
    }
    if (!threads || threads > 1024 || launch.shared_bytes > shared_most_bytes)
        fail("bad-launch", "more threads or shared memory than a block can "
                           "have, or none");
    if (blocks > cluster_most_blocks)
        fail("bad-launch", "a cluster of %zu blocks", blocks);
    if (blocks > 1 && threads % warp_threads)
        fail("bad-launch", "a cluster of blocks that are not of whole warps");
    m->ranks = static_cast<unsigned>(blocks);
    m->block_threads = static_cast<unsigned>(threads);
    m->threads_count = m->ranks * m->block_threads;
}

} // namespace

void yield()
{
    refuel(m->current);
    to_scheduler();
}

unsigned new_fact()
{
    return m->facts++;
}

void release(knowledge &to)
{
    thread *self = m->current;

    self->knows.learn(thread_fact(self->number), self->clock++);
    to.join(self->knows);
}

void maybe_yield()
{
    if (m->random.below(4) == 0)
        yield();
}

void block(std::string why, const barrier *waits)
{
    thread *self = m->current;

    self->state = thread::blocked;
    self->why = std::move(why);
    self->waits = waits;
    remove_ready(self);
    to_scheduler();
    self->waits = nullptr;
}

void wake(thread *thread)
{
    if (thread->state == thread::blocked)
        add_ready(thread);
}

void fail_switch()
{
    m->failed = true;
    if (!m->current)
        throw failure();
    to_scheduler();
    __builtin_unreachable(); /* a failed launch resumes no thread */
}

int run(const emu_launch &launch, const kernel &kernel)
{
    static std::recursive_mutex one_at_a_time;
    std::lock_guard<std::recursive_mutex> lock(one_at_a_time);
    machine machine{};

    if (m) {
        if (launch.report_bytes)
            snprintf(launch.report, launch.report_bytes,
                     "bad-launch: a kernel depends on itself");
        return 1;
    }
    m = &machine;
    machine.launch = &launch;
    machine.program = &kernel;
    machine.random.state = launch.seed;
    if (launch.report_bytes)
        launch.report[0] = '\0';
    try {
        check_launch(launch);
        stacks stacks(machine.threads_count);
        if (!stacks.memory)
            fail("no-memory", "for %u stacks", machine.threads_count);
        fault_handler faults;
        choose_schedule();
        shared_begin_launch();
        run_grid(stacks);
        run_dependence();
    } catch (const failure &) {
        machine.failed = true;
    }
    m = nullptr;
    return machine.failed;
}

} // namespace emu
