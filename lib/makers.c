/* SPDX-License-Identifier: MIT */
/* A maker is known by the key of one of its entries. */
#include "makers.h"

#include <stdlib.h>
#include <string.h>

struct jg_maker {
    struct jg_maker *next;
    struct jg_key key;
    struct jg_span values[JG_KEY_FIELD_COUNT]; /* of it */
};

void jg_makers_open(struct jg_makers *makers)
{
    makers->first = NULL;
    pthread_mutex_init(&makers->lock, NULL);
}

static void free_maker(struct jg_maker *maker)
{
    jg_key_free(&maker->key);
    free(maker);
}

void jg_makers_close(struct jg_makers *makers)
{
    while (makers->first) {
        struct jg_maker *maker = makers->first;

        makers->first = maker->next;
        free_maker(maker);
    }
    pthread_mutex_destroy(&makers->lock);
}

/* ---- Order ---- */

struct version {
    int major, minor;
};

/* Of "13.0"; what is no version is older than all. */
static struct version read_version(struct jg_span text)
{
    struct version version = {0, 0};
    int *number = &version.major;

    for (size_t i = 0; i < text.size && i < 8; i++) {
        char digit = ((const char *)text.data)[i];

        if (digit == '.')
            number = &version.minor;
        else if (digit >= '0' && digit <= '9')
            *number = *number * 10 + (digit - '0');
    }
    return version;
}

static int compare_spans(struct jg_span a, struct jg_span b)
{
    size_t shorter = a.size < b.size ? a.size : b.size;
    int order = shorter ? memcmp(a.data, b.data, shorter) : 0;

    return order ? order : (a.size > b.size) - (a.size < b.size);
}

/* Negative if `a` comes first; 0 if they are one compiler. */
static int compare(const struct jg_maker *a, const struct jg_maker *b)
{
    static const int fields[] = {JG_KEY_nvrtc, JG_KEY_nvrtc_id,
                                 JG_KEY_builtins_id};
    struct version one = read_version(a->values[JG_KEY_nvrtc]);
    struct version other = read_version(b->values[JG_KEY_nvrtc]);
    int order = one.major != other.major ? other.major - one.major
                                         : other.minor - one.minor;

    for (size_t i = 0; i < sizeof fields / sizeof *fields && !order; i++)
        order = compare_spans(a->values[fields[i]], b->values[fields[i]]);
    return order;
}

/* ---- Add, look ---- */

static void add(void *user, const struct jg_entry *entry)
{
    struct jg_makers *makers = user;
    struct jg_maker *maker = calloc(1, sizeof *maker), **link;
    int order = -1;

    if (!maker)
        return;
    if (jg_key_copy(entry->key, &maker->key) != JITGEMM_OK ||
        !jg_key_read((struct jg_span){maker->key.blob.data,
                                      maker->key.blob.size},
                     maker->values)) {
        free_maker(maker);
        return;
    }
    pthread_mutex_lock(&makers->lock);
    for (link = &makers->first; *link; link = &(*link)->next) {
        order = compare(maker, *link);
        if (order <= 0)
            break;
    }
    if (!*link || order) {
        maker->next = *link;
        *link = maker;
        maker = NULL;
    }
    pthread_mutex_unlock(&makers->lock);
    if (maker)
        free_maker(maker);
}

void jg_makers_add(struct jg_makers *makers, const struct jg_cache *cache)
{
    jg_cache_each(cache, add, makers);
}

bool jg_makers_key(struct jg_makers *makers, size_t index, int newest,
                   const struct jg_key *key, struct jg_key *made)
{
    const struct jg_maker *maker;
    bool found = false;

    pthread_mutex_lock(&makers->lock);
    for (maker = makers->first; maker; maker = maker->next) {
        if (newest &&
            read_version(maker->values[JG_KEY_nvrtc]).major > newest)
            continue;
        if (index-- == 0)
            break;
    }
    if (maker)
        found = jg_key_of_maker(key, &maker->key, made);
    pthread_mutex_unlock(&makers->lock);
    return found;
}
