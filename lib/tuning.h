/* SPDX-License-Identifier: MIT */
/* Measured choices: which kernel of a product was fastest for a class of
 * problems, as a text that people can read. Pure.
 *
 *   jitgemm tuning 1 sm_90a 132
 *   CLASS <tab> KERNEL <tab> NS <tab> NS
 *
 * The first line names the form, the arch and the multiprocessors. The others
 * are in ascending order of their classes. The times are those of KERNEL and
 * of what the model chooses. There is one form of every content: what is read
 * is printed as the same bytes. */
#ifndef JG_TUNING_H
#define JG_TUNING_H

#include "buf.h"
#include "device.h"
#include "problem.h"

#define JG_TUNING_ENTRIES 4096 /* at most */
#define JG_TUNING_LIMIT ((size_t)1 << 20) /* bytes of a file, which so many
                                             entries cannot fill */
#define JG_TUNING_NS 1000000000000 /* the longest time */

struct jg_tuning_entry {
    char class[160];
    char kernel[96]; /* jg_spec.name of the product */
    int64_t ns, model_ns;
};

struct jg_tuning { /* all zero: empty */
    struct jg_tuning_entry *entries;
    size_t count;
};

/* The class of a problem: what decides which configurations it may run in, n
 * and k, and how many rows there are, in all and in the longest group, up to
 * the next power of two. "8x4096x7168 rows 1024 longest 128 nvfp4 f16", with
 * MXFP4 weights "... bf16 mxfp4 f16", then " device", " split-k" and, if it may
 * use fewer multiprocessors than the device has, " sms 64". False if the groups
 * differ in n or k: such a problem has none. */
bool jg_tuning_class(const struct jg_problem *problem,
                     const struct jg_device *device,
                     struct jg_tuning_entry *entry);

/* Reads a file for the device. NULL, or the rule that it breaks, and then
 * *line is where; *tuning is written on success only. */
const char *jg_tuning_read(struct jg_span file, const struct jg_device *device,
                           struct jg_tuning *tuning, int *line);
void jg_tuning_print(const struct jg_tuning *tuning,
                     const struct jg_device *device, struct jg_buf *file);

/* The entry of that class, or NULL. */
const struct jg_tuning_entry *jg_tuning_find(const struct jg_tuning *tuning,
                                             const char *class);

/* Adds an entry or replaces that of its class. False if there is no room or
 * no memory. */
bool jg_tuning_put(struct jg_tuning *tuning,
                   const struct jg_tuning_entry *entry);

void jg_tuning_free(struct jg_tuning *tuning); /* back to all zero */

#endif
