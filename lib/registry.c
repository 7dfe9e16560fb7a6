/* SPDX-License-Identifier: MIT */
/* Process table of kernels, single flight.
 *
 * One lock guards the table and every slot; it is dropped while a slot is in
 * flight (flight.h): busy, and others wait.
 *
 * The table is a list: there are a few dozen kernels at most, a plan looks two
 * of them up when it is made, and making the key takes longer than the walk.
 */
#include "registry.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "makers.h"

struct slot {
    struct slot *next;
    struct jg_key key;
    bool busy;
    struct jg_image image;
    jitgemm_error error; /* why the last flight did not land, or OK */
};

struct jg_registry {
    struct jg_registry *next;
    int users;
    struct jg_cache *cache;
    struct jg_makers makers; /* of what is in it */
    const struct jg_cuda *cuda; /* NULL until something was loaded there */
    pthread_mutex_t lock;
    pthread_cond_t landed; /* some slot is no longer busy */
    struct slot *slots;
};

static pthread_mutex_t registries_lock = PTHREAD_MUTEX_INITIALIZER;
static struct jg_registry *registries;

struct jg_registry *jg_registry_open(const char *dir, const struct jg_env *env,
                                     const struct jg_log *log)
{
    struct jg_cache *cache = jg_cache_open(dir, env, log);
    struct jg_registry *registry;

    if (!cache)
        return NULL;
    pthread_mutex_lock(&registries_lock);
    for (registry = registries; registry; registry = registry->next)
        if (jg_cache_equal(registry->cache, cache))
            break;
    if (registry) {
        jg_cache_close(cache);
    } else if ((registry = calloc(1, sizeof *registry))) {
        registry->cache = cache;
        jg_makers_open(&registry->makers);
        pthread_mutex_init(&registry->lock, NULL);
        pthread_cond_init(&registry->landed, NULL);
        registry->next = registries;
        registries = registry;
    } else {
        jg_cache_close(cache);
    }
    if (registry)
        registry->users++;
    pthread_mutex_unlock(&registries_lock);
    return registry;
}

static void free_slots(struct jg_registry *registry)
{
    /* Unloading would spoil a capture in global mode, as loading would. */
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

    if (registry->cuda)
        registry->cuda->cuThreadExchangeStreamCaptureMode(&mode);
    while (registry->slots) {
        struct slot *slot = registry->slots;

        registry->slots = slot->next;
        jg_image_free(&slot->image, registry->cuda);
        jg_key_free(&slot->key);
        free(slot);
    }
    if (registry->cuda)
        registry->cuda->cuThreadExchangeStreamCaptureMode(&mode);
}

void jg_registry_close(struct jg_registry *registry)
{
    struct jg_registry **link = &registries;

    if (!registry)
        return;
    pthread_mutex_lock(&registries_lock);
    if (--registry->users) {
        pthread_mutex_unlock(&registries_lock);
        return;
    }
    while (*link != registry)
        link = &(*link)->next;
    *link = registry->next;
    pthread_mutex_unlock(&registries_lock);

    free_slots(registry);
    pthread_cond_destroy(&registry->landed);
    pthread_mutex_destroy(&registry->lock);
    jg_makers_close(&registry->makers);
    jg_cache_close(registry->cache);
    free(registry);
}

const struct jg_cache *jg_registry_cache(const struct jg_registry *registry)
{
    return registry->cache;
}

/* The slot of the key, or NULL. Called with the lock held, as all below that
 * take a slot but those that fly. */
static struct slot *find_slot(struct jg_registry *registry,
                              const struct jg_key *key)
{
    struct slot *slot;

    for (slot = registry->slots; slot; slot = slot->next)
        if (slot->key.blob.size == key->blob.size &&
            memcmp(slot->key.blob.data, key->blob.data, key->blob.size) == 0)
            break;
    return slot;
}

/* Takes the key over. */
static struct slot *add_slot(struct jg_registry *registry, struct jg_key *key)
{
    struct slot *slot = calloc(1, sizeof *slot);

    if (!slot)
        return NULL;
    slot->key = *key;
    memset(key, 0, sizeof *key);
    slot->next = registry->slots;
    registry->slots = slot;
    return slot;
}

static bool is_ready(const struct slot *slot, const struct jg_request *request)
{
    return !slot->busy &&
           (request->cuda ? slot->image.library != NULL
                          : slot->image.source != JITGEMM_SOURCE_NONE);
}

