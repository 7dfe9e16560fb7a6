/* SPDX-License-Identifier: MIT */
/* The public functions: check arguments, call below, nothing else. */
#include "jitgemm.h"

#include <stdio.h>

#include "abi.h"
#include "bind.h"
#include "choice.h"
#include "file.h"
#include "plan_text.h"
#include "ready.h"

uint32_t jitgemm_version(void)
{
    return JITGEMM_VERSION_MAJOR * 10000 + JITGEMM_VERSION_MINOR * 100 +
           JITGEMM_VERSION_PATCH;
}

static jitgemm_status fail_null(const char *argument)
{
    return jg_fail_argument(JITGEMM_E_ARGUMENT, argument, -1, 0, 0,
                            "%s is NULL", argument);
}

jitgemm_status jitgemm_context_create(const jitgemm_context_options *options,
                                      jitgemm_context **context)
{
    static const jitgemm_context_options defaults = {
        .size = sizeof(jitgemm_context_options)};
    jitgemm_context_options known;
    jitgemm_status status;

    if (!context)
        return fail_null("context");
    status = jg_abi_read(&known, sizeof known,
                         offsetof(jitgemm_context_options, event),
                         options ? options : &defaults, "options");
    if (status != JITGEMM_OK)
        return status;
    return jg_context_create(&known, context);
}

void jitgemm_context_destroy(jitgemm_context *context)
{
    jg_context_destroy(context);
}

jitgemm_status jitgemm_freeze(jitgemm_context *context)
{
    if (!context)
        return fail_null("context");
    jg_gate_shut(&context->client.compiler);
    return JITGEMM_OK;
}

jitgemm_status jitgemm_plan_create(jitgemm_context *context,
                                   const jitgemm_problem *problem,
                                   jitgemm_plan **plan)
{
    struct jg_problem checked;
    struct jg_choice choice;
    jitgemm_status status;

    if (!context)
        return fail_null("context");
    if (!plan)
        return fail_null("plan");
    status = jg_problem_read(problem, &checked);
    if (status != JITGEMM_OK)
        return status;
    status = jg_choice_make(context, &checked, &choice);
    if (status == JITGEMM_OK)
        status = jg_launch_create(context, &checked, &choice.config, plan);
    jg_problem_free(&checked);
    return status;
}

void jitgemm_plan_destroy(jitgemm_plan *plan)
{
    jg_launch_destroy(plan);
}

static jitgemm_status check_told(const jitgemm_plan *plan)
{
    if (!plan)
        return fail_null("plan");
    if (plan->problem.on_device)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "plan", -1, 0, 0,
                                "plan was made with JITGEMM_SIZES_DEVICE: use "
                                "jitgemm_run_experts()");
    return JITGEMM_OK;
}

jitgemm_status jitgemm_plan_bind(jitgemm_plan *plan,
                                 const jitgemm_operands *operands,
                                 struct CUstream_st *stream)
{
    jitgemm_operands known;
    jitgemm_status status = check_told(plan);

    if (status != JITGEMM_OK)
        return status;
    status = jg_abi_read(&known, sizeof known,
                         offsetof(jitgemm_operands, bias), operands,
                         "operands");
    if (status != JITGEMM_OK)
        return status;
    if (known.flags)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "operands.flags", -1,
                                known.flags, 0,
                                "operands.flags is %#x; no flag is known",
                                known.flags);
    if (!known.a)
        return fail_null("operands.a");
    if (!known.sfa && plan->problem.input == JG_IN_NVFP4)
        return fail_null("operands.sfa");
    if (!known.b)
        return fail_null("operands.b");
    if (!known.sfb)
        return fail_null("operands.sfb");
    if (!known.c)
        return fail_null("operands.c");
    return jg_bind(plan, &known, stream);
}

jitgemm_status jitgemm_run(const jitgemm_plan *plan,
                           struct CUstream_st *stream)
{
    jitgemm_status status = check_told(plan);
    struct jg_table table;
    void *parameters[JG_SPEC_KERNELS] = {&table, &table};

