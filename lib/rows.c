/* SPDX-License-Identifier: MIT */
#include "rows.h"

#include <stdbool.h>
#include <stddef.h>

_Static_assert(sizeof(struct jg_fault) == sizeof(jitgemm_fault) &&
                   offsetof(struct jg_fault, value) ==
                       offsetof(jitgemm_fault, value),
               "one struct");
_Static_assert((int)JG_FAULT_ROWS == (int)JITGEMM_FAULT_ROWS &&
                   (int)JG_FAULT_SCALE_ROW == (int)JITGEMM_FAULT_SCALE_ROW,
               "one code");
_Static_assert((int)JG_MASKED == (int)JITGEMM_ROWS_MASKED &&
                   (int)JG_EXPLICIT == (int)JITGEMM_PLACE_EXPLICIT,
               "one numbering");

jitgemm_status jg_rows_check_range(const char *name, int64_t value,
                                   int64_t most)
{
    if (value >= 0 && value <= most)
        return JITGEMM_OK;
    return jg_fail_argument(JITGEMM_E_ARGUMENT, name, -1, value, most,
                            "%s is %lld; known are 0 to %lld", name,
                            (long long)value, (long long)most);
}

jitgemm_status jg_rows_check_kind(const char *layout_name,
                                  jitgemm_layout layout,
                                  const char *place_name, jitgemm_place place)
{
    jitgemm_status status =
        jg_rows_check_range(layout_name, (int64_t)layout, JITGEMM_ROWS_MASKED);

    if (status == JITGEMM_OK)
        status =
            jg_rows_check_range(place_name, (int64_t)place, JITGEMM_PLACE_EXPLICIT);
    if (status == JITGEMM_OK && place == JITGEMM_PLACE_STRIDED &&
        layout == JITGEMM_ROWS_STACKED)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, place_name, -1,
                                JITGEMM_PLACE_STRIDED, 0,
                                "%s is JITGEMM_PLACE_STRIDED; that is for "
                                "JITGEMM_ROWS_MASKED",
                                place_name);
    return status;
}

jitgemm_status jg_rows_check_pointer(const char *name, const void *pointer,
                                     int want, unsigned alignment)
{
    uintptr_t address = (uintptr_t)pointer;

    if (want > 0 && !pointer)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, name, -1, 0, 0,
                                "%s is NULL", name);
    if (want == 0 && pointer)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, name, -1, 0, 0,
                                "%s is set, but there is no use for it", name);
    if (address % alignment)
        return jg_fail_argument(JITGEMM_E_ALIGN, name, -1,
                                (int64_t)(address % alignment), alignment,
                                "%s must be %u-byte aligned", name, alignment);
    return JITGEMM_OK;
}

/* Rows of scales that there is room for. */
static jitgemm_status read_room(const struct jg_rows_given *from,
                                long long *room)
{
    static const char name[] = "arguments.scale_rows";
    bool mine = from->place == JG_EXPLICIT;
    int64_t rows = from->max_rows;

    if (mine ? from->scale_rows < 0 || from->scale_rows % JG_ATOM_ROWS
             : from->scale_rows != 0)
        return jg_fail_argument(JITGEMM_E_SHAPE, name, -1, from->scale_rows,
                                mine ? JG_ATOM_ROWS : 0,
                                "arguments.scale_rows is %lld; it must be %s",
                                (long long)from->scale_rows,
                                mine ? "a multiple of 128"
                                     : "0, since the place says how many");
    if (from->layout == JG_MASKED && from->place != JG_STRIDED)
        rows *= from->groups;
    *room = mine ? from->scale_rows
                 : jg_scale_rows((int)from->place, rows, from->groups);
    return JITGEMM_OK;
}

jitgemm_status jg_rows_read(const struct jg_rows_given *from,
                            struct jg_row_numbers *to)
{
    int need = from->layout == JG_STACKED ? 1 : -1;
    long long room = 0;
    jitgemm_status status;

    if ((status =
             jg_rows_check_pointer("arguments.rows", from->rows, need, 4)) ||
        (status = jg_rows_check_pointer("arguments.scale_row", from->scale_row,
                                        from->place == JG_EXPLICIT, 4)) ||
        (status =
             jg_rows_check_pointer("arguments.fault", from->fault, -1, 8)) ||
        (status = read_room(from, &room)))
        return status;
    *to = (struct jg_row_numbers){
        .rows = from->rows,
        .scale_row = from->scale_row,
        .fault = (struct jg_fault *)from->fault,
        .scale_rows = room,
        .groups = from->groups,
        .max_rows = (int)from->max_rows,
    };
    return JITGEMM_OK;
}
