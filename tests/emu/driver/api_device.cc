/* SPDX-License-Identifier: MIT */
/* The driver itself and its device. */
#include "call.h"
#include "chips.h"

#include <algorithm>
#include <stdio.h>

using namespace emu_driver;

namespace emu_driver {

CUresult check_device(CUdevice device)
{
    if (!this_chip())
        return refuse(CUDA_ERROR_NO_DEVICE,
                      "JITGEMM_EMU_DEVICE is not h200, b200 or rtx5090");
    if (device < 0 || device >= std::max(emu_knobs.devices, 1))
        return refuse(CUDA_ERROR_INVALID_DEVICE, "there is no device %d",
                      device);
    return CUDA_SUCCESS;
}

} // namespace emu_driver

CUresult cuInit(unsigned flags)
{
    return call(__func__, anytime, [&] {
        if (flags)
            return refuse(CUDA_ERROR_INVALID_VALUE, "flags are %u", flags);
        return check_device(0);
    });
}

CUresult cuDriverGetVersion(int *version)
{
    return call(__func__, anytime, [&] {
        *version = emu_knobs.version ? emu_knobs.version : CUDA_VERSION;
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetCount(int *count)
{
    return call(__func__, initialized, [&] {
        *count = std::max(emu_knobs.devices, 1);
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    return call(__func__, initialized, [&] {
        *device = ordinal;
        return check_device(ordinal);
    });
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    return call(__func__, initialized, [&] {
        CUresult result = check_device(device);

        if (result == CUDA_SUCCESS)
            snprintf(name, static_cast<size_t>(size), "%s", this_chip()->name);
        return result;
    });
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                              CUdevice device)
{
    return call(__func__, initialized, [&] {
        CUresult result = check_device(device);

        if (result == CUDA_SUCCESS &&
            !chip_attribute(*this_chip(), attribute, value))
            return refuse(CUDA_ERROR_INVALID_VALUE,
                          "attribute %d is not emulated",
                          static_cast<int>(attribute));
        return result;
    });
}
