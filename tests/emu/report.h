/* SPDX-License-Identifier: MIT */
/* How a launch ends with an error. */
#ifndef EMU_REPORT_H
#define EMU_REPORT_H

namespace emu {

struct failure { /* thrown through the scheduler only, never a fiber */
};

/* No thread can run and nothing is under way: names all who wait. */
[[noreturn]] void report_deadlock();

/* Leaves for the scheduler's end of the launch. */
[[noreturn]] void fail_switch();

} // namespace emu

#endif
