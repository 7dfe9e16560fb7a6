/* SPDX-License-Identifier: MIT */
/* Why a plan is as it is, for people. Pure. */
#ifndef JG_PLAN_TEXT_H
#define JG_PLAN_TEXT_H

#include "buf.h"
#include "plan.h"

/* Appends a line for the device, a heading, and a line a configuration: what
 * the model expects of it, the chosen one marked. */
void jg_plan_text(const struct jg_problem *problem,
                  const struct jg_device *device,
                  const struct jg_config *chosen, struct jg_buf *text);

#endif
