/* SPDX-License-Identifier: MIT */
/* The nearest entry is the one with the fewest fields that differ. */
#include "explain.h"

#include <stdlib.h>
#include <string.h>

static bool same(struct jg_span a, struct jg_span b)
{
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

size_t jg_explain_difference(const struct jg_span a[JG_KEY_FIELD_COUNT],
                             const struct jg_span b[JG_KEY_FIELD_COUNT],
                             struct jg_buf *names)
{
    size_t count = 0;

    for (size_t i = 0; i < JG_KEY_FIELD_COUNT; i++)
        if (!same(a[i], b[i]))
            jg_buf_printf(names, "%s%s", count++ ? ", " : "",
                          jg_key_field_names[i]);
    return count;
}

/* Takes the entry of this index for the nearest if it is nearer than `best`
 * fields. Returns how near the nearest is now. */
static size_t compare(const struct jg_stock *stock, size_t index,
                      const struct jg_span wanted[JG_KEY_FIELD_COUNT],
                      size_t best, struct jg_buf *names)
{
    struct jg_span file, values[JG_KEY_FIELD_COUNT];
    struct jg_buf here = {.data = NULL};
    struct jg_entry entry;
    const char *why;
    size_t count;

    if (!jg_stock_read(stock, index, &entry, &file, &why))
        return best;
    if (jg_key_read(entry.key, values) &&
        same(values[JG_KEY_kernel], wanted[JG_KEY_kernel]) &&
        same(values[JG_KEY_spec], wanted[JG_KEY_spec])) {
        count = jg_explain_difference(values, wanted, &here);
        if (count < best && !here.failed) {
            jg_buf_free(names);
            *names = here;
            here = (struct jg_buf){.data = NULL};
            best = count;
        }
    }
    jg_buf_free(&here);
    free((void *)file.data);
    return best;
}

/* The index of the nearest entry and what it differs in; no names if there is
 * none. */
static size_t find_nearest(const struct jg_stock *stock,
                           const struct jg_key *key, struct jg_buf *names)
{
    struct jg_span wanted[JG_KEY_FIELD_COUNT];
    size_t best = JG_KEY_FIELD_COUNT + 1, nearest = 0;

    if (!jg_key_read((struct jg_span){key->blob.data, key->blob.size}, wanted))
        return 0;
    for (size_t i = 0; i < jg_stock_count(stock); i++) {
        size_t count = compare(stock, i, wanted, best, names);

        if (count < best)
            nearest = i;
        best = count;
    }
    return nearest;
}

void jg_explain_miss(const char *path, unsigned flags,
                     const struct jg_key *key, const struct jg_log *log)
{
    struct jg_buf names = {.data = NULL};
    struct jg_stock *stock = NULL;
    const char *why;
    size_t nearest = 0;

    if (!log || !log->function || log->level < JITGEMM_LOG_DEBUG)
        return;
    if (jg_stock_open(path, flags, &stock, &why) == 0)
        nearest = find_nearest(stock, key, &names);
    if (names.size)
        jg_log(log, JITGEMM_LOG_DEBUG, "cache: no %s, but %s of another %s",
               key->name, jg_stock_name(stock, nearest),
               (const char *)names.data);
    else
        jg_log(log, JITGEMM_LOG_DEBUG, "cache: no %s", key->name);
    jg_buf_free(&names);
    jg_stock_close(stock);
}
