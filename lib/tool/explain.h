/* SPDX-License-Identifier: MIT */
/* --explain: why a plan for each problem would be as it is. --tune: makes it
 * what is fastest. */
#ifndef JITGEMM_WARM_EXPLAIN_H
#define JITGEMM_WARM_EXPLAIN_H

#include "options.h"

/* Prints the library's explanations, for the architectures asked for or the
 * GPUs present, or with VERB_TUNE what was measured on them. False after a
 * message. */
bool explain(const struct settings *settings);

#endif
