/* SPDX-License-Identifier: MIT */
/* CUDA's words for a host compiler. A kernel becomes part of a program as
 *     #include <emu.h>
 *     #include <gemm/NAME.cu>
 *     EMU_KERNEL(NAME)
 * compiled with -I tests/emu before -I kernel_src, so that ptx/ here shadows
 * the real one. */
#ifndef EMU_H
#define EMU_H

#include "emu_launch.h"

#define __global__
/* A call's result is stored without a word to access.cc unless inlined. */
#define __device__ __attribute__((always_inline))
#define __host__
#define __grid_constant__
#define __forceinline__  inline
#define __align__(bytes) alignas(bytes)
#define __launch_bounds__(...)
#define __cluster_dims__(...)

struct alignas(8) uint2 {
    unsigned x, y;
};
struct uint3 {
    unsigned x, y, z;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

template <class T> constexpr T min(T a, T b)
{
    return b < a ? b : a;
}

template <class T> constexpr T max(T a, T b)
{
    return a < b ? b : a;
}

inline unsigned __float_as_uint(float value)
{
    unsigned bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline float __uint_as_float(unsigned bits)
{
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

#if defined __GNUC__
#define EMU_EXPORT __attribute__((visibility("default")))
#else
#define EMU_EXPORT
#endif

namespace emu {

/* Where the running CUDA thread is. */
struct place {
    uint3 thread, block, grid, block_size;
    unsigned rank, ranks; /* of the block in its cluster */
    int fuel; /* instructions until another thread may run */
};
extern place *here;

void bar_sync(unsigned id, unsigned threads);
void syncwarp();

/* Runs all blocks; `thread` is what one CUDA thread does. */
struct kernel {
    virtual void thread() const = 0;
};
int run(const emu_launch &launch, const kernel &kernel);

template <int... i> struct indices {
};
template <int n, int... i> struct count : count<n - 1, n - 1, i...> {
};
template <int... i> struct count<0, i...> {
    using type = indices<i...>;
};
template <class T> struct value {
    using type = T;
};
template <class T> struct value<const T> {
    using type = T;
};

/* A __global__ function and the parameters of one launch. */
template <class... P> struct call : kernel {
    void (*function)(P...);
    void **parameters;

    call(void (*f)(P...), void **p) : function(f), parameters(p)
    {
    }
    template <int... i> void apply(indices<i...>) const
    {
        function(*static_cast<typename value<P>::type *>(parameters[i])...);
    }
    void thread() const override
    {
        apply(typename count<sizeof...(P)>::type());
    }
};

template <class... P>
int run_function(const emu_launch *launch, void (*function)(P...))
{
    return run(*launch, call<P...>(function, launch->parameters));
}

} // namespace emu

#define threadIdx (emu::here->thread)
#define blockIdx  (emu::here->block)
#define gridDim   (emu::here->grid)
#define blockDim  (emu::here->block_size)

inline void __syncthreads()
{
    emu::bar_sync(0, blockDim.x * blockDim.y * blockDim.z);
}

inline void __syncwarp()
{
    emu::syncwarp();
}

#define EMU_KERNEL(name)                                                      \
    extern "C" EMU_EXPORT int emu_run_##name(const emu_launch *launch)        \
    {                                                                         \
        return emu::run_function(launch, name);                               \
    }

#endif
