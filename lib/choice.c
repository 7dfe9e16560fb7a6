/* SPDX-License-Identifier: MIT */
/* Model and measurements. */
#include "choice.h"

#include <stdio.h>

#include "fork.h"

/* Instead of the model's choice, if it is known and can be. */
static void use_tuning(jitgemm_context *context,
                       const struct jg_problem *problem,
                       struct jg_choice *choice)
{
    struct jg_tuning_entry entry = {.ns = 0};
    const char *rule;
    char why[256];

    if (!jg_tuning_class(problem, &context->device, &entry)) {
        snprintf(choice->text, sizeof choice->text,
                 "not tuned: groups differ in n or k");
        return;
    }
    if (!jg_tuned_find(&context->tuned, jg_registry_cache(context->registry),
                       &context->device, &context->client.log, &entry, why,
                       sizeof why)) {
        snprintf(choice->text, sizeof choice->text, "not tuned: %s", why);
        return;
    }
    rule = jg_plan_named(problem, &context->device, entry.kernel,
                         &choice->config);
    if (rule)
        snprintf(choice->text, sizeof choice->text,
                 "not tuned: %s has %s, which %s", entry.class, entry.kernel,
                 rule);
    else
        snprintf(choice->text, sizeof choice->text,
                 "tuned for %s: measured %.2f us; the model's choice %.2f us",
                 entry.class, (double)entry.ns / 1e3,
                 (double)entry.model_ns / 1e3);
}

jitgemm_status jg_choice_make(jitgemm_context *context,
                              const struct jg_problem *problem,
                              struct jg_choice *choice)
{
    jitgemm_status status =
        jg_plan_choose(problem, &context->device, &choice->config);

    if (status == JITGEMM_OK)
        status = jg_fork_enter();
    if (status != JITGEMM_OK)
        return status;
    use_tuning(context, problem, choice);
    jg_fork_leave();
    return JITGEMM_OK;
}
