/* SPDX-License-Identifier: MIT */
/* Read-only layers come first and stay as they are; the modes. */
#define _GNU_SOURCE /* nftw */
#include "one_entry.h"
#include "scratch.h"

static jitgemm_source source_of(const struct jg_cache *cache,
                                jitgemm_source refused)
{
    struct jg_entry entry;
    void *file = NULL;
    jitgemm_source source =
        jg_cache_get(cache, &key, refused, &entry, &file, &counting);

    free(file);
    return source;
}

static struct jg_cache *open_cache(const char *layers, const char *mode)
{
    const struct jg_env env = {.cache_ro_path = layers,
                               .mode = mode,
                               .lock_timeout = "0"};

    warnings = 0;
    return jg_cache_open(in_scratch("user"), &env, &counting);
}

/* A folder with the sample entry in it. */
static const char *fill(const char *name)
{
    const struct jg_env env = {.cache_ro_path = ":"};
    struct jg_cache *cache = jg_cache_open(in_scratch(name), &env, &counting);

    CHECK(put(cache));
    jg_cache_close(cache);
    return in_scratch(name);
}

static const char *entry_in(const char *folder)
{
    char rest[100];

    snprintf(rest, sizeof rest, "%s/v1/e/%.2s/%s.jgc", folder, key.name,
             key.name);
    return in_scratch(rest);
}

static double sum; /* of everything that a change to the tree would change */

static int add_one(const char *path, const struct stat *info, int type,
                   struct FTW *walk)
{
    (void)path;
    (void)type;
    sum += (double)info->st_mtim.tv_sec + (double)info->st_ctim.tv_sec +
           1e-9 * (double)(info->st_mtim.tv_nsec + info->st_ctim.tv_nsec) +
           (double)info->st_mode + (double)info->st_size + walk->level;
    return 0;
}

static double state_of(const char *folder)
{
    sum = 0;
    CHECK_INT(nftw(in_scratch(folder), add_one, 16, FTW_PHYS), 0);
    return sum;
}

static void test_order(const char *first, const char *second)
{
    struct timespec old[2] = {{1, 0}, {1, 0}};
    char list[3 * PATH_MAX];
    struct jg_cache *cache;
    double before;

    snprintf(list, sizeof list, ":%s/none:relative:%s:%s:", scratch, first,
             second);
    CHECK_INT(utimensat(AT_FDCWD, entry_in("first"), old, 0), 0);
    before = state_of("first");
    cache = open_cache(list, NULL);
    CHECK_INT(warnings, 1); /* of the relative one */
    CHECK_INT(source_of(cache, JITGEMM_SOURCE_NONE), JITGEMM_SOURCE_PACK);
    /* Behind them there is nothing yet. */
    CHECK_INT(source_of(cache, JITGEMM_SOURCE_PACK), JITGEMM_SOURCE_NONE);
    CHECK(put(cache));
    CHECK_INT(source_of(cache, JITGEMM_SOURCE_PACK), JITGEMM_SOURCE_DISK);
    CHECK_INT(source_of(cache, JITGEMM_SOURCE_NONE), JITGEMM_SOURCE_PACK);
    CHECK(state_of("first") == before); /* not even stamped */

    /* A bad one is passed over, with one warning, and stays. */
    write_file(entry_in("first"), "damaged", 7, 0600);
    before = state_of("first");
    for (int i = 0; i < 2; i++) {
        CHECK_INT(source_of(cache, JITGEMM_SOURCE_NONE), JITGEMM_SOURCE_PACK);
        CHECK_INT(warnings, 2);
    }
    CHECK_INT(unlink(entry_in("second")), 0);
    CHECK_INT(source_of(cache, JITGEMM_SOURCE_NONE), JITGEMM_SOURCE_DISK);
    jg_cache_quarantine(cache, &key, &counting); /* the user's alone */
    CHECK_INT(source_of(cache, JITGEMM_SOURCE_NONE), JITGEMM_SOURCE_NONE);
    CHECK(state_of("first") == before);
    jg_cache_close(cache);
}

