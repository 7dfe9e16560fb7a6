/* SPDX-License-Identifier: MIT */
/* JSON (RFC 8259) on stdout. Paths in messages may be any bytes; what is not
 * UTF-8 becomes U+FFFD, so that the line always parses. */
#ifndef JITGEMM_WARM_JSON_H
#define JITGEMM_WARM_JSON_H

void json_string(const char *text);

/* "name":"value" */
void json_field(const char *name, const char *value);

#endif
