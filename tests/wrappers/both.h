/* SPDX-License-Identifier: MIT */
/* A job on the GPU and on the emulator, and how their outputs differ. */
#ifndef WRAPPERS_BOTH_H
#define WRAPPERS_BOTH_H

#include <stddef.h>
#include <stdint.h>

#include "emu/emu_launch.h"
#include "emu/tensor_map.h"
#include "job.h"

struct both_case {
    const char *name;    /* the wrappers, for messages */
    const char *program; /* "half" */
    const char *before;  /* the launch that it depends on, or NULL */
    unsigned blocks, threads, shared_bytes;
    unsigned cluster; /* blocks of one, or 0: no clusters */
    const void *in;
    size_t in_bytes, out_bytes; /* of multiples of 4 */
    /* The addresses of tensors are bytes of `in`. */
    const struct emu_tensor_map *maps;
    size_t maps_count;
    int count, what;
};

/* Output, which begins as 0xee bytes; to be freed. A failure of the GPU ends
 * the program, one of the emulator counts and gives NULL. */
void *both_gpu(const struct both_case *c);
void *both_emulate(const struct both_case *c, uint64_t seed);

/* Both of them, under several schedules of the emulator, must give the same
 * bits. */
void both_compare(const struct both_case *c);

/* How many schedules. */
extern int both_seeds;

/* What was compared: words or values, and how many were wrong. Processes
 * share it. */
struct both_tally {
    _Atomic long long checks, failures;
};
extern struct both_tally *both_tally;

/* Counts a check that failed; the first few of a case are printed. */
void both_failure(long long *printed, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Memory aligned as the device's is, or the end of the program; an output
 * that nothing has written to. */
void *both_allocate(size_t bytes);
void *both_fresh_out(const struct both_case *c);

#endif
