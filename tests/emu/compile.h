/* SPDX-License-Identifier: MIT */
/* Kernel texts to functions: the host's C++ compiler makes a shared object of
 * a kernel and the emulator, and it is opened. */
#ifndef EMU_COMPILE_H
#define EMU_COMPILE_H

#include "emu_launch.h"

#include <string>

namespace emu_test {

using run_function = int (*)(const emu_launch *);

struct compile_job {
    std::string folder;  /* for files; made if missing */
    std::string texts;   /* folder of the kernel texts */
    std::string program; /* in it: "gemm/sm90_nvfp4.cu" */
    std::string symbol;
    std::string spec; /* text of spec.cuh */
    const char *optimize = "-O1";
};

/* Starts the compiler; finish() waits for it. Jobs may overlap. */
int compile_start(const compile_job &job); /* a process, or -1 */
/* The kernel, or null after a message on standard error. It stays loaded. */
run_function compile_finish(const compile_job &job, int process);

} // namespace emu_test

#endif
