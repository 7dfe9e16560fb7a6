/* SPDX-License-Identifier: MIT */
/* One queue, a few threads. The order of the list, not that of completion, is
 * what the user sees, so a job's result stays in its place. */
#include "kernel_list.h"

#include <stdlib.h>
#include <string.h>

#include "common.h"

static bool has_key(const struct kernel_list *list, const char *key)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->jobs[i].kernel.key, key) == 0)
            return true;
    return false;
}

/* A conversion has one kernel. */
static jitgemm_status describe(const struct kernel_job *job,
                               jitgemm_kernel *kernel)
{
    const struct named_problem *named = job->named;

    if (!named->conversion.size)
        return jitgemm_problem_kernel(job->context, &named->problem,
                                      job->index, kernel);
    if (job->index)
        return JITGEMM_E_NOT_FOUND;
    return jitgemm_conversion_describe(job->context, &named->conversion,
                                       kernel);
}

static jitgemm_status make_ready(const struct kernel_job *job,
                                 jitgemm_kernel *kernel)
{
    const struct named_problem *named = job->named;

    if (named->conversion.size)
        return jitgemm_conversion_prepare(job->context, &named->conversion,
                                          kernel);
    return jitgemm_prepare(job->context, &named->problem, job->index, kernel);
}

/* The status that ended the walk: E_NOT_FOUND after the last kernel. */
static jitgemm_status add_named(struct kernel_list *list,
                                jitgemm_context *context,
                                const struct named_problem *named)
{
    for (int32_t index = 0;; index++) {
        struct kernel_job job = {.context = context,
                                 .named = named,
                                 .index = index,
                                 .kernel = {.size = sizeof job.kernel}};
        jitgemm_status status = describe(&job, &job.kernel);

        if (status)
            return status;
        if (has_key(list, job.kernel.key))
            continue;
        list->jobs = grow(list->jobs, &list->capacity, list->count + 1,
                          sizeof *list->jobs);
        list->jobs[list->count++] = job;
    }
}

bool kernel_list_add(struct kernel_list *list, jitgemm_context *context,
                     const char *device, const struct problem_list *problems)
{
    bool good = true;

    for (size_t i = 0; i < problems->count; i++) {
        const struct named_problem *item = &problems->items[i];
        jitgemm_status status = add_named(list, context, item);

        if (status == JITGEMM_E_NOT_FOUND)
            continue;
        good = false;
        complain("%s: %s: %s", item->where, device,
                 jitgemm_last_error()->text);
    }
    return good;
}

static void *work(void *user)
{
    struct kernel_list *list = user;

    pthread_mutex_lock(&list->mutex);
    while (list->next < list->count) {
        struct kernel_job *job = &list->jobs[list->next++];
        jitgemm_kernel kernel = {.size = sizeof kernel};

        pthread_mutex_unlock(&list->mutex);
        if (make_ready(job, &kernel))
            job->error = copy_text(jitgemm_last_error()->text);
        else
            job->kernel = kernel;
        pthread_mutex_lock(&list->mutex);
        job->done = true;
        list->done++;
        pthread_cond_broadcast(&list->changed);
    }
    pthread_mutex_unlock(&list->mutex);
    return NULL;
}

void kernel_list_start(struct kernel_list *list, size_t threads)
{
    size_t capacity = 0;

    list->next = list->done = 0;
    pthread_mutex_init(&list->mutex, NULL);
    pthread_cond_init(&list->changed, NULL);
    if (threads > list->count)
        threads = list->count;
    list->threads = grow(NULL, &capacity, threads, sizeof *list->threads);
    for (list->thread_count = 0; list->thread_count < threads;
         list->thread_count++)
        if (pthread_create(&list->threads[list->thread_count], NULL, work,
                           list))
            break;
    if (!list->thread_count)
        work(list); /* slower, but as good */
}

size_t kernel_list_wait(struct kernel_list *list, size_t seen)
{
    size_t done;

    pthread_mutex_lock(&list->mutex);
    while (list->done <= seen && list->done < list->count)
        pthread_cond_wait(&list->changed, &list->mutex);
    done = list->done;
    pthread_mutex_unlock(&list->mutex);
    return done;
}

bool kernel_list_is_done(struct kernel_list *list, size_t i)
{
    bool done;

    pthread_mutex_lock(&list->mutex);
    done = list->jobs[i].done;
    pthread_mutex_unlock(&list->mutex);
    return done;
}

void kernel_list_finish(struct kernel_list *list)
{
    for (size_t i = 0; i < list->thread_count; i++)
        pthread_join(list->threads[i], NULL);
    list->thread_count = 0;
    pthread_cond_destroy(&list->changed);
    pthread_mutex_destroy(&list->mutex);
}

void kernel_list_free(struct kernel_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->jobs[i].error);
    free(list->jobs);
    free(list->threads);
    memset(list, 0, sizeof *list);
}
