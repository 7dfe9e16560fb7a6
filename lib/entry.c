/* SPDX-License-Identifier: MIT */
/* Entry to bytes and back, byte by byte, so that neither the machine's byte
 * order nor a damaged length matters. The decoder believes nothing. */
#include "entry.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static const unsigned char magic[8] = "JGCUBIN";

enum {
    FORMAT = 1,
    HEADER_SIZE = 40,
    CHECKSUM_SIZE = sizeof(XXH128_canonical_t),
    ALIGNMENT = 16
};

/* These numbers are on disk: a tag is never used for anything else. */
enum {
    SYMBOL = 1,
    ARCH = 2,
    COMPILER = 3,
    LIBRARY = 4,
    HOST = 5,
    LOG = 6,
    LAST_TEXT = LOG, /* numbers from here on, of 4 bytes */
    SM = 7,
    REGISTERS = 8,
    SPILL_BYTES = 9,
    SHARED_BYTES = 10,
    COMPILE_MS = 11, /* 8 bytes: IEEE double */
    LAST = COMPILE_MS
};

static struct jg_span *text_of(struct jg_entry *entry, unsigned tag)
{
    switch (tag) {
    case SYMBOL:
        return &entry->symbol;
    case ARCH:
        return &entry->arch;
    case COMPILER:
        return &entry->compiler;
    case LIBRARY:
        return &entry->library;
    case HOST:
        return &entry->host;
    default:
        return &entry->log;
    }
}

static uint32_t *number_of(struct jg_entry *entry, unsigned tag)
{
    switch (tag) {
    case SM:
        return &entry->sm;
    case REGISTERS:
        return &entry->registers;
    case SPILL_BYTES:
        return &entry->spill_bytes;
    default:
        return &entry->shared_bytes;
    }
}

static void checksum(const void *bytes, size_t size,
                     unsigned char sum[CHECKSUM_SIZE])
{
    XXH128_canonical_t digest;

    XXH128_canonicalFromHash(&digest, XXH3_128bits(bytes, size));
    memcpy(sum, digest.digest, CHECKSUM_SIZE);
}

/* ---- Encode ---- */

static void put(struct jg_buf *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        unsigned char byte = (unsigned char)(value >> (8 * i));

        jg_buf_add(out, &byte, 1);
    }
}

static void put_meta(const struct jg_entry *entry, struct jg_buf *meta)
{
    struct jg_entry fields = *entry;
    uint64_t bits;

    for (unsigned tag = 1; tag <= LAST_TEXT; tag++) {
        const struct jg_span *text = text_of(&fields, tag);

        put(meta, tag, 2);
        put(meta, text->size, 4);
        jg_buf_add(meta, text->data, text->size);
        meta->failed |= text->size > UINT32_MAX;
    }
    for (unsigned tag = LAST_TEXT + 1; tag < COMPILE_MS; tag++) {
        put(meta, tag, 2);
        put(meta, 4, 4);
        put(meta, *number_of(&fields, tag), 4);
    }
    memcpy(&bits, &entry->compile_ms, sizeof bits);
    put(meta, COMPILE_MS, 2);
    put(meta, sizeof bits, 4);
    put(meta, bits, sizeof bits);
}

void jg_entry_encode(const struct jg_entry *entry, struct jg_buf *out)
{
    struct jg_buf meta = {.data = NULL};
    unsigned char sum[CHECKSUM_SIZE];
    size_t start = out->size;

    put_meta(entry, &meta);
    jg_buf_add(out, magic, sizeof magic);
    put(out, FORMAT, 2);
    put(out, 0, 2);
    put(out, entry->key.size, 4);
    put(out, meta.size, 4);
    put(out, 0, 4);
    put(out, entry->cubin.size, 8);
    put(out, (uint64_t)entry->created, 8);
    jg_buf_add(out, entry->key.data, entry->key.size);
    jg_buf_add(out, meta.data, meta.size);
    while (!out->failed && (out->size - start) % ALIGNMENT)
        put(out, 0, 1);
    jg_buf_add(out, entry->cubin.data, entry->cubin.size);
    out->failed |=
        meta.failed || meta.size > UINT32_MAX || entry->key.size > UINT32_MAX;
    if (!out->failed) {
        checksum(out->data + start, out->size - start, sum);
        jg_buf_add(out, sum, sizeof sum);
    }
    jg_buf_free(&meta);
}

/* ---- Decode ---- */

struct reader {
    const unsigned char *at;
    size_t left;
    bool failed; /* something was asked for that is not there */
};

static struct jg_span take(struct reader *reader, uint64_t size)
{
    struct jg_span span = {.data = reader->at};

    if (size > reader->left) {
        reader->failed = true;
        size = 0;
    }
    span.size = (size_t)size;
    reader->at += span.size;
    reader->left -= span.size;
    return span;
}

static uint64_t get(struct reader *reader, unsigned bytes)
{
    struct jg_span span = take(reader, bytes);
    const unsigned char *byte = span.data;
    uint64_t value = 0;

    for (size_t i = span.size; i > 0; i--)
        value = value << 8 | byte[i - 1];
    return value;
}

/* False if the value does not fit its tag. */
static bool set_field(struct jg_entry *entry, uint64_t tag,
                      struct jg_span value)
{
    struct reader reader = {.at = value.data, .left = value.size};
    uint64_t bits;

