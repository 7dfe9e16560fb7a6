/* SPDX-License-Identifier: MIT */
/* Which folder the cache is in, and whom it may belong to. */
#ifndef JG_PLACE_H
#define JG_PLACE_H

#include "env.h"
#include "store.h"

/* What the environment trusts: JG_FILE_GROUP or 0. */
unsigned jg_place_trust(const struct jg_env *env);

/* `dir` (a context option), else env->cache_dir, else the first that will do
 * of $XDG_CACHE_HOME/jitgemm, $HOME/.cache/jitgemm and /tmp/jitgemm-UID. It
 * must be trusted (file.h), or absent where it could be made; of parents, the
 * store may make at most $XDG_CACHE_HOME or $HOME/.cache. One named by `dir`
 * or env->cache_dir that will not do means none: a silent other place would
 * surprise. None is a warning and an empty store.
 * Writes nothing. Returns 0 or ENOMEM. */
int jg_place_choose(const char *dir, const struct jg_env *env,
                    const struct jg_log *log, struct jg_store *store);

/* Where this machine's processes meet if the cache is on a network file
 * system: $XDG_RUNTIME_DIR/jitgemm, else /tmp/jitgemm-UID. Likewise, without
 * a warning. */
int jg_place_choose_local(const struct jg_env *env, struct jg_store *store);

#endif
