/* SPDX-License-Identifier: MIT */
/* A caller's arguments to what a conversion's kernel gets. Pure. */
#ifndef JG_CONVERSION_JOB_H
#define JG_CONVERSION_JOB_H

#include "conversion_spec.h"

/* Checks the arguments: E_ARGUMENT, E_VERSION, E_SHAPE or E_ALIGN. *units: the
 * tiles that there may be, below 2^31; 0: nothing to do. */
jitgemm_status jg_conversion_job_read(const struct jg_conversion_kind *kind,
                                      const jitgemm_conversion_arguments *from,
                                      struct jg_conversion_job *job,
                                      int64_t *units);

#endif
