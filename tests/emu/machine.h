/* SPDX-License-Identifier: MIT */
/* The state of a launch: its threads and who of them may run. One launch runs
 * at a time in a shared object. */
#ifndef EMU_MACHINE_H
#define EMU_MACHINE_H

#include "emu.h"
#include "fiber.h"
#include "knowledge.h"
#include "random.h"

#include <memory>
#include <string>
#include <vector>

namespace emu {

constexpr unsigned warp_threads = 32, warpgroup_threads = 128;

/* In registers that an unfinished instruction will write. */
constexpr uint32_t register_poison = 0x7fc0dead; /* a NaN nothing computes */

struct barrier;

struct thread {
    place at;
    fiber context;
    unsigned number; /* in the cluster, one block's after another's */
    enum { ready, blocked, done } state;
    size_t ready_index; /* where it is in machine::ready */
    std::string why;    /* it is blocked */
    const barrier *waits = nullptr;
    int registers;
    knowledge knows;
    uint32_t clock = 1; /* of its releases: see thread_fact() */
    /* Operands of the warp-wide instruction that it waits in. */
    const void *operand[2];
    uint32_t word[4];
};

/* A warp-wide instruction is done by the last lane that comes to it. */
struct warp {
    unsigned first, lanes, arrived = 0;
    const char *instruction;
    uint64_t x, y;
    knowledge knows; /* all lanes that came */
};

struct machine {
    const emu_launch *launch;
    const kernel *program;
    random_source random;
    unsigned blocks[3], ranks;             /* of a cluster; ranks in all */
    unsigned block_threads, threads_count; /* of a block; of a cluster */
    std::vector<std::unique_ptr<thread>> threads; /* of the running cluster */
    std::vector<thread *> ready;
    std::vector<warp> warps;
    unsigned finished;
    fiber scheduler;
    thread *current; /* null: the scheduler */
    bool failed;
    bool dependence_wanted, dependence_ran;
    bool cluster_waited; /* a thread of it came to griddepcontrol.wait */
    int idle; /* times that waits gave up since the last progress */
    unsigned cluster_number; /* of the launch, in the order they run */
    unsigned facts; /* numbered so far */
    /* How this seed schedules. */
    unsigned async_chance; /* of 256: asynchronous work goes first */
    unsigned patience;     /* instructions a thread runs at most */
    unsigned slow_warp;    /* gets fewer turns for a while */
    unsigned slow_turns;
};
extern machine *m;

/* Ends the launch. `name` is the kind of the bug; tests know it. */
[[noreturn]] void fail(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The current thread stops until wake(); `why` is for a deadlock's report. */
void block(std::string why, const barrier *waits = nullptr);
void wake(thread *thread);

/* Forgets what the last block's threads were in the middle of. */
void warps_begin_block();

/* The number of a fact that nobody knows. */
unsigned new_fact();

/* Adds what the current thread knows and did to what others will know. */
void release(knowledge &to);

/* Lets another thread run now and then. */
void maybe_yield();

/* Arrives at a warp-wide instruction. True for the last lane, which does the
 * work and then calls warp_leave(); the others return after that. */
bool warp_enter(const char *instruction, uint64_t x = 0, uint64_t y = 0);
void warp_leave();
warp &current_warp();
inline thread &lane(const warp &warp, unsigned i)
{
    return *m->threads[warp.first + i];
}

} // namespace emu

#endif
