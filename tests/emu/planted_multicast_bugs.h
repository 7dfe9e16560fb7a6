/* SPDX-License-Identifier: MIT */
/* Bugs to plant in tests/multicast_pipeline.cu. */
#ifndef EMU_PLANTED_MULTICAST_BUGS_H
#define EMU_PLANTED_MULTICAST_BUGS_H

#include "planted.h"

#define MULTICAST_TEXT "multicast_pipeline.cu"

static const emu_test::planted_bug multicast_bugs[] = {
    {"no bug", MULTICAST_TEXT, "", ""},
    {"no wait for a full stage", MULTICAST_TEXT, "/ring.wait_full();/d",
     "missing-wait"},
    {"no wait for an empty stage", MULTICAST_TEXT, "/ring.wait_empty();/d",
     "early-overwrite|arrive-nothing-pending|wrong-byte-count"},
    {"stages given back to one block", MULTICAST_TEXT,
     "s/u32 i = 0; i < 2/u32 i = 0; i < 1/", "deadlock|wrong-byte-count"},
    {"the other block's products not waited for", MULTICAST_TEXT,
     "s/u32 i = 0; i < 2/u32 i = 0; i < 1/;s/empty\\[i\\], 256/empty[i], 128/;"
     "s/arrive_cluster(\\(.*\\), i);/arrive(\\1);/",
     "early-overwrite"},
    {"half of the arrivals", MULTICAST_TEXT,
     "s/empty\\[i\\], 256/empty[i], 128/",
     "early-overwrite|arrive-nothing-pending"},
    {"own half of the bytes expected", MULTICAST_TEXT,
     "s/(full, stage_bytes)/(full, half)/",
     "wrong-byte-count|missing-wait|early-overwrite"},
    {"own block only", MULTICAST_TEXT, "s/full, 3)/full, u16(1 << rank))/",
     "wrong-byte-count"},
    {"the other block only", MULTICAST_TEXT,
     "s/full, 3)/full, u16(2 >> rank))/", "wrong-byte-count"},
    {"to a third block, too", MULTICAST_TEXT, "s/full, 3)/full, 7)/",
     "bad-multicast"},
    {"to no block", MULTICAST_TEXT, "s/full, 3)/full, 0)/", "bad-multicast"},
    {"no barrier of the cluster at the begin", MULTICAST_TEXT,
     "s/cluster_sync(); .. begin/__syncthreads(); \\/* begin/",
     "peer-not-started"},
    {"no barrier of the cluster at the end", MULTICAST_TEXT,
     "/cluster_sync(); .. end/d", "peer-exited"},
    {"one block ends at once", MULTICAST_TEXT,
     "s/^    cluster_sync(); .. end/    if (ptx::cluster_ctarank()) return;"
     "\\n&/",
     "peer-exited"},
    {"barrier of the cluster not waited for", MULTICAST_TEXT,
     "/barrier_cluster_wait/d", "peer-not-started|cluster-barrier-misuse"},
    {"waited for without an arrival", MULTICAST_TEXT,
     "/barrier_cluster_arrive/d", "cluster-barrier-misuse"},
    {"both copies to one place", MULTICAST_TEXT, "s/ + rank \\* half//",
     "early-overwrite"},
    {"the same tokens twice", MULTICAST_TEXT,
     "s/int(rank) \\* tokens/0 * tokens/", "wrong-result"},
    {"barriers not fenced", MULTICAST_TEXT, "/fence_mbarrier_init();/d",
     "barrier-no-fence"},
    {"store to the other block's stage", MULTICAST_TEXT,
     "s/^        ring.wait_full();/        "
     "*ptx::mapa(shared.x[ring.slot], ptx::cluster_ctarank() ^ 1) = 0;\\n&/",
     "race|early-overwrite"},
};

#endif
