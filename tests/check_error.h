/* SPDX-License-Identifier: MIT */
/* That a call failed as it should. */
#ifndef CHECK_ERROR_H
#define CHECK_ERROR_H

#include "jitgemm.h"
#include "test.h"

/* The last error is this status about this argument, and its text names it. */
#define CHECK_ERROR(call, status_, argument_)                                 \
    do {                                                                      \
        CHECK_INT(call, status_);                                             \
        CHECK_INT(jitgemm_last_error()->status, status_);                     \
        CHECK_STR(jitgemm_last_error()->argument, argument_);                 \
        CHECK(strstr(jitgemm_last_error()->text, argument_) != NULL);         \
    } while (0)

#endif
