/* SPDX-License-Identifier: MIT */
/* What a test may ask of the emulated driver, or of what happened in it:
 * dlsym "emu_knobs". C and C++. A user sets environment variables instead:
 *   JITGEMM_EMU_DEVICE  h200 (default), b200 or rtx5090
 *   JITGEMM_EMU_SEED    of every choice that a run makes (1)
 *   JITGEMM_EMU_FAIL    NAME[:RESULT[:AFTER]], as the first fields below
 *   JITGEMM_EMU_CACHE   folder of kernels compiled for the host
 *   JITGEMM_EMU_OPTIMIZE  how they are (-O1): -O0 compiles in less than half
 *                       of the time, and runs for half as long again */
#ifndef EMU_DRIVER_KNOBS_H
#define EMU_DRIVER_KNOBS_H

struct emu_knobs {
    const char *fail;  /* function: "cuMemAlloc"; "allocation": every one that
                          takes memory; or NULL */
    int fail_result;   /* CUresult */
    int fail_after;    /* so many successes before */
    char failed[64];   /* the function that last failed so */
    char reason[1024]; /* why a call or a launch last failed otherwise */
    int version;       /* of the driver; 0: that of the headers */
    int devices;       /* all alike; 0: one, at most 8 */
    /* So far. Uploads: copies from the host that were enqueued. Lazy: launches
       of a function that nothing had made a lazy driver load before. */
    int calls, uploads, launches, lazy;
    /* Now: not yet freed, unloaded, released, destroyed, popped. */
    int allocations, libraries, contexts, streams, events, pushed, retained;
    int leaked; /* allocations freed only by the end of their context */
};

#ifdef __cplusplus
extern "C"
#else
extern
#endif
    struct emu_knobs emu_knobs;

#endif
