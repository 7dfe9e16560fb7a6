/* SPDX-License-Identifier: MIT */
/* What hold.cu is given, for C and for the kernel. */
#ifndef HOLD_JOB_H
#define HOLD_JOB_H

enum { HOLD_THREADS = 32, HOLD_VALUE = 1000 };

struct hold_flags { /* in host memory */
    unsigned started, go, late;
};

struct hold_job {
    unsigned *out;                     /* [HOLD_THREADS] */
    volatile struct hold_flags *flags; /* NULL: ends at once */
    unsigned long long most_ns;
};

#endif
