/* SPDX-License-Identifier: MIT */
/* The knobs of the fake libcuda: dlsym "fake_cuda". */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

struct fake_map { /* arguments of cuTensorMapEncodeTiled */
    const void *address;
    int type, rank, interleave, swizzle, promotion, fill;
    long long extent[2], stride;
    int box[2], step[2];
};

struct fake_cuda {
    int version;      /* 13000 */
    int major, minor; /* compute capability */
    const char *fail; /* name of the function to fail, or NULL */
    int fail_after;   /* so many successes of it */
    int fail_result;  /* with this CUresult */
    int loads;        /* libraries loaded and not unloaded */
    struct fake_map maps[8]; /* the last ones */
    int map_count;           /* so far */
    int grid, block, cluster, shared; /* of the last launch */
    int launches, early; /* so far; those that may start early */
    int fast;         /* between events passes 1 ms, or, if that is the last */
    float fast_ms;    /* launch's dynamic shared memory, this */
    int copied[2][4]; /* what the last two copies to the device begin with */
    int memory, events; /* made and not given back */
};

extern struct fake_cuda fake_cuda;

#endif
