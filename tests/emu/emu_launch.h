/* SPDX-License-Identifier: MIT */
/* What a host-compiled kernel is given: EMU_KERNEL(name) of emu.h exports
 *     int emu_run_name(const struct emu_launch *);
 * which returns 0, or 1 with a report. C and C++. */
#ifndef EMU_LAUNCH_H
#define EMU_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

struct emu_launch {
    unsigned grid[3], block[3];
    unsigned cluster[3]; /* blocks that run together; 0 as 1 */
    size_t shared_bytes; /* dynamic, a block */
    unsigned registers;  /* a thread at the start, as compiled; 0: as many as
                            a block alone on its multiprocessor can have */
    void **parameters;   /* as cuLaunchKernel's */
    uint64_t seed;       /* of every choice the emulator makes */
    /* Whether an asynchronous access may be made: 1 yes, 0 no, -1 the memory
     * belongs to a launch that this one has not waited for. NULL: all may. */
    int (*check)(const void *address, size_t bytes, int write);
    /* Told of each access to other than shared memory and a thread's own
     * variables, before it is made, and whether no thread of the cluster has
     * come to griddepcontrol.wait yet. NULL: nobody is. */
    void (*touch)(const void *address, size_t bytes, int write, int early);
    char *report; /* "" on success, else "name: what happened" */
    size_t report_bytes;
    /* Not NULL: the launch is a programmatic dependent one. Called once, at
     * the first griddepcontrol.wait or at the end, to run what it depends on;
     * not 0 fails this launch, which then leaves the report to its caller. */
    int (*depend)(void *argument);
    void *depend_argument;
    int *waited; /* unless NULL: 1 once a thread came to griddepcontrol.wait */
};

#endif
