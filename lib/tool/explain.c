/* SPDX-License-Identifier: MIT */
/* Asks the library to explain its choices, or to measure first. */
#include "explain.h"

#include <jitgemm.h>
#include <stdio.h>
#include <stdlib.h>

#include "common.h"

static bool explain_problem(jitgemm_context *context,
                            const struct named_problem *named)
{
    size_t needed = 0, capacity = 0;
    char *text;
    bool good = jitgemm_problem_explain(context, &named->problem, NULL, 0,
                                        &needed) == JITGEMM_OK;

    if (!good) {
        complain("%s: %s", named->where, jitgemm_last_error()->text);
        return false;
    }
    text = grow(NULL, &capacity, needed, 1);
    good = jitgemm_problem_explain(context, &named->problem, text, needed,
                                   NULL) == JITGEMM_OK;
    if (good)
        printf("%s: %s", named->where, text);
    free(text);
    return good;
}

static bool tune_problem(jitgemm_context *context,
                         const struct named_problem *named)
{
    jitgemm_tuned tuned = {.size = sizeof tuned};

    if (jitgemm_tune(context, &named->problem, NULL, &tuned)) {
        complain("%s: %s", named->where, jitgemm_last_error()->text);
        return false;
    }
    printf("%s: %d tried; %.2f us: %s; the model's choice %.2f us: %s\n",
           named->where, (int)tuned.tried, tuned.us, tuned.kernel,
           tuned.model_us, tuned.model_kernel);
    fflush(stdout);
    return true;
}

/* For the arch or, if it is NULL, the device. */
static jitgemm_status for_problems(const struct settings *settings,
                                   const char *arch, int32_t device,
                                   bool *good)
{
    const struct problem_list *problems = &settings->problems;
    jitgemm_context_options options = {
        .size = sizeof options,
        .device = device,
        .arch = arch,
        .cache_dir = settings->cache_dir,
    };
    jitgemm_context *context;
    jitgemm_status status = jitgemm_context_create(&options, &context);

    if (status != JITGEMM_OK)
        return status;
    for (size_t i = 0; i < problems->count; i++)
        if (settings->verb == VERB_TUNE
                ? !tune_problem(context, &problems->items[i])
                : !explain_problem(context, &problems->items[i]))
            *good = false;
    jitgemm_context_destroy(context);
    return JITGEMM_OK;
}

bool explain(const struct settings *settings)
{
    bool good = true;
    jitgemm_status status;

    for (size_t i = 0; i < settings->arch_count; i++) {
        if (for_problems(settings, settings->archs[i], 0, &good)) {
            complain("%s: %s", settings->archs[i],
                     jitgemm_last_error()->text);
            good = false;
        }
    }
    for (int32_t device = 0; !settings->arch_count; device++) {
        status = for_problems(settings, NULL, device, &good);
        if (device && status == JITGEMM_E_NO_DEVICE)
            break;
        if (status == JITGEMM_OK)
            continue;
        complain("%s%s", jitgemm_last_error()->text,
                 settings->verb == VERB_TUNE
                     ? ""
                     : "; name an architecture with --arch");
        return false;
    }
    return good;
}
