/* SPDX-License-Identifier: MIT */
/* A caller's arguments to what the kernels of experts get. Pure. */
#ifndef JG_EXPERTS_JOB_H
#define JG_EXPERTS_JOB_H

#include <base/experts.h>

#include "table.h"

/* Checks the arguments: E_ARGUMENT, E_VERSION, E_SHAPE or E_ALIGN. */
jitgemm_status jg_experts_read(const struct jg_config *config,
                               const struct jg_problem *problem,
                               const struct jg_layout *layout,
                               const jitgemm_expert_arguments *from,
                               struct jg_experts *experts, void **workspace);

/* Writes what a job that has the experts still lacks, but for its maps, and
 * the table that it makes in the workspace. */
void jg_experts_place(const struct jg_layout *layout, void *workspace,
                      struct jg_experts_job *job, struct jg_table *table);

#endif
