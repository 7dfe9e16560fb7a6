/* SPDX-License-Identifier: MIT */
/* What the emulator does for the instructions in ptx/: one function each, and
 * a check of every rule that the PTX ISA states for it.
 *
 * To add one: a function here, and its shadow in ptx/. Warps come together in
 * warp_enter(), warps of a group in order.h. What is asynchronous is a kind
 * of engine (async.h, a row in engines.cc); its end is a moment of some fact
 * (knowledge.h), which those learn who wait for it. */
#ifndef EMU_INSTRUCTIONS_H
#define EMU_INSTRUCTIONS_H

#include "emu.h"

namespace emu {

/* Another thread may run here. */
void yield();
inline void step()
{
    if (--here->fuel <= 0)
        yield();
}

unsigned char *dynamic_smem();
uint32_t shared_address(const void *pointer);

/* Poison of accumulators: any use of one shows. */
float checked_register(float value);

void barrier_cluster_arrive();
void barrier_cluster_wait();
void *mapa(void *pointer, unsigned rank);

/* To the issuing block, where others give a mask of ranks. */
constexpr int own_block = -1;

bool elect_one();
enum class redux_operation { least, sum };
uint32_t redux(redux_operation operation, uint32_t value);
uint32_t shfl_up(uint32_t value, uint32_t distance);
void setmaxnreg(int registers, bool increase);
void griddepcontrol_wait();
void griddepcontrol_launch_dependents();

void mbarrier_init(void *barrier, uint32_t count);
void fence_mbarrier_init();
void mbarrier_arrive(void *barrier);
void mbarrier_arrive_cluster(void *barrier, unsigned rank);
void mbarrier_expect_tx(void *barrier, uint32_t bytes);
bool mbarrier_try_wait(void *barrier, uint32_t parity);

void fence_proxy_async();
void fence_proxy_tensormap_acquire(const void *map);
/* A copy goes to the same place in all its blocks. */
struct copy_target {
    void *destination, *barrier;
    int blocks = own_block;
    bool pair = false; /* then the even blocks' barriers count */
};
void copy_bulk(const copy_target &to, const void *source, uint32_t bytes);
void copy_tensor(const copy_target &to, const void *map,
                 const int *coordinates, int rank);
void copy_commit_group();
void copy_wait_group_read(int pending);

void tensormap_replace_address(void *map, const void *address);
void tensormap_replace_extent(void *map, int dimension, uint32_t extent);
void tensormap_replace_stride(void *map, int dimension, uint64_t bytes);
void fence_proxy_tensormap_release();
void prefetch_tensormap(const void *map);

void stmatrix(void *row, const uint32_t *values, int matrices,
              bool transposed);

/* d: n / 2 accumulators of this thread. A is four registers, or null and
 * described like B. */
struct wgmma_operation {
    float *d;
    int n;
    bool bf16; /* else f16 */
    const uint32_t *a;
    uint64_t a_descriptor, b_descriptor;
};
void wgmma_fence();
void wgmma_commit_group();
void wgmma_wait_group(int pending);
void wgmma_mma(const wgmma_operation &operation);

/* As the instructions' operands. d of a load is its registers. ctas: 2 for a
 * pair of blocks. */
struct tcgen05_product {
    uint32_t d;
    uint64_t a, b;
    uint32_t instruction, scales_a, scales_b;
    bool accumulate;
};
void tcgen05_alloc(int ctas, uint32_t *address, uint32_t columns);
void tcgen05_relinquish_alloc_permit(int ctas);
void tcgen05_dealloc(int ctas, uint32_t address, uint32_t columns);
void tcgen05_fence_before_thread_sync();
void tcgen05_fence_after_thread_sync();
void tcgen05_cp(int ctas, uint32_t address, uint64_t descriptor);
void tcgen05_mma(int ctas, const tcgen05_product &product);
void tcgen05_commit(int ctas, void *barrier, int blocks = own_block);
void tcgen05_ld(float *d, int columns, uint32_t address);
void tcgen05_wait_ld();

} // namespace emu

#endif
