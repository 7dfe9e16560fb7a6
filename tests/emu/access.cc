/* SPDX-License-Identifier: MIT */
/* Plain loads and stores of a kernel. Compiled with -fsanitize=thread, though
 * not linked with it, a kernel calls these functions before each; those that
 * go to shared memory, or to an earlier launch's, are checked. Without the
 * option nothing calls them, and plain accesses show only by what they change.
 */
#include "machine.h"
#include "shared.h"

#include <string.h>

namespace {

/* Of a thread's stack, not far from what it uses now. */
bool is_local(const void *pointer)
{
    const char *here = static_cast<const char *>(__builtin_frame_address(0));
    ptrdiff_t distance = static_cast<const char *>(pointer) - here;

    return distance > -4096 && distance < 65536;
}

/* What a kernel reads of the place where it is. */
bool is_place(const void *pointer)
{
    const char *here = reinterpret_cast<const char *>(emu::here);
    const char *byte = static_cast<const char *>(pointer);

    return pointer == &emu::here ||
           (byte >= here && byte < here + sizeof *emu::here);
}

/* Other memory is guarded by pages, but for what an earlier launch may still
 * be using. */
void access(const void *pointer, size_t bytes, bool write)
{
    if (!emu::m || !emu::m->current)
        return;
    if (emu::shared_is_near(pointer)) {
        emu::shared_access(pointer, bytes, write);
        return;
    }
    if (is_local(pointer) || is_place(pointer))
        return;
    const emu_launch &launch = *emu::m->launch;
    if (launch.depend && launch.check && !emu::m->dependence_ran &&
        launch.check(pointer, bytes, write) < 0)
        emu::fail("missing-launch-wait",
                  "a thread %s %p, which an earlier launch may still be "
                  "using: no griddepcontrol.wait",
                  write ? "writes" : "reads", pointer);
    if (launch.touch)
        launch.touch(pointer, bytes, write, !emu::m->cluster_waited);
}

/* A vector's access on the device wants its address aligned to all of it. */
void aligned_access(const void *pointer, size_t bytes, bool write)
{
    if (emu::m && emu::m->current &&
        reinterpret_cast<uintptr_t>(pointer) % bytes)
        emu::fail("misaligned", "a thread %s %zu bytes at %p",
                  write ? "writes" : "reads", bytes, pointer);
    access(pointer, bytes, write);
}

} // namespace

#define HOOK extern "C" __attribute__((visibility("hidden"))) void

#define HOOKS(bytes)                                                          \
    HOOK __tsan_read##bytes(void *p)                                          \
    {                                                                         \
        aligned_access(p, bytes, false);                                      \
    }                                                                         \
    HOOK __tsan_write##bytes(void *p)                                         \
    {                                                                         \
        aligned_access(p, bytes, true);                                       \
    }                                                                         \
    HOOK __tsan_unaligned_read##bytes(void *p)                                \
    {                                                                         \
        access(p, bytes, false);                                              \
    }                                                                         \
    HOOK __tsan_unaligned_write##bytes(void *p)                               \
    {                                                                         \
        access(p, bytes, true);                                               \
    }

HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

HOOK __tsan_read_range(void *p, size_t bytes)
{
    access(p, bytes, false);
}

HOOK __tsan_write_range(void *p, size_t bytes)
{
    access(p, bytes, true);
}

extern "C" __attribute__((visibility("hidden"))) void *
__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    access(from, bytes, false);
    access(to, bytes, true);
    return memcpy(to, from, bytes);
}

extern "C" __attribute__((visibility("hidden"))) void *
__tsan_memmove(void *to, const void *from, size_t bytes)
{
    access(from, bytes, false);
    access(to, bytes, true);
    return memmove(to, from, bytes);
}

extern "C" __attribute__((visibility("hidden"))) void *
__tsan_memset(void *to, int byte, size_t bytes)
{
    access(to, bytes, true);
    return memset(to, byte, bytes);
}

HOOK __tsan_vptr_update(void **, void *)
{
}

HOOK __tsan_vptr_read(void **)
{
}

HOOK __tsan_func_entry(void *)
{
}

HOOK __tsan_func_exit(void)
{
}

HOOK __tsan_init(void)
{
    emu::shared_see_accesses();
}
