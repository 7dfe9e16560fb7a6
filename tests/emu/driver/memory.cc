/* SPDX-License-Identifier: MIT */
/* cuMemAlloc and cuMemFree. An allocation begins at a multiple of 256 bytes,
 * as real ones do, and has its guard right behind; the bytes between its end
 * and the guard, up to 255, are looked at when it is freed. */
#include "memory.h"
#include "device.h"

#include <map>

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

namespace emu_driver {

namespace {

constexpr size_t page = 4096, alignment = 256;
constexpr unsigned char poison = 0xff; /* fresh: NaN in every type */
constexpr unsigned char slack = 0xfd;

struct allocation {
    size_t bytes; /* as asked for */
    char *mapped;
    size_t mapped_bytes; /* with the guard */
};
std::map<uintptr_t, allocation> live, freed;

size_t round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

/* The allocation that an address lies in, or at whose end it is. */
const std::pair<const uintptr_t, allocation> *
find(const std::map<uintptr_t, allocation> &all, uintptr_t address)
{
    auto next = all.upper_bound(address);

    if (next == all.begin())
        return nullptr;
    --next;
    return address <= next->first + next->second.bytes ? &*next : nullptr;
}

bool slack_is_clean(uintptr_t address, const allocation &made)
{
    const unsigned char *data = reinterpret_cast<unsigned char *>(address);

    for (size_t i = made.bytes; i < round_up(made.bytes, alignment); i++)
        if (data[i] != slack)
            return false;
    return true;
}

} // namespace

bool is_allocated(const void *memory, size_t bytes)
{
    uintptr_t address = reinterpret_cast<uintptr_t>(memory);
    auto *found = find(live, address);

    if (found && bytes <= found->second.bytes &&
        address - found->first <= found->second.bytes - bytes)
        return true;
    if (find(freed, address))
        refuse(CUDA_SUCCESS, "%p was freed", memory);
    return false;
}

} // namespace emu_driver

using namespace emu_driver;

CUresult cuMemAlloc(CUdeviceptr *memory, size_t bytes)
{
    EMU_ENTER_UNSAFE();
    if (!bytes)
        return refuse(CUDA_ERROR_INVALID_VALUE, "cuMemAlloc of no bytes");
    if (bytes > (size_t)1 << 34)
        return CUDA_ERROR_OUT_OF_MEMORY;
    size_t used = round_up(bytes, alignment), all = round_up(used, page) + page;
    void *mapped = mmap(nullptr, all, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    char *guard = static_cast<char *>(mapped) + all - page;
    char *data = guard - used;
    mprotect(guard, page, PROT_NONE);
    memset(data, poison, bytes);
    memset(data + bytes, slack, used - bytes);
    live[reinterpret_cast<uintptr_t>(data)] = {
        bytes, static_cast<char *>(mapped), all};
    *memory = reinterpret_cast<CUdeviceptr>(data);
    return CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr memory)
{
    EMU_ENTER_UNSAFE();
    uintptr_t address = static_cast<uintptr_t>(memory);
    auto found = live.find(address);

    if (!memory)
        return CUDA_SUCCESS;
    if (found == live.end())
        return refuse(CUDA_ERROR_INVALID_VALUE, "cuMemFree: %p %s",
                      reinterpret_cast<void *>(address),
                      freed.count(address) ? "was freed before"
                                           : "was never allocated");
    bool clean = slack_is_clean(address, found->second);
    mmap(found->second.mapped, found->second.mapped_bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    freed[address] = found->second;
    live.erase(found);
    if (!clean)
        return break_context(refuse(CUDA_ERROR_ILLEGAL_ADDRESS,
                                    "cuMemFree: the bytes behind %p were "
                                    "written",
                                    reinterpret_cast<void *>(address)));
    return CUDA_SUCCESS;
}
