/* SPDX-License-Identifier: MIT */
/* A few threads that do jobs in the order given. There is none before the
 * first job, and they end with the pool. */
#ifndef JG_POOL_H
#define JG_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "status.h"

#define JG_POOL_MOST 64 /* threads */

struct jg_job { /* begins what was allocated for it; see jg_pool_add() */
    struct jg_job *next;
    const char *name; /* two of one name are one job */
    jitgemm_status (*run)(struct jg_job *job);
    bool begun;
};

struct jg_pool {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a job came or went, or the pool closes */
    struct jg_job *jobs;    /* in order; until they are done */
    bool closing;
    pid_t process; /* the one that has the threads: a forked child has none */
    int count, most, idle;
    pthread_t threads[JG_POOL_MOST];
    jitgemm_error error; /* the first since the last wait, or OK */
};

void jg_pool_open(struct jg_pool *pool, int threads);

/* Drops what has not begun and waits for what has. */
void jg_pool_close(struct jg_pool *pool);

/* Takes the job over, which is free()d after it has run, or at once if one of
 * its name is not done yet or if there can be no thread (E_MEMORY). */
jitgemm_status jg_pool_add(struct jg_pool *pool, struct jg_job *job);

/* Waits until there are no jobs; ms < 0: for ever. Then gives the first error
 * since it did so last; E_NOT_READY if time is up before. */
jitgemm_status jg_pool_wait(struct jg_pool *pool, int ms);

#endif
