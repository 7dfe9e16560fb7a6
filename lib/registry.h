/* SPDX-License-Identifier: MIT */
/* The kernels of this process: each is found on disk or compiled once, however
 * many threads ask, and loaded into the driver once. Contexts with the same
 * cache directory share one registry. */
#ifndef JG_REGISTRY_H
#define JG_REGISTRY_H

#include "flight.h"

struct jg_registry;

/* Opens or joins the registry of a cache (see jg_cache_open()); NULL if out of
 * memory. */
struct jg_registry *jg_registry_open(const char *dir, const struct jg_env *env,
                                     const struct jg_log *log);
/* The last one to leave unloads every kernel. NULL is allowed. */
void jg_registry_close(struct jg_registry *registry);

const struct jg_cache *jg_registry_cache(const struct jg_registry *registry);

struct jg_made { /* a kernel that is ready */
    char key[JG_KEY_NAME_LENGTH + 1];
    jitgemm_source source; /* MEMORY for all but who found or compiled it */
    uint32_t registers, spill_bytes, shared_bytes; /* static */
    CUkernel kernel; /* if it was to be loaded; lives as the registry does */
};

/* Finds the kernel in memory or on disk, or compiles and publishes it; then
 * loads it. One from the cache that the driver refuses is quarantined or
 * passed over, and found elsewhere or compiled again, once. *made is written
 * on success; made->key always, if there was memory for it.
 * Without a compiler it takes one that some compiler made, in memory before
 * one in the cache, and of those the newest compiler's; else E_NO_NVRTC.
 * All threads that wait for one failed try get its status and error. A later
 * call tries again, but for E_COMPILE: that error is remembered, one a kernel,
 * until a request says retry. E_FROZEN, if it would have to be compiled and
 * the client's gate is shut, is nobody else's. */
jitgemm_status jg_registry_make(struct jg_registry *registry,
                                const struct jg_request *request,
                                struct jg_made *made);

/* The name of the entry that would be made: without a compiler, of the one
 * that would be taken, or E_NO_NVRTC if there is none. */
jitgemm_status jg_registry_key(struct jg_registry *registry,
                               const struct jg_request *request,
                               struct jg_key *key);

/* Whether that would find the kernel in memory: OK, the error of its last
 * try, or E_NOT_READY. Never waits for a try. */
jitgemm_status jg_registry_peek(struct jg_registry *registry,
                                const struct jg_request *request);

/* Fills what contexts with the same cache directory share, and leaves the
 * rest. */
void jg_registry_stats(struct jg_registry *registry, jitgemm_stats *stats);

#endif
