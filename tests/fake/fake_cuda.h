/* SPDX-License-Identifier: MIT */
/* The knobs of the fake libcuda: dlsym "fake_cuda". */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

struct fake_cuda {
    int version;      /* 13000 */
    int major, minor; /* compute capability */
    const char *fail; /* name of the function to fail, or NULL */
    int fail_after;   /* so many successes of it */
    int fail_result;  /* with this CUresult */
    int loads;        /* libraries loaded and not unloaded */
};

extern struct fake_cuda fake_cuda;

#endif
