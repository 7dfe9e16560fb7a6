/* SPDX-License-Identifier: MIT */
/* Writes problems and conversions as options take them, so that messages show
 * that form. */
#include "model_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "model_config.h"
#include "text.h"

/* One layer: rows go to `top` experts each. */
static bool add_layer(struct problem_list *list, const struct moe_model *model,
                      const char *layer, int64_t most, int64_t typical,
                      const int64_t n_k[2])
{
    size_t bytes = strlen(model->name) + 64, capacity = 0;
    char *origin = grow(NULL, &capacity, bytes, 1), text[128];
    bool good;

    snprintf(origin, bytes, "%s/%s/%" PRId64, model->name, layer, typical);
    snprintf(text, sizeof text,
             "%" PRId32 "@%" PRId64 "/%" PRId64 "x%" PRId64 "x%" PRId64,
             model->experts, most * model->top, typical * model->top, n_k[0],
             n_k[1]);
    good = problem_list_add(list, origin, text);
    if (good && model->mxfp4)
        list->items[list->count - 1].problem.b_type = JITGEMM_WEIGHTS_MXFP4;
    free(origin);
    return good;
}

static bool add_layers(struct problem_list *list,
                       const struct moe_model *model, int64_t most,
                       int64_t typical)
{
    const int64_t gate_up[] = {2 * model->intermediate, model->hidden};
    const int64_t down[] = {model->hidden, model->intermediate};

    return add_layer(list, model, "gate_up", most, typical, gate_up) &&
           add_layer(list, model, "down", most, typical, down);
}

/* The ends of a range and the powers of two between them. */
static bool add_range(struct problem_list *list, const struct moe_model *model,
                      const int64_t range[2])
{
    int64_t power = 1;

    for (int64_t typical = range[0]; typical < range[1]; typical = power) {
        if (!add_layers(list, model, range[1], typical))
            return false;
        while (power <= typical)
            power *= 2;
    }
    return add_layers(list, model, range[1], range[1]);
}

static const char *read_range(const char **at, int64_t range[2])
{
    const char *rule;

    for (int i = 0; i < 2; i++) {
        const char *start = *at;

        if ((rule = text_number(at, &range[i])))
            return rule;
        if (range[i] < 1 || range[i] > INT32_MAX || range[i] < range[0]) {
            *at = start;
            return range[i] < range[0] ? "a range that runs backwards"
                                       : "not from 1 to 2147483647";
        }
        if (i == 0 && **at != '-') {
            range[1] = range[0];
            return NULL;
        }
        *at += i == 0;
    }
    return NULL;
}

bool model_list_add(struct problem_list *list, const char *name,
                    const char *tokens, int64_t tp)
{
    const struct moe_model *known = moe_model_find(name);
    struct moe_model model = {.name = name};
    size_t first = list->count;

    if (known)
        model = *known;
    else if (!model_config_read(name, &model))
        return false;
    if (model.intermediate % tp) {
        complain("--tp: the intermediate size of %s, %" PRId64
                 ", is no multiple of %" PRId64,
                 name, model.intermediate, tp);
        return false;
    }
    model.intermediate /= tp;
    for (const char *at = tokens;; at++) {
        int64_t range[2];
        const char *rule = read_range(&at, range);

        if (!rule && *at && *at != ',')
            rule = "expected \",\" or the end";
        if (rule) {
            complain("--tokens \"%s\", character %td: %s; the form is "
                     "N[-N][,N[-N]...]",
                     tokens, at - tokens + 1, rule);
            return false;
        }
        if (!add_range(list, &model, range))
            return false;
        list->items[first].model = model.name;
        list->items[first].oai = model.oai;
        if (!*at)
            return true;
    }
}

/* One step of a layer: a conversion of rows of that type. */
static bool add_step(struct problem_list *list, const char *model,
                     const char *step, const char *type, const char *steps,
                     const char *cast)
{
    size_t bytes = strlen(model) + 32, capacity = 0;
    char *origin = grow(NULL, &capacity, bytes, 1), text[64];
    bool good;

    snprintf(origin, bytes, "%s/%s", model, step);
    snprintf(text, sizeof text, "%s+%s%s", type, steps, cast);
    good = problem_list_convert(list, origin, text);
    free(origin);
    return good;
}

static bool add_steps(struct problem_list *list, const char *model, bool oai,
                      const jitgemm_problem *problem)
{
    static const char *const types[] = {"f16", "bf16", "f32"};
    static const char *const combine[] = {"combine-f16", "combine-bf16"};
    jitgemm_type c = problem->c_type, x = c;
    bool cast = problem->a_type != JITGEMM_INPUT_NVFP4;
    const char *to = "";

    if (cast)
        x = problem->a_type == JITGEMM_INPUT_F16 ? JITGEMM_F16 : JITGEMM_BF16;
    else if (c == JITGEMM_F32)
        x = JITGEMM_BF16;
    if (cast)
        to = x == JITGEMM_F16 ? "+cast-f16" : "+cast-bf16";
    return add_step(list, model, "gather", types[x], "gather", to) &&
           (c == JITGEMM_F32 ||
            add_step(list, model, "activation", types[c],
                     oai ? "swiglu-oai-interleaved" : "swiglu", to)) &&
           add_step(list, model, "combine", types[c], combine[x], "");
}

bool model_list_convert(struct problem_list *list)
{
    size_t count = list->count;

    for (size_t i = 0; i < count; i++) {
        struct named_problem item = list->items[i]; /* the list may move */

        if (item.model &&
            !add_steps(list, item.model, item.oai, &item.problem))
            return false;
    }
    return true;
}
