/* SPDX-License-Identifier: MIT */
/* On x86-64 a switch is a dozen instructions, without the two system calls of
 * swapcontext(): a block of 384 threads switches some thousand times a tile.
 */
#include "fiber.h"

#include <stdint.h>

namespace emu {

#if defined __x86_64__ && defined __GNUC__

extern "C" void emu_fiber_switch(void **save, void *to)
    __attribute__((visibility("hidden")));

/* What the calling convention lets a callee keep: six registers. Nothing here
 * changes the floating-point control words. */
asm(".text\n"
    ".hidden emu_fiber_switch\n"
    ".globl emu_fiber_switch\n"
    ".type emu_fiber_switch, @function\n"
    "emu_fiber_switch:\n"
    "pushq %rbp\n"
    "pushq %rbx\n"
    "pushq %r12\n"
    "pushq %r13\n"
    "pushq %r14\n"
    "pushq %r15\n"
    "movq %rsp, (%rdi)\n"
    "movq %rsi, %rsp\n"
    "popq %r15\n"
    "popq %r14\n"
    "popq %r13\n"
    "popq %r12\n"
    "popq %rbx\n"
    "popq %rbp\n"
    "ret\n"
    ".size emu_fiber_switch, . - emu_fiber_switch\n");

void fiber_make(fiber *fiber, void *stack, size_t bytes, void (*entry)())
{
    constexpr int registers = 6;
    uintptr_t top = (reinterpret_cast<uintptr_t>(stack) + bytes) &
                    ~static_cast<uintptr_t>(15);
    void **word = reinterpret_cast<void **>(top);

    *--word = nullptr; /* where entry() would return to */
    *--word = reinterpret_cast<void *>(entry);
    for (int i = 0; i < registers; i++)
        *--word = nullptr;
    fiber->stack_pointer = word;
}

void fiber_switch(fiber *from, fiber *to)
{
    emu_fiber_switch(&from->stack_pointer, to->stack_pointer);
}

#else

void fiber_make(fiber *fiber, void *stack, size_t bytes, void (*entry)())
{
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = stack;
    fiber->context.uc_stack.ss_size = bytes;
    fiber->context.uc_link = nullptr;
    makecontext(&fiber->context, entry, 0);
}

void fiber_switch(fiber *from, fiber *to)
{
    swapcontext(&from->context, &to->context);
}

#endif

} // namespace emu
