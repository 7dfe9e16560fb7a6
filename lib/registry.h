/* SPDX-License-Identifier: MIT */
/* The kernels of this process: each is found on disk or compiled once, however
 * many threads ask, and loaded into the driver once. Contexts with equal
 * caches share one registry. */
#ifndef JG_REGISTRY_H
#define JG_REGISTRY_H

#include "cache.h"
#include "compile.h"
#include "driver.h"

struct jg_registry;

/* Opens or joins the registry of a cache (see jg_cache_open()); NULL if out of
 * memory. */
struct jg_registry *jg_registry_open(const char *dir, const struct jg_env *env,
                                     const struct jg_log *log);
/* The last one to leave unloads every kernel. NULL is allowed. `cuda` is NULL
 * if nothing was loaded through it. */
void jg_registry_close(struct jg_registry *registry,
                       const struct jg_cuda *cuda);

const struct jg_cache *
jg_registry_cache(const struct jg_registry *registry);

/* A kernel that is ready; lives as long as the registry. */
struct jg_kernel {
    char key[JG_KEY_NAME_LENGTH + 1];
    uint32_t registers, spill_bytes, shared_bytes; /* static */
    const char *log; /* of its compile */
};

/* Finds the kernel in memory or on disk, or compiles and publishes it. All
 * threads that wait for one failed compile get its status and error. */
jitgemm_status jg_registry_get(struct jg_registry *registry,
                               const struct jg_nvrtc *nvrtc,
                               const struct jg_spec *spec,
                               const struct jg_log *log,
                               struct jg_kernel **kernel,
                               jitgemm_source *source);

/* Loads it into the driver, once. An entry of the cache that the driver
 * refuses is quarantined or passed over, and found elsewhere or compiled
 * again, once. */
jitgemm_status jg_registry_load(struct jg_registry *registry,
                                const struct jg_cuda *cuda,
                                const struct jg_nvrtc *nvrtc,
                                const struct jg_spec *spec,
                                const struct jg_log *log,
                                struct jg_kernel *kernel,
                                CUkernel *loaded);

#endif
