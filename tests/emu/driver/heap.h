/* SPDX-License-Identifier: MIT */
/* Device memory: pages that the host may not touch, each allocation before a
 * guard page, at addresses that are never used again. */
#ifndef EMU_DRIVER_HEAP_H
#define EMU_DRIVER_HEAP_H

#include <cuda.h>

#include <stdint.h>
#include <string>

namespace emu_driver {

/* Filled with 0xff; 0 if there is no more. */
uintptr_t heap_allocate(CUcontext context, size_t bytes);

/* CUDA_ERROR_INVALID_VALUE with the reason if this cannot be freed, 700 if
 * somebody wrote past the end of it. */
CUresult heap_free(CUcontext context, uintptr_t address, std::string *why);
int heap_free_all(CUcontext context); /* how many there were */

/* "", or why these bytes are not inside one allocation. */
std::string heap_fault(uintptr_t address, size_t bytes);

/* Whether it lies in an allocation. Quick if the last one asked for did. */
bool heap_has(uintptr_t address);

/* While it exists, device memory can be read and written. */
class heap_access
{
  public:
    heap_access();
    ~heap_access();
    heap_access(const heap_access &) = delete;
    heap_access &operator=(const heap_access &) = delete;
};

} // namespace emu_driver

#endif
