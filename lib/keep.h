/* SPDX-License-Identifier: MIT */
/* JITGEMM_KEEP_SRC: what is compiled, as files for people and debuggers. They
 * are never read back, and no call fails for them. */
#ifndef JG_KEEP_H
#define JG_KEEP_H

#include "buf.h"
#include "spec.h"

/* Writes the embedded texts, spec.cuh and the compiler's log into `folder`,
 * which it makes, but not what is above it. 0, or errno of the first failure.
 */
int jg_keep(const char *folder, const struct jg_spec *spec,
            const struct jg_buf *log);

#endif
