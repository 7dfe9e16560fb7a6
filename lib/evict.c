/* SPDX-License-Identifier: MIT */
/* Walks all entries, sorts them by last use, and removes from the oldest. */
#define _POSIX_C_SOURCE 200809L /* fdopendir, fstatat, unlinkat */
#include "evict.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "file.h"

enum { STALE_SECONDS = 24 * 60 * 60 };

struct found {
    char name[JG_KEY_NAME_LENGTH + sizeof ".jgc"];
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec used;
    uint64_t bytes; /* on disk */
};

struct list {
    struct found *items;
    size_t count, capacity;
};

/* ---- Walk ---- */

static uint64_t disk_bytes(const struct stat *info)
{
    return (uint64_t)info->st_blocks * 512; /* whatever st_blksize is */
}

static int add_found(struct list *list, const char *name,
                     const struct stat *info)
{
    struct found *found;

    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        void *items = realloc(list->items, capacity * sizeof *list->items);

        if (!items)
            return ENOMEM;
        list->items = items;
        list->capacity = capacity;
    }
    found = &list->items[list->count++];
    snprintf(found->name, sizeof found->name, "%s", name);
    found->device = info->st_dev;
    found->inode = info->st_ino;
    found->size = info->st_size;
    found->used = info->st_mtim;
    found->bytes = disk_bytes(info);
    return 0;
}

/* Calls `visit` for each regular file in a folder, which it closes. Files
 * that vanish meanwhile are none. */
static int each_file(int folder,
                     int (*visit)(void *to, int folder, const char *name,
                                  const struct stat *info),
                     void *to)
{
    DIR *names = fdopendir(folder);
    struct dirent *one;
    struct stat info;
    int error = 0;

    if (!names) {
        close(folder);
        return ENOMEM;
    }
    while (!error && (one = readdir(names)))
        if (fstatat(folder, one->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(info.st_mode))
            error = visit(to, folder, one->d_name, &info);
    closedir(names);
    return error;
}

static int visit_entry(void *list, int folder, const char *name,
                       const struct stat *info)
{
    (void)folder;
    if (strlen(name) != sizeof((struct found *)0)->name - 1)
        return 0; /* somebody else's */
    return add_found(list, name, info);
}

static int open_shard(const struct jg_store *store, int entries,
                      const char *name, int *shard)
{
    char digits[] = {name[0], name[1], 0};

    return jg_file_open_folder(entries, digits, store->flags, shard);
}

static int list_entries(const struct jg_store *store, int entries,
                        struct list *list)
{
    struct dirent *one;
    DIR *names = NULL;
    int copy, shard, error;

    error = jg_file_open_folder(entries, ".", store->flags, &copy);
    if (error)
        return error;
    names = fdopendir(copy);
    if (!names) {
        close(copy);
        return ENOMEM;
    }
    while (error != ENOMEM && (one = readdir(names))) {
        error = strlen(one->d_name) == 2 && one->d_name[0] != '.'
                    ? open_shard(store, entries, one->d_name, &shard)
                    : ENOENT;
        if (!error)
            error = each_file(shard, visit_entry, list);
    }
    closedir(names);
    return error == ENOMEM ? error : 0;
}

/* ---- Remove ---- */

static int by_last_use(const void *a, const void *b)
{
    const struct timespec *x = &((const struct found *)a)->used,
                          *y = &((const struct found *)b)->used;

    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Still the file that was found, not used since. */
static bool is_same(const struct found *found, const struct stat *info)
{
    return found->device == info->st_dev && found->inode == info->st_ino &&
           found->size == info->st_size &&
           found->used.tv_sec == info->st_mtim.tv_sec &&
           found->used.tv_nsec == info->st_mtim.tv_nsec;
}

/* Between the look and the removal it may still be replaced, which costs a
 * compile. */
static bool remove_entry(const struct jg_store *store, int entries,
                         const struct found *found)
{
    struct stat info;
    bool gone;
    int shard;

    if (open_shard(store, entries, found->name, &shard) != 0)
        return false;
    gone = fstatat(shard, found->name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
           is_same(found, &info) && unlinkat(shard, found->name, 0) == 0;
    close(shard);
    return gone;
}

static void remove_oldest(const struct jg_store *store, int entries,
                          struct list *list, uint64_t keep, bool dry,
                          const struct jg_log *log, struct jg_evicted *evicted)
{
    qsort(list->items, list->count, sizeof *list->items, by_last_use);
    for (size_t i = 0; i < list->count; i++) {
        const struct found *found = &list->items[i];

        if (evicted->bytes - evicted->removed_bytes <= keep)
            break;
        if (!dry && !remove_entry(store, entries, found))
            continue;
        jg_log(log, JITGEMM_LOG_INFO, "cache: %s %.32s, %llu bytes",
               dry ? "would remove" : "removed", found->name,
               (unsigned long long)found->bytes);
        evicted->removed++;
        evicted->removed_bytes += found->bytes;
    }
}

/* ---- Sweep ---- */

struct sweep {
    time_t now;
    bool dry;
    uint64_t swept;
};

static int visit_stale(void *to, int folder, const char *name,
                       const struct stat *info)
{
    struct sweep *sweep = to;

    if (difftime(sweep->now, info->st_mtime) > STALE_SECONDS &&
        (sweep->dry || unlinkat(folder, name, 0) == 0))
        sweep->swept++;
    return 0;
}

/* The time as the file system has it, whose clock stamps its files: that of a
 * file just made. */
static int file_time(int scratch, unsigned flags, time_t *now)
{
    static const char name[] = "now";
    struct stat info;
    int fd, error = jg_file_open_lock(scratch, name, flags, &fd);

    if (error)
        return error;
    if (futimens(fd, NULL) != 0 || fstat(fd, &info) != 0)
        error = errno;
    else
        *now = info.st_mtime;
    close(fd);
    unlinkat(scratch, name, 0);
    return error;
}

/* Files in t are of writers that died, those in q have been looked at by now
 * or never will be. */
static int sweep(const struct jg_store *store, bool dry, uint64_t *swept)
{
    struct sweep state = {.dry = dry};
    int folder, error;

    error = jg_store_open(store, "t", JG_FILE_CREATE, &folder);
    if (error)
        return error;
    error = file_time(folder, store->flags, &state.now);
    if (error)
        close(folder);
    else
        error = each_file(folder, visit_stale, &state);
    if (!error && jg_store_open(store, "q", 0, &folder) == 0)
        error = each_file(folder, visit_stale, &state);
    *swept = state.swept;
    return error;
}

int jg_evict(const struct jg_store *store, uint64_t limit, uint64_t keep,
             bool dry, const struct jg_log *log, struct jg_evicted *evicted)
{
    struct list list = {.items = NULL};
    int entries, error;

    memset(evicted, 0, sizeof *evicted);
    error = jg_store_open(store, "e", 0, &entries);
    if (error)
        return error == ENOENT ? 0 : error;
    error = list_entries(store, entries, &list);
    evicted->entries = list.count;
    for (size_t i = 0; i < list.count; i++)
        evicted->bytes += list.items[i].bytes;
    if (!error && evicted->bytes > limit)
        remove_oldest(store, entries, &list, keep, dry, log, evicted);
    free(list.items);
    close(entries);
    if (!error)
        error = sweep(store, dry, &evicted->swept);
    return error;
}
