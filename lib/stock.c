/* SPDX-License-Identifier: MIT */
/* One face for packs and directories of entries. */
#define _POSIX_C_SOURCE 200809L /* fdopendir */
#include "stock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"

typedef char entry_name[JG_KEY_NAME_LENGTH + 1];

struct jg_stock {
    struct jg_pack *pack; /* or, if NULL: */
    int folder;           /* "e" */
    unsigned flags;       /* JG_FILE_* for what is below it */
    struct jg_buf names;  /* entry_name each */
};

bool jg_stock_is_pack(const char *path)
{
    size_t length = strlen(path), suffix = strlen(JG_PACK_SUFFIX);

    return length >= suffix &&
           strcmp(path + length - suffix, JG_PACK_SUFFIX) == 0;
}

/* ---- Names in a directory ---- */

static bool is_hex(const char *text, size_t length)
{
    return strspn(text, "0123456789abcdef") == length;
}

/* Calls `found` for each name in a folder; 0 or an error. */
static int scan(int folder, struct jg_stock *stock,
                int (*found)(struct jg_stock *stock, int folder,
                             const char *name))
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *item;
    int error = 0;

    if (!names) {
        error = errno;
        if (fd >= 0)
            close(fd);
        return error;
    }
    while (!error && (errno = 0, item = readdir(names)))
        error = found(stock, folder, item->d_name);
    if (!error)
        error = errno;
    closedir(names);
    return error;
}

static int add_name(struct jg_stock *stock, int folder, const char *name)
{
    entry_name entry;

    (void)folder;
    if (!is_hex(name, sizeof entry - 1) ||
        strcmp(name + sizeof entry - 1, ".jgc") != 0)
        return 0;
    memcpy(entry, name, sizeof entry - 1);
    entry[sizeof entry - 1] = 0;
    jg_buf_add(&stock->names, entry, sizeof entry);
    return stock->names.failed ? ENOMEM : 0;
}

static int add_shard(struct jg_stock *stock, int folder, const char *name)
{
    int shard, error;

    if (!is_hex(name, 2) || name[2])
        return 0;
    error = jg_file_open_folder(folder, name, stock->flags, &shard);
    if (error) /* no folder, or not any more, or a bad one */
        return error == ENOTDIR || error == ENOENT ? 0 : error;
    error = scan(shard, stock, add_name);
    close(shard);
    return error;
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

static int open_folder(const char *path, unsigned flags,
                       struct jg_stock *stock)
{
    int version, error;

    stock->flags = flags;
    error = jg_file_open_folder(AT_FDCWD, path, flags, &version);
    if (error)
        return error;
    error = jg_file_open_folder(version, "e", flags, &stock->folder);
    close(version);
    if (!error)
        error = scan(stock->folder, stock, add_shard);
    if (!error && stock->names.size)
        qsort(stock->names.data, jg_stock_count(stock), sizeof(entry_name),
              compare);
    return error;
}

/* ---- Both ---- */

int jg_stock_open(const char *path, unsigned flags, struct jg_stock **stock,
                  const char **why)
{
    struct jg_stock *made = calloc(1, sizeof *made);
    int error = made ? 0 : ENOMEM;

    if (made) {
        made->folder = -1;
        error = jg_stock_is_pack(path)
                    ? jg_pack_open(AT_FDCWD, path, flags, &made->pack, why)
                    : open_folder(path, flags, made);
    }
    if (!error) {
        *stock = made;
        return 0;
    }
    if (error != EBADMSG)
        *why = jg_file_text(error);
    jg_stock_close(made);
    return error;
}

void jg_stock_close(struct jg_stock *stock)
{
    if (!stock)
        return;
    jg_pack_close(stock->pack);
    if (stock->folder >= 0)
        close(stock->folder);
    jg_buf_free(&stock->names);
    free(stock);
}

size_t jg_stock_count(const struct jg_stock *stock)
{
    return stock->pack ? jg_pack_count(stock->pack)
                       : stock->names.size / sizeof(entry_name);
}

const char *jg_stock_name(const struct jg_stock *stock, size_t index)
{
    return stock->pack ? jg_pack_name(stock->pack, index)
                       : ((entry_name *)stock->names.data)[index];
}

/* The bytes of a directory's entry. */
static bool read_file(const struct jg_stock *stock, size_t index,
                      struct jg_span *file, const char **why)
{
    const char *name = jg_stock_name(stock, index);
    char shard_name[3], file_name[sizeof(entry_name) + 4];
    void *data = NULL;
    size_t size = 0;
    int shard, error;

    snprintf(shard_name, sizeof shard_name, "%.2s", name);
    snprintf(file_name, sizeof file_name, "%s.jgc", name);
    error =
        jg_file_open_folder(stock->folder, shard_name, stock->flags, &shard);
    if (!error) {
        error = jg_file_read(shard, file_name, stock->flags, JG_ENTRY_LIMIT,
                             &data, &size);
        close(shard);
    }
    if (error) {
        *why = error == ENOENT ? NULL : jg_file_text(error);
        return false;
    }
    *file = (struct jg_span){data, size};
    return true;
}

bool jg_stock_read(const struct jg_stock *stock, size_t index,
                   struct jg_entry *entry, struct jg_span *file,
                   const char **why)
{
    struct jg_span bytes;
    struct jg_entry read;
    entry_name name;

    if (!(stock->pack ? jg_pack_read(stock->pack, index, &bytes, why)
                      : read_file(stock, index, &bytes, why)))
        return false;
    if (jg_entry_decode(bytes, &read, why)) {
        jg_key_digest(read.key.data, read.key.size, name);
        if (strcmp(name, jg_stock_name(stock, index)) == 0) {
            *entry = read;
            *file = bytes;
            return true;
        }
        *why = "entry of another key";
    }
    free((void *)bytes.data);
    return false;
}

void jg_stock_each(const char *path, unsigned flags, jg_stock_visit *visit,
                   void *user)
{
    struct jg_stock *stock;
    struct jg_entry entry;
    struct jg_span file;
    const char *why;

    if (jg_stock_open(path, flags, &stock, &why) != 0)
        return;
    for (size_t i = 0; i < jg_stock_count(stock); i++) {
        if (!jg_stock_read(stock, i, &entry, &file, &why))
            continue;
        visit(user, &entry);
        free((void *)file.data);
    }
    jg_stock_close(stock);
}
