/* SPDX-License-Identifier: MIT */
/* What C11 and the kernels share: functions, alignment. */
#ifndef JG_BOTH

#ifdef __CUDACC__
#define JG_BOTH __host__ __device__ inline
#else
#define JG_BOTH static inline
#endif

#ifdef __cplusplus
#define JG_ALIGNED(bytes) alignas(bytes)
#else
#define JG_ALIGNED(bytes) _Alignas(bytes)
#endif

#endif
