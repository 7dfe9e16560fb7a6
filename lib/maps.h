/* SPDX-License-Identifier: MIT */
/* The tensor maps that products copy with. */
#ifndef JG_MAPS_H
#define JG_MAPS_H

#include <base/experts.h>

#include "context.h"
#include "table.h"

#define JG_MAPS_MOST 4 /* of a group */

/* Encodes those of a group's operands, one after the other: of its weights
 * (JG_SM90), or of activations, weights and, for pairs of CTAs, the scales of
 * both. E_DRIVER, which names the argument. In the CUDA context. */
jitgemm_status jg_maps_encode(const jitgemm_context *context,
                              const struct jg_config *config,
                              const struct jg_group *row, void *maps);

/* That of the weights of all experts, for JG_SM90. Likewise. */
jitgemm_status jg_maps_encode_stacked(const jitgemm_context *context,
                                      const struct jg_config *config,
                                      const struct jg_experts *experts,
                                      void *map);

#endif
