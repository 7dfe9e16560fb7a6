/* SPDX-License-Identifier: MIT */
/* One try to make a kernel ready: found in the cache or compiled, loaded, and
 * found elsewhere or compiled again if the driver refuses it. For one thread
 * at a time; the registry sees to it. */
#ifndef JG_FLIGHT_H
#define JG_FLIGHT_H

#include "gate.h"
#include "image.h"
#include "stats.h"

/* On whose behalf kernels are made ready: a context. */
struct jg_client {
    struct jg_log log;
    struct jg_gate compiler; /* shut when the context is frozen */
    struct jg_stats stats;
};

struct jg_request {
    struct jg_client *client;
    const struct jg_nvrtc *nvrtc; /* or what stands for it */
    const struct jg_spec *spec;
    const struct jg_cuda *cuda; /* to load it there; NULL: not at all */
    const char *problem;        /* that asks, for errors */
    bool retry;                 /* a kernel that did not compile before */
};

struct jg_flight {
    struct jg_image *image;
    const struct jg_cache *cache;
    const struct jg_key *key; /* of the cache's entry */
    const struct jg_request *request;
};

/* Does what is missing of the image: reads or compiles it, unless it has a
 * source, and loads it if the request has a driver. E_FROZEN if it would have
 * to be compiled and the client's gate is shut, E_NO_NVRTC if there is nothing
 * to compile it with. */
jitgemm_status jg_flight_run(const struct jg_flight *flight);

/* That E_NO_NVRTC of a request whose compiler is absent: names the kernel and
 * every library that would not do. */
jitgemm_status jg_flight_fail_absent(const struct jg_request *request);

#endif
