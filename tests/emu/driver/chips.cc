/* SPDX-License-Identifier: MIT */
/* Compute capabilities, shared memory, registers and bounds: CUDA C++
 * Programming Guide, tables "Technical Specifications per Compute
 * Capability". Multiprocessors and L2: the vendor's data sheets of H200 SXM,
 * B200 and GeForce RTX 5090. */
#include "chips.h"

#include <stdlib.h>
#include <string.h>

namespace emu_driver {

namespace {

const chip known[] = {
    {"h200", "NVIDIA H200 (emulated)", 9, 0, 132, 232448, 233472, 50},
    {"b200", "NVIDIA B200 (emulated)", 10, 0, 148, 232448, 233472, 126},
    {"rtx5090", "NVIDIA GeForce RTX 5090 (emulated)", 12, 0, 170, 101376,
     102400, 96},
};

} // namespace

const chip *this_chip()
{
    const char *wish = getenv("JITGEMM_EMU_DEVICE");

    for (const chip &chip : known)
        if (!strcmp(wish && *wish ? wish : "h200", chip.key))
            return &chip;
    return nullptr;
}

bool chip_attribute(const chip &chip, CUdevice_attribute attribute, int *value)
{
    const struct {
        CUdevice_attribute attribute;
        int value;
    } table[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, chip.major},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, chip.minor},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, chip.sms},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 0x7fffffff},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 48 << 10},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
         chip.shared_block},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
         chip.shared_sm},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, chip.l2_mib << 20},
        {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    };

    for (const auto &row : table) {
        if (row.attribute == attribute) {
            *value = row.value;
            return true;
        }
    }
    return false;
}

} // namespace emu_driver
