/* SPDX-License-Identifier: MIT */
/* What a compiled kernel depends on, and its name. The blob is an injective
 * encoding of every field and decides equality; the name is its XXH3-128 and
 * only says where to look. */
#ifndef JG_KEY_H
#define JG_KEY_H

#include <stdbool.h>

#include "buf.h"

#define JG_KEY_NAME_LENGTH 32

/* Strings, none NULL; nothing that may differ between two equal compiles. */
struct jg_key_fields {
    const char *kernel;      /* path of the program text, "gemm/....cu" */
    const char *spec;        /* text of spec.cuh */
    const char *sources;     /* digest of every embedded text, hex */
    const char *options;     /* NVRTC options, sorted, one a line */
    const char *arch;        /* with suffix: "sm_90a" */
    const char *output;      /* "cubin" */
    const char *nvrtc;       /* "13.0" */
    const char *nvrtc_id;    /* identity of libnvrtc */
    const char *builtins_id; /* likewise of libnvrtc-builtins */
};

/* The blob, little endian:
 *
 *   key    = schema arch builtins_id kernel nvrtc nvrtc_id options output
 *            sources spec ;       (each a field, in the order of the names)
 *   schema = u16 ;                (1; another for other fields)
 *   field  = tag:u16 size:u64 byte{size} ;  (tags 1, 2, ... in that order)
 *
 * No field can run into its neighbour, so two blobs are equal only if every
 * field is. */
struct jg_key { /* all zero: none */
    struct jg_buf blob;
    char name[JG_KEY_NAME_LENGTH + 1];
};

/* E_MEMORY or OK; *key is written on success only. */
jitgemm_status jg_key_make(const struct jg_key_fields *fields,
                           struct jg_key *key);
jitgemm_status jg_key_copy(struct jg_span blob, struct jg_key *key);
/* The same key as if the compiler of another had made the kernel. False if one
 * of them cannot be read, or out of memory. */
bool jg_key_of_maker(const struct jg_key *key, const struct jg_key *maker,
                     struct jg_key *made);
void jg_key_free(struct jg_key *key); /* back to all zero */

/* The fields of a blob, in its order, and their names. */
#define JG_KEY_FIELDS(_)                                                     \
    _(arch) _(builtins_id) _(kernel) _(nvrtc) _(nvrtc_id) _(options)         \
    _(output) _(sources) _(spec)
enum {
#define JG_KEY_NUMBER(name) JG_KEY_##name,
    JG_KEY_FIELDS(JG_KEY_NUMBER)
#undef JG_KEY_NUMBER
    JG_KEY_FIELD_COUNT
};
extern const char *const jg_key_field_names[JG_KEY_FIELD_COUNT];

/* The values of a blob's fields, which point into it and have no NUL. False,
 * with nothing written, for what jg_key_make() would not make. */
bool jg_key_read(struct jg_span blob,
                 struct jg_span values[JG_KEY_FIELD_COUNT]);

/* XXH3-128 of bytes as 32 hex digits and a NUL. */
void jg_key_digest(const void *bytes, size_t size,
                   char hex[JG_KEY_NAME_LENGTH + 1]);

#endif