    if (tag > LAST)
        return true;
    if (tag <= LAST_TEXT) {
        *text_of(entry, (unsigned)tag) = value;
        return true;
    }
    if (tag < COMPILE_MS) {
        *number_of(entry, (unsigned)tag) = (uint32_t)get(&reader, 4);
    } else {
        bits = get(&reader, sizeof bits);
        memcpy(&entry->compile_ms, &bits, sizeof bits);
    }
    return !reader.failed && !reader.left;
}

static bool get_meta(struct jg_span meta, struct jg_entry *entry)
{
    struct reader reader = {.at = meta.data, .left = meta.size};
    uint64_t last = 0, known = 0;

    while (reader.left) {
        uint64_t tag = get(&reader, 2);
        struct jg_span value = take(&reader, get(&reader, 4));

        if (reader.failed || tag <= last || !set_field(entry, tag, value))
            return false;
        last = tag;
        known += tag <= LAST;
    }
    return known == LAST;
}

/* 90 for "sm_90" and "sm_90a"; 0 for what is no architecture. */
static uint64_t arch_number(struct jg_span arch)
{
    const char *text = arch.data;
    uint64_t number = 0;
    size_t i;

    if (arch.size < 5 || arch.size > 8 || memcmp(text, "sm_", 3) != 0 ||
        text[3] == '0')
        return 0;
    for (i = 3; i < arch.size && text[i] >= '0' && text[i] <= '9'; i++)
        number = number * 10 + (uint64_t)(text[i] - '0');
    if (i < arch.size && (text[i] == 'a' || text[i] == 'f'))
        i++;
    return i == arch.size ? number : 0;
}

/* The SM number of a cubin; 0 if it is none. Where the number is depends on
 * the ABI version: bits 0-7 of e_flags in 7 (CUDA 12), bits 8-15 in 8 (13);
 * so LLVM's BinaryFormat/ELF.h and NVRTC 13.0's output. No version tells
 * sm_90 from sm_90a. */
static uint64_t cubin_number(struct jg_span cubin)
{
    /* 64 bits, little endian */
    static const unsigned char ident[] = {0x7f, 'E', 'L', 'F', 2, 1};
    enum { ABI_VERSION = 8, MACHINE = 18, FLAGS = 48, ELF_HEADER_SIZE = 64 };
    const unsigned char *elf = cubin.data;

    if (cubin.size < ELF_HEADER_SIZE || memcmp(elf, ident, sizeof ident) ||
        elf[MACHINE] != 190 /* EM_CUDA */ || elf[MACHINE + 1])
        return 0;
    if (elf[ABI_VERSION] == 7)
        return elf[FLAGS];
    return elf[ABI_VERSION] == 8 ? elf[FLAGS + 1] : 0;
}

/* All between the checksum's check and the cubin's. */
static const char *get_body(struct reader *reader, struct jg_entry *entry)
{
    const unsigned char *start = reader->at;
    uint64_t flags, key_size, meta_size, zero, payload_size;
    struct jg_span meta;

    take(reader, sizeof magic);
    if (get(reader, 2) != FORMAT)
        return "unknown format";
    flags = get(reader, 2);
    key_size = get(reader, 4);
    meta_size = get(reader, 4);
    zero = get(reader, 4);
    payload_size = get(reader, 8);
    entry->created = (int64_t)get(reader, 8);
    if (flags)
        return "unknown flags";
    entry->key = take(reader, key_size);
    meta = take(reader, meta_size);
    while ((reader->at - start) % ALIGNMENT && !reader->failed)
        zero |= get(reader, 1);
    entry->cubin = take(reader, payload_size);
    if (reader->failed || reader->left || zero)
        return "lengths do not add up";
    return get_meta(meta, entry) ? NULL : "bad metadata";
}

bool jg_entry_decode(struct jg_span file, struct jg_entry *entry,
                     const char **why)
{
    struct jg_entry read = {.sm = 0};
    struct reader reader = {.at = file.data};
    unsigned char sum[CHECKSUM_SIZE];
    const char *bad;

    if (file.size < HEADER_SIZE + CHECKSUM_SIZE) {
        *why = "too short";
        return false;
    }
    if (memcmp(file.data, magic, sizeof magic) != 0) {
        *why = "not a cache entry";
        return false;
    }
    reader.left = file.size - CHECKSUM_SIZE;
    checksum(file.data, reader.left, sum);
    if (memcmp(sum, reader.at + reader.left, sizeof sum) != 0) {
        *why = "wrong checksum";
        return false;
    }
    bad = get_body(&reader, &read);
    if (!bad && (!read.sm || cubin_number(read.cubin) != read.sm))
        bad = "not a cubin of its architecture";
    if (!bad && arch_number(read.arch) != read.sm)
        bad = "architecture name and number differ";
    if (bad) {
        *why = bad;
        return false;
    }
    *entry = read;
    return true;
}

bool jg_entry_decode_for(struct jg_span key, struct jg_span file,
                         struct jg_entry *entry, const char **why)
{
    struct jg_entry read;

    if (!jg_entry_decode(file, &read, why))
        return false;
    if (read.key.size != key.size ||
        memcmp(read.key.data, key.data, key.size) != 0) {
        *why = "entry of another key";
        return false;
    }
    *entry = read;
    return true;
}
