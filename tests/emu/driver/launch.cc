/* SPDX-License-Identifier: MIT */
/* Launches on the instruction emulator. */
#include "launch.h"
#include "../emu_launch.h"
#include "call.h"
#include "heap.h"
#include "queue.h"

#include <stdio.h>
#include <string.h>

namespace emu_driver {

namespace {

operation *running; /* whose kernel runs now */

int check_access(const void *address, size_t bytes, int)
{
    return heap_fault(reinterpret_cast<uintptr_t>(address), bytes).empty();
}

void touch(const void *address, size_t bytes, int write, int early)
{
    uintptr_t begin = reinterpret_cast<uintptr_t>(address);

    if (!heap_has(begin))
        return;
    running->uses.add(begin, bytes, write);
    if (early)
        running->early.add(begin, bytes, write);
}

/* What a real driver says of that kind of bug. */
CUresult code_of(const char *report)
{
    if (!strncmp(report, "global-out-of-bounds", 20))
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    if (!strncmp(report, "misaligned", 10))
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    return CUDA_ERROR_LAUNCH_FAILED;
}

/* What an overlapping launch depends on, and how that ended. */
struct dependence {
    operation *first, *second;
    CUresult result;
};

/* The second waits, or has ended without. */
int run_dependence(void *argument)
{
    auto *on = static_cast<dependence *>(argument);

    on->result = run_launch(on->first);
    running = on->second;
    return on->result != CUDA_SUCCESS;
}

CUresult run(operation *todo, dependence *on)
{
    const launch &launch = *todo->kernel;
    auto parameter = launch.parameter;
    void *parameters[] = {parameter.data()};
    char text[sizeof emu_knobs.reason] = "";
    emu_launch emulated{};
    heap_access access;
    int waited = 0;

    memcpy(emulated.grid, launch.grid, sizeof emulated.grid);
    memcpy(emulated.block, launch.block, sizeof emulated.block);
    memcpy(emulated.cluster, launch.cluster, sizeof emulated.cluster);
    emulated.shared_bytes = launch.shared_bytes;
    emulated.registers = launch.library->registers;
    emulated.parameters = parameters;
    emulated.seed = next_seed();
    emulated.check = check_access;
    emulated.touch = touch;
    emulated.report = text;
    emulated.report_bytes = sizeof text;
    emulated.waited = &waited;
    if (on) {
        emulated.depend = run_dependence;
        emulated.depend_argument = on;
    }
    emu_knobs.launches++;
    running = todo;
    int failed = launch.library->run(&emulated);
    todo->uses.settle();
    todo->early.settle();
    todo->waited = waited;
    if (!failed)
        return CUDA_SUCCESS;
    if (on && on->result != CUDA_SUCCESS)
        return on->result; /* which has been said */
    return report(code_of(text), todo->name, text);
}

} // namespace

CUresult run_launch(operation *todo)
{
    return run(todo, nullptr);
}

/* The emulator runs a kernel's code in one launch at a time. */
bool can_overlap(const launch &first, const launch &second)
{
    return second.overlap && first.library->run != second.library->run;
}

CUresult run_overlapped(operation *first, operation *second)
{
    dependence on{first, second, CUDA_SUCCESS};

    return run(second, &on);
}

} // namespace emu_driver
