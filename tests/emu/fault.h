/* SPDX-License-Identifier: MIT */
/* Plain accesses of a kernel outside of mapped memory. */
#ifndef EMU_FAULT_H
#define EMU_FAULT_H

#include <signal.h>

namespace emu {

/* While it exists, a fault in a thread of the running launch ends the launch
 * with a report; any other goes to whoever handled faults before. */
struct fault_handler {
    fault_handler();
    ~fault_handler();
    fault_handler(const fault_handler &) = delete;
    fault_handler &operator=(const fault_handler &) = delete;

  private:
    void *stack;       /* for the handler */
    stack_t alternate; /* what the system had for it */
};

} // namespace emu

#endif
