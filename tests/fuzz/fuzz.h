/* SPDX-License-Identifier: MIT */
/* A fuzz target: a reader of bytes that anybody may have written, with what
 * must hold of whatever it accepts. libFuzzer drives it (make fuzz), and
 * fuzz_driver.c does in `make check`. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "buf.h"

/* The target. Checksums would keep a fuzzer out, so it tries each input as it
 * is and with its checksums made right. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Inputs that were accepted so far, in either form. */
extern unsigned long fuzz_accepted;

/* Calls with inputs to start from, all of which are accepted. */
void fuzz_seeds(void (*use)(const struct jg_buf *seed));

#define FUZZ_CHECK(condition)                                                \
    do {                                                                     \
        if (!(condition)) {                                                  \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,       \
                    #condition);                                             \
            abort();                                                         \
        }                                                                    \
    } while (0)

#endif
