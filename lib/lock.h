/* SPDX-License-Identifier: MIT */
/* Locks between processes. They are advice: who does not get one goes on
 * without. The system releases those of a process that dies. */
#ifndef JG_LOCK_H
#define JG_LOCK_H

#include <stdbool.h>

/* Takes the lock of that name, a file in a trusted folder that is made if
 * absent and never removed: a lock on a file that has lost its name excludes
 * nobody. Waits up to `seconds`. Returns 0, EWOULDBLOCK after that time, or
 * another error of file.h. Any two callers exclude each other, threads of a
 * process too. */
int jg_lock_take(int folder, const char *name, unsigned flags, double seconds,
                 int *lock);
void jg_lock_release(int lock); /* -1 is allowed */

/* Whether the folder is on a network or user-space file system, where locks
 * may be slow, missing or lost. */
bool jg_lock_is_remote(int folder);

#endif
