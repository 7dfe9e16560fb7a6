/* SPDX-License-Identifier: MIT */
/* A grouped product on emulated kernels: operands, what lib/launch.c does of
 * them, and the comparison with the reference. */
#ifndef EMU_GEMM_CASE_H
#define EMU_GEMM_CASE_H

#include "compile.h"

#include <memory>
#include <vector>

namespace emu_test {

struct size {
    int m, n, k;
};

struct config { /* a row of lib/plan.c's table */
    int tile_m, width_step, tile_n, tile_k, stages, blocks;
    bool fused; /* one kernel only: the product */
};

std::vector<config> all_configs();

/* The kernels of a configuration; one that is fused has no activations. */
enum kernel_kind { ACTIVATIONS, PRODUCT };
struct kernels {
    run_function activations, product;
};

/* What to compile for one of them. */
compile_job job_of(const config &config, kernel_kind kind,
                   const std::string &folder, const std::string &texts);

struct gemm_case {
    gemm_case(const config &config, const std::vector<size> &sizes,
              uint64_t seed);
    ~gemm_case();
    gemm_case(const gemm_case &) = delete;

    /* "" or what went wrong: a report of the emulator, or "wrong-result". */
    std::string run(const kernels &kernels, uint64_t seed, int blocks = 3);

  private:
    struct state;
    std::unique_ptr<state> state_;
};

} // namespace emu_test

#endif
