/* SPDX-License-Identifier: MIT */
/* The distinct kernels that the problems need, and the threads that make them
 * ready. Kernels keep the order in which they were first needed. */
#ifndef JITGEMM_WARM_KERNEL_LIST_H
#define JITGEMM_WARM_KERNEL_LIST_H

#include <jitgemm.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "problem_list.h"

struct kernel_job {
    jitgemm_context *context;
    const struct named_problem *named; /* whose index-th kernel this is */
    int32_t index;
    bool done;   /* what follows does not change again */
    char *error; /* why it is missing, or NULL */
    jitgemm_kernel kernel;
};

struct kernel_list { /* all zero: empty */
    struct kernel_job *jobs;
    size_t count, capacity;
    pthread_t *threads;
    size_t thread_count;
    /* From kernel_list_start() to kernel_list_finish(): */
    pthread_mutex_t mutex;  /* guards next, done, and each job's done */
    pthread_cond_t changed; /* done has grown */
    size_t next;            /* the first job that no thread has taken */
    size_t done;
};

/* Adds the kernels of every problem, less those that are there already, in
 * the order of the problems. `device` names the context in messages. Context
 * and problems must outlive the list. False after a message about each
 * problem whose kernels could not be told. */
bool kernel_list_add(struct kernel_list *list, jitgemm_context *context,
                     const char *device, const struct problem_list *problems);

/* Starts at most `threads` threads that prepare the kernels. */
void kernel_list_start(struct kernel_list *list, size_t threads);

/* Waits until more than `seen` of the kernels are done and returns how many
 * are; at once if all are. */
size_t kernel_list_wait(struct kernel_list *list, size_t seen);

/* Whether the i-th kernel is done, and so may be read. */
bool kernel_list_is_done(struct kernel_list *list, size_t i);

/* Waits for the threads that kernel_list_start() started. */
void kernel_list_finish(struct kernel_list *list);

void kernel_list_free(struct kernel_list *list);

#endif
