/* SPDX-License-Identifier: MIT */
/* A grouped product on emulated kernels: operands, what lib/launch.c and
 * lib/bind.c do of them, and the comparison with the reference. */
#ifndef EMU_GEMM_CASE_H
#define EMU_GEMM_CASE_H

#include "compile.h"

/* C headers: a function there has the name of a struct. */
#if defined __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
extern "C" {
#include "spec.h"
#include "table.h"
}
#if defined __GNUC__
#pragma GCC diagnostic pop
#endif

#include <memory>
#include <vector>

namespace emu_test {

struct size {
    int m, n, k;
};

/* The kernels of a configuration; `activations` if it has two. */
enum kernel_kind { ACTIVATIONS, PRODUCT };
struct kernels {
    run_function activations, product;
};

/* What to compile for one of them. */
compile_job job_of(const jg_config &config, kernel_kind kind,
                   const std::string &folder, const std::string &texts);

struct gemm_case {
    gemm_case(const jg_config &config, const std::vector<size> &sizes,
              uint64_t seed);
    ~gemm_case();
    static bool allows(const jg_config &config,
                       const std::vector<size> &sizes);
    gemm_case(const gemm_case &) = delete;

    /* "" or what went wrong: a report of the emulator, or "wrong-result". */
    std::string run(const kernels &kernels, uint64_t seed, int blocks = 3);

  private:
    struct state;
    std::unique_ptr<state> state_;
};

} // namespace emu_test

#endif
