/* SPDX-License-Identifier: MIT */
/* The rules on sizes. */
#include "problem.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"
#include "rows.h"

#define MAX_GROUPS 65536
#define ROW_ALIGN 16
#define FLAGS                                                                \
    (JITGEMM_ALLOW_SPLIT_K | JITGEMM_ACCUMULATE | JITGEMM_DEPENDENT_LAUNCH |  \
     JITGEMM_ZERO_TAIL)
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
    if (problem->flags & ~(uint32_t)FLAGS)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "problem.flags", -1,
                                problem->flags, FLAGS,
                                "problem.flags is %#x; known are "
                                "JITGEMM_ALLOW_SPLIT_K (1), "
                                "JITGEMM_ACCUMULATE (2), "
                                "JITGEMM_DEPENDENT_LAUNCH (4) and "
                                "JITGEMM_ZERO_TAIL (8)",
                                problem->flags);
    if (problem->flags & JITGEMM_ZERO_TAIL &&
        (problem->flags & JITGEMM_ACCUMULATE ||
         problem->sizes == JITGEMM_SIZES_HOST))
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "problem.flags", -1,
                                problem->flags, 0,
                                "problem.flags has JITGEMM_ZERO_TAIL, which "
                                "is for JITGEMM_SIZES_DEVICE, and without "
                                "JITGEMM_ACCUMULATE");
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
    if (problem->b_type != JITGEMM_WEIGHTS_NVFP4 &&
        problem->b_type != JITGEMM_WEIGHTS_MXFP4)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "problem.b_type", -1,
                                (int)problem->b_type,
                                JITGEMM_WEIGHTS_MXFP4,
                                "problem.b_type is %d; it must be "
                                "JITGEMM_WEIGHTS_NVFP4 (0) or _MXFP4 (1)",
                                (int)problem->b_type);
    if (problem->b_type == JITGEMM_WEIGHTS_MXFP4 &&
        problem->a_type != JITGEMM_INPUT_BF16)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "problem.b_type", -1,
                                (int)problem->b_type, 0,
                                "problem.b_type is JITGEMM_WEIGHTS_MXFP4 (1) "
                                "and problem.a_type is %d; such a B needs "
                                "JITGEMM_INPUT_BF16 (17)",
                                (int)problem->a_type);
    if (problem->sizes != JITGEMM_SIZES_HOST &&
        problem->sizes != JITGEMM_SIZES_DEVICE)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "problem.sizes", -1,
                                (int64_t)problem->sizes, JITGEMM_SIZES_DEVICE,
                                "problem.sizes is %d; it must be "
                                "JITGEMM_SIZES_HOST (0) or "
                                "JITGEMM_SIZES_DEVICE (1)",
                                (int)problem->sizes);
    if (problem->sm_limit < 0)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "problem.sm_limit", -1,
                                problem->sm_limit, 0,
                                "problem.sm_limit is %d; it must be 0 or more",
                                (int)problem->sm_limit);
    return JITGEMM_OK;
}

static jitgemm_status fail_null(const char *name)
{
    return jg_fail_argument(JITGEMM_E_ARGUMENT, name, -1, 0, 0, "%s is NULL",
                            name);
}

/* ---- Sizes on the host ---- */

static jitgemm_status check_unset(const char *name, int64_t value)
{
    if (!value)
        return JITGEMM_OK;
    return jg_fail_argument(JITGEMM_E_ARGUMENT, name, -1, value, 0,
                            "%s is %lld; it is for JITGEMM_SIZES_DEVICE only",
                            name, (long long)value);
}

static jitgemm_status read_host(const jitgemm_problem *from,
                                struct jg_problem *to)
{
    jitgemm_status status;

    if (!from->m || !from->n || !from->k)
        return fail_null(!from->m   ? rule_m.argument
                         : !from->n ? rule_n.argument
                                    : rule_k.argument);
    if ((status = check_unset("problem.layout", (int64_t)from->layout)) ||
        (status = check_unset("problem.place", (int64_t)from->place)) ||
        (status = check_unset("problem.max_rows", from->max_rows)) ||
        (status = check_unset("problem.hint_rows", from->hint_rows)))
        return status;
    for (int32_t g = 0; g < from->groups && status == JITGEMM_OK; g++)
        status = check_group(from, g, &to->sizes[g]);
    return status;
}

/* ---- Sizes on the device ---- */

