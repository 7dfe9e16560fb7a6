/* SPDX-License-Identifier: MIT */
/* A caller's arguments to what the kernels of experts get. Pure. */
#ifndef JG_EXPERTS_JOB_H
#define JG_EXPERTS_JOB_H

#include <base/experts.h>

#include "table.h"

/* Checks the arguments: E_ARGUMENT, E_VERSION, E_SHAPE or E_ALIGN. Writes all
 * of the job but its maps, and the table that it makes. */
jitgemm_status jg_experts_job_read(const struct jg_config *config,
                                   const struct jg_problem *problem,
                                   const struct jg_layout *layout,
                                   const jitgemm_expert_arguments *from,
                                   struct jg_experts_job *job,
                                   struct jg_table *table);

#endif
