/* SPDX-License-Identifier: MIT */
/* The machine code of one kernel: read from the cache or compiled, and loaded
 * into the driver. For one thread at a time. */
#ifndef JG_IMAGE_H
#define JG_IMAGE_H

#include "cache.h"
#include "compile.h"
#include "driver.h"

struct jg_image { /* all zero: none */
    struct jg_buf cubin;
    jitgemm_source source;                         /* where it came from */
    uint32_t registers, spill_bytes, shared_bytes; /* static */
    CUlibrary library;                             /* NULL until loaded */
    CUkernel kernel;
};

/* Takes it from the cache, as jg_cache_get() does; false on a miss. */
bool jg_image_read(struct jg_image *image, const struct jg_cache *cache,
                   const struct jg_key *key, jitgemm_source refused,
                   const struct jg_log *log);

/* Compiles it and publishes it to the cache, which may fail unseen. */
jitgemm_status
jg_image_compile(struct jg_image *image, const struct jg_cache *cache,
                 const struct jg_key *key, const struct jg_nvrtc *nvrtc,
                 const struct jg_spec *spec, const struct jg_log *log);

jitgemm_status jg_image_load(struct jg_image *image,
                             const struct jg_cuda *cuda, const char *symbol);

/* Whether a failed load is the image's fault, as opposed to a lack of memory
 * or a context that has died. */
bool jg_image_is_bad(const jitgemm_error *error);

/* Back to all zero; unloads it if it was loaded. */
void jg_image_free(struct jg_image *image, const struct jg_cuda *cuda);

#endif
