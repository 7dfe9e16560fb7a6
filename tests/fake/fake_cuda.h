/* SPDX-License-Identifier: MIT */
/* The knobs of the fake libcuda: dlsym "fake_cuda". */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

struct fake_cuda {
    int version;       /* 13000 */
    int major, minor;  /* compute capability */
    int capturing;     /* every stream is */
    const char *fail;  /* name of the function to fail, or NULL */
    int fail_after;    /* so many successes of it */
    int fail_result;   /* with this CUresult */
    int loads, uploads, launches, calls, allocations; /* so far; allocations:
                                                         not yet freed */
    int pushed;        /* contexts pushed and not popped, on all threads */
    int retained;      /* primary contexts retained and not released */
};

extern struct fake_cuda fake_cuda;

#endif
