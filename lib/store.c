/* SPDX-License-Identifier: MIT */
/* Entries in a folder: read, written, set aside. */
#define _POSIX_C_SOURCE 200809L /* renameat, strdup */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

void jg_store_free(struct jg_store *store)
{
    jg_buf_free(&store->base);
    memset(store, 0, sizeof *store);
}

/* ---- The way to an entry ---- */

/* Folders on the way to a key's entry, -1 while closed, and its names. */
struct way {
    int root, shard;
    char shard_name[3];
    char file[JG_KEY_NAME_LENGTH + sizeof ".jgc"];
};

static void close_folder(int folder)
{
    if (folder >= 0)
        close(folder);
}

/* Below the folder `parent`, which it closes. */
static int descend(int parent, const char *name, unsigned flags, int *folder)
{
    int error = jg_file_open_folder(parent, name, flags, folder);

    close(parent);
    return error;
}

static void make_parent(const char *path)
{
    char *parent = strdup(path), *slash = parent ? strrchr(parent, '/') : NULL;

    if (slash) { /* an error shows in the next step */
        slash[slash == parent] = 0;
        mkdir(parent, 0700);
    }
    free(parent);
}

int jg_store_open(const struct jg_store *store, const char *name,
                  unsigned create, int *folder)
{
    const char *path = (const char *)store->base.data;
    unsigned flags = store->flags | create;
    int base, root, error;

    if (create && store->make_parent)
        make_parent(path);
    error =
        jg_file_open_folder(AT_FDCWD, path, store->base_flags | create, &base);
    if (!error)
        error = descend(base, JG_STORE_VERSION, flags, &root);
    if (!error && name)
        error = descend(root, name, flags, &root);
    if (!error)
        *folder = root;
    return error;
}

/* To be closed whether it succeeds or not. */
static int open_way(const struct jg_store *store, const struct jg_key *key,
                    unsigned create, struct way *way)
{
    unsigned flags = store->flags | create;
    int entries, error;

    way->root = way->shard = -1;
    snprintf(way->shard_name, sizeof way->shard_name, "%.2s", key->name);
    snprintf(way->file, sizeof way->file, "%s.jgc", key->name);
    error = jg_store_open(store, NULL, create, &way->root);
    if (!error)
        error = jg_file_open_folder(way->root, "e", flags, &entries);
    if (!error)
        error = descend(entries, way->shard_name, flags, &way->shard);
    return error;
}

static void close_way(const struct way *way)
{
    close_folder(way->shard);
    close_folder(way->root);
}

/* ---- Read ---- */

/* Errors as of file.h; *opened tells those of the file from those of the
 * way to it. */
static int read_file(const struct jg_store *store, const struct jg_key *key,
                     unsigned stamp, bool *opened, void **bytes, size_t *size)
{
    struct way way;
    int error = open_way(store, key, 0, &way);

    *opened = !error;
    if (!error)
        error = jg_file_read(way.shard, way.file, store->flags | stamp,
                             JG_ENTRY_LIMIT, bytes, size);
    close_way(&way);
    return error;
}

enum jg_store_result jg_store_read(const struct jg_store *store,
                                   const struct jg_key *key, unsigned stamp,
                                   struct jg_entry *entry, void **file,
                                   const char **why)
{
    void *bytes = NULL;
    size_t size = 0;
    bool opened;
    int error = read_file(store, key, stamp, &opened, &bytes, &size);

    /* NFS says ESTALE of a file or folder that another host has just
     * replaced: there is a newer one to open. ENOENT is what an ordinary miss
     * says and is not worth a second look. */
    if (error == ESTALE || error == EBUSY)
        error = read_file(store, key, stamp, &opened, &bytes, &size);
    if (!error) {
        if (jg_entry_decode_for(
                (struct jg_span){key->blob.data, key->blob.size},
                (struct jg_span){bytes, size}, entry, why)) {
            *file = bytes;
            return JG_STORE_HIT;
        }
        free(bytes);
        return JG_STORE_BAD;
    }
    *why = jg_file_text(error);
    if (error == ENOENT || error == ESTALE || error == EBUSY)
        return JG_STORE_ABSENT;
    return opened && error >= JG_FILE_UNTRUSTED ? JG_STORE_BAD
                                                : JG_STORE_UNREADABLE;
}

/* ---- Write, set aside ---- */

int jg_store_write(const struct jg_store *store, const struct jg_key *key,
                   const struct jg_buf *bytes)
{
    static const char tag[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
                              "# Kernels compiled by libjitgemm; may be "
                              "removed at any time.\n";
    int scratch = -1, error;
    struct way way;

    error = open_way(store, key, JG_FILE_CREATE, &way);
    if (!error)
        error = jg_file_open_folder(way.root, "t",
                                    store->flags | JG_FILE_CREATE, &scratch);
    if (!error)
        error = jg_file_publish(scratch, way.shard, way.file, store->flags,
                                bytes->data, bytes->size);
    if (!error && faccessat(way.root, "CACHEDIR.TAG", F_OK, 0) != 0)
        jg_file_publish(scratch, way.root, "CACHEDIR.TAG", store->flags, tag,
                        sizeof tag - 1); /* nothing depends on it */
    close_folder(scratch);
    close_way(&way);
    return error;
}

int jg_store_set_aside(const struct jg_store *store, const struct jg_key *key)
{
    struct way way;
    int folder = -1, error = open_way(store, key, 0, &way);

    if (!error)
        error = jg_file_open_folder(way.root, "q",
                                    store->flags | JG_FILE_CREATE, &folder);
    if (!error && renameat(way.shard, way.file, folder, way.file) != 0)
        error = errno;
    close_folder(folder);
    close_way(&way);
    return error;
}

/* ---- Other files ---- */

int jg_store_load(const struct jg_store *store, const char *name, size_t limit,
                  void **bytes, size_t *size)
{
    int root, error = jg_store_open(store, NULL, 0, &root);

    if (error)
        return error;
    error = jg_file_read(root, name, store->flags, limit, bytes, size);
    close(root);
    return error;
}

int jg_store_save(const struct jg_store *store, const char *name,
                  const struct jg_buf *bytes)
{
    int scratch, root, error;

    error = jg_store_open(store, NULL, JG_FILE_CREATE, &root);
    if (error)
        return error;
    error = jg_file_open_folder(root, "t", store->flags | JG_FILE_CREATE,
                                &scratch);
    if (!error) {
        error = jg_file_publish(scratch, root, name, store->flags, bytes->data,
                                bytes->size);
        close(scratch);
    }
    close(root);
    return error;
}
