/* SPDX-License-Identifier: MIT */
/* libnvrtc and its builtins: found, checked, opened at run time and open until
 * the process ends. */
#ifndef JG_COMPILER_H
#define JG_COMPILER_H

#include <nvrtc.h>

#include "library.h"
#include "status.h"

/* Every function used, once. */
#define JG_NVRTC_FUNCTIONS(_)                                                 \
    _(nvrtcCompileProgram)                                                    \
    _(nvrtcCreateProgram)                                                     \
    _(nvrtcDestroyProgram)                                                    \
    _(nvrtcGetCUBIN)                                                          \
    _(nvrtcGetCUBINSize)                                                      \
    _(nvrtcGetErrorString)                                                    \
    _(nvrtcGetProgramLog)                                                     \
    _(nvrtcGetProgramLogSize)                                                 \
    _(nvrtcVersion)

struct jg_nvrtc {
#define JG_NVRTC_POINTER(name) __typeof__(name) *name;
    JG_NVRTC_FUNCTIONS(JG_NVRTC_POINTER)
#undef JG_NVRTC_POINTER
    /* Calls back while it compiles, until 1 is returned; NULL before 12.8. */
    nvrtcResult (*nvrtcSetFlowCallback)(nvrtcProgram program,
                                        int (*callback)(void *, void *),
                                        void *payload);
    int major, minor;
    char path[1024];
    /* Of libnvrtc and its builtins: they tell patch releases apart, which the
     * version does not. GNU build ids, or else size and digest of the file. */
    char id[JG_LIBRARY_ID_SIZE], builtins_id[JG_LIBRARY_ID_SIZE];
    /* How it is to be used, as the environment says. */
    bool any_version; /* also one that is known to fail */
    int timeout;      /* seconds that a compile may take; 0: any */
    bool line_info;
    char keep_source[1024]; /* folder for what is compiled, or "" */
    char absent[1024]; /* "", or why there is none: jg_compiler_absent() */
};

/* The compiler of this process, opened at the first success, as the
 * environment then says. `newest` is the newest major version that the driver
 * loads cubins of, 0 for any. E_NO_NVRTC names every library tried and why it
 * would not do. */
jitgemm_status jg_compiler_open(int newest, const struct jg_nvrtc **nvrtc);

/* What stands for the compiler where jg_compiler_open() has just failed: has
 * the settings, so that keys can be made that equal those of a compiler but
 * for what tells compilers apart; and the text of that error. */
void jg_compiler_absent(struct jg_nvrtc *nvrtc);

static inline bool jg_compiler_is_absent(const struct jg_nvrtc *nvrtc)
{
    return *nvrtc->absent;
}

/* Whether it is fit to compile for the architecture: E_NO_NVRTC if it is a
 * version known not to be. */
jitgemm_status jg_compiler_check(const struct jg_nvrtc *nvrtc,
                                 const char *arch);

#endif
