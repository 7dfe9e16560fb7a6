/* SPDX-License-Identifier: MIT */
/* An allocation begins at a multiple of 256 bytes, as real ones do. Its last
 * byte, rounded up so, is the last before a guard page: whoever goes further
 * faults. What rounding adds is watched: it must not have changed when the
 * memory is freed. */
#include "heap.h"
#include "knobs.h"

#include <map>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

namespace emu_driver {

namespace {

constexpr size_t page = 4096, alignment = 256;
constexpr size_t capacity = (size_t)16 << 30;
constexpr unsigned char fresh = 0xff; /* NaN in every type */
constexpr unsigned char slack = 0xfd;

struct block {
    CUcontext context;
    unsigned char *pages;
    size_t pages_bytes; /* without the guard */
    size_t bytes;       /* as asked for */
    bool freed;
};
using blocks = std::map<uintptr_t, block>; /* by the addresses given */

size_t used;
int users;                  /* heap_access objects */
uintptr_t last, last_bytes; /* the block that heap_has() found last */

blocks &all()
{
    static blocks *made = new blocks;

    return *made;
}

size_t round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

unsigned char *pointer(uintptr_t address)
{
    return reinterpret_cast<unsigned char *>(address);
}

void protect(const block &block)
{
    mprotect(block.pages, block.pages_bytes,
             users ? PROT_READ | PROT_WRITE : PROT_NONE);
}

void protect_all()
{
    for (const auto &at : all())
        if (!at.second.freed)
            protect(at.second);
}

/* The last block that begins at the address or before. */
blocks::iterator find(uintptr_t address)
{
    auto next = all().upper_bound(address);

    return next == all().begin() ? all().end() : std::prev(next);
}

bool is_intact(uintptr_t address, const block &block)
{
    const unsigned char *end = block.pages + block.pages_bytes;

    for (const auto *p = pointer(address) + block.bytes; p < end; p++)
        if (*p != slack)
            return false;
    return true;
}

/* Gives the pages back and keeps their addresses. */
void release(block &block)
{
    mmap(block.pages, block.pages_bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    block.freed = true;
    last_bytes = 0;
    used -= block.bytes;
    emu_knobs.allocations--;
}

} // namespace

uintptr_t heap_allocate(CUcontext context, size_t bytes)
{
    size_t rounded = round_up(bytes, alignment);
    size_t whole = round_up(rounded, page);

    if (bytes > capacity - used)
        return 0;
    void *mapped = mmap(nullptr, whole + page, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
        return 0;
    block made{context, static_cast<unsigned char *>(mapped), whole, bytes,
               false};
    unsigned char *begin = made.pages + whole - rounded;
    mprotect(made.pages, whole, PROT_READ | PROT_WRITE);
    memset(begin, fresh, bytes);
    memset(begin + bytes, slack, rounded - bytes);
    protect(made);
    uintptr_t address = reinterpret_cast<uintptr_t>(begin);
    all()[address] = made;
    used += bytes;
    emu_knobs.allocations++;
    return address;
}

CUresult heap_free(CUcontext context, uintptr_t address, std::string *why)
{
    auto at = all().find(address);
    bool intact;

    *why = at == all().end()               ? "was never allocated"
           : at->second.freed              ? "was freed before"
           : at->second.context != context ? "is of another context"
                                           : "";
    if (!why->empty())
        return CUDA_ERROR_INVALID_VALUE;
    {
        heap_access access;

        intact = is_intact(address, at->second);
    }
    release(at->second);
    if (intact)
        return CUDA_SUCCESS;
    *why = "somebody wrote behind its end";
    return CUDA_ERROR_ILLEGAL_ADDRESS;
}

int heap_free_all(CUcontext context)
{
    int count = 0;

    for (auto &at : all())
        if (at.second.context == context && !at.second.freed) {
            release(at.second);
            count++;
        }
    return count;
}

std::string heap_fault(uintptr_t address, size_t bytes)
{
    auto at = find(address);
    char text[160];

    if (at == all().end() || address - at->first > at->second.bytes + page) {
        snprintf(text, sizeof text, "%p is not device memory",
                 static_cast<void *>(pointer(address)));
        return text;
    }
    const block &block = at->second;
    if (!block.freed && bytes <= block.bytes &&
        address - at->first <= block.bytes - bytes)
        return "";
    snprintf(text, sizeof text,
             "%zu bytes at %p, byte %zu of an allocation of %zu%s", bytes,
             static_cast<void *>(pointer(address)),
             static_cast<size_t>(address - at->first), block.bytes,
             block.freed ? " that was freed" : "");
    return text;
}

bool heap_has(uintptr_t address)
{
    if (address - last < last_bytes)
        return true;
    auto at = find(address);
    if (at == all().end() || at->second.freed ||
        address - at->first >= at->second.bytes)
        return false;
    last = at->first;
    last_bytes = at->second.bytes;
    return true;
}

heap_access::heap_access()
{
    if (!users++)
        protect_all();
}

heap_access::~heap_access()
{
    if (!--users)
        protect_all();
}

} // namespace emu_driver
