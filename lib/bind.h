/* SPDX-License-Identifier: MIT */
/* Operands of a plan: checked, compared, uploaded if they changed. */
#ifndef JG_BIND_H
#define JG_BIND_H

#include "launch.h"

jitgemm_status jg_bind(jitgemm_plan *plan, const jitgemm_operands *operands,
                       CUstream stream);

#endif
