/* SPDX-License-Identifier: MIT */
/* Classes of problems, and the text of a file. */
#include "tuning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cut.h"

#define FIRST_LINE "jitgemm tuning 1 "

/* ---- Classes ---- */

static long long round_up(int64_t rows)
{
    long long power = 1;

    while (power < rows)
        power *= 2;
    return rows ? power : 0;
}

bool jg_tuning_class(const struct jg_problem *problem,
                     const struct jg_device *device,
                     struct jg_tuning_entry *entry)
{
    static const char *const inputs[] = {
        [JG_IN_NVFP4] = "nvfp4", [JG_IN_F16] = "f16", [JG_IN_BF16] = "bf16"};
    static const char *const outputs[] = {"f16", "bf16", "f32"};
    const struct jg_size *sizes = problem->sizes;
    int64_t rows = 0, longest = 0;
    int sms = jg_cut_device(problem, device).sms;
    int length;

    for (int32_t g = 0; g < problem->groups; g++) {
        if (sizes[g].n != sizes[0].n || sizes[g].k != sizes[0].k)
            return false;
        rows += sizes[g].m;
        longest = sizes[g].m > longest ? sizes[g].m : longest;
    }
    length = snprintf(
        entry->class, sizeof entry->class,
        "%dx%dx%d rows %lld longest %lld %s%s %s%s%s%s%s",
        (int)problem->groups, (int)sizes[0].n, (int)sizes[0].k,
        round_up(rows), round_up(longest), inputs[problem->input],
        problem->weights == JG_W_MXFP4 ? " mxfp4" : "",
        outputs[problem->output], problem->on_device ? " device" : "",
        problem->split_k ? " split-k" : "",
        jg_problem_is_strided(problem) ? " strided" : "",
        problem->accumulate ? " accumulate" : "");
    if (sms < device->sms)
        snprintf(entry->class + length, sizeof entry->class - (size_t)length,
                 " sms %d", sms);
    return true;
}

/* ---- Entries, by ascending class ---- */

/* Where the class is or would be. */
static size_t find(const struct jg_tuning *tuning, const char *class,
                   bool *found)
{
    size_t low = 0, high = tuning->count;

    *found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(tuning->entries[middle].class, class);

        *found |= !order;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct jg_tuning_entry *jg_tuning_find(const struct jg_tuning *tuning,
                                             const char *class)
{
    bool found;
    size_t at = find(tuning, class, &found);

    return found ? &tuning->entries[at] : NULL;
}

bool jg_tuning_put(struct jg_tuning *tuning,
                   const struct jg_tuning_entry *entry)
{
    struct jg_tuning_entry *entries = tuning->entries;
    bool found;
    size_t at = find(tuning, entry->class, &found);

    if (!found) {
        if (tuning->count == JG_TUNING_ENTRIES)
            return false;
        entries = realloc(entries, (tuning->count + 1) * sizeof *entries);
        if (!entries)
            return false;
        tuning->entries = entries;
        memmove(entries + at + 1, entries + at,
                (tuning->count++ - at) * sizeof *entries);
    }
    entries[at] = *entry;
    return true;
}

void jg_tuning_free(struct jg_tuning *tuning)
{
    free(tuning->entries);
    *tuning = (struct jg_tuning){0};
}

/* ---- Text ---- */

static void print_first_line(const struct jg_device *device,
                             struct jg_buf *file)
{
    jg_buf_printf(file, FIRST_LINE "%s %d\n", device->arch, device->sms);
}

void jg_tuning_print(const struct jg_tuning *tuning,
                     const struct jg_device *device, struct jg_buf *file)
{
    print_first_line(device, file);
    for (size_t i = 0; i < tuning->count; i++) {
        const struct jg_tuning_entry *entry = &tuning->entries[i];

        jg_buf_printf(file, "%s\t%s\t%lld\t%lld\n", entry->class,
                      entry->kernel, (long long)entry->ns,
                      (long long)entry->model_ns);
    }
}

/* Takes what is before `end` off the rest of a file; false if there is no such
 * end. */
static bool take(struct jg_span *rest, char end, struct jg_span *taken)
{
    const char *at = rest->size ? memchr(rest->data, end, rest->size) : NULL;

    if (!at)
        return false;
    taken->data = rest->data;
    taken->size = (size_t)(at - (const char *)rest->data);
    rest->data = at + 1;
    rest->size -= taken->size + 1;
    return true;
}

/* Printable ASCII, some of it, that fits. */
static bool read_text(struct jg_span from, char *to, size_t size)
{
    const unsigned char *bytes = from.data;

    if (!from.size || from.size >= size)
        return false;
    for (size_t i = 0; i < from.size; i++)
        if (bytes[i] < ' ' || bytes[i] > '~')
            return false;
    memcpy(to, bytes, from.size);
    to[from.size] = '\0';
    return true;
}

/* A time, in the one way to write it. */
static bool read_ns(struct jg_span from, int64_t *ns)
{
    const char *digits = from.data;

    if (!from.size || from.size > 13 || *digits == '0')
        return false;
    *ns = 0;
    for (size_t i = 0; i < from.size; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            return false;
        *ns = *ns * 10 + (digits[i] - '0');
    }
    return *ns <= JG_TUNING_NS;
}

static const char *read_entry(struct jg_span line, struct jg_tuning *tuning)
{
    struct jg_tuning_entry entry = {.ns = 0};
    struct jg_span class, kernel, ns;

    if (!take(&line, '\t', &class) || !take(&line, '\t', &kernel) ||
        !take(&line, '\t', &ns))
        return "not four columns";
    if (!read_text(class, entry.class, sizeof entry.class) ||
        !read_text(kernel, entry.kernel, sizeof entry.kernel))
        return "not a class and a kernel";
    if (!read_ns(ns, &entry.ns) || !read_ns(line, &entry.model_ns))
        return "not a time in nanoseconds";
    if (tuning->count &&
        strcmp(tuning->entries[tuning->count - 1].class, entry.class) >= 0)
        return "not in ascending order";
    return jg_tuning_put(tuning, &entry) ? NULL : "too many entries";
}

static const char *read_lines(struct jg_span file,
                              const struct jg_device *device,
                              struct jg_tuning *tuning, int *line)
{
    struct jg_buf first = {.data = NULL};
    const char *why = NULL;
    struct jg_span text;

    *line = 1;
    print_first_line(device, &first);
    if (first.failed)
        why = "no memory";
    else if (file.size < first.size ||
             memcmp(file.data, first.data, first.size) != 0)
        why = "of another version or GPU";
    file.data = (const char *)file.data + (why ? 0 : first.size);
    file.size -= why ? 0 : first.size;
    jg_buf_free(&first);
    while (!why && file.size) {
        ++*line;
        why = take(&file, '\n', &text) ? read_entry(text, tuning)
                                       : "cut short";
    }
    return why;
}

const char *jg_tuning_read(struct jg_span file, const struct jg_device *device,
                           struct jg_tuning *tuning, int *line)
{
    struct jg_tuning made = {.entries = NULL};
    const char *why = read_lines(file, device, &made, line);

    if (why)
        jg_tuning_free(&made);
    else
        *tuning = made;
    return why;
}
