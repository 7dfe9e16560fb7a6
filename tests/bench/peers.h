/* SPDX-License-Identifier: MIT */
/* What else computes the product: cuBLAS, with operands that were decoded to
 * 16 bits ahead, which is not timed. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "product.h"
#include "timing.h"

struct peer {
    const char *name;
    enum ref_type type; /* of all three matrices; sums are in f32 */
    bool grouped;       /* one call, or else one a group */
};

enum { PEERS = 4 };
extern const struct peer peers[PEERS];

/* False, after saying so, if there is none. */
bool peers_open(void);
int peers_version(void); /* of cuBLAS: major * 10000 + minor * 100 + patch */

/* Times the peer on the operands of a product whose C is computed, to which
 * its own is compared: *wrong elements differ by more than rounding explains.
 * False, after saying why, if it cannot compute that. */
bool peer_measure(const struct peer *peer, const struct product *product,
                  struct times *times, int64_t *wrong);

#endif
