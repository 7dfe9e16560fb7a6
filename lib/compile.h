/* SPDX-License-Identifier: MIT */
/* Spec to cubin with NVRTC. Reads no file: every header is embedded. Writes
 * none but those that JITGEMM_KEEP_SRC asks for. */
#ifndef JG_COMPILE_H
#define JG_COMPILE_H

#include "compiler.h"
#include "key.h"
#include "spec.h"

struct jg_compiled { /* all zero: none */
    struct jg_buf cubin;
    struct jg_buf log;   /* with ptxas's report */
    uint32_t registers;  /* a thread */
    uint32_t spill_bytes; /* stores and loads, a thread */
    uint32_t shared_bytes; /* static, a block */
    double ms;
};

/* The key of what jg_compile() would make. E_MEMORY or OK. */
jitgemm_status jg_compile_key(const struct jg_nvrtc *nvrtc,
                              const struct jg_spec *spec, struct jg_key *key);

/* E_COMPILE (the error text begins with the compiler's first complaint; the
 * whole log is in result->log, which the caller frees then too), E_NO_NVRTC
 * (not fit for the architecture), E_MEMORY. */
jitgemm_status jg_compile(const struct jg_nvrtc *nvrtc,
                          const struct jg_spec *spec,
                          struct jg_compiled *result);
/* Logs what the compiler said, a line each. */
void jg_compile_log(const struct jg_compiled *result,
                    const struct jg_spec *spec, const struct jg_log *log);
void jg_compiled_free(struct jg_compiled *result); /* back to all zero */

#endif
