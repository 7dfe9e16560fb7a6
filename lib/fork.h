/* SPDX-License-Identifier: MIT */
/* Forked children. One that was forked while another thread was in this
 * library has its locks, and NVRTC's, held by a thread that it does not have:
 * it would wait for ever. It gets an error instead. One that was forked while
 * no thread was may go on. */
#ifndef JG_FORK_H
#define JG_FORK_H

#include <stdbool.h>

#include "status.h"

/* Around whatever takes a lock or compiles; may be nested. Enter fails with
 * E_FORKED in a child that must not, and then there is nothing to leave. */
jitgemm_status jg_fork_enter(void);
void jg_fork_leave(void);

/* How often this process's line has forked since the library was first
 * entered: what was made at another number is an ancestor's. */
unsigned jg_fork_generation(void);

#endif
