/* SPDX-License-Identifier: MIT */
/* Asynchronous work: what has been issued and happens later. Every kind of
 * engine keeps its own queue and offers some steps that may happen next; the
 * scheduler takes any of them at any time. */
#ifndef EMU_ASYNC_H
#define EMU_ASYNC_H

#include <stddef.h>

namespace emu {

struct engine {
    virtual ~engine() = default;
    virtual void begin_block() = 0;
    virtual size_t steps() const = 0; /* that could happen now */
    virtual void run(size_t step) = 0;
    /* All threads have ended: reports what must not be left. */
    virtual void end_block() = 0;
};

/* Every engine of the emulated chip, in a fixed order. */
engine *const *engines(size_t *count);

} // namespace emu

#endif
