/* SPDX-License-Identifier: MIT */
/* Finding, opening and checking libcuda and libnvrtc. */
#define _GNU_SOURCE /* dlinfo, dl_iterate_phdr */
#include "driver.h"

#include <config.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "buf.h"

#define OLDEST_DRIVER 12000 /* cuLibraryLoadData, tensor maps: CUDA 12.0 */

#define TEXT(name) #name
#define EXPANDED_TEXT(name) TEXT(name)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct symbol {
    const char *name;
    size_t offset; /* of its pointer in the table */
};

/* Fills the pointers of a table; false, with the name, if one is missing. */
static bool find_symbols(void *library, const struct symbol *symbols,
                         size_t count, void *table, const char **missing)
{
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(library, symbols[i].name);

        *missing = symbols[i].name;
        if (!address)
            return false;
        memcpy((char *)table + symbols[i].offset, &address, sizeof address);
    }
    return true;
}

/* ---- libcuda ---------------------------------------------------------- */

#define CUDA_SYMBOL(name) {EXPANDED_TEXT(name), offsetof(struct jg_cuda, name)},

static const struct symbol cuda_symbols[] = {JG_CUDA_FUNCTIONS(CUDA_SYMBOL)};

jitgemm_status jg_driver_fail(const struct jg_cuda *cuda, CUresult result,
                              const char *call)
{
    const char *name = NULL, *text = NULL;
    jitgemm_status status = JITGEMM_E_DRIVER;

    cuda->cuGetErrorName(result, &name);
    cuda->cuGetErrorString(result, &text);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        status = JITGEMM_E_MEMORY;
    else if (result == CUDA_ERROR_NO_DEVICE ||
             result == CUDA_ERROR_INVALID_DEVICE)
        status = JITGEMM_E_NO_DEVICE;
    else if (result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED ||
             result == CUDA_ERROR_NOT_PERMITTED)
        status = JITGEMM_E_NOT_READY; /* in a capture: drivers before 12.3 */
    jg_fail(status, "%s: %s (%d): %s", call, name ? name : "unknown error",
            (int)result, text ? text : "no text");
    jg_error()->cuda = (int32_t)result;
    return status;
}

static jitgemm_status open_cuda(const char *path, struct jg_cuda *cuda)
{
    const char *missing;
    CUresult result;
    int version = 0;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return jg_fail(JITGEMM_E_NO_DRIVER, "no CUDA driver: %s", dlerror());
    if (!find_symbols(library, cuda_symbols,
                      sizeof cuda_symbols / sizeof *cuda_symbols, cuda,
                      &missing))
        return jg_fail(JITGEMM_E_NO_DRIVER,
                       "CUDA driver too old: %s has no %s (12.0 is the "
                       "oldest supported)",
                       path, missing);
    result = cuda->cuDriverGetVersion(&version);
    if (result == CUDA_SUCCESS && version < OLDEST_DRIVER)
        return jg_fail(JITGEMM_E_NO_DRIVER,
                       "CUDA driver too old: %s supports CUDA %d.%d; 12.0 is "
                       "the oldest supported",
                       path, version / 1000, version % 1000 / 10);
    if (result == CUDA_SUCCESS)
        result = cuda->cuInit(0);
    if (result != CUDA_SUCCESS)
        return jg_driver_fail(cuda, result, "cuInit");
    return JITGEMM_OK;
}

jitgemm_status jg_driver_cuda(const struct jg_env *env,
                              const struct jg_cuda **cuda)
{
    static struct jg_cuda table;
    static bool opened;
    jitgemm_status status = JITGEMM_OK;

    pthread_mutex_lock(&lock);
    if (!opened) {
        status = open_cuda(env->libcuda ? env->libcuda : "libcuda.so.1",
                           &table);
        opened = status == JITGEMM_OK;
    }
    pthread_mutex_unlock(&lock);
    if (status == JITGEMM_OK)
        *cuda = &table;
    return status;
}

/* ---- libnvrtc --------------------------------------------------------- */

#define NVRTC_SYMBOL(name) {TEXT(name), offsetof(struct jg_nvrtc, name)},

static const struct symbol nvrtc_symbols[] = {
    JG_NVRTC_FUNCTIONS(NVRTC_SYMBOL)};

struct build_id_search {
    ElfW(Addr) base;
    char *hex; /* JG_BUILD_ID_SIZE, "" until found */
};

/* ELF notes: name size, description size, type; then both, padded to 4. */
static void read_notes(const unsigned char *notes, size_t size, char *hex)
{
    ElfW(Nhdr) note;

    while (size >= sizeof note) {
        size_t name, all;
        const unsigned char *id;

        memcpy(&note, notes, sizeof note);
        name = (note.n_namesz + 3u) & ~3u;
        all = sizeof note + name + ((note.n_descsz + 3u) & ~3u);
        if (all > size)
            return;
        id = notes + sizeof note + name;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            memcmp(notes + sizeof note, "GNU", 4) == 0 &&
            2 * (size_t)note.n_descsz < JG_BUILD_ID_SIZE)
            for (size_t i = 0; i < note.n_descsz; i++)
                snprintf(hex + 2 * i, 3, "%02x", id[i]);
        notes += all;
        size -= all;
    }
}

