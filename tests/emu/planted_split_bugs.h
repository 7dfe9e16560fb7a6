/* SPDX-License-Identifier: MIT */
/* Bugs to plant in Hopper's product where blocks share a tile's k. */
#ifndef EMU_PLANTED_SPLIT_BUGS_H
#define EMU_PLANTED_SPLIT_BUGS_H

#include "planted_hopper_bugs.h"

#define IN_ADD_PARTS "/^__device__ inline bool add_parts/,/^}/"

enum { SPLIT = 12 }; /* row of the model: in two parts */

static const emu_test::planted_bug split_bugs[] = {
    {"sums read before they are stored", PRODUCT_TEXT,
     IN_ADD_PARTS "{/barrier_cluster_arrive/{N;d;};}",
     "peer-exited|race|wrong-result"},
    {"sums stored before the other block has begun", PRODUCT_TEXT,
     "/^    if (spec::split > 1)$/,/barrier_cluster_arrive/d;"
     "/^        if (spec::split > 1) {/,/}/d;"
     IN_ADD_PARTS "{0,/barrier_cluster_wait/{/barrier_cluster_wait/d;};}",
     "peer-not-started"},
    {"a part left out", PRODUCT_TEXT,
     "s/part < spec::split; part/part < spec::split - 1; part/",
     "wrong-result"},
    {"parts that overlap", PRODUCT_TEXT,
     "s/all \\* (part + 1) \\/ spec::split/all * (part + 1) \\/ spec::split "
     "+ (part == 0)/",
     "wrong-result"},
    {"every block stores its part", PRODUCT_TEXT,
     "s/return rank == 0;/return true;/", "wrong-result|race"},
    {"sums of another warpgroup", PRODUCT_TEXT,
     "s/(part - 1) \\* consumers + self.index/(part - 1) * consumers/",
     "race|wrong-result"},
};

#endif
