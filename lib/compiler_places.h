/* SPDX-License-Identifier: MIT */
/* Where libnvrtc may be. */
#ifndef JG_COMPILER_PLACES_H
#define JG_COMPILER_PLACES_H

#include "buf.h"
#include "env.h"

/* Paths and sonames to try, in order, each with a NUL behind it. What
 * JITGEMM_LIBNVRTC names is the only place; without it:
 *   1. the loader's search, which knows libraries that are open already
 *   2. Python packages: of VIRTUAL_ENV, and beside the python that runs this
 *   3. toolkits: CUDA_HOME, CUDA_PATH, /usr/local/cuda, and the one that the
 *      library was configured with
 * Below a place that does not exist, the path or pattern that was looked for.
 */
void jg_compiler_places(const struct jg_env *env, struct jg_buf *list);

#endif
