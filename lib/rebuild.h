/* SPDX-License-Identifier: MIT */
/* Compiles an entry again from its key and compares: shows that a pack holds
 * what these sources make, whoever made it. */
#ifndef JG_REBUILD_H
#define JG_REBUILD_H

#include "compile.h"
#include "entry.h"

/* REBUILT, DIFFERENT or NOT_COMPARABLE; of the last two, *why, which is
 * empty before, says why. */
jitgemm_entry_state jg_rebuild_compare(const struct jg_nvrtc *nvrtc,
                                       const struct jg_entry *entry,
                                       struct jg_buf *why);

#endif
