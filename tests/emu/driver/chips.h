/* SPDX-License-Identifier: MIT */
/* The devices that can be emulated. */
#ifndef EMU_DRIVER_CHIPS_H
#define EMU_DRIVER_CHIPS_H

#include <cuda.h>

namespace emu_driver {

struct chip {
    const char *key, *name;
    int major, minor; /* compute capability */
    int sms;
    int shared_block, shared_sm; /* bytes: most of a block, of an SM */
    int l2_mib;
};

/* As JITGEMM_EMU_DEVICE says now; null if it names what is not known. */
const chip *this_chip();

/* False if this driver has no answer. */
bool chip_attribute(const chip &chip, CUdevice_attribute attribute,
                    int *value);

} // namespace emu_driver

#endif