static jitgemm_status check_rows(const jitgemm_problem *from, int64_t all)
{
    int64_t n = from->n[0], most = MAX_C_BYTES / 4 / n;

    if (from->max_rows < 0 || from->max_rows > INT32_MAX || all > most)
        return jg_fail_argument(JITGEMM_E_SHAPE, "problem.max_rows", -1,
                                from->max_rows, most,
                                "problem.max_rows is %lld; it must be 0 to "
                                "2^31 - 1, and C below 2^45 elements",
                                (long long)from->max_rows);
    if (from->hint_rows < 0 || from->hint_rows > all)
        return jg_fail_argument(JITGEMM_E_SHAPE, "problem.hint_rows", -1,
                                from->hint_rows, all,
                                "problem.hint_rows is %lld; it must be 0 to "
                                "%lld, which is as many rows as there may be",
                                (long long)from->hint_rows, (long long)all);
    return JITGEMM_OK;
}

static jitgemm_status check_device(const jitgemm_problem *from, int64_t all)
{
    jitgemm_status status;

    if (from->m)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, rule_m.argument, -1, 0, 0,
                                "problem.m is set; with JITGEMM_SIZES_DEVICE "
                                "it must be NULL");
    if (!from->n || !from->k)
        return fail_null(from->n ? rule_k.argument : rule_n.argument);
    if ((status = jg_rows_check_kind("problem.layout", from->layout,
                                     "problem.place", from->place)) ||
        (status = check(&rule_n, 0, from->n[0])) ||
        (status = check(&rule_k, 0, from->k[0])))
        return status;
    if (from->a_type != JITGEMM_INPUT_NVFP4 && from->place)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "problem.place", -1,
                                (int64_t)from->place, 0,
                                "problem.place is %d; an A without scales "
                                "has none: it must be 0",
                                (int)from->place);
    return check_rows(from, all);
}

/* Typical is that all groups have equally many. */
static jitgemm_status read_device(const jitgemm_problem *from,
                                  struct jg_problem *to)
{
    bool masked = from->layout == JITGEMM_ROWS_MASKED;
    int64_t groups = from->groups, all = from->max_rows, typical;
    jitgemm_status status;

    if (masked && all > 0 && all <= INT32_MAX)
        all *= groups;
    status = check_device(from, all);
    if (status != JITGEMM_OK)
        return status;
    typical = from->hint_rows ? from->hint_rows : all;
    for (int64_t g = 0; g < groups; g++)
        to->sizes[g] = (struct jg_size){
            (int32_t)(typical * (g + 1) / groups - typical * g / groups),
            (int32_t)from->n[0], (int32_t)from->k[0]};
    to->on_device = true;
    to->layout = (enum jg_rows)from->layout;
    to->place = from->a_type == JITGEMM_INPUT_NVFP4
                    ? (enum jg_scale_place)from->place
                    : JG_FLOOR; /* any that takes no sum */
    to->max_rows = (int32_t)from->max_rows;
    return JITGEMM_OK;
}

/* ---- Strides ---- */

int64_t jg_problem_row_a(const struct jg_problem *problem, int32_t k)
{
    int64_t packed = problem->input == JG_IN_NVFP4 ? k / 2 : 2 * (int64_t)k;

    return problem->row_a ? problem->row_a : packed;
}

int64_t jg_problem_row_c(const struct jg_problem *problem, int32_t n)
{
    int64_t packed = (int64_t)n * (problem->output == JG_F32 ? 4 : 2);

    return problem->row_c ? problem->row_c : packed;
}

bool jg_problem_is_strided(const struct jg_problem *problem)
{
    return problem->row_a || problem->row_c;
}

static jitgemm_status check_row(const char *name, int32_t group, int64_t given,
                                int64_t packed)
{
    if (given < packed || given > INT32_MAX)
        return jg_fail_argument(JITGEMM_E_SHAPE, name, group, given, packed,
                                "%s is %lld; it must be 0 or at least %lld "
                                "bytes, which is a row of group %d, and below "
                                "2^31",
                                name, (long long)given, (long long)packed,
                                (int)group);
    if (given % ROW_ALIGN)
        return jg_fail_argument(JITGEMM_E_SHAPE, name, -1, given, ROW_ALIGN,
                                "%s is %lld; it must be a multiple of %d "
                                "bytes",
                                name, (long long)given, ROW_ALIGN);
    return JITGEMM_OK;
}

/* Of a problem that has all but these. */
static jitgemm_status read_rows(int64_t row_a, int64_t row_c,
                                struct jg_problem *to)
{
    bool packed_a = true, packed_c = true;
    jitgemm_status status = JITGEMM_OK;

    for (int32_t g = 0; g < to->groups && status == JITGEMM_OK; g++) {
        int64_t a = jg_problem_row_a(to, to->sizes[g].k);
        int64_t c = jg_problem_row_c(to, to->sizes[g].n);

        if (row_a)
            status = check_row("problem.row_a", g, row_a, a);
        if (row_c && status == JITGEMM_OK)
            status = check_row("problem.row_c", g, row_c, c);
        packed_a = packed_a && (!row_a || row_a == a);
        packed_c = packed_c && (!row_c || row_c == c);
    }
    to->row_a = packed_a ? 0 : row_a;
    to->row_c = packed_c ? 0 : row_c;
    return status;
}

