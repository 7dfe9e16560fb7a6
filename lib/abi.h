/* SPDX-License-Identifier: MIT */
/* Structs that begin with their size: reading those of older and newer
 * callers. */
#ifndef JG_ABI_H
#define JG_ABI_H

#include <stddef.h>

#include "status.h"

/* Copies a caller's struct into `to`, fields past its size zero. E_VERSION if
 * it is smaller than the first version's `least` bytes, or larger than known
 * with something set in the rest. `name` is the argument's. */
jitgemm_status jg_abi_read(void *to, size_t known, size_t least,
                           const void *from, const char *name);

/* Copies as much of a struct as the caller's has room for, and leaves the
 * caller's size in it. Checks the size likewise. */
jitgemm_status jg_abi_write(void *to, const void *from, size_t known,
                            size_t least, const char *name);

#endif
