/* SPDX-License-Identifier: MIT */
/* Process table of kernels, single flight.
 *
 * One lock guards the table and every state; it is dropped while a kernel is
 * read, compiled or loaded, during which its state is BUSY and others wait.
 *
 *   ABSENT -> BUSY -> READY           found or compiled
 *                  -> FAILED          did not compile: remembered
 *                  -> ABSENT          any other failure: may be tried again
 *   READY  -> BUSY -> READY           loaded
 */
#define _POSIX_C_SOURCE 200809L /* gethostname */
#include "registry.h"

#include <config.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum state { ABSENT, BUSY, READY, FAILED };

struct slot {
    struct jg_kernel kernel; /* first: a kernel pointer is a slot pointer */
    struct slot *next;
    struct jg_key key;
    enum state state;
    jitgemm_error error;    /* why it is FAILED, or why the last flight that
                               somebody waited for did not land */
    jitgemm_source source;  /* where the image came from */
    struct jg_buf cubin, log;
    CUlibrary library;      /* NULL until loaded */
    CUkernel loaded;
};

struct jg_registry {
    struct jg_registry *next;
    int users;
    struct jg_cache *cache;
    pthread_mutex_t lock;
    pthread_cond_t landed; /* some slot left BUSY */
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

static void free_slot(struct slot *slot, const struct jg_cuda *cuda)
{
    if (slot->library)
        cuda->cuLibraryUnload(slot->library);
    jg_key_free(&slot->key);
    jg_buf_free(&slot->cubin);
    jg_buf_free(&slot->log);
    free(slot);
}

void jg_registry_close(struct jg_registry *registry,
                       const struct jg_cuda *cuda)
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

    while (registry->slots) {
        struct slot *slot = registry->slots;

        registry->slots = slot->next;
        free_slot(slot, cuda);
    }
    pthread_cond_destroy(&registry->landed);
    pthread_mutex_destroy(&registry->lock);
    jg_cache_close(registry->cache);
    free(registry);
}

const struct jg_cache *jg_registry_cache(const struct jg_registry *registry)
{
    return registry->cache;
}

/* The slot of the key, made if there is none. Takes the key over. */
static struct slot *find_slot(struct jg_registry *registry, struct jg_key *key)
{
    struct slot *slot;

    for (slot = registry->slots; slot; slot = slot->next) {
        if (slot->key.blob.size == key->blob.size &&
            memcmp(slot->key.blob.data, key->blob.data, key->blob.size) == 0) {
            jg_key_free(key);
            return slot;
        }
    }
    slot = calloc(1, sizeof *slot);
    if (!slot)
        return NULL;
    slot->key = *key;
    memset(key, 0, sizeof *key);
    memcpy(slot->kernel.key, slot->key.name, sizeof slot->kernel.key);
    slot->next = registry->slots;
    registry->slots = slot;
    return slot;
}

static void keep_log(struct slot *slot, const void *text, size_t size)
{
    jg_buf_free(&slot->log);
    jg_buf_add(&slot->log, text, size);
    slot->kernel.log = slot->log.data ? (const char *)slot->log.data : "";
}

/* Looks only behind where the image came from that the driver refused. */
static bool read_disk(struct jg_registry *registry, struct slot *slot,
                      const struct jg_log *log)
{
    struct jg_entry entry;
    void *file = NULL;
    jitgemm_source source = jg_cache_get(registry->cache, &slot->key,
                                         slot->source, &entry, &file, log);

    if (source == JITGEMM_SOURCE_NONE)
        return false;
    jg_buf_free(&slot->cubin);
    jg_buf_add(&slot->cubin, entry.cubin.data, entry.cubin.size);
    keep_log(slot, entry.log.data, entry.log.size);
    slot->kernel.registers = entry.registers;
    slot->kernel.spill_bytes = entry.spill_bytes;
    slot->kernel.shared_bytes = entry.shared_bytes;
    free(file);
    if (slot->cubin.failed) {
        jg_buf_free(&slot->cubin);
        return false;
    }
    slot->source = source;
    return true;
}