/* ---- */

jitgemm_status jg_problem_read(const jitgemm_problem *from,
                               struct jg_problem *to)
{
    jitgemm_problem known;
    struct jg_problem made = {0};
    jitgemm_status status =
        jg_abi_read(&known, sizeof known, offsetof(jitgemm_problem, c_type),
                    from, "problem");

    if (status == JITGEMM_OK)
        status = check_header(&known);
    if (status != JITGEMM_OK)
        return status;
    made.groups = known.groups;
    made.output = (enum jg_output)known.c_type;
    made.input = (enum jg_input)known.a_type;
    made.weights = (enum jg_weights)known.b_type;
    made.split_k = known.flags & JITGEMM_ALLOW_SPLIT_K;
    made.accumulate = known.flags & JITGEMM_ACCUMULATE;
    made.dependent = known.flags & JITGEMM_DEPENDENT_LAUNCH;
    made.zero_tail = known.flags & JITGEMM_ZERO_TAIL;
    made.sm_limit = known.sm_limit;
    made.sizes = malloc((size_t)known.groups * sizeof *made.sizes);
    if (!made.sizes)
        return jg_fail(JITGEMM_E_MEMORY, "no memory for %d groups",
                       (int)known.groups);
    status = known.sizes == JITGEMM_SIZES_DEVICE ? read_device(&known, &made)
                                                 : read_host(&known, &made);
    if (status == JITGEMM_OK)
        status = read_rows(known.row_a, known.row_c, &made);
    if (status != JITGEMM_OK)
        jg_problem_free(&made);
    else
        *to = made;
    return status;
}

/* "8@4096/512x7168x2048:masked:strided". Activations of 16 bits have no scales
 * and no place of them. */
static int print_device(const struct jg_problem *problem, char *text)
{
    static const char *const layouts[] = {"stacked", "masked"};
    static const char *const places[] = {":tight", ":floor", ":ceil",
                                         ":strided", ":explicit"};
    int64_t typical = 0;

    for (int32_t g = 0; g < problem->groups; g++)
        typical += problem->sizes[g].m;
    return sprintf(text, "%d@%d/%lldx%dx%d:%s%s", (int)problem->groups,
                   (int)problem->max_rows, (long long)typical,
                   (int)problem->sizes[0].n, (int)problem->sizes[0].k,
                   layouts[problem->layout],
                   problem->input == JG_IN_NVFP4 ? places[problem->place]
                                                 : "");
}

static int print_host(const struct jg_problem *problem, char *text)
{
    const struct jg_size *sizes = problem->sizes;
    bool alike = true;
    int length = 0, g;

    for (g = 1; g < problem->groups; g++)
        alike = alike && sizes[g].n == sizes[0].n && sizes[g].k == sizes[0].k;
    /* A group takes 35 bytes at most, and what comes last, options included,
     * 170. */
    for (g = 0; g < problem->groups && length < JG_PROBLEM_TEXT - 210; g++) {
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
        length += sprintf(text + length, " (%d groups)", (int)problem->groups);
    return length;
}

void jg_problem_print(const struct jg_problem *problem,
                      char text[JG_PROBLEM_TEXT])
{
    static const char *const outputs[] = {"", " --c bf16", " --c f32"};
    int length = problem->on_device ? print_device(problem, text)
                                    : print_host(problem, text);

    length += sprintf(text + length, "%s%s%s%s",
                      problem->input == JG_IN_F16    ? " --a f16"
                      : problem->input == JG_IN_BF16 ? " --a bf16"
                                                     : "",
                      problem->weights == JG_W_MXFP4 ? " --b mxfp4" : "",
                      outputs[problem->output],
                      problem->split_k ? " --split-k" : "");
    if (problem->row_a)
        length += sprintf(text + length, " --row-a %d", (int)problem->row_a);
    if (problem->row_c)
        length += sprintf(text + length, " --row-c %d", (int)problem->row_c);
    length += sprintf(text + length, "%s%s",
                      problem->accumulate ? " --accumulate" : "",
                      problem->zero_tail ? " --zero-tail" : "");
    if (problem->sm_limit)
        sprintf(text + length, " --sm-limit %d", problem->sm_limit);
}

int32_t jg_problem_scale_k(const struct jg_problem *problem, int32_t k)
{
    return problem->weights == JG_W_MXFP4 ? k / 2 : k;
}

void jg_problem_free(struct jg_problem *problem)
{
    free(problem->sizes);
    memset(problem, 0, sizeof *problem);
}
