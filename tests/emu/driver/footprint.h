/* SPDX-License-Identifier: MIT */
/* Which bytes of device memory something reads and writes. */
#ifndef EMU_DRIVER_FOOTPRINT_H
#define EMU_DRIVER_FOOTPRINT_H

#include <stddef.h>
#include <stdint.h>

#include <vector>

namespace emu_driver {

class footprint
{
  public:
    struct span {
        uintptr_t begin, end;
    };
    void add(uintptr_t address, size_t bytes, bool write);

    /* Joins spans that touch; what follows wants it done. */
    void settle();
    const std::vector<span> &all(bool write) const
    {
        return spans[write];
    }
    /* A byte that both use and one of them writes; 0 if there is none. */
    uintptr_t conflict(const footprint &other) const;

  private:
    std::vector<span> spans[2]; /* read, written */
    size_t most = 4096;         /* spans before they are joined */
};

} // namespace emu_driver

#endif
