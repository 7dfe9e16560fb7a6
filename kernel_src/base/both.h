/* SPDX-License-Identifier: MIT */
/* A function that C11 and the kernels share. */
#ifndef JG_BOTH

#ifdef __CUDACC__
#define JG_BOTH __host__ __device__ inline
#else
#define JG_BOTH static inline
#endif

#endif
