/* SPDX-License-Identifier: MIT */
/* Asynchronous matrix product of a warpgroup: f32 accumulators, f16 or bf16
 * operands, A (64 x 16) in registers, B in shared memory. PTX ISA 9.7.15.5.
 *
 * The accumulators and A belong to the product from its issue until a
 * wgmma_wait_group() that covers it. */
#pragma once
#include <base/types.cuh>

namespace ptx {

/* Orders earlier register writes before the next wgmma. */
__device__ inline void wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ inline void wgmma_commit_group()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Waits until at most `pending` committed groups are unfinished. */
template <int pending> __device__ inline void wgmma_wait_group()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending)
                 : "memory");
}

/* wgmma_mma_async(d, a, b): d += A * B for 64 x n, one overload a width n, and
 * wgmma_mma_async_bf16(). A thread has n / 2 accumulators; in the text they
 * are %0 up to %(n / 2 - 1), followed by A's four registers and the descriptor
 * of B. */
#define NAMES_4 "%0, %1, %2, %3"
#define NAMES_8 NAMES_4 ", %4, %5, %6, %7"
#define SIXTEEN_0  \
    "%0, %1, %2, %3, %4, %5, %6, %7, "  \
    "%8, %9, %10, %11, %12, %13, %14, %15"
#define SIXTEEN_1  \
    "%16, %17, %18, %19, %20, %21, %22, %23, "  \
    "%24, %25, %26, %27, %28, %29, %30, %31"
#define SIXTEEN_2  \
    "%32, %33, %34, %35, %36, %37, %38, %39, "  \
    "%40, %41, %42, %43, %44, %45, %46, %47"
#define SIXTEEN_3  \
    "%48, %49, %50, %51, %52, %53, %54, %55, "  \
    "%56, %57, %58, %59, %60, %61, %62, %63"
#define SIXTEEN_4  \
    "%64, %65, %66, %67, %68, %69, %70, %71, "  \
    "%72, %73, %74, %75, %76, %77, %78, %79"
#define SIXTEEN_5  \
    "%80, %81, %82, %83, %84, %85, %86, %87, "  \
    "%88, %89, %90, %91, %92, %93, %94, %95"
#define SIXTEEN_6  \
    "%96, %97, %98, %99, %100, %101, %102, %103, "  \
    "%104, %105, %106, %107, %108, %109, %110, %111"
#define SIXTEEN_7  \
    "%112, %113, %114, %115, %116, %117, %118, %119, "  \
    "%120, %121, %122, %123, %124, %125, %126, %127"
#define NAMES_16 SIXTEEN_0
#define NAMES_32 NAMES_16 ", " SIXTEEN_1
#define NAMES_48 NAMES_32 ", " SIXTEEN_2
#define NAMES_64 NAMES_48 ", " SIXTEEN_3
#define NAMES_80 NAMES_64 ", " SIXTEEN_4
#define NAMES_96 NAMES_80 ", " SIXTEEN_5
#define NAMES_112 NAMES_96 ", " SIXTEEN_6
#define NAMES_128 NAMES_112 ", " SIXTEEN_7
#define NAMES_24 NAMES_16 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define NAMES_40 NAMES_32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define NAMES_56 NAMES_48 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define REGISTERS_2(i) "+f"(d[i]), "+f"(d[i + 1])
#define REGISTERS_4(i) REGISTERS_2(i), REGISTERS_2(i + 2)
#define REGISTERS_8(i) REGISTERS_4(i), REGISTERS_4(i + 4)
#define REGISTERS_16(i) REGISTERS_8(i), REGISTERS_8(i + 8)
#define REGISTERS_24(i) REGISTERS_16(i), REGISTERS_8(i + 16)
#define REGISTERS_32(i) REGISTERS_16(i), REGISTERS_16(i + 16)
#define REGISTERS_40(i) REGISTERS_32(i), REGISTERS_8(i + 32)
#define REGISTERS_48(i) REGISTERS_32(i), REGISTERS_16(i + 32)
#define REGISTERS_56(i) REGISTERS_48(i), REGISTERS_8(i + 48)
#define REGISTERS_64(i) REGISTERS_32(i), REGISTERS_32(i + 32)
#define REGISTERS_80(i) REGISTERS_64(i), REGISTERS_16(i + 64)
#define REGISTERS_96(i) REGISTERS_64(i), REGISTERS_32(i + 64)
#define REGISTERS_112(i) REGISTERS_96(i), REGISTERS_16(i + 96)
#define REGISTERS_128(i) REGISTERS_64(i), REGISTERS_64(i + 64)
#define WGMMA_ASM(n, types, accumulators, a0, a1, a2, a3, descriptor)        \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." types     \
                 " {" NAMES_##accumulators "}, "                             \
                 "{" a0 ", " a1 ", " a2 ", " a3 "}, " descriptor             \
                 ", 1, 1, 1, 0;"                                             \
                 : REGISTERS_##accumulators(0)                               \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)        \
                 : "memory")
#define WGMMA(n, accumulators, ...)                                          \
    __device__ inline void wgmma_mma_async(float(&d)[accumulators],          \
                                           const u32(&a)[4], u64 b)          \
    {                                                                        \
        WGMMA_ASM(n, "f16.f16", accumulators, __VA_ARGS__);                  \
    }                                                                        \
    __device__ inline void wgmma_mma_async_bf16(float(&d)[accumulators],     \
                                                const u32(&a)[4], u64 b)     \
    {                                                                        \
        WGMMA_ASM(n, "bf16.bf16", accumulators, __VA_ARGS__);                \
    }

WGMMA(8, 4, "%4", "%5", "%6", "%7", "%8")
WGMMA(16, 8, "%8", "%9", "%10", "%11", "%12")
WGMMA(32, 16, "%16", "%17", "%18", "%19", "%20")
WGMMA(48, 24, "%24", "%25", "%26", "%27", "%28")
WGMMA(64, 32, "%32", "%33", "%34", "%35", "%36")
WGMMA(80, 40, "%40", "%41", "%42", "%43", "%44")
WGMMA(96, 48, "%48", "%49", "%50", "%51", "%52")
WGMMA(112, 56, "%56", "%57", "%58", "%59", "%60")
WGMMA(128, 64, "%64", "%65", "%66", "%67", "%68")
WGMMA(160, 80, "%80", "%81", "%82", "%83", "%84")
WGMMA(192, 96, "%96", "%97", "%98", "%99", "%100")
WGMMA(224, 112, "%112", "%113", "%114", "%115", "%116")
WGMMA(256, 128, "%128", "%129", "%130", "%131", "%132")

#undef WGMMA
#undef WGMMA_ASM

} // namespace ptx
