/* SPDX-License-Identifier: MIT */
/* A job on the emulator, by the kernels linked into this program. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "both.h"
#include "programs.h"

#define DECLARED(name) int emu_run_wrap_##name(const struct emu_launch *);
WRAPPER_PROGRAMS(DECLARED)

typedef int run_function(const struct emu_launch *);

static run_function *emulated(const char *program)
{
#define EMULATED(name)                                                        \
    if (strcmp(program, #name) == 0)                                          \
        return emu_run_wrap_##name;
    WRAPPER_PROGRAMS(EMULATED)
    abort();
}

/* Runs NAME under a job; 0, or 1 after counting a failure. */
static int run(const struct both_case *c, const char *program,
               struct wrapper_job *job, uint64_t seed, int (*depend)(void *),
               void *depend_argument)
{
    char report[2048] = "";
    void *parameters[] = {job};
    struct emu_launch launch = {
        .grid = {c->blocks, 1, 1},
        .cluster = {c->cluster, 1, 1},
        .block = {c->threads, 1, 1},
        .shared_bytes = c->shared_bytes,
        .parameters = parameters,
        .seed = seed,
        .report = report,
        .report_bytes = sizeof report,
        .depend = depend,
        .depend_argument = depend_argument,
    };
    long long printed = 0;

    if (!emulated(program)(&launch))
        return 0;
    both_failure(&printed, "%s: emulator, seed %" PRIu64 ": %s", c->name, seed,
                 report);
    return 1;
}

/* One launch at a time runs on an emulator: what the first of two writes is
 * kept until the second waits for it. */
struct pending {
    void *out;
    const void *written;
    size_t bytes;
};

static int write_pending(void *argument)
{
    const struct pending *pending = argument;

    memcpy(pending->out, pending->written, pending->bytes);
    return 0;
}

static int run_dependent(const struct both_case *c, struct wrapper_job *job,
                         uint64_t seed)
{
    unsigned char *out = job->out, *written = both_fresh_out(c);
    struct pending pending = {out, written, c->out_bytes};
    int failed;

    job->out = written;
    failed = run(c, c->before, job, seed, NULL, NULL);
    job->out = out;
    if (!failed)
        failed = run(c, c->program, job, seed, write_pending, &pending);
    free(written);
    return failed;
}

void *both_emulate(const struct both_case *c, uint64_t seed)
{
    /* Copies need their sources aligned, as device memory is. */
    unsigned char *in = both_allocate(c->in_bytes), *out = both_fresh_out(c);
    unsigned char *maps = both_allocate(c->maps_count * 128);
    struct wrapper_job job = {in, out, maps, c->count, c->what};
    int failed;

    memcpy(in, c->in, c->in_bytes);
    for (size_t i = 0; i < c->maps_count; i++) {
        struct emu_tensor_map map = c->maps[i];

        map.address += (uintptr_t)in;
        emu_tensor_map_encode(&map, maps + 128 * i);
    }
    failed = c->before ? run_dependent(c, &job, seed)
                       : run(c, c->program, &job, seed, NULL, NULL);
    free(in);
    free(maps);
    if (failed) {
        free(out);
        return NULL;
    }
    return out;
}
