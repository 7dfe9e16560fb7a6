/* SPDX-License-Identifier: MIT */
#include "models.h"

#include <stdio.h>
#include <string.h>

#include "reference.h"

/* One token to the experts with the highest scores: a random number each, in
 * 0 to 999, and what makes some experts liked by all. */
static void route(const struct moe_model *model, const int *liked,
                  uint64_t *seed, int64_t *m)
{
    int score[CASE_GROUPS];

    for (int32_t e = 0; e < model->experts; e++)
        score[e] = liked[e] + (int)(ref_random(seed) % 1000);
    for (int32_t i = 0; i < model->top; i++) {
        int32_t best = 0;

        for (int32_t e = 1; e < model->experts; e++)
            if (score[e] > score[best])
                best = e;
        score[best] = -1;
        m[best]++;
    }
}

static void set_sizes(struct gemm_case *c, const struct moe_model *model,
                      const char *layer, int64_t tokens, int64_t n, int64_t k)
{
    snprintf(c->name, sizeof c->name, "%s/%s/%lld", model->name, layer,
             (long long)tokens);
    c->kind = CASE_LAYER;
    c->groups = model->experts;
    for (int32_t e = 0; e < c->groups; e++) {
        c->n[e] = n;
        c->k[e] = k;
    }
}

void moe_model_cases(const struct moe_model *model, int64_t tokens,
                     struct gemm_case *gate_up, struct gemm_case *down)
{
    int liked[CASE_GROUPS];
    uint64_t seed = 1;

    memset(gate_up, 0, sizeof *gate_up);
    for (int32_t e = 0; e < model->experts; e++)
        liked[e] = (int)(ref_random(&seed) % 100);
    for (int64_t t = 0; t < tokens; t++)
        route(model, liked, &seed, gate_up->m);
    *down = *gate_up;
    set_sizes(gate_up, model, "gate_up", tokens, 2 * model->intermediate,
              model->hidden);
    set_sizes(down, model, "down", tokens, model->hidden, model->intermediate);
}
