/* SPDX-License-Identifier: MIT */
/* Packs to bytes and back. Where an entry starts follows from the sizes of
 * those before it: the sizes must add up to the file, and so no two entries
 * overlap and no byte is left over. */
#include "pack.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"

static const unsigned char magic[8] = "JGPACK";

enum {
    FORMAT = 1,
    HEADER_SIZE = 16,
    NAME_SIZE = JG_KEY_NAME_LENGTH,
    ROW_SIZE = NAME_SIZE + 8 + JG_SHA256_SIZE,
    MAX_COUNT = 1 << 16 /* rows are 72 bytes: 4.5 MiB of index */
};

struct row {
    char name[NAME_SIZE + 1];
    uint64_t start, size;
    unsigned char sha256[JG_SHA256_SIZE];
};

struct jg_pack {
    int file;
    size_t count;
    unsigned char digest[JG_SHA256_SIZE];
    struct row rows[];
};

/* ---- Encode ---- */

static void put(struct jg_buf *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        unsigned char byte = (unsigned char)(value >> (8 * i));

        jg_buf_add(out, &byte, 1);
    }
}

void jg_pack_encode(const struct jg_packed *entries, size_t count,
                    struct jg_buf *out)
{
    unsigned char digest[JG_SHA256_SIZE];
    size_t start = out->size;

    out->failed |= count > MAX_COUNT;
    jg_buf_add(out, magic, sizeof magic);
    put(out, FORMAT, 2);
    put(out, 0, 2);
    put(out, count, 4);
    for (size_t i = 0; i < count && !out->failed; i++) {
        jg_buf_add(out, entries[i].name, NAME_SIZE);
        put(out, entries[i].file.size, 8);
        jg_sha256(entries[i].file.data, entries[i].file.size, digest);
        jg_buf_add(out, digest, sizeof digest);
        out->failed |= entries[i].file.size > JG_ENTRY_LIMIT;
    }
    if (out->failed)
        return;
    jg_sha256(out->data + start, out->size - start, digest);
    jg_buf_add(out, digest, sizeof digest);
    for (size_t i = 0; i < count; i++)
        jg_buf_add(out, entries[i].file.data, entries[i].file.size);
}

/* ---- The index ---- */

static uint64_t get(const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;

    for (size_t i = size; i > 0; i--)
        value = value << 8 | bytes[i - 1];
    return value;
}

/* NULL, or what is wrong with the header. */
static const char *check_header(const unsigned char *header, uint64_t size)
{
    uint64_t count = get(header + 12, 4);

    if (memcmp(header, magic, sizeof magic) != 0)
        return "not a pack";
    if (get(header + 8, 2) != FORMAT || get(header + 10, 2))
        return "pack of an unknown format";
    if (count > MAX_COUNT)
        return "too many entries";
    if (size < HEADER_SIZE + count * ROW_SIZE + JG_SHA256_SIZE)
        return "pack too short for its index";
    return NULL;
}

/* Fills the rows; NULL, or what is wrong with them. */
static const char *read_rows(const unsigned char *at, uint64_t size,
                             struct jg_pack *pack)
{
    uint64_t start = HEADER_SIZE + pack->count * ROW_SIZE + JG_SHA256_SIZE;

    for (size_t i = 0; i < pack->count; i++, at += ROW_SIZE) {
        struct row *row = &pack->rows[i];

        memcpy(row->name, at, NAME_SIZE);
        row->name[NAME_SIZE] = 0;
        row->start = start;
        row->size = get(at + NAME_SIZE, 8);
        memcpy(row->sha256, at + NAME_SIZE + 8, JG_SHA256_SIZE);
        if (strspn(row->name, "0123456789abcdef") != NAME_SIZE ||
            (i && strcmp(row[-1].name, row->name) >= 0))
            return "names in the index are wrong or not in order";
        if (row->size > JG_ENTRY_LIMIT)
            return "an entry is too large";
        start += row->size; /* no overflow: both factors are bounded */
    }
    return start == size ? NULL : "sizes in the index do not add up";
}

