/* SPDX-License-Identifier: MIT */
/* All the entries of a cache directory or of a pack, for those who go through
 * them: to list, to copy, to say why a key was missed. Changes nothing. */
#ifndef JG_STOCK_H
#define JG_STOCK_H

#include "pack.h"

struct jg_stock;

/* Whether a path is that of a pack, by its suffix. */
bool jg_stock_is_pack(const char *path);

/* Opens the pack or the directory at `path`, which is the one that has "e" in
 * it (jg_cache_directory()). Returns 0 or an error as jg_pack_open() does. */
int jg_stock_open(const char *path, unsigned flags, struct jg_stock **stock,
                  const char **why);
void jg_stock_close(struct jg_stock *stock); /* NULL is allowed */

/* Names ascend. Files that have not the name of an entry are passed over. */
size_t jg_stock_count(const struct jg_stock *stock);
const char *jg_stock_name(const struct jg_stock *stock, size_t index);

/* The entry, checked against its name; it points into `file`, whose data is
 * the caller's to free(). With false nothing is written but *why: NULL if the
 * entry was there and has gone. */
bool jg_stock_read(const struct jg_stock *stock, size_t index,
                   struct jg_entry *entry, struct jg_span *file,
                   const char **why);

/* Calls for every good entry of the pack or directory at `path`, if there is
 * one that can be opened. */
typedef void jg_stock_visit(void *user, const struct jg_entry *entry);
void jg_stock_each(const char *path, unsigned flags, jg_stock_visit *visit,
                   void *user);

#endif
