/* SPDX-License-Identifier: MIT */
/* A compiled kernel with its key and what is known of it, and the same as
 * bytes on disk. Equal entries have equal bytes, and bytes that decode are
 * those that their entry encodes to, but for tags not known here.
 *
 *   entry   = magic format flags key_size meta_size zero payload_size created
 *             key meta pad payload checksum ;
 *   magic   = "JGCUBIN" #00 ;
 *   format  = u16 ;      (1; another format belongs in another folder, or two
 *                         versions would throw out each other's entries)
 *   flags   = u16 ;      (0; for compressed payloads)
 *   key_size, meta_size, zero = u32 ;
 *   payload_size = u64 ;
 *   created = i64 ;      (seconds since 1970)
 *   key     = byte{key_size} ;
 *   meta    = { tag size byte{size} } ;  (tags ascend; all those of entry.c,
 *                                         and others, which are skipped)
 *   tag     = u16 ;
 *   size    = u32 ;
 *   pad     = { #00 } ;  (to a multiple of 16 from the start: in memory from
 *                         malloc() the cubin is aligned as an ELF file is)
 *   payload = byte{payload_size} ;  (the cubin)
 *   checksum = byte{16} ;           (XXH3-128 of all before it, in xxHash's
 *                                    canonical byte order)
 *
 * Numbers are little endian. */
#ifndef JG_ENTRY_H
#define JG_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"

/* Bytes; bounds what a foreign file makes us allocate. An NVRTC 13.0 cubin of
 * one kernel has tens to hundreds of KiB. */
#define JG_ENTRY_LIMIT ((size_t)64 << 20)

struct jg_entry {
    struct jg_span key;      /* jg_key.blob */
    struct jg_span cubin;
    /* What a hit must know without looking into the cubin. Strings are spans
     * too, without a NUL. */
    struct jg_span symbol;   /* of the __global__ function */
    struct jg_span arch;     /* "sm_90a" */
    struct jg_span compiler; /* "NVRTC 13.0" */
    struct jg_span library;  /* libjitgemm version that made it */
    struct jg_span host;     /* name of the machine that made it */
    struct jg_span log;      /* compile log */
    uint32_t sm;             /* 90 */
    uint32_t registers;      /* a thread */
    uint32_t spill_bytes;    /* a thread */
    uint32_t shared_bytes;   /* static, a block */
    double compile_ms;
    int64_t created;         /* seconds since 1970, for people only */
};

/* Appends the file form. Out of memory, or a field of 4 GiB or more (the
 * cubin may be larger), shows in out->failed. */
void jg_entry_encode(const struct jg_entry *entry, struct jg_buf *out);

/* Checks everything that can be checked without a GPU: magic, format, all
 * lengths, checksum, ELF class and machine of the cubin, its SM number
 * against `sm` and `arch`. On success the spans point into `file`; otherwise
 * returns false, *entry is untouched and *why is a static string. */
bool jg_entry_decode(struct jg_span file, struct jg_entry *entry,
                     const char **why);

/* Likewise, and checks that it is the entry of this key's blob. */
bool jg_entry_decode_for(struct jg_span key, struct jg_span file,
                         struct jg_entry *entry, const char **why);

#endif