/* A layer that others may write is not used; a link to one is the user's. */
static void test_trust(void)
{
    static const char *const parts[] = {"third", "third/v1", "third/v1/e"};
    const char *link = in_scratch("link");
    struct jg_cache *cache;

    fill("third");
    CHECK_INT(symlink(in_scratch("third"), link), 0);
    cache = open_cache(link, NULL);
    CHECK_INT(source_of(cache, JITGEMM_SOURCE_NONE), JITGEMM_SOURCE_PACK);
    jg_cache_close(cache);
    for (int i = 0; i < 3; i++) {
        const char *part = in_scratch(parts[i]);

        CHECK_INT(chmod(part, 0777), 0);
        cache = open_cache(in_scratch("third"), NULL);
        CHECK_INT(warnings, 1);
        CHECK_INT(source_of(cache, JITGEMM_SOURCE_NONE), JITGEMM_SOURCE_NONE);
        CHECK_INT(warnings, 1);
        jg_cache_close(cache);
        CHECK_INT(chmod(part, 0700), 0);
        if (geteuid() != 0)
            continue;
        CHECK_INT(chown(part, 65534, 65534), 0);
        cache = open_cache(in_scratch("third"), NULL);
        CHECK_INT(source_of(cache, JITGEMM_SOURCE_NONE), JITGEMM_SOURCE_NONE);
        jg_cache_close(cache);
        CHECK_INT(chown(part, 0, 0), 0);
    }
}

static void test_modes(void)
{
    static const struct {
        const char *mode;
        bool puts, gets, locks;
        int warnings;
    } rows[] = {
        {NULL, true, true, true, 0},     {"readwrite", true, true, true, 0},
        {"read", false, true, false, 0}, {"write", true, false, false, 0},
        {"off", false, false, false, 0}, {"nonsense", true, true, true, 1},
    };
    struct timespec old[2] = {{1, 0}, {1, 0}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct jg_cache *cache = open_cache(in_scratch("third"), rows[i].mode);
        double before;
        int lock;

        CHECK_INT(warnings, rows[i].warnings);
        fill("user");
        CHECK_INT(utimensat(AT_FDCWD, entry_in("user"), old, 0), 0);
        before = state_of("user");
        CHECK_INT(source_of(cache, JITGEMM_SOURCE_NONE),
                  rows[i].gets ? JITGEMM_SOURCE_PACK : JITGEMM_SOURCE_NONE);
        CHECK_INT(source_of(cache, JITGEMM_SOURCE_PACK),
                  rows[i].gets ? JITGEMM_SOURCE_DISK : JITGEMM_SOURCE_NONE);
        CHECK_INT(state_of("user") != before, rows[i].puts && rows[i].gets);
        before = state_of("user");
        lock = jg_cache_lock(cache, &key, &counting);
        CHECK_INT(lock >= 0, rows[i].locks);
        jg_cache_unlock(lock);
        CHECK_INT(put(cache), rows[i].puts);
        CHECK_INT(state_of("user") != before, rows[i].puts);

        /* Damage is set aside only where something may be written. */
        write_file(entry_in("user"), "damaged", 7, 0600);
        CHECK_INT(source_of(cache, JITGEMM_SOURCE_PACK), JITGEMM_SOURCE_NONE);
        CHECK_INT(exists(entry_in("user")), !(rows[i].puts && rows[i].gets));
        jg_cache_close(cache);
    }
}

static void test_equal(void)
{
    struct jg_cache *a = open_cache(in_scratch("third"), NULL),
                    *b = open_cache(in_scratch("third"), "readwrite"),
                    *c = open_cache(in_scratch("third"), "read"),
                    *d = open_cache(in_scratch("link"), NULL),
                    *e = open_cache(":", NULL);

    CHECK(jg_cache_equal(a, b));
    CHECK(!jg_cache_equal(a, c) && !jg_cache_equal(a, d));
    CHECK(!jg_cache_equal(a, e) && !jg_cache_equal(e, a));
    jg_cache_close(a);
    jg_cache_close(b);
    jg_cache_close(c);
    jg_cache_close(d);
    jg_cache_close(e);
}

int main(void)
{
    scratch_begin();
    CHECK_INT(jg_key_make(&sample_fields, &key), JITGEMM_OK);
    test_order(fill("first"), fill("second"));
    test_trust();
    test_modes();
    test_equal();
    jg_key_free(&key);
    scratch_end();
    return test_end();
}
