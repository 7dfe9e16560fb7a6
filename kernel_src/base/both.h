/* SPDX-License-Identifier: MIT */
/* Functions that C11 and the kernels share. */
#ifndef JG_BOTH_H
#define JG_BOTH_H

#ifdef __CUDACC__
#define JG_BOTH __host__ __device__ inline
#else
#define JG_BOTH static inline
#endif

#endif
