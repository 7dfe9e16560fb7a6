/* SPDX-License-Identifier: MIT */
/* Process table of kernels, single flight.
 *
 * One lock guards the table and every slot; it is dropped while a slot is in
 * flight: busy, its image being read, compiled or loaded, and others wait.
 *
 * The table is a list: there are a few dozen kernels at most, a plan looks two
 * of them up when it is made, and making the key takes longer than the walk.
 */
#include "registry.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

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

/* ---- Flights: without the lock, with the slot busy --------------------- */

static unsigned long long us_since(double start_ms)
{
    return (unsigned long long)((jg_clock_ms() - start_ms) * 1e3);
}

static bool read_cache(struct jg_registry *registry, struct slot *slot,
                       const struct jg_request *request,
                       jitgemm_source refused)
{
    return jg_image_read(&slot->image, registry->cache, &slot->key, refused,
                         &request->client->log);
}

static jitgemm_status compile(struct jg_registry *registry, struct slot *slot,
                              const struct jg_request *request)
{
    struct jg_client *client = request->client;
    double start = jg_clock_ms();
    jitgemm_status status =
        jg_image_compile(&slot->image, registry->cache, &slot->key,
                         request->nvrtc, request->spec, &client->log);

    jg_stats_add(&client->stats.compiles, 1);
    jg_stats_add(&client->stats.failed_compiles, status != JITGEMM_OK);
    jg_stats_add(&client->stats.compile_us, us_since(start));
    return status;
}

/* Compiles, unless another process has done so meanwhile. */
static jitgemm_status compile_once(struct jg_registry *registry,
                                   struct slot *slot,
                                   const struct jg_request *request,
                                   jitgemm_source refused)
{
    struct jg_client *client = request->client;
    const struct jg_spec *spec = request->spec;
    jitgemm_status status = JITGEMM_OK;
    int lock;

    if (!jg_gate_enter(&client->compiler)) {
        jg_stats_add(&client->stats.refused, 1);
        return jg_fail(JITGEMM_E_FROZEN,
                       "%s for %s would have to be compiled, but the context "
                       "is frozen: key %s, problem %s",
                       spec->name, spec->arch, slot->key.name,
                       request->problem);
    }
    lock = jg_cache_lock(registry->cache, &slot->key, &client->log);
    if (!read_cache(registry, slot, request, refused))
        status = compile(registry, slot, request);
    jg_cache_unlock(lock);
    jg_gate_leave(&client->compiler);
    return status;
}

/* Looks only behind where the image came from that the driver refused. */
static jitgemm_status find_or_compile(struct jg_registry *registry,
                                      struct slot *slot,
                                      const struct jg_request *request,
                                      jitgemm_source refused)
{
    if (read_cache(registry, slot, request, refused))
        return JITGEMM_OK;
    jg_stats_add(&request->client->stats.misses,
                 refused == JITGEMM_SOURCE_NONE);
    return compile_once(registry, slot, request, refused);
}

static jitgemm_status load(struct slot *slot, const struct jg_request *request)
{
    struct jg_stats *stats = &request->client->stats;
    double start = jg_clock_ms();
    jitgemm_status status =
        jg_image_load(&slot->image, request->cuda, request->spec->symbol);

    jg_stats_add(&stats->loads, 1);
    jg_stats_add(&stats->failed_loads, status != JITGEMM_OK);
    jg_stats_add(&stats->load_us, us_since(start));
    return status;
}

static jitgemm_status load_or_heal(struct jg_registry *registry,
                                   struct slot *slot,
                                   const struct jg_request *request)
{
    const struct jg_log *log = &request->client->log;
    struct jg_image *image = &slot->image;
    jitgemm_status status = load(slot, request);

    while (status != JITGEMM_OK && image->source != JITGEMM_SOURCE_COMPILED &&
           jg_image_is_bad(jg_error())) {
        jitgemm_source refused = image->source;

        jg_log(log, JITGEMM_LOG_WARNING, "%s from the cache: %s",
               request->spec->name, jg_error()->text);
        if (refused == JITGEMM_SOURCE_DISK)
            jg_cache_quarantine(registry->cache, &slot->key, log);
        jg_image_free(image, request->cuda);
        status = find_or_compile(registry, slot, request, refused);
        if (status == JITGEMM_OK)
            status = load(slot, request);
    }
    return status;
}

/* Does what is missing. */
static jitgemm_status fly(struct jg_registry *registry, struct slot *slot,
                          const struct jg_request *request)
{
    struct jg_image *image = &slot->image;
    jitgemm_status status = JITGEMM_OK;

    if (image->source == JITGEMM_SOURCE_NONE)
        status = find_or_compile(registry, slot, request, JITGEMM_SOURCE_NONE);
    if (status == JITGEMM_OK && request->cuda)
        status = load_or_heal(registry, slot, request);
    return status;
}

/* ------------------------------------------------------------------------ */

/* With the lock, which it gives up meanwhile. */
static jitgemm_status make(struct jg_registry *registry, struct slot *slot,
                           const struct jg_request *request,
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
    status = fly(registry, slot, request);
    pthread_mutex_lock(&registry->lock);
    if (status != JITGEMM_OK && status != JITGEMM_E_FROZEN)
        slot->error = *jg_error();
    if (slot->image.source != before)
        *source = slot->image.source;
    slot->busy = false;
    pthread_cond_broadcast(&registry->landed);
    return status;
}

jitgemm_status jg_registry_make(struct jg_registry *registry,
                                const struct jg_request *request,
                                struct jg_made *made)
{
    struct jg_key key = {0};
    struct slot *slot;
    jitgemm_source source = JITGEMM_SOURCE_NONE;
    jitgemm_status status =
        jg_compile_key(request->nvrtc, request->spec, &key);

    if (status != JITGEMM_OK)
        return status;
    memcpy(made->key, key.name, sizeof made->key);
    pthread_mutex_lock(&registry->lock);
    slot = find_slot(registry, &key);
    if (!slot)
        slot = add_slot(registry, &key);
    status = slot
                 ? make(registry, slot, request, &source)
                 : jg_fail(JITGEMM_E_MEMORY, "no memory for a kernel's entry");
    if (status == JITGEMM_OK) {
        made->source = source;
        made->registers = slot->image.registers;
        made->spill_bytes = slot->image.spill_bytes;
        made->shared_bytes = slot->image.shared_bytes;
        made->kernel = slot->image.kernel;
    }
    pthread_mutex_unlock(&registry->lock);
    jg_key_free(&key);
    return status;
}

jitgemm_status jg_registry_peek(struct jg_registry *registry,
                                const struct jg_request *request)
{
    struct jg_key key = {0};
    const struct slot *slot;
    jitgemm_status status =
        jg_compile_key(request->nvrtc, request->spec, &key);

    if (status != JITGEMM_OK)
        return status;
    pthread_mutex_lock(&registry->lock);
    slot = find_slot(registry, &key);
    if (slot && is_ready(slot, request))
        status = JITGEMM_OK;
    else if (slot && !slot->busy && slot->error.status != JITGEMM_OK)
        status = pass_on(slot);
    else
        status = jg_fail(JITGEMM_E_NOT_READY, "%s for %s is not ready: key %s, problem %s",
                         request->spec->name, request->spec->arch, key.name,
                         request->problem);
    pthread_mutex_unlock(&registry->lock);
    jg_key_free(&key);
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
