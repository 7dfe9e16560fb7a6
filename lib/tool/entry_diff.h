/* SPDX-License-Identifier: MIT */
/* What two entries' keys differ in. */
#ifndef JITGEMM_WARM_ENTRY_DIFF_H
#define JITGEMM_WARM_ENTRY_DIFF_H

#include <stdbool.h>
#include <stddef.h>

/* Finds the entries whose keys begin with these two texts, each one only, and
 * prints the fields that differ. Returns the program's exit status. */
int entry_diff(char *const keys[2], char **paths, size_t count, bool json);

#endif
