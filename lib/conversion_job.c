/* SPDX-License-Identifier: MIT */
/* The rules on the arguments of a conversion. */
#include "conversion_job.h"

#include <stddef.h>

#include "abi.h"
#include "rows.h"

#define MAX_GROUPS     65536
#define ARGUMENT(name) "arguments." name

static jitgemm_status check_size(const char *name, int64_t value,
                                 int64_t least, int64_t multiple)
{
    if (value < least || value > INT32_MAX)
        return jg_fail_argument(JITGEMM_E_SHAPE, name, -1, value, least,
                                "%s is %lld; it must be %lld or more, and "
                                "below 2^31",
                                name, (long long)value, (long long)least);
    if (value % multiple)
        return jg_fail_argument(JITGEMM_E_SHAPE, name, -1, value, multiple,
                                "%s is %lld; it must be a multiple of %lld",
                                name, (long long)value, (long long)multiple);
    return JITGEMM_OK;
}

static jitgemm_status check_sizes(const struct jg_conversion_kind *kind,
                                  const jitgemm_conversion_arguments *from)
{
    jitgemm_status status;

    if (from->flags)
        return jg_fail_argument(
            JITGEMM_E_ARGUMENT, ARGUMENT("flags"), -1, from->flags, 0,
            "arguments.flags is %#x; no flag is known", from->flags);
    if (from->groups < 1 || from->groups > MAX_GROUPS)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, ARGUMENT("groups"), -1,
                                from->groups, MAX_GROUPS,
                                "arguments.groups is %d; it must be 1 to %d",
                                (int)from->groups, MAX_GROUPS);
    if (kind->combine && from->groups != 1)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, ARGUMENT("groups"), -1,
                                from->groups, 1,
                                "arguments.groups is %d; it must be 1 with "
                                "JITGEMM_COMBINE",
                                (int)from->groups);
    status = check_size(ARGUMENT("top_k"), from->top_k, kind->combine, 1);
    if (status == JITGEMM_OK && from->top_k && !kind->combine)
        return jg_fail_argument(JITGEMM_E_SHAPE, ARGUMENT("top_k"), -1,
                                from->top_k, 0,
                                "arguments.top_k is %d; it must be 0 without "
                                "JITGEMM_COMBINE",
                                (int)from->top_k);
    if (status == JITGEMM_OK)
        status = check_size(ARGUMENT("k"), from->k, 16, 16);
    if (status == JITGEMM_OK)
        status = check_size(ARGUMENT("max_rows"), from->max_rows, 0, 1);
    return status;
}

/* Bytes from row to row. */
static jitgemm_status read_stride(const struct jg_conversion_kind *kind,
                                  const jitgemm_conversion_arguments *from,
                                  long long *stride)
{
    bool scales = kind->x_type == JITGEMM_E4M3;
    int64_t packed = scales             ? from->k / 16
                     : kind->activation ? 2 * from->k
                                        : from->k;
    int64_t given = from->ldx ? from->ldx : packed;

    if (given < packed || given > INT64_C(1) << 40)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, ARGUMENT("ldx"), -1, given,
                                packed,
                                "arguments.ldx is %lld; it must be 0 or at "
                                "least %lld, and at most 2^40",
                                (long long)given, (long long)packed);
    if (!scales && given % 8)
        return jg_fail_argument(JITGEMM_E_ALIGN, ARGUMENT("ldx"), -1, given, 8,
                                "arguments.ldx is %lld; it must be a multiple "
                                "of 8",
                                (long long)given);
    *stride = scales                         ? given
              : kind->x_type == JITGEMM_F32 ? 4 * given
                                            : 2 * given;
    return JITGEMM_OK;
}

/* Rows of x are those of the output, unless they are gathered. */
static jitgemm_status check_gather(const struct jg_conversion_kind *kind,
                                   const jitgemm_conversion_arguments *from)
{
    jitgemm_status status = jg_rows_check_pointer(
        ARGUMENT("gather"), from->gather, kind->gather, 4);

    if (status != JITGEMM_OK)
        return status;
    if (kind->gather)
        return check_size(ARGUMENT("x_rows"), from->x_rows, 0, 1);
    if (!from->x_rows)
        return JITGEMM_OK;
    return jg_fail_argument(JITGEMM_E_SHAPE, ARGUMENT("x_rows"), -1,
                            from->x_rows, 0,
                            "arguments.x_rows is %lld; it must be 0 without "
                            "JITGEMM_GATHER",
                            (long long)from->x_rows);
}

