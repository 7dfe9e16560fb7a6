/* SPDX-License-Identifier: MIT */
/* Fibers: functions that take turns on one thread of the system, each with a
 * stack of its own. */
#ifndef EMU_FIBER_H
#define EMU_FIBER_H

#include <stddef.h>

#if !defined __x86_64__ || !defined __GNUC__
#include <ucontext.h>
#endif

namespace emu {

struct fiber {
#if defined __x86_64__ && defined __GNUC__
    void *stack_pointer = nullptr;
#else
    ucontext_t context;
#endif
};

/* The first switch to it calls entry(), which must never return. */
void fiber_make(fiber *fiber, void *stack, size_t bytes, void (*entry)());

/* Saves what runs now in `from`; returns when another switch names that. */
void fiber_switch(fiber *from, fiber *to);

} // namespace emu

#endif