    if (status != JITGEMM_OK)
        return status;
    if (!plan->bound)
        return jg_fail(
            JITGEMM_E_NOT_READY,
            "no operands are bound: call jitgemm_plan_bind() first");
    table = plan->table;
    return jg_launch_run(plan, parameters, NULL, stream);
}

static jitgemm_status fail_index(int32_t index, int32_t count)
{
    return jg_fail_argument(JITGEMM_E_NOT_FOUND, "index", -1, index, count,
                            "index is %d; the number of kernels is %d",
                            (int)index, (int)count);
}

/* A problem as kernels see it. */
struct question {
    struct jg_config config;
    char text[JG_PROBLEM_TEXT];
};

static jitgemm_status read_question(jitgemm_context *context,
                                    const jitgemm_problem *problem,
                                    struct question *question)
{
    struct jg_problem checked;
    struct jg_choice choice;
    jitgemm_status status;

    if (!context)
        return fail_null("context");
    status = jg_problem_read(problem, &checked);
    if (status != JITGEMM_OK)
        return status;
    status = jg_choice_make(context, &checked, &choice);
    if (status == JITGEMM_OK) {
        question->config = choice.config;
        jg_problem_print(&checked, question->text);
    }
    jg_problem_free(&checked);
    return status;
}

/* The spec of its index-th kernel. */
static jitgemm_status find_spec(const jitgemm_context *context,
                                const struct question *question, int32_t index,
                                struct jg_spec *spec)
{
    int count = jg_spec_count(&question->config);

    if (index < 0 || index >= count)
        return fail_index(index, count);
    jg_spec_make(&question->config, &context->device, index, spec);
    return JITGEMM_OK;
}

static jitgemm_status write_report(jitgemm_kernel *to,
                                   const jitgemm_kernel *report)
{
    return jg_abi_write(to, report, sizeof *report, sizeof *report, "kernel");
}

jitgemm_status jitgemm_problem_kernel(jitgemm_context *context,
                                      const jitgemm_problem *problem,
                                      int32_t index, jitgemm_kernel *kernel)
{
    struct question question;
    struct jg_spec spec;
    jitgemm_kernel report;
    jitgemm_status status = read_question(context, problem, &question);

    if (status == JITGEMM_OK)
        status = find_spec(context, &question, index, &spec);
    if (status == JITGEMM_OK)
        status = jg_ready_describe(context, &spec, &report);
    if (status != JITGEMM_OK)
        return status;
    return write_report(kernel, &report);
}

jitgemm_status jitgemm_problem_explain(jitgemm_context *context,
                                       const jitgemm_problem *problem,
                                       char *text, size_t size,
                                       size_t *needed)
{
    struct jg_problem checked;
    struct jg_choice choice;
    struct jg_buf made = {0};
    jitgemm_status status;

    if (!context)
        return fail_null("context");
    if (!text && size)
        return fail_null("text");
    status = jg_problem_read(problem, &checked);
    if (status != JITGEMM_OK)
        return status;
    status = jg_choice_make(context, &checked, &choice);
    if (status == JITGEMM_OK) {
        jg_plan_text(&checked, &context->device, &choice.config, &made);
        jg_buf_printf(&made, "%s\n", choice.text);
    }
    jg_problem_free(&checked);
    if (status == JITGEMM_OK && made.failed)
        status = jg_fail(JITGEMM_E_MEMORY, "no memory for a text");
    if (status == JITGEMM_OK) {
        if (size)
            snprintf(text, size, "%s", (const char *)made.data);
        if (needed)
            *needed = made.size + 1;
    }
    jg_buf_free(&made);
    return status;
}

jitgemm_status jitgemm_prepare(jitgemm_context *context,
                               const jitgemm_problem *problem, int32_t index,
                               jitgemm_kernel *kernel)
{
    struct question question;
    struct jg_spec spec;
    jitgemm_kernel report;
    jitgemm_status status = read_question(context, problem, &question);

    if (status == JITGEMM_OK)
        status = find_spec(context, &question, index, &spec);
    if (status == JITGEMM_OK)
        status = jg_ready_prepare(context, &spec, question.text, &report);
    if (status != JITGEMM_OK)
        return status;
    return write_report(kernel, &report);
}

