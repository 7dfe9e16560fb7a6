/* SPDX-License-Identifier: MIT */
/* The rules on the arguments of experts. */
#include "experts_job.h"

#include "abi.h"
#include "rows.h"

#define WORKSPACE_ALIGN 256
#define MOST_STRIDE     ((INT64_C(1) << 40) - 16) /* that of a tensor map */

static jitgemm_status check_pointers(const struct jg_problem *problem,
                                     const struct jg_layout *layout,
                                     const jitgemm_expert_arguments *from)
{
    int scaled = problem->input == JG_IN_NVFP4;
    unsigned element = problem->output == JG_F32 ? 4 : 2;
    jitgemm_status status;

    if ((status = jg_rows_check_pointer("arguments.a", from->a, 1, 16)) ||
        (status =
             jg_rows_check_pointer("arguments.sfa", from->sfa, scaled, 16)) ||
        (status = jg_rows_check_pointer("arguments.b", from->b, 1, 16)) ||
        (status = jg_rows_check_pointer("arguments.sfb", from->sfb, 1, 16)) ||
        (status = jg_rows_check_pointer("arguments.c", from->c, 1, 16)) ||
        (status =
             jg_rows_check_pointer("arguments.alpha", from->alpha, -1, 4)) ||
        (status = jg_rows_check_pointer("arguments.bias", from->bias, -1,
                                        element)) ||
        (status = jg_rows_check_pointer("arguments.workspace", from->workspace,
                                        layout->all ? 1 : -1,
                                        WORKSPACE_ALIGN)))
        return status;
    return JITGEMM_OK;
}

static jitgemm_status read_stride(const char *name, int64_t given,
                                  int64_t packed, long long *stride)
{
    *stride = given ? given : packed;
    if (*stride < packed || *stride > MOST_STRIDE)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, name, -1, given, packed,
                                "%s is %lld; it must be 0 or at least %lld, "
                                "and below 2^40",
                                name, (long long)given, (long long)packed);
    if (*stride % 16)
        return jg_fail_argument(JITGEMM_E_ALIGN, name, -1, given, 16,
                                "%s is %lld; it must be a multiple of 16",
                                name, (long long)given);
    return JITGEMM_OK;
}

static jitgemm_status check_rest(const struct jg_layout *layout,
                                 const jitgemm_expert_arguments *from)
{
    if (from->flags)
        return jg_fail_argument(
            JITGEMM_E_ARGUMENT, "arguments.flags", -1, from->flags, 0,
            "arguments.flags is %#x; no flag is known", from->flags);
    if (from->workspace_bytes < layout->all)
        return jg_fail_argument(
            JITGEMM_E_ARGUMENT, "arguments.workspace_bytes", -1,
            (int64_t)from->workspace_bytes, (int64_t)layout->all,
            "arguments.workspace_bytes is %zu; it must be "
            "at least %zu",
            from->workspace_bytes, layout->all);
    return JITGEMM_OK;
}

static jitgemm_status read_numbers(const struct jg_problem *problem,
                                   const jitgemm_expert_arguments *from,
                                   struct jg_row_numbers *numbers)
{
    struct jg_rows_given given = {
        .layout = problem->layout,
        .place = problem->place,
        .groups = problem->groups,
        .max_rows = problem->max_rows,
        .scale_rows = from->scale_rows,
        .rows = from->rows,
        .scale_row = from->scale_row,
        .fault = from->fault,
    };

    return jg_rows_read(&given, numbers);
}

jitgemm_status jg_experts_read(const struct jg_config *config,
                               const struct jg_problem *problem,
                               const struct jg_layout *layout,
                               const jitgemm_expert_arguments *from,
                               struct jg_experts *experts, void **workspace)
{
    struct jg_size size = problem->sizes[0];
    int64_t b_bytes = (int64_t)size.n * size.k / 2;
    int64_t sfb_bytes = (int64_t)jitgemm_scale_bytes(
        size.n, jg_problem_scale_k(problem, size.k));
    jitgemm_expert_arguments known;
    struct jg_row_numbers numbers;
    long long stride_b, stride_sfb;
    jitgemm_status status =
        jg_abi_read(&known, sizeof known, sizeof known, from, "arguments");

    if (status != JITGEMM_OK)
        return status;
    if ((status = check_pointers(problem, layout, &known)) ||
        (status = read_stride("arguments.stride_b", known.stride_b, b_bytes,
                              &stride_b)) ||
        (status = read_stride("arguments.stride_sfb", known.stride_sfb,
                              sfb_bytes, &stride_sfb)) ||
        (status = check_rest(layout, &known)) ||
        (status = read_numbers(problem, &known, &numbers)))
        return status;
    *experts = (struct jg_experts){
        .numbers = numbers,
        .a = known.a,
        .sfa = known.sfa,
        .b = known.b,
        .sfb = known.sfb,
        .c = known.c,
        .alpha = known.alpha,
        .bias = known.bias,
        .stride_b = stride_b,
        .stride_sfb = stride_sfb,
        .row_a = jg_problem_row_a(problem, size.k),
        .row_c = jg_problem_row_c(problem, size.n),
        .row_bytes_c =
            (long long)size.n * (problem->output == JG_F32 ? 4 : 2),
        .n = size.n,
        .k = size.k,
        .tiling = jg_cut_tiling(config, size.n, size.k),
        .most_atoms = (int)jg_table_most_atoms(problem),
    };
    *workspace = known.workspace;
    return JITGEMM_OK;
}

void jg_experts_place(const struct jg_layout *layout, void *workspace,
                      struct jg_experts_job *job, struct jg_table *table)
{
    unsigned char *memory = workspace;

    *table = (struct jg_table){.count = job->experts.numbers.groups,
                               .tiles = -1,
                               .units = -1};
    jg_table_place(layout, memory, table);
    job->groups = (struct jg_group *)workspace;
    job->first_tile = (int *)(memory + layout->first_tile);
    job->first_unit = (int *)(memory + layout->first_unit);
    job->group_maps = memory + layout->maps;
}
