/* SPDX-License-Identifier: MIT */
/* The parts of what the tool reads: numbers and words. Both move *at past
 * what they read and return NULL, or return the rule that is broken, of which
 * *at is then the place. */
#ifndef JITGEMM_WARM_TEXT_H
#define JITGEMM_WARM_TEXT_H

#include <stdint.h>

/* Digits, and nothing else: strtoll() would take signs and blanks, too. */
const char *text_number(const char **at, int64_t *number);

/* What comes before the next ":" or "+" or the end: its number among the words, of
 * which the last is NULL. */
const char *text_word(const char **at, const char *const *words, int *number);

#endif
