/* SPDX-License-Identifier: MIT */
/* JSON (RFC 8259), checked as a whole, then looked into where it stands. */
#ifndef JITGEMM_WARM_JSON_READ_H
#define JITGEMM_WARM_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the text, behind whose bytes is a NUL, is JSON in UTF-8, nested at
 * most 64 deep. NULL, or the rule that it breaks and in *at the place. */
const char *json_check(const char *text, size_t size, const char **at);

/* The rest is for text that is. Both give NULL or a rule, as above. */

/* The value of the object's member of this name; *value is NULL if there is
 * none, or it is null. Names that are written with escapes are none of ours.
 * A second member of the name breaks a rule. */
const char *json_member(const char *object, const char *name,
                        const char **value, const char **at);

/* Whether it is that string, written without escapes. */
bool json_is(const char *value, const char *string);

/* A whole number from 1 to 2^31 - 1. */
const char *json_count(const char *value, int64_t *number, const char **at);

#endif
