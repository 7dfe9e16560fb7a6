/* SPDX-License-Identifier: MIT */
/* The rules on sizes. */
#include "problem.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"

#define MAX_GROUPS 65536
#define MAX_C_BYTES ((int64_t)1 << 47) /* user address space of x86-64 */

struct rule {
    const char *argument; /* of jitgemm_problem */
    int64_t least, multiple;
};

static const struct rule rule_m = {"problem.m", 0, 1};
static const struct rule rule_n = {"problem.n", 1, 8};
static const struct rule rule_k = {"problem.k", 1, 32};

static jitgemm_status check(const struct rule *rule, int32_t group,
                            int64_t value)
{
    const char *name = rule->argument;

    if (value < rule->least)
        return jg_fail_argument(JITGEMM_E_SHAPE, name, group, value,
                                rule->least, "%s[%d] is %lld; it must be %s",
                                name, (int)group, (long long)value,
                                rule->least ? "positive" : "0 or more");
    if (value > INT32_MAX)
        return jg_fail_argument(JITGEMM_E_SHAPE, name, group, value, INT32_MAX,
                                "%s[%d] is %lld; it must be below 2^31", name,
                                (int)group, (long long)value);
    if (value % rule->multiple)
        return jg_fail_argument(JITGEMM_E_SHAPE, name, group, value,
                                rule->multiple,
                                "%s[%d] is %lld; it must be a multiple of "
                                "%lld",
                                name, (int)group, (long long)value,
                                (long long)rule->multiple);
    return JITGEMM_OK;
}

static jitgemm_status check_group(const jitgemm_problem *from, int32_t group,
                                  struct jg_size *size)
{
    int64_t m = from->m[group], n = from->n[group], k = from->k[group];
    jitgemm_status status = check(&rule_m, group, m);

    if (status == JITGEMM_OK)
        status = check(&rule_n, group, n);
    if (status == JITGEMM_OK)
        status = check(&rule_k, group, k);
    if (status != JITGEMM_OK)
        return status;
    if (m > MAX_C_BYTES / 4 / n)
        return jg_fail_argument(JITGEMM_E_SHAPE, rule_m.argument, group, m,
                                MAX_C_BYTES / 4 / n,
                                "problem.m[%d] * problem.n[%d] is %lld * "
                                "%lld; C must be below 2^45 elements",
                                (int)group, (int)group, (long long)m,
                                (long long)n);
    *size = (struct jg_size){(int32_t)m, (int32_t)n, (int32_t)k};
    return JITGEMM_OK;
}

static jitgemm_status check_header(const jitgemm_problem *problem)
{
    if (problem->flags)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "problem.flags", -1,
                                problem->flags, 0,
                                "problem.flags is %#x; no flag is known",
                                problem->flags);
    if (problem->groups < 1 || problem->groups > MAX_GROUPS)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "problem.groups", -1,
                                problem->groups, MAX_GROUPS,
                                "problem.groups is %d; it must be 1 to %d",
                                (int)problem->groups, MAX_GROUPS);
    if (problem->batch != 0 && problem->batch != 1)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "problem.batch", -1,
                                problem->batch, 1,
                                "problem.batch is %d; it must be 1 (make each "
                                "product of a batch a group)",
                                (int)problem->batch);
    if ((unsigned)problem->c_type > JITGEMM_F32)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "problem.c_type", -1,
                                problem->c_type, JITGEMM_F32,
                                "problem.c_type is %d; it must be JITGEMM_F16 "
                                "(0), JITGEMM_BF16 (1) or JITGEMM_F32 (2)",
                                (int)problem->c_type);
    if (problem->a_type != JITGEMM_INPUT_NVFP4 &&
        problem->a_type != JITGEMM_INPUT_F16 &&
        problem->a_type != JITGEMM_INPUT_BF16)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "problem.a_type", -1,
                                (int)problem->a_type, JITGEMM_INPUT_BF16,
                                "problem.a_type is %d; it must be "
                                "JITGEMM_INPUT_NVFP4 (0), _F16 (16) or _BF16 "
                                "(17)",
                                (int)problem->a_type);
    if (!problem->m || !problem->n || !problem->k) {
        const char *name = !problem->m   ? rule_m.argument
                           : !problem->n ? rule_n.argument
                                         : rule_k.argument;

        return jg_fail_argument(JITGEMM_E_ARGUMENT, name, -1, 0, 0,
                                "%s is NULL", name);
    }
    return JITGEMM_OK;
}

jitgemm_status jg_problem_read(const jitgemm_problem *from,
                               struct jg_problem *to)
{
    jitgemm_problem known;
    struct jg_size *sizes = NULL;
    jitgemm_status status =
        jg_abi_read(&known, sizeof known, offsetof(jitgemm_problem, c_type),
                    from, "problem");

    if (status != JITGEMM_OK)
        return status;
    status = check_header(&known);
    if (status != JITGEMM_OK)
        return status;
    sizes = malloc((size_t)known.groups * sizeof *sizes);
    if (!sizes)
        return jg_fail(JITGEMM_E_MEMORY, "no memory for %d groups",
                       (int)known.groups);
    for (int32_t g = 0; g < known.groups && status == JITGEMM_OK; g++)
        status = check_group(&known, g, &sizes[g]);
    if (status != JITGEMM_OK) {
        free(sizes);
        return status;
    }
    *to = (struct jg_problem){known.groups, sizes,
                              (enum jg_output)known.c_type,
                              (enum jg_input)known.a_type};
    return JITGEMM_OK;
}

void jg_problem_print(const struct jg_problem *problem,
                      char text[JG_PROBLEM_TEXT])
{
    const struct jg_size *sizes = problem->sizes;
    bool alike = true;
    int length = 0, g;

    for (g = 1; g < problem->groups; g++)
        alike = alike && sizes[g].n == sizes[0].n && sizes[g].k == sizes[0].k;
    /* A group takes 35 bytes at most, what comes last 60. */
    for (g = 0; g < problem->groups && length < JG_PROBLEM_TEXT - 100; g++) {
        const char *between = !g ? "" : alike ? "," : " ";
        char *end = text + length;

        length += alike ? sprintf(end, "%s%d", between, (int)sizes[g].m)
                        : sprintf(end, "%s%dx%dx%d", between, (int)sizes[g].m,
                                  (int)sizes[g].n, (int)sizes[g].k);
    }
    if (g < problem->groups)
        length += sprintf(text + length, alike ? ",..." : " ...");
    if (alike)
        length += sprintf(text + length, "x%dx%d", (int)sizes[0].n,
                          (int)sizes[0].k);
    if (g < problem->groups)
        sprintf(text + length, " (%d groups)", (int)problem->groups);
}

void jg_problem_free(struct jg_problem *problem)
{
    free(problem->sizes);
    memset(problem, 0, sizeof *problem);
}
