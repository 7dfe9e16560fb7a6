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

footprint *running; /* of the launch that runs now */

int check_access(const void *address, size_t bytes, int)
{
    return heap_fault(reinterpret_cast<uintptr_t>(address), bytes).empty();
}

void touch(const void *address, size_t bytes, int write)
{
    uintptr_t begin = reinterpret_cast<uintptr_t>(address);

    if (heap_has(begin))
        running->add(begin, bytes, write);
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
    const launch *first;
    footprint *first_uses, *second_uses;
    const char *second_name;
    CUresult result;
};

/* The second waits, or has ended without. */
int run_dependence(void *argument)
{
    auto *on = static_cast<dependence *>(argument);
    footprint early = *on->second_uses;
    char text[128];

    on->result = run_launch(*on->first, on->first_uses);
    running = on->second_uses;
    early.settle();
    if (uintptr_t byte = on->result ? 0 : early.conflict(*on->first_uses)) {
        snprintf(text, sizeof text,
                 "missing-launch-wait: it uses %p before any "
                 "griddepcontrol.wait, and so does %s before it",
                 reinterpret_cast<void *>(byte),
                 on->first->library->symbol.c_str());
        on->result = report(CUDA_ERROR_LAUNCH_FAILED, on->second_name, text);
    }
    return on->result != CUDA_SUCCESS;
}

CUresult run(const launch &launch, footprint *uses, dependence *on)
{
    auto parameter = launch.parameter;
    void *parameters[] = {parameter.data()};
    char text[sizeof emu_knobs.reason] = "";
    emu_launch emulated{};
    heap_access access;

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
    if (on) {
        emulated.depend = run_dependence;
        emulated.depend_argument = on;
    }
    emu_knobs.launches++;
    running = uses;
    int failed = launch.library->run(&emulated);
    uses->settle();
    if (!failed)
        return CUDA_SUCCESS;
    if (on && on->result != CUDA_SUCCESS)
        return on->result; /* which has been said */
    return report(code_of(text), launch.library->symbol.c_str(), text);
}

} // namespace

CUresult run_launch(const launch &launch, footprint *uses)
{
    return run(launch, uses, nullptr);
}

/* The emulator runs a kernel's code in one launch at a time. */
bool can_overlap(const launch &first, const launch &second)
{
    return second.overlap && first.library->run != second.library->run;
}

CUresult run_overlapped(const launch &first, footprint *first_uses,
                        const launch &second, footprint *second_uses)
{
    dependence on{&first, first_uses, second_uses,
                  second.library->symbol.c_str(), CUDA_SUCCESS};

    return run(second, second_uses, &on);
}

} // namespace emu_driver
