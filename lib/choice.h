/* SPDX-License-Identifier: MIT */
/* Which configuration a plan of a context takes: the one that was measured to
 * be the fastest for the class of its problem, or else the model's choice. */
#ifndef JG_CHOICE_H
#define JG_CHOICE_H

#include "context.h"
#include "plan.h"

struct jg_choice {
    struct jg_config config;
    char text[512]; /* what it is based on, for people */
};

/* Reads no file but at the context's first call. Fails as jg_plan_choose(),
 * and with E_FORKED. */
jitgemm_status jg_choice_make(jitgemm_context *context,
                              const struct jg_problem *problem,
                              struct jg_choice *choice);

#endif
