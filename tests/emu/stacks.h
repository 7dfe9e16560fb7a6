/* SPDX-License-Identifier: MIT */
/* The stacks of a cluster's fibers, which the next one uses again. */
#ifndef EMU_STACKS_H
#define EMU_STACKS_H

#include <stddef.h>

#include <sys/mman.h>

namespace emu {

constexpr size_t stack_bytes = 64 << 10; /* a thread; one page is a guard */
constexpr size_t guard_bytes = 4096;

struct stacks {
    unsigned char *memory = nullptr; /* null: there is none */
    size_t bytes;

    explicit stacks(unsigned count) : bytes(count * stack_bytes)
    {
        void *mapped =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapped == MAP_FAILED)
            return;
        memory = static_cast<unsigned char *>(mapped);
        for (unsigned i = 0; i < count; i++)
            mprotect(of(i), guard_bytes, PROT_NONE);
    }
    ~stacks()
    {
        if (memory)
            munmap(memory, bytes);
    }
    stacks(const stacks &) = delete;
    stacks &operator=(const stacks &) = delete;

    unsigned char *of(unsigned i) const
    {
        return memory + i * stack_bytes;
    }
};

} // namespace emu

#endif
