/* SPDX-License-Identifier: MIT */
/* A device, its CUDA context, a registry and a log: what plans are made in. */
#ifndef JG_CONTEXT_H
#define JG_CONTEXT_H

#include "pool.h"
#include "registry.h"
#include "tuned.h"

struct jitgemm_context {
    struct jg_device device;
    struct jg_client client;
    struct jg_registry *registry;
    struct jg_tuned tuned; /* beside the registry's cache */
    struct jg_pool pool; /* of jitgemm_prepare_async() */
    jitgemm_event_fn event; /* NULL: nobody listens */
    void *event_user;
    const struct jg_cuda *cuda; /* NULL: for an arch, without a GPU */
    CUcontext current;          /* the CUDA context that plans live in */
    CUdevice handle;
    bool retained; /* `current` is the primary context, retained */
    pthread_mutex_t lock;   /* of: */
    struct jg_nvrtc absent; /* once the compiler was looked for in vain */
};

jitgemm_status jg_context_create(const jitgemm_context_options *options,
                                 jitgemm_context **context);
void jg_context_destroy(jitgemm_context *context);

/* The compiler, opened at the first call. Where there is none the context goes
 * without for good (jg_compiler_absent()): it looks in all those places once,
 * not for every kernel. */
jitgemm_status jg_context_nvrtc(jitgemm_context *context,
                                const struct jg_nvrtc **nvrtc);

/* What to put back when leaving. */
struct jg_visit {
    bool pushed, relaxed;
    CUstreamCaptureMode mode; /* of the thread, while relaxed */
};

/* Makes the CUDA context current if it is not. */
jitgemm_status jg_context_enter(const jitgemm_context *context,
                                struct jg_visit *visit);
/* Likewise to load, allocate or free, which would break a capture in global
 * mode that any thread has begun, or one of the calling thread. */
jitgemm_status jg_context_enter_relaxed(const jitgemm_context *context,
                                        struct jg_visit *visit);
void jg_context_leave(const jitgemm_context *context,
                      const struct jg_visit *visit);

#endif
