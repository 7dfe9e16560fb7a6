/* SPDX-License-Identifier: MIT */
/* For tests of clusters: kernels of one warp a block, and what they share. */
#ifndef EMU_CLUSTER_UNIT_H
#define EMU_CLUSTER_UNIT_H

#include <emu.h>

#include <base/types.cuh>
#include <ptx/cluster.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>

#include "shared.h"
#include "unit.h"

namespace emu_test {

inline int variant; /* of a kernel: what it does wrong */

struct smem {
    u32 value[64];
    u8 landed[1024];
    ptx::mbarrier barrier;
};

inline smem &shared()
{
    return *reinterpret_cast<smem *>(ptx::dynamic_smem());
}

/* Plain accesses, which the emulator sees only in kernels compiled so. */
inline u32 load(u32 *from)
{
    emu::shared_access(from, sizeof *from, false);
    return *from;
}

inline void store(u32 *to, u32 value)
{
    emu::shared_access(to, sizeof *to, true);
    *to = value;
}

inline void cluster_sync()
{
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
}

/* What may come first: "one" or "one|other". */
inline void check(void (*kernel)(), unsigned blocks, int which,
                  const char *names)
{
    std::string all = "|" + std::string(names) + "|";

    variant = which;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        std::string report = run_once(kernel, 32, seed, sizeof(smem), blocks);
        std::string got = report.substr(0, report.find(':'));

        CHECK(all.find("|" + got + "|") != all.npos);
        if (all.find("|" + got + "|") == all.npos)
            fprintf(stderr, "variant %d: %s\n", variant, report.c_str());
    }
    variant = 0;
}

} // namespace emu_test

#endif