static jitgemm_status check_pointers(const struct jg_conversion_kind *kind,
                                     const jitgemm_conversion_arguments *from)
{
    bool scales = kind->x_type == JITGEMM_E4M3;
    jitgemm_status status;

    if ((status = jg_rows_check_pointer(ARGUMENT("x"), from->x, 1,
                                        scales ? 1 : 16)) ||
        (status = jg_rows_check_pointer(ARGUMENT("scale"), from->scale,
                                        scales || kind->cast ? 0 : -1, 4)) ||
        (status = jg_rows_check_pointer(ARGUMENT("values"), from->values,
                                        !scales, 16)) ||
        (status = jg_rows_check_pointer(ARGUMENT("scales"), from->scales,
                                        !kind->combine && !kind->cast,
                                        kind->linear ? 1 : 16)))
        return status;
    return JITGEMM_OK;
}

/* Linear scales have the places of their rows. */
static jitgemm_status read_numbers(const struct jg_conversion_kind *kind,
                                   const jitgemm_conversion_arguments *from,
                                   struct jg_row_numbers *numbers)
{
    struct jg_rows_given given = {
        .layout = kind->layout,
        .place = kind->linear ? JG_FLOOR : kind->place,
        .groups = from->groups,
        .max_rows = from->max_rows,
        .scale_rows = from->scale_rows,
        .rows = from->rows,
        .scale_row = from->scale_row,
        .fault = from->fault,
    };

    return jg_rows_read(&given, numbers);
}

/* Blocks of warps that do 256 elements each, or of tiles of rows of all
 * groups; the grid is bounded anyhow. */
static int64_t count_rows(const struct jg_conversion_kind *kind,
                          const jitgemm_conversion_arguments *from)
{
    int64_t rows = kind->layout == JG_STACKED
                       ? from->max_rows
                       : from->groups * from->max_rows;
    int64_t few = rows < INT32_MAX ? rows : INT32_MAX;
    int64_t tile_k = kind->combine ? 256 : jg_conversion_tile_k(kind);
    int64_t tiles = few * ((from->k + tile_k - 1) / tile_k);
    int64_t blocks = kind->combine ? (tiles + 7) / 8 : tiles;

    return blocks < INT32_MAX ? blocks : INT32_MAX;
}

static jitgemm_status count_units(const struct jg_conversion_kind *kind,
                                  const jitgemm_conversion_arguments *from,
                                  int64_t *units)
{
    int64_t rows =
        jg_scale_rows(kind->layout == JG_STACKED ? JG_FLOOR : JG_STRIDED,
                      from->max_rows, from->groups);
    int64_t tile_k = jg_conversion_tile_k(kind);

    if (kind->combine || kind->cast) {
        *units = count_rows(kind, from);
        return JITGEMM_OK;
    }
    *units = rows / JG_ATOM_ROWS * ((from->k + tile_k - 1) / tile_k);
    if (*units > INT32_MAX)
        return jg_fail_argument(
            JITGEMM_E_SHAPE, ARGUMENT("max_rows"), -1, from->max_rows, 0,
            "arguments.max_rows is %lld; with %d groups "
            "and k %lld that is more than 2^31 tiles",
            (long long)from->max_rows, (int)from->groups, (long long)from->k);
    if (!from->max_rows)
        *units = 0;
    return JITGEMM_OK;
}

jitgemm_status jg_conversion_job_read(const struct jg_conversion_kind *kind,
                                      const jitgemm_conversion_arguments *from,
                                      struct jg_conversion_job *job,
                                      int64_t *units)
{
    jitgemm_conversion_arguments known;
    struct jg_row_numbers numbers;
    long long stride = 0;
    jitgemm_status status =
        jg_abi_read(&known, sizeof known,
                    offsetof(jitgemm_conversion_arguments, gather), from,
                    "arguments");

    if (status != JITGEMM_OK)
        return status;
    if ((status = check_sizes(kind, &known)) ||
        (status = read_stride(kind, &known, &stride)) ||
        (status = check_pointers(kind, &known)) ||
        (status = check_gather(kind, &known)) ||
        (status = read_numbers(kind, &known, &numbers)) ||
        (status = count_units(kind, &known, units)))
        return status;
    *job = (struct jg_conversion_job){
        .numbers = numbers,
        .x = known.x,
        .x_stride = stride,
        .scale = known.scale,
        .values = known.values,
        .scales = known.scales,
        .gather = known.gather,
        .k = (int)known.k,
        .x_rows = (int)known.x_rows,
        .top_k = known.top_k,
    };
    return JITGEMM_OK;
}