static jitgemm_status pass_on(const struct slot *slot)
{
    *jg_error() = slot->error;
    return slot->error.status;
}

/* ---- Keys ---- */

/* The keys that a request's kernel may have, best first. With a compiler that
 * is one. Without, they are those that the makers of what the cache has would
 * give it, as far as there is such a kernel, in memory or else in the cache;
 * and last one that no entry has, whose slot is for the error. */
struct search {
    struct jg_key own; /* of the compiler, or of none */
    enum place { MEMORY, CACHE, CACHE_AGAIN, NOWHERE } place;
    size_t maker;
};

static jitgemm_status begin_search(const struct jg_request *request,
                                   struct search *search)
{
    *search = (struct search){
        .place = jg_compiler_is_absent(request->nvrtc) ? MEMORY : NOWHERE};
    return jg_compile_key(request->nvrtc, request->spec, &search->own);
}

/* Whether there is or is about to be such a kernel. With the lock. */
static bool is_in_memory(struct jg_registry *registry,
                         const struct jg_key *key)
{
    const struct slot *slot = find_slot(registry, key);

    return slot && (slot->busy || slot->image.source != JITGEMM_SOURCE_NONE);
}

static bool is_in_cache(struct jg_registry *registry,
                        const struct jg_request *request,
                        const struct jg_key *key)
{
    struct jg_image image = {.source = JITGEMM_SOURCE_NONE};
    bool found = jg_image_read(&image, registry->cache, key,
                               JITGEMM_SOURCE_NONE, &request->client->log);

    jg_image_free(&image, NULL);
    return found;
}

/* The next key in this place; false if there is none. With the lock for
 * MEMORY, without it else. */
static bool next_there(struct jg_registry *registry,
                       const struct jg_request *request,
                       struct search *search, struct jg_key *key)
{
    int newest = jg_driver_newest(request->cuda);

    while (jg_makers_key(&registry->makers, search->maker++, newest,
                         &search->own, key)) {
        if (search->place == MEMORY ? is_in_memory(registry, key)
                                    : is_in_cache(registry, request, key))
            return true;
        jg_key_free(key);
    }
    return false;
}

/* The next key, the last of which is that of NOWHERE. Without the lock. Goes
 * through the cache for makers when those known so far do not help. */
static void next_key(struct jg_registry *registry,
                     const struct jg_request *request, struct search *search,
                     struct jg_key *key)
{
    for (; search->place != NOWHERE; search->place++, search->maker = 0) {
        bool found;

        if (search->place == CACHE_AGAIN && !search->maker)
            jg_makers_add(&registry->makers, registry->cache);
        if (search->place == MEMORY)
            pthread_mutex_lock(&registry->lock);
        found = next_there(registry, request, search, key);
        if (search->place == MEMORY)
            pthread_mutex_unlock(&registry->lock);
        if (found)
            return;
    }
    *key = search->own;
    memset(&search->own, 0, sizeof search->own);
}

/* ------------------------------------------------------------------------ */

/* With the lock, which it gives up meanwhile. What others may do better is not
 * remembered: to compile it in another context; `last` is false if there are
 * more keys to try. */
static jitgemm_status make(struct jg_registry *registry, struct slot *slot,
                           const struct jg_request *request, bool last,
                           jitgemm_source *source)
{
    bool waited = slot->busy;
    jitgemm_source before;
    jitgemm_status status;

    while (slot->busy)
        pthread_cond_wait(&registry->landed, &registry->lock);
    *source = JITGEMM_SOURCE_MEMORY;
    if (is_ready(slot, request))
        return JITGEMM_OK;
    if (waited ? slot->error.status != JITGEMM_OK
               : slot->error.status == JITGEMM_E_COMPILE && !request->retry)
        return pass_on(slot);

    slot->busy = true;
    slot->error.status = JITGEMM_OK;
    before = slot->image.source;
    if (request->cuda)
        registry->cuda = request->cuda;
    pthread_mutex_unlock(&registry->lock);
    status = jg_flight_run(&(struct jg_flight){&slot->image, registry->cache,
                                               &slot->key, request});
    pthread_mutex_lock(&registry->lock);
    if (status != JITGEMM_OK && status != JITGEMM_E_FROZEN &&
        (last || status != JITGEMM_E_NO_NVRTC))
        slot->error = *jg_error();
    if (slot->image.source != before)
        *source = slot->image.source;
    slot->busy = false;
    pthread_cond_broadcast(&registry->landed);
    return status;
}

