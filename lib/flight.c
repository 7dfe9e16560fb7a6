/* SPDX-License-Identifier: MIT */
#include "flight.h"

#include "clock.h"

static unsigned long long us_since(double start_ms)
{
    return (unsigned long long)((jg_clock_ms() - start_ms) * 1e3);
}

static bool read_cache(const struct jg_flight *flight, jitgemm_source refused)
{
    return jg_image_read(flight->image, flight->cache, flight->key, refused,
                         &flight->request->client->log);
}

static jitgemm_status compile(const struct jg_flight *flight)
{
    const struct jg_request *request = flight->request;
    struct jg_client *client = request->client;
    double start = jg_clock_ms();
    jitgemm_status status =
        jg_image_compile(flight->image, flight->cache, flight->key,
                         request->nvrtc, request->spec, &client->log);

    jg_stats_add(&client->stats.compiles, 1);
    jg_stats_add(&client->stats.failed_compiles, status != JITGEMM_OK);
    jg_stats_add(&client->stats.compile_us, us_since(start));
    return status;
}

jitgemm_status jg_flight_fail_absent(const struct jg_request *request)
{
    return jg_fail(JITGEMM_E_NO_NVRTC,
                   "%s for %s is not cached, and cannot be compiled: %s",
                   request->spec->name, request->spec->arch,
                   request->nvrtc->absent);
}

/* Compiles, unless another process has done so meanwhile. */
static jitgemm_status compile_once(const struct jg_flight *flight,
                                   jitgemm_source refused)
{
    const struct jg_request *request = flight->request;
    const struct jg_spec *spec = request->spec;
    struct jg_client *client = request->client;
    jitgemm_status status = JITGEMM_OK;
    int lock;

    if (!jg_gate_enter(&client->compiler)) {
        jg_stats_add(&client->stats.refused, 1);
        return jg_fail(JITGEMM_E_FROZEN,
                       "%s for %s would have to be compiled, but the context "
                       "is frozen: key %s, problem %s",
                       spec->name, spec->arch, flight->key->name,
                       request->problem);
    }
    if (jg_compiler_is_absent(request->nvrtc)) {
        status = jg_flight_fail_absent(request);
    } else {
        lock = jg_cache_lock(flight->cache, flight->key, &client->log);
        if (!read_cache(flight, refused))
            status = compile(flight);
        jg_cache_unlock(lock);
    }
    jg_gate_leave(&client->compiler);
    return status;
}

/* Looks only behind where the image came from that the driver refused. */
static jitgemm_status find_or_compile(const struct jg_flight *flight,
                                      jitgemm_source refused)
{
    if (read_cache(flight, refused))
        return JITGEMM_OK;
    jg_stats_add(&flight->request->client->stats.misses,
                 refused == JITGEMM_SOURCE_NONE);
    return compile_once(flight, refused);
}

static jitgemm_status load(const struct jg_flight *flight)
{
    const struct jg_request *request = flight->request;
    struct jg_stats *stats = &request->client->stats;
    double start = jg_clock_ms();
    jitgemm_status status =
        jg_image_load(flight->image, request->cuda, request->spec->symbol);

    jg_stats_add(&stats->loads, 1);
    jg_stats_add(&stats->failed_loads, status != JITGEMM_OK);
    jg_stats_add(&stats->load_us, us_since(start));
    return status;
}

static jitgemm_status load_or_heal(const struct jg_flight *flight)
{
    const struct jg_request *request = flight->request;
    const struct jg_log *log = &request->client->log;
    struct jg_image *image = flight->image;
    jitgemm_status status = load(flight);

    while (status != JITGEMM_OK && image->source != JITGEMM_SOURCE_COMPILED &&
           jg_image_is_bad(jg_error())) {
        jitgemm_source refused = image->source;

        jg_log(log, JITGEMM_LOG_WARNING, "%s from the cache: %s",
               request->spec->name, jg_error()->text);
        if (refused == JITGEMM_SOURCE_DISK)
            jg_cache_quarantine(flight->cache, flight->key, log);
        jg_image_free(image, request->cuda);
        status = find_or_compile(flight, refused);
        if (status == JITGEMM_OK)
            status = load(flight);
    }
    return status;
}

jitgemm_status jg_flight_run(const struct jg_flight *flight)
{
    jitgemm_status status = JITGEMM_OK;

    if (flight->image->source == JITGEMM_SOURCE_NONE)
        status = find_or_compile(flight, JITGEMM_SOURCE_NONE);
    if (status == JITGEMM_OK && flight->request->cuda)
        status = load_or_heal(flight);
    return status;
}