/* Reads the index of `file`, which the pack takes over on success. */
static int read_index(int file, uint64_t size, struct jg_pack **pack,
                      const char **why)
{
    unsigned char header[HEADER_SIZE], *index = NULL;
    struct jg_pack *read = NULL;
    size_t bytes;
    int error;

    error = size < sizeof header
                ? EBADMSG
                : jg_file_read_at(file, 0, header, sizeof header);
    *why = error ? "not a pack" : check_header(header, size);
    if (error || *why)
        return error ? error : EBADMSG;
    bytes = HEADER_SIZE + get(header + 12, 4) * ROW_SIZE;
    index = malloc(bytes + JG_SHA256_SIZE);
    read = calloc(1, sizeof *read + get(header + 12, 4) * sizeof *read->rows);
    if (!index || !read) {
        error = ENOMEM;
        goto out;
    }
    memcpy(index, header, sizeof header);
    error = jg_file_read_at(file, sizeof header, index + sizeof header,
                            bytes + JG_SHA256_SIZE - sizeof header);
    if (error)
        goto out;
    jg_sha256(index, bytes, read->digest);
    read->file = file;
    read->count = get(header + 12, 4);
    *why = memcmp(read->digest, index + bytes, JG_SHA256_SIZE) != 0
               ? "index damaged: wrong SHA-256"
               : read_rows(index + HEADER_SIZE, size, read);
    error = *why ? EBADMSG : 0;
    if (!error) {
        *pack = read;
        read = NULL;
    }
out:
    free(index);
    free(read);
    return error;
}

int jg_pack_open(int folder, const char *name, unsigned flags,
                 struct jg_pack **pack, const char **why)
{
    uint64_t size;
    int file, error;

    error = jg_file_open(folder, name, flags, &file, &size);
    if (!error) {
        error = read_index(file, size, pack, why);
        if (error)
            close(file);
    }
    if (error && error != EBADMSG)
        *why = jg_file_text(error);
    return error;
}

void jg_pack_close(struct jg_pack *pack)
{
    if (!pack)
        return;
    close(pack->file);
    free(pack);
}

size_t jg_pack_count(const struct jg_pack *pack)
{
    return pack->count;
}

const char *jg_pack_name(const struct jg_pack *pack, size_t index)
{
    return pack->rows[index].name;
}

const unsigned char *jg_pack_digest(const struct jg_pack *pack)
{
    return pack->digest;
}

/* ---- Entries ---- */

static void *read_row(const struct jg_pack *pack, const struct row *row,
                      const char **why)
{
    void *bytes = malloc((size_t)row->size + 1);
    int error = bytes ? jg_file_read_at(pack->file, row->start, bytes,
                                        (size_t)row->size)
                      : ENOMEM;

    if (!error)
        return bytes;
    *why = jg_file_text(error);
    free(bytes);
    return NULL;
}

bool jg_pack_read(const struct jg_pack *pack, size_t index,
                  struct jg_span *file, const char **why)
{
    const struct row *row = &pack->rows[index];
    void *bytes = read_row(pack, row, why);
    unsigned char digest[JG_SHA256_SIZE];

    if (!bytes)
        return false;
    jg_sha256(bytes, (size_t)row->size, digest);
    if (memcmp(digest, row->sha256, sizeof digest) != 0) {
        *why = "wrong SHA-256";
        free(bytes);
        return false;
    }
    *file = (struct jg_span){bytes, (size_t)row->size};
    return true;
}

static int compare_name(const void *name, const void *row)
{
    return strcmp(name, ((const struct row *)row)->name);
}

bool jg_pack_find(const struct jg_pack *pack, const struct jg_key *key,
                  struct jg_entry *entry, void **file, const char **why)
{
    const struct row *row = bsearch(key->name, pack->rows, pack->count,
                                    sizeof *pack->rows, compare_name);
    void *bytes;

    *why = NULL;
    if (!row)
        return false;
    bytes = read_row(pack, row, why);
    if (!bytes)
        return false;
    if (jg_entry_decode_for((struct jg_span){key->blob.data, key->blob.size},
                            (struct jg_span){bytes, (size_t)row->size}, entry,
                            why)) {
        *file = bytes;
        return true;
    }
    free(bytes);
    return false;
}