static int visit_library(struct dl_phdr_info *info, size_t size, void *data)
{
    struct build_id_search *search = data;

    (void)size;
    if (info->dlpi_addr != search->base)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];

        if (part->p_type == PT_NOTE)
            read_notes((const unsigned char *)(info->dlpi_addr +
                                               part->p_vaddr),
                       part->p_memsz, search->hex);
    }
    return 1;
}

/* The GNU build id of an open library and the folder it came from; false if
 * it has none. */
static bool identify(void *library, char *hex, char *folder, size_t size)
{
    struct link_map *map;
    struct build_id_search search = {.hex = hex};
    char *slash;

    *hex = 0;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
        return false;
    search.base = map->l_addr;
    dl_iterate_phdr(visit_library, &search);
    snprintf(folder, size, "%s", map->l_name);
    slash = strrchr(folder, '/');
    if (slash)
        slash[1] = 0;
    else
        *folder = 0;
    return *hex != 0;
}

/* libnvrtc looks for its builtins by name only, at the first compile; opening
 * those beside it first makes sure that they are its own. */
static bool open_builtins(struct jg_nvrtc *nvrtc, const char *folder,
                          struct jg_buf *tried)
{
    char name[64], path[1024], unused[1024];
    void *library;

    snprintf(name, sizeof name, "libnvrtc-builtins.so.%d.%d", nvrtc->major,
             nvrtc->minor);
    snprintf(path, sizeof path, "%s%s", folder, name);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library &&
        identify(library, nvrtc->builtins_id, unused, sizeof unused))
        return true;
    jg_buf_printf(tried, "; %s: %s", path,
                  library ? "has no build id" : dlerror());
    return false;
}

static bool open_nvrtc(const char *path, struct jg_nvrtc *nvrtc,
                       struct jg_buf *tried)
{
    char folder[900];
    const char *missing;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        jg_buf_printf(tried, "; %s", dlerror());
        return false;
    }
    if (!find_symbols(library, nvrtc_symbols,
                      sizeof nvrtc_symbols / sizeof *nvrtc_symbols, nvrtc,
                      &missing)) {
        jg_buf_printf(tried, "; %s: has no %s", path, missing);
        return false;
    }
    if (nvrtc->nvrtcVersion(&nvrtc->major, &nvrtc->minor) != NVRTC_SUCCESS ||
        nvrtc->major < 12) {
        jg_buf_printf(tried, "; %s: older than 12.0", path);
        return false;
    }
    /* Without its id the cache could not tell its kernels from those of
     * another patch release. */
    if (!identify(library, nvrtc->id, folder, sizeof folder)) {
        jg_buf_printf(tried, "; %s: has no build id", path);
        return false;
    }
    return open_builtins(nvrtc, folder, tried);
}

static jitgemm_status find_nvrtc(const struct jg_env *env,
                                 struct jg_nvrtc *nvrtc)
{
    static const char *const usual[] = {
        "libnvrtc.so.13",
        "libnvrtc.so.12",
        JG_NVRTC_DIR "/libnvrtc.so.13",
        JG_NVRTC_DIR "/libnvrtc.so.12",
        "/usr/local/cuda/lib64/libnvrtc.so",
    };
    const char *const *paths = env->libnvrtc ? &env->libnvrtc : usual;
    size_t count = env->libnvrtc ? 1 : sizeof usual / sizeof *usual;
    struct jg_buf tried = {0};
    jitgemm_status status;

    for (size_t i = 0; i < count; i++) {
        if (open_nvrtc(paths[i], nvrtc, &tried)) {
            jg_buf_free(&tried);
            return JITGEMM_OK;
        }
    }
    status = jg_fail(JITGEMM_E_NO_NVRTC, "no usable NVRTC; tried%s",
                     tried.data ? (const char *)tried.data + 1 : "");
    jg_buf_free(&tried);
    return status;
}

jitgemm_status jg_driver_nvrtc(const struct jg_env *env,
                               const struct jg_nvrtc **nvrtc)
{
    static struct jg_nvrtc table;
    static bool opened;
    jitgemm_status status = JITGEMM_OK;

    pthread_mutex_lock(&lock);
    if (!opened) {
        status = find_nvrtc(env, &table);
        opened = status == JITGEMM_OK;
    }
    pthread_mutex_unlock(&lock);
    if (status == JITGEMM_OK)
        *nvrtc = &table;
    return status;
}