/* As the entry of the key, which it takes over. */
static jitgemm_status make_entry(struct jg_registry *registry,
                                 const struct jg_request *request, bool last,
                                 struct jg_key *key, struct jg_made *made)
{
    jitgemm_source source = JITGEMM_SOURCE_NONE;
    jitgemm_status status;
    struct slot *slot;

    memcpy(made->key, key->name, sizeof made->key);
    pthread_mutex_lock(&registry->lock);
    slot = find_slot(registry, key);
    if (!slot)
        slot = add_slot(registry, key);
    status = slot
                 ? make(registry, slot, request, last, &source)
                 : jg_fail(JITGEMM_E_MEMORY, "no memory for a kernel's entry");
    if (status == JITGEMM_OK) {
        made->source = source;
        made->registers = slot->image.registers;
        made->spill_bytes = slot->image.spill_bytes;
        made->shared_bytes = slot->image.shared_bytes;
        made->kernel = slot->image.kernel;
    }
    pthread_mutex_unlock(&registry->lock);
    jg_key_free(key);
    return status;
}

/* Without a compiler what the driver refuses of one maker may be there of
 * another. */
jitgemm_status jg_registry_make(struct jg_registry *registry,
                                const struct jg_request *request,
                                struct jg_made *made)
{
    struct search search;
    jitgemm_status status = begin_search(request, &search);
    bool last;

    if (status != JITGEMM_OK)
        return status;
    do {
        struct jg_key key;

        next_key(registry, request, &search, &key);
        last = search.place == NOWHERE;
        status = make_entry(registry, request, last, &key, made);
    } while (!last &&
             (status == JITGEMM_E_NO_NVRTC || status == JITGEMM_E_FROZEN));
    jg_key_free(&search.own);
    return status;
}

jitgemm_status jg_registry_key(struct jg_registry *registry,
                               const struct jg_request *request,
                               struct jg_key *key)
{
    struct search search;
    jitgemm_status status = begin_search(request, &search);

    if (status != JITGEMM_OK)
        return status;
    next_key(registry, request, &search, key);
    if (search.place == NOWHERE && jg_compiler_is_absent(request->nvrtc)) {
        jg_key_free(key);
        status = jg_flight_fail_absent(request);
    }
    jg_key_free(&search.own);
    return status;
}

jitgemm_status jg_registry_peek(struct jg_registry *registry,
                                const struct jg_request *request)
{
    struct search search;
    struct jg_key key;
    const struct slot *slot;
    jitgemm_status status = begin_search(request, &search);

    if (status != JITGEMM_OK)
        return status;
    pthread_mutex_lock(&registry->lock);
    if (search.place == MEMORY &&
        next_there(registry, request, &search, &key)) {
        slot = find_slot(registry, &key);
        jg_key_free(&key);
    } else {
        slot = find_slot(registry, &search.own);
    }
    if (slot && is_ready(slot, request))
        status = JITGEMM_OK;
    else if (slot && !slot->busy && slot->error.status != JITGEMM_OK)
        status = pass_on(slot);
    else
        status = jg_fail(JITGEMM_E_NOT_READY,
                         "%s for %s is not ready: key %s, problem %s",
                         request->spec->name, request->spec->arch,
                         search.own.name, request->problem);
    pthread_mutex_unlock(&registry->lock);
    jg_key_free(&search.own);
    return status;
}

void jg_registry_stats(struct jg_registry *registry, jitgemm_stats *stats)
{
    struct jg_cache_counts counts = jg_cache_counts(registry->cache);

    stats->corrupt = counts.corrupt;
    stats->evicted = counts.evicted;
    stats->lock_waits = counts.lock_waits;
    stats->kernels = stats->kernel_bytes = 0;
    pthread_mutex_lock(&registry->lock);
    for (const struct slot *slot = registry->slots; slot; slot = slot->next) {
        if (slot->busy || slot->image.source == JITGEMM_SOURCE_NONE)
            continue;
        stats->kernels++;
        stats->kernel_bytes += slot->image.cubin.size;
    }
    pthread_mutex_unlock(&registry->lock);
}
