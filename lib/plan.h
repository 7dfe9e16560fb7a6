/* SPDX-License-Identifier: MIT */
/* Problem and device to configuration: pure functions over a table. */
#ifndef JG_PLAN_H
#define JG_PLAN_H

#include "model.h"

/* The configuration with the least estimated time; E_ARCH if no kernel of the
 * device takes such an A. */
jitgemm_status jg_plan_choose(const struct jg_problem *problem,
                              const struct jg_device *device,
                              struct jg_config *config);

/* The configuration whose product that kernel is, by its name, if it can do
 * the problem: NULL, or why not. */
const char *jg_plan_named(const struct jg_problem *problem,
                          const struct jg_device *device, const char *kernel,
                          struct jg_config *config);

/* Fills in what a row of the model leaves open: it follows from the problem.
 */
void jg_plan_complete(const struct jg_problem *problem,
                      struct jg_config *config);

#endif