static struct jg_span span(const char *text)
{
    return (struct jg_span){text, strlen(text)};
}

static void publish(struct jg_registry *registry, const struct slot *slot,
                    const struct jg_nvrtc *nvrtc, const struct jg_spec *spec,
                    double ms, const struct jg_log *log)
{
    char compiler[32], host[256] = "";
    struct jg_entry entry = {
        .key = {slot->key.blob.data, slot->key.blob.size},
        .cubin = {slot->cubin.data, slot->cubin.size},
        .symbol = span(spec->symbol),
        .arch = span(spec->arch),
        .library = span(PACKAGE_VERSION),
        .log = span(slot->kernel.log),
        .sm = (uint32_t)strtoul(spec->arch + 3, NULL, 10),
        .registers = slot->kernel.registers,
        .spill_bytes = slot->kernel.spill_bytes,
        .shared_bytes = slot->kernel.shared_bytes,
        .compile_ms = ms,
        .created = (int64_t)time(NULL),
    };

    snprintf(compiler, sizeof compiler, "NVRTC %d.%d", nvrtc->major,
             nvrtc->minor);
    entry.compiler = span(compiler);
    gethostname(host, sizeof host - 1);
    entry.host = span(host);
    jg_cache_put(registry->cache, &slot->key, &entry, log);
}

static jitgemm_status compile(struct jg_registry *registry, struct slot *slot,
                              const struct jg_nvrtc *nvrtc,
                              const struct jg_spec *spec,
                              const struct jg_log *log)
{
    struct jg_compiled result = {0};
    jitgemm_status status = jg_compile(nvrtc, spec, &result);

    jg_compile_log(&result, spec, log);
    keep_log(slot, result.log.data, result.log.size);
    if (status == JITGEMM_OK) {
        jg_buf_free(&slot->cubin);
        slot->cubin = result.cubin;
        memset(&result.cubin, 0, sizeof result.cubin);
        slot->kernel.registers = result.registers;
        slot->kernel.spill_bytes = result.spill_bytes;
        slot->kernel.shared_bytes = result.shared_bytes;
        slot->source = JITGEMM_SOURCE_COMPILED;
        publish(registry, slot, nvrtc, spec, result.ms, log);
    }
    jg_compiled_free(&result);
    return status;
}

/* Compiles unless another process has done so meanwhile. */
static jitgemm_status compile_once(struct jg_registry *registry,
                                   struct slot *slot,
                                   const struct jg_nvrtc *nvrtc,
                                   const struct jg_spec *spec,
                                   const struct jg_log *log)
{
    int lock = jg_cache_lock(registry->cache, &slot->key, log);
    jitgemm_status status = JITGEMM_OK;

    if (!read_disk(registry, slot, log))
        status = compile(registry, slot, nvrtc, spec, log);
    jg_cache_unlock(lock);
    return status;
}

/* Waits until the slot is not BUSY. If a flight that this thread waited for
 * failed, gives it that flight's error. Called with the lock held. */
static jitgemm_status wait_for_landing(struct jg_registry *registry,
                                       struct slot *slot)
{
    bool waited = false;

    while (slot->state == BUSY) {
        waited = true;
        pthread_cond_wait(&registry->landed, &registry->lock);
    }
    if (slot->state == FAILED || (waited && slot->state == ABSENT)) {
        *jg_error() = slot->error;
        return slot->error.status;
    }
    return JITGEMM_OK;
}

/* Ends a flight with a new state. Called with the lock held. */
static void land(struct jg_registry *registry, struct slot *slot,
                 enum state state)
{
    slot->state = state;
    if (state != READY)
        slot->error = *jg_error();
    pthread_cond_broadcast(&registry->landed);
}

