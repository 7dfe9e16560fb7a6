/* SPDX-License-Identifier: MIT */
/* Tensor maps: the driver's rules, then the emulator's encoding. */
#include "../tensor_map.h"
#include "call.h"

using namespace emu_driver;

namespace {

/* 0: a type that is not emulated. */
unsigned bytes_of(CUtensorMapDataType type)
{
    switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
        return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
        return 2;
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
        return 4;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
        return 8;
    default:
        return 0;
    }
}

/* Bytes of its span; 1: a swizzle that is not emulated. */
unsigned bytes_of(CUtensorMapSwizzle swizzle)
{
    switch (swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_NONE:
        return 0;
    case CU_TENSOR_MAP_SWIZZLE_32B:
        return 32;
    case CU_TENSOR_MAP_SWIZZLE_64B:
        return 64;
    case CU_TENSOR_MAP_SWIZZLE_128B:
        return 128;
    default:
        return 1;
    }
}

} // namespace

CUresult cuTensorMapEncodeTiled(
    CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
    const cuuint64_t *extent, const cuuint64_t *stride, const cuuint32_t *box,
    const cuuint32_t *step, CUtensorMapInterleave interleave,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
    CUtensorMapFloatOOBfill fill)
{
    return call(__func__, initialized, [&] {
        emu_tensor_map tensor{};
        const char *why = nullptr;

        tensor.address = reinterpret_cast<uintptr_t>(address);
        tensor.rank = rank;
        tensor.element_bytes = bytes_of(type);
        tensor.swizzle = bytes_of(swizzle);
        for (unsigned i = 0; i < rank && i < EMU_TENSOR_RANKS; i++) {
            tensor.extent[i] = extent[i];
            tensor.box[i] = box[i];
            if (i > 0)
                tensor.stride[i - 1] = stride[i - 1];
            if (step[i] != 1)
                why = "element strides are not emulated";
        }
        if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE)
            why = "interleave is not emulated";
        if (fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
            why = "fills of NaN are not emulated";
        if (reinterpret_cast<uintptr_t>(map) % 64)
            why = "the map is not at a multiple of 64 bytes";
        if (!why)
            why = emu_tensor_map_check(&tensor);
        if (why)
            return refuse(CUDA_ERROR_INVALID_VALUE, "%s", why);
        emu_tensor_map_encode(&tensor, map);
        return CUDA_SUCCESS;
    });
}
