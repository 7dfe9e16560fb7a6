/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L /* getpid, pthread_condattr_setclock */
#include "pool.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void jg_pool_open(struct jg_pool *pool, int threads)
{
    pthread_condattr_t attributes;

    memset(pool, 0, sizeof *pool);
    pool->most = threads < 1              ? 1
                 : threads < JG_POOL_MOST ? threads
                                          : JG_POOL_MOST;
    pool->process = getpid();
    pthread_mutex_init(&pool->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

static struct jg_job *next_job(const struct jg_pool *pool)
{
    struct jg_job *job = pool->jobs;

    while (job && job->begun)
        job = job->next;
    return job;
}

static void remove_job(struct jg_pool *pool, struct jg_job *job)
{
    struct jg_job **link = &pool->jobs;

    while (*link != job)
        link = &(*link)->next;
    *link = job->next;
    free(job);
}

static void *work(void *data)
{
    struct jg_pool *pool = data;
    struct jg_job *job;

    pthread_mutex_lock(&pool->lock);
    while (!pool->closing) {
        jitgemm_status status;

        job = next_job(pool);
        if (!job) {
            pool->idle++;
            pthread_cond_wait(&pool->changed, &pool->lock);
            pool->idle--;
            continue;
        }
        job->begun = true;
        pthread_mutex_unlock(&pool->lock);
        status = job->run(job);
        pthread_mutex_lock(&pool->lock);
        if (status != JITGEMM_OK && pool->error.status == JITGEMM_OK)
            pool->error = *jg_error();
        remove_job(pool, job);
        pthread_cond_broadcast(&pool->changed);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* With the lock. Signals are for the threads of the program. */
static int add_thread(struct jg_pool *pool)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&pool->threads[pool->count], NULL, work, pool);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pool->count += !error;
    return error;
}

/* A forked child has the jobs, but nobody to do them: it begins anew. */
static void adopt(struct jg_pool *pool)
{
    if (pool->process != getpid())
        jg_pool_open(pool, pool->most);
}

jitgemm_status jg_pool_add(struct jg_pool *pool, struct jg_job *job)
{
    struct jg_job **end = &pool->jobs;
    jitgemm_status status = JITGEMM_OK;
    int waiting = 1, error = 0;

    adopt(pool);
    pthread_mutex_lock(&pool->lock);
    while (*end && strcmp((*end)->name, job->name) != 0) {
        waiting += !(*end)->begun;
        end = &(*end)->next;
    }
    if (*end) {
        free(job);
        goto out;
    }
    if (waiting > pool->idle && pool->count < pool->most)
        error = add_thread(pool);
    if (!pool->count) {
        free(job);
        status = jg_fail(JITGEMM_E_MEMORY, "no thread to prepare kernels: %s",
                         strerror(error));
        jg_error()->system = error;
        goto out;
    }
    job->next = NULL;
    job->begun = false;
    *end = job;
    pthread_cond_broadcast(&pool->changed);
out:
    pthread_mutex_unlock(&pool->lock);
    return status;
}

jitgemm_status jg_pool_wait(struct jg_pool *pool, int ms)
{
    jitgemm_status status = JITGEMM_OK;
    struct timespec until;
    int error = 0;

    adopt(pool);
    clock_gettime(CLOCK_MONOTONIC, &until);
    if (ms > 0) {
        until.tv_sec += ms / 1000;
        until.tv_nsec += ms % 1000 * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
    }
    pthread_mutex_lock(&pool->lock);
    while (pool->jobs && !error)
        error = ms < 0 ? pthread_cond_wait(&pool->changed, &pool->lock)
                       : pthread_cond_timedwait(&pool->changed, &pool->lock,
                                                &until);
    if (pool->jobs) {
        status =
            jg_fail(JITGEMM_E_NOT_READY, "kernels are still being prepared");
    } else if (pool->error.status != JITGEMM_OK) {
        *jg_error() = pool->error;
        status = pool->error.status;
        pool->error.status = JITGEMM_OK;
    }
    pthread_mutex_unlock(&pool->lock);
    return status;
}

void jg_pool_close(struct jg_pool *pool)
{
    adopt(pool);
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->count; i++)
        pthread_join(pool->threads[i], NULL);
    while (pool->jobs)
        remove_job(pool, pool->jobs);
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
}