jitgemm_status jg_registry_get(struct jg_registry *registry,
                               const struct jg_nvrtc *nvrtc,
                               const struct jg_spec *spec,
                               const struct jg_log *log,
                               struct jg_kernel **kernel,
                               jitgemm_source *source)
{
    struct jg_key key = {0};
    struct slot *slot;
    jitgemm_status status = jg_compile_key(nvrtc, spec, &key);

    if (status != JITGEMM_OK)
        return status;
    pthread_mutex_lock(&registry->lock);
    slot = find_slot(registry, &key);
    if (!slot) {
        status = jg_fail(JITGEMM_E_MEMORY, "no memory for a kernel's entry");
        goto out;
    }
    status = wait_for_landing(registry, slot);
    if (status != JITGEMM_OK)
        goto out;
    if (slot->state == READY) {
        *source = JITGEMM_SOURCE_MEMORY;
    } else {
        slot->state = BUSY;
        pthread_mutex_unlock(&registry->lock);
        if (!read_disk(registry, slot, log))
            status = compile_once(registry, slot, nvrtc, spec, log);
        pthread_mutex_lock(&registry->lock);
        land(registry, slot,
             status == JITGEMM_OK          ? READY
             : status == JITGEMM_E_COMPILE ? FAILED
                                           : ABSENT);
        if (status != JITGEMM_OK)
            goto out;
        *source = slot->source;
    }
    *kernel = &slot->kernel;
out:
    pthread_mutex_unlock(&registry->lock);
    jg_key_free(&key);
    return status;
}

static jitgemm_status load(struct slot *slot, const struct jg_cuda *cuda,
                           const struct jg_spec *spec)
{
    CUlibrary library = NULL;
    const char *call = "cuLibraryLoadData";
    CUresult result = cuda->cuLibraryLoadData(&library, slot->cubin.data, NULL,
                                              NULL, 0, NULL, NULL, 0);

    if (result == CUDA_SUCCESS) {
        call = "cuLibraryGetKernel";
        result = cuda->cuLibraryGetKernel(&slot->loaded, library,
                                          spec->symbol);
    }
    if (result == CUDA_SUCCESS) {
        slot->library = library;
        return JITGEMM_OK;
    }
    if (library)
        cuda->cuLibraryUnload(library);
    return jg_driver_fail(cuda, result, call);
}

/* A bad image, as opposed to a lack of memory or a context that has died. */
static bool image_refused(const jitgemm_error *error)
{
    switch ((CUresult)error->cuda) {
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_NOT_FOUND:
    case CUDA_ERROR_FILE_NOT_FOUND:
        return true;
    default:
        return false;
    }
}

jitgemm_status jg_registry_load(struct jg_registry *registry,
                                const struct jg_cuda *cuda,
                                const struct jg_nvrtc *nvrtc,
                                const struct jg_spec *spec,
                                const struct jg_log *log,
                                struct jg_kernel *kernel,
                                CUkernel *loaded)
{
    struct slot *slot = (struct slot *)kernel;
    jitgemm_status status;

    pthread_mutex_lock(&registry->lock);
    status = wait_for_landing(registry, slot);
    if (status == JITGEMM_OK && !slot->library) {
        slot->state = BUSY;
        pthread_mutex_unlock(&registry->lock);
        status = load(slot, cuda, spec);
        while (status != JITGEMM_OK &&
               slot->source != JITGEMM_SOURCE_COMPILED &&
               image_refused(jg_error())) {
            jg_log(log, JITGEMM_LOG_WARNING, "%s from the cache: %s",
                   spec->name, jg_error()->text);
            if (slot->source == JITGEMM_SOURCE_DISK)
                jg_cache_quarantine(registry->cache, &slot->key, log);
            status = compile_once(registry, slot, nvrtc, spec, log);
            if (status == JITGEMM_OK)
                status = load(slot, cuda, spec);
        }
        pthread_mutex_lock(&registry->lock);
        land(registry, slot, READY);
    }
    if (status == JITGEMM_OK)
        *loaded = slot->loaded;
    pthread_mutex_unlock(&registry->lock);
    return status;
}
