/* SPDX-License-Identifier: MIT */
/* What a kernel of this folder is given, for C and for kernels. */
#ifndef BENCH_JOB_H
#define BENCH_JOB_H

enum { BENCH_THREADS = 512 }; /* a block */

struct bench_job {
    const unsigned char *in;
    const unsigned char *scales; /* blocked */
    const unsigned short *table;
    void *out;
    long long count; /* of what a thread takes at once */
    long long k;     /* a row */
};

#endif
