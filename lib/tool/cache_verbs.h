/* SPDX-License-Identifier: MIT */
/* --list, --verify, --diff, --export, --import and --merge. */
#ifndef JITGEMM_WARM_CACHE_VERBS_H
#define JITGEMM_WARM_CACHE_VERBS_H

#include "options.h"

/* Returns the program's exit status. */
int cache_verb(const struct settings *settings);

#endif
