/* SPDX-License-Identifier: MIT */
/* What a cubin says of itself. */
#ifndef EMU_CUBIN_H
#define EMU_CUBIN_H

#include <string>

namespace emu_driver {

struct cubin {
    int sm;              /* 90 */
    std::string program; /* "gemm/sm90_nvfp4.cu" */
    std::string spec;    /* constants of namespace spec */
    std::string symbol;  /* of its __global__ function */
    unsigned registers;  /* a thread */
    unsigned threads;    /* a block, at most */
    unsigned cluster[3]; /* that it requires; 0: none */
    unsigned parameter_bytes;
};

/* NULL, or why these bytes, which end where the ELF file ends, are none. */
const char *read_cubin(const void *image, cubin *result);

} // namespace emu_driver

#endif