/* Of every kernel of a problem, until one fails. */
typedef jitgemm_status each_fn(jitgemm_context *context,
                               const struct jg_spec *spec,
                               const char *problem);

static jitgemm_status for_each(jitgemm_context *context,
                               const jitgemm_problem *problem, each_fn *each)
{
    struct question question;
    struct jg_spec spec;
    jitgemm_status status = read_question(context, problem, &question);

    if (status != JITGEMM_OK)
        return status;
    for (int i = 0; i < jg_spec_count(&question.config); i++) {
        jg_spec_make(&question.config, &context->device, i, &spec);
        status = each(context, &spec, question.text);
        if (status != JITGEMM_OK)
            return status;
    }
    return JITGEMM_OK;
}

jitgemm_status jitgemm_prepare_async(jitgemm_context *context,
                                     const jitgemm_problem *problem)
{
    return for_each(context, problem, jg_ready_prepare_async);
}

jitgemm_status jitgemm_prepare_wait(jitgemm_context *context, int32_t ms)
{
    if (!context)
        return fail_null("context");
    return jg_pool_wait(&context->pool, ms);
}

jitgemm_status jitgemm_problem_ready(jitgemm_context *context,
                                     const jitgemm_problem *problem)
{
    return for_each(context, problem, jg_ready_peek);
}

jitgemm_status jitgemm_plan_kernel(const jitgemm_plan *plan, int32_t index,
                                   jitgemm_kernel *kernel)
{
    jitgemm_kernel report;

    if (!plan)
        return fail_null("plan");
    if (!jg_launch_kernel(plan, index, &report))
        return fail_index(index, plan->kernels);
    return write_report(kernel, &report);
}

static jitgemm_status fail_prune(int error)
{
    jitgemm_status status =
        jg_fail(JITGEMM_E_NOT_FOUND, "the cache cannot be pruned: %s",
                jg_file_text(error));

    jg_error()->system = error;
    return status;
}

jitgemm_status jitgemm_cache_prune(jitgemm_context *context,
                                   uint64_t max_bytes, uint32_t flags,
                                   jitgemm_pruned *pruned)
{
    bool dry = flags & JITGEMM_PRUNE_DRY_RUN;
    struct jg_evicted evicted;
    jitgemm_pruned report;
    jitgemm_status status;
    int error;

    if (!context)
        return fail_null("context");
    if (flags & ~(uint32_t)JITGEMM_PRUNE_DRY_RUN)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "flags", -1, flags,
                                JITGEMM_PRUNE_DRY_RUN,
                                "flags is %#x; only %#x is known", flags,
                                (unsigned)JITGEMM_PRUNE_DRY_RUN);
    status = jg_abi_read(&report, sizeof report, sizeof report, pruned,
                         "pruned");
    if (status != JITGEMM_OK)
        return status;
    error = jg_cache_prune(jg_registry_cache(context->registry), max_bytes,
                           dry, &context->client.log, &evicted);
    if (error)
        return fail_prune(error);
    report.swept = (uint32_t)evicted.swept;
    report.entries = evicted.entries;
    report.bytes = evicted.bytes;
    report.removed = evicted.removed;
    report.removed_bytes = evicted.removed_bytes;
    return jg_abi_write(pruned, &report, sizeof report, sizeof report,
                        "pruned");
}

jitgemm_status jitgemm_stats_read(jitgemm_context *context,
                                  jitgemm_stats *stats)
{
    jitgemm_stats read = {.size = sizeof read};

    if (!context)
        return fail_null("context");
    read.frozen = jg_gate_is_shut(&context->client.compiler);
    jg_stats_read(&context->client.stats, &read);
    jg_registry_stats(context->registry, &read);
    return jg_abi_write(stats, &read, sizeof read, sizeof read, "stats");
}

size_t jitgemm_stats_json(const jitgemm_stats *stats, char *text, size_t size)
{
    jitgemm_stats known;

    if (jg_abi_read(&known, sizeof known, sizeof known, stats, "stats") !=
        JITGEMM_OK)
        return 0;
    return jg_stats_json(&known, text, size);
}
