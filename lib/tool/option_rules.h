/* SPDX-License-Identifier: MIT */
/* Which options go together. */
#ifndef JITGEMM_WARM_OPTION_RULES_H
#define JITGEMM_WARM_OPTION_RULES_H

#include "options.h"

/* False after a message. */
bool option_rules_check(const struct settings *settings);

#endif
