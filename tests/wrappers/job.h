/* SPDX-License-Identifier: MIT */
/* What a kernel of this folder is given, and how its input is laid out: for C
 * and for kernels. Every kernel has this one parameter, reads `in`, and
 * writes `out`. */
#ifndef WRAPPERS_JOB_H
#define WRAPPERS_JOB_H

struct wrapper_job {
    const unsigned char *in;
    unsigned char *out;
    const unsigned char *maps; /* tensor maps of 128 bytes */
    int count;                 /* of what the kernel says */
    int what;
};

enum { /* half.cu */
    HALF_MUL_LOW,
    HALF_MUL_HIGH,
    HALF_MUL_BF16_LOW,
    HALF_MUL_BF16_HIGH,
    HALF_SELECT,
    HALF_E4M3,
    HALF_F32,
    HALF_BF16,
    HALF_DECODE,
    HALF_DECODE_BF16
};
enum { /* float.cu */
    FLOAT_MAX_F16,
    FLOAT_MAX_BF16,
    FLOAT_MAX_NAN_F16,
    FLOAT_MIN_U16,
    FLOAT_MAX_NAN,
    FLOAT_RCP,
    FLOAT_RECIPROCAL,
    FLOAT_F16,
    FLOAT_E4M3,
    FLOAT_MUL,
    FLOAT_FMA,
    FLOAT_SWIGLU,
    FLOAT_SWIGLU_OAI,
    FLOAT_PRMT,
    FLOAT_REDUX_MIN,
    FLOAT_REDUX_ADD,
    FLOAT_SHFL_UP
};
enum { MEMORY_BYTES, MEMORY_STMATRIX }; /* memory.cu */

struct stmatrix_lane {
    unsigned first, second, place; /* byte of the warp's kilobyte */
};

/* barrier.cu: threads first to first + arrivals - 1 arrive; the first of them
 * expects `bytes` and copies as many, before its arrival if `early`. */
enum { BARRIER_STEPS = 32, BARRIER_THREADS = 64, BARRIER_DATA = 16384 };
struct barrier_step {
    unsigned first, arrivals, bytes, early;
    unsigned source, destination; /* of the copy */
    unsigned ends, parity;        /* whether the phase, and which one it is */
    unsigned observer;            /* the thread that asks for both parities */
};
struct barrier_script {
    unsigned count; /* of mbarrier_init */
    struct barrier_step steps[BARRIER_STEPS];
};

/* copies.cu */
enum { COPY_NONE, COPY_BULK, COPY_TENSOR, COPY_TENSOR_3D };
enum { COPIES = 3 }; /* a block, on one barrier */
struct copy_record {
    unsigned kind, bytes, destination;
    unsigned source; /* byte of `in`, or number of the map */
    int x, y, z;
};

/* cluster.cu: of each block, whose copies go to the blocks of its cluster that
 * are bits of `blocks`. */
enum { CLUSTER_THREADS = 128 };
struct cluster_record {
    unsigned kind, bytes, destination, source;
    int x, y;
    unsigned blocks;
    unsigned expected; /* bytes that come to this block */
};

/* sync.cu: warps below `warps` share barrier `low`, the others `high`. */
enum { SYNC_ROUNDS = 30, SYNC_THREADS = 128 };
struct sync_round {
    unsigned low, high, warps;
    unsigned delay[SYNC_THREADS / 32];
};

/* wgmma.cuh: the operands of a block, then D as f32[128][n / 2], then `count`
 * bytes of shared memory. */
enum { WGMMA_THREADS = 128, WGMMA_PRODUCTS = 6 };
enum { WGMMA_OF_F16, WGMMA_OF_BF16 };
struct wgmma_operands {
    unsigned long long b[WGMMA_PRODUCTS]; /* descriptors, from address 0 */
    unsigned long long unused[2];
    unsigned a[WGMMA_PRODUCTS][WGMMA_THREADS][4];
};

#endif
