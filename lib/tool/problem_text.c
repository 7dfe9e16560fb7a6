/* SPDX-License-Identifier: MIT */
/* Reads problems and conversions. */
#include "problem_text.h"

#include <stdlib.h>

#include "common.h"
#include "text.h"

enum { MAX_GROUPS = 65536 }; /* of jitgemm_problem */

static const char *const layouts[] = {"stacked", "masked", NULL};
static const char *const places[] = {"tight",   "floor",    "ceil",
                                     "strided", "explicit", NULL};

/* "xNxK". */
static const char *read_n_k(const char **at, int64_t n_k[2])
{
    const char *rule;

    for (int i = 0; i < 2; i++) {
        if (**at != 'x')
            return "expected \"x\"";
        ++*at;
        if ((rule = text_number(at, &n_k[i])))
            return rule;
    }
    return NULL;
}

/* Reads the m of all groups into *m (grown as needed, *groups of them); of
 * experts, which have an "@" behind it, their number. */
static const char *read_m(const char **at, int64_t **m, size_t *groups)
{
    size_t capacity = 0;
    const char *rule;

    for (;; ++*at) {
        if (*groups == MAX_GROUPS)
            return "more than 65536 groups";
        *m = grow(*m, &capacity, *groups + 1, sizeof **m);
        if ((rule = text_number(at, &(*m)[*groups])))
            return rule;
        ++*groups;
        if (**at != ',')
            break;
    }
    if (**at == '@' && *groups == 1)
        return **m > MAX_GROUPS ? "more than 65536 groups" : NULL;
    return **at == 'x' ? NULL : "expected \",\" or \"x\"";
}

/* ":WORD", if there is one. */
static const char *read_word(const char **at, const char *const *words,
                             int *number)
{
    if (**at != ':')
        return NULL;
    ++*at;
    return text_word(at, words, number);
}

static const char *read_rows(const char **at, jitgemm_layout *layout,
                             jitgemm_place *place)
{
    int numbers[2] = {0};
    const char *rule = read_word(at, layouts, &numbers[0]);

    if (!rule)
        rule = read_word(at, places, &numbers[1]);
    *layout = (jitgemm_layout)numbers[0];
    *place = (jitgemm_place)numbers[1];
    return rule;
}

/* What follows the number of experts. */
static const char *read_experts(const char **at, jitgemm_problem *problem,
                                int64_t n_k[2])
{
    const char *rule;

    ++*at;
    problem->sizes = JITGEMM_SIZES_DEVICE;
    if ((rule = text_number(at, &problem->max_rows)))
        return rule;
    if (**at == '/') {
        ++*at;
        if ((rule = text_number(at, &problem->hint_rows)))
            return rule;
    }
    if ((rule = read_n_k(at, n_k)))
        return rule;
    return read_rows(at, &problem->layout, &problem->place);
}

/* Of experts m has but one element: their number. */
static int64_t *set_sizes(jitgemm_problem *problem, const int64_t *m,
                          size_t groups, const int64_t n_k[2])
{
    bool experts = problem->sizes == JITGEMM_SIZES_DEVICE;
    size_t capacity = 0;
    int64_t *sizes = grow(NULL, &capacity, 3 * groups, sizeof *sizes);

    for (size_t g = 0; g < groups; g++) {
        sizes[g] = m[g];
        sizes[groups + g] = n_k[0];
        sizes[2 * groups + g] = n_k[1];
    }
    problem->size = sizeof *problem;
    problem->groups = (int32_t)(experts ? m[0] : (int64_t)groups);
    problem->m = experts ? NULL : sizes;
    problem->n = sizes + groups;
    problem->k = sizes + 2 * groups;
    return sizes;
}

const char *problem_text_read(const char *text, const char **at,
                              jitgemm_problem *problem, int64_t **sizes)
{
    jitgemm_problem made = {0};
    size_t groups = 0;
    int64_t *m = NULL, n_k[2];
    const char *rule;

    *at = text;
    rule = read_m(at, &m, &groups);
    if (!rule)
        rule = **at == '@' ? read_experts(at, &made, n_k) : read_n_k(at, n_k);
    if (!rule && **at)
        rule = "expected the end";
    if (!rule) {
        *sizes = set_sizes(&made, m, groups, n_k);
        *problem = made;
    }
    free(m);
    return rule;
}

/* "+STEP", any number of them. */
static const char *read_steps(const char **at,
                              jitgemm_conversion_options *options)
{
    static const char *const steps[] = {
        "gather",
        "swiglu",
        "swiglu-interleaved",
        "swiglu-oai",
        "swiglu-oai-interleaved",
        "combine-f16",
        "combine-bf16",
        "combine-f32",
        "cast-f16",
        "cast-bf16",
        NULL};
    const char *rule;

    while (**at == '+') {
        int step;

        ++*at;
        if ((rule = text_word(at, steps, &step)))
            return rule;
        if (step == 0)
            options->flags |= JITGEMM_GATHER;
        else if (step < 5)
            options->activation = (jitgemm_activation)step;
        else {
            options->flags |= step < 8 ? JITGEMM_COMBINE : JITGEMM_CAST;
            options->c_type = (jitgemm_type)((step - 5) % 3);
        }
    }
    return NULL;
}

const char *conversion_text_read(const char *text, const char **at,
                                 jitgemm_conversion_options *options)
{
    static const char *const types[] = {"f16", "bf16", "e4m3", "f32", NULL};
    static const jitgemm_type numbers[] = {JITGEMM_F16, JITGEMM_BF16,
                                           JITGEMM_E4M3, JITGEMM_F32};
    static const char *const orders[] = {"blocked", "linear", NULL};
    jitgemm_conversion_options made = {.size = sizeof made};
    int type, order = 0;
    const char *rule;

    *at = text;
    if ((rule = text_word(at, types, &type)) ||
        (rule = read_steps(at, &made)) ||
        (rule = read_rows(at, &made.layout, &made.place)) ||
        (rule = read_word(at, orders, &order)))
        return rule;
    if (**at)
        return "expected the end";
    made.x_type = numbers[type];
    made.scale_order = (jitgemm_scale_order)order;
    *options = made;
    return NULL;
}
