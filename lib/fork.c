/* SPDX-License-Identifier: MIT */
/* Who was inside when the process forked. */
#define _POSIX_C_SOURCE 200809L
#include "fork.h"

#include <pthread.h>
#include <stdatomic.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int inside;   /* threads between enter and leave */
static bool broken;         /* written while the child has one thread */
static unsigned generation; /* likewise */

/* In the child, before fork() returns: a copy of the parent at one moment. */
static void in_child(void)
{
    broken = broken || atomic_load(&inside) > 0;
    generation++;
}

static void watch(void)
{
    /* Without memory for it, children are as they would be without this. */
    pthread_atfork(NULL, NULL, in_child);
}

jitgemm_status jg_fork_enter(void)
{
    pthread_once(&once, watch);
    if (broken)
        return jg_fail(JITGEMM_E_FORKED,
                       "this process was forked while another thread of its "
                       "parent was making a kernel or a context ready, so it "
                       "cannot; fork before, or use posix_spawn or exec");
    atomic_fetch_add(&inside, 1);
    return JITGEMM_OK;
}

void jg_fork_leave(void)
{
    atomic_fetch_sub(&inside, 1);
}

unsigned jg_fork_generation(void)
{
    return generation;
}
