/* SPDX-License-Identifier: MIT */
/* Opening and checking libnvrtc. */
#define _POSIX_C_SOURCE 200809L /* fstat, mmap */
#include "compiler.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler_places.h"
#include "key.h"

enum { OLDEST = 12, NEWEST = 13 }; /* major versions that are known */

#define SYMBOL(name) {#name, offsetof(struct jg_nvrtc, name)},

static const struct jg_symbol symbols[] = {JG_NVRTC_FUNCTIONS(SYMBOL)};

/* ---- Identity --------------------------------------------------------- */

/* Size and digest of a file; false if it cannot be read. */
static bool digest_file(const char *path, char id[JG_LIBRARY_ID_SIZE])
{
    char digest[JG_KEY_NAME_LENGTH + 1];
    struct stat info;
    void *bytes = MAP_FAILED;
    int file = open(path, O_RDONLY | O_CLOEXEC);

    if (file < 0)
        return false;
    if (fstat(file, &info) == 0 && info.st_size > 0)
        bytes =
            mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED)
        return false;
    jg_key_digest(bytes, (size_t)info.st_size, digest);
    munmap(bytes, (size_t)info.st_size);
    snprintf(id, JG_LIBRARY_ID_SIZE, "%lld-%s", (long long)info.st_size,
             digest);
    return true;
}

/* Without its identity the cache could not tell a library's kernels from
 * those of another patch release. */
static bool identify(void *library, char id[JG_LIBRARY_ID_SIZE])
{
    return jg_library_build_id(library, id) ||
           digest_file(jg_library_path(library), id);
}

/* ---- Opening ---------------------------------------------------------- */

static void add_reason(struct jg_buf *tried, const char *path,
                       const char *reason)
{
    size_t length = strlen(path);

    /* The loader begins with the path, too. */
    if (strncmp(reason, path, length) == 0 &&
        strncmp(reason + length, ": ", 2) == 0)
        reason += length + 2;
    jg_buf_printf(tried, "; %s: %s", path, reason);
}

/* libnvrtc looks for its builtins by name only, at the first compile; opening
 * those beside it first makes sure that they are its own. */
static bool open_builtins(struct jg_nvrtc *nvrtc, struct jg_buf *tried)
{
    char name[64], path[sizeof nvrtc->path + sizeof name];
    const char *slash = strrchr(nvrtc->path, '/'), *why = "", *unused;
    int folder = slash ? (int)(slash + 1 - nvrtc->path) : 0;
    void *library;

    snprintf(name, sizeof name, "libnvrtc-builtins.so.%d.%d", nvrtc->major,
             nvrtc->minor);
    snprintf(path, sizeof path, "%.*s%s", folder, nvrtc->path, name);
    library = jg_library_open(path, &why);
    if (!library)
        add_reason(tried, path, why);
    if (!library)
        library = jg_library_open(name, &unused);
    if (library && identify(library, nvrtc->builtins_id))
        return true;
    if (library)
        add_reason(tried, path, "cannot be read");
    return false;
}

/* Why an open library will not do, or NULL. */
static const char *refuse(void *library, int newest, struct jg_nvrtc *nvrtc,
                          char *text, size_t size)
{
    const char *missing = jg_library_fill(
        library, symbols, sizeof symbols / sizeof *symbols, nvrtc);
    void *optional = jg_library_find(library, "nvrtcSetFlowCallback");

    memcpy(&nvrtc->nvrtcSetFlowCallback, &optional, sizeof optional);
    if (missing) {
        snprintf(text, size, "has no %s", missing);
        return text;
    }
    if (nvrtc->nvrtcVersion(&nvrtc->major, &nvrtc->minor) != NVRTC_SUCCESS)
        return "does not say its version";
    snprintf(text, size, "is version %d.%d; %d.0 to %d.x will do",
             nvrtc->major, nvrtc->minor, OLDEST,
             newest && newest < NEWEST ? newest : NEWEST);
    if (nvrtc->major < OLDEST || nvrtc->major > NEWEST ||
        (newest && nvrtc->major > newest))
        return text;
    if (!identify(library, nvrtc->id))
        return "cannot be read";
    return NULL;
}

static bool open_one(const char *path, int newest, struct jg_nvrtc *nvrtc,
                     struct jg_buf *tried)
{
    char text[80];
    const char *why;
    void *library;

    if (strchr(path, '/') && access(path, F_OK) != 0) {
        add_reason(tried, path, "is not there");
        return false;
    }
    library = jg_library_open(path, &why);
    if (!library) {
        add_reason(tried, path, why);
        return false;
    }
    snprintf(nvrtc->path, sizeof nvrtc->path, "%s", jg_library_path(library));
    why = refuse(library, newest, nvrtc, text, sizeof text);
    if (!why)
        return open_builtins(nvrtc, tried);
    add_reason(tried, path, why);
    return false;
}

static void read_settings(const struct jg_env *env, struct jg_nvrtc *nvrtc)
{
    nvrtc->any_version = env->any_nvrtc;
    nvrtc->timeout = env->compile_timeout;
    nvrtc->line_info = env->line_info;
    snprintf(nvrtc->keep_source, sizeof nvrtc->keep_source, "%s",
             env->keep_source ? env->keep_source : "");
}

static jitgemm_status find(int newest, struct jg_nvrtc *nvrtc)
{
    struct jg_env env = jg_env_read();
    struct jg_buf places = {0}, tried = {0};
    bool found = false;
    jitgemm_status status = JITGEMM_OK;

    read_settings(&env, nvrtc);
    jg_compiler_places(&env, &places);
    for (size_t at = 0; at < places.size && !found;
         at += strlen((const char *)places.data + at) + 1)
        found =
            open_one((const char *)places.data + at, newest, nvrtc, &tried);
    if (!found)
        status = jg_fail(JITGEMM_E_NO_NVRTC, "no usable NVRTC; tried%s",
                         tried.data ? (const char *)tried.data + 1 : "");
    jg_buf_free(&places);
    jg_buf_free(&tried);
    return status;
}

jitgemm_status jg_compiler_open(int newest, const struct jg_nvrtc **nvrtc)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct jg_nvrtc table;
    static bool opened;
    jitgemm_status status = JITGEMM_OK;

    pthread_mutex_lock(&lock);
    if (!opened) {
        status = find(newest, &table);
        opened = status == JITGEMM_OK;
    } else if (newest && table.major > newest) {
        status = jg_fail(JITGEMM_E_NO_NVRTC,
                         "NVRTC %d.%d is in use (%s), but the driver loads "
                         "no cubins of a version after %d.x; set "
                         "JITGEMM_LIBNVRTC to one of %d.x",
                         table.major, table.minor, table.path, newest, newest);
    }
    pthread_mutex_unlock(&lock);
    if (status == JITGEMM_OK)
        *nvrtc = &table;
    return status;
}

void jg_compiler_absent(struct jg_nvrtc *nvrtc)
{
    struct jg_env env = jg_env_read();

    memset(nvrtc, 0, sizeof *nvrtc);
    read_settings(&env, nvrtc);
    snprintf(nvrtc->absent, sizeof nvrtc->absent, "%s", jg_error()->text);
}

/* ---- Versions that are not used --------------------------------------- */

/* From `first` to `last`, both major * 100 + minor. */
static const struct bad {
    const char *arch; /* what its name begins with */
    int first, last;
    const char *why;
} bad_versions[] = {
    /* Up to 12.2 a syntax error in the PTX; 12.3 serializes wgmma. */
    {"sm_90", 1200, 1203, "does not compile its kernels well; 12.4 does"},
    /* Unknown modifier .block16. */
    {"sm_10", 1200, 1208, "does not know its instructions; 12.9 does"},
    {"sm_12", 1200, 1208, "does not know its instructions; 12.9 does"},
    /* https://github.com/NVIDIA/warp/issues/1118 */
    {"sm_10", 1301, 1303, "refuses good code for it; 13.0 and 13.4 do not"},
    {"sm_12", 1301, 1303, "refuses good code for it; 13.0 and 13.4 do not"},
};

jitgemm_status jg_compiler_check(const struct jg_nvrtc *nvrtc,
                                 const char *arch)
{
    int version = nvrtc->major * 100 + nvrtc->minor;

    if (nvrtc->any_version)
        return JITGEMM_OK;
    for (size_t i = 0; i < sizeof bad_versions / sizeof *bad_versions; i++) {
        const struct bad *bad = &bad_versions[i];

        if (strncmp(arch, bad->arch, strlen(bad->arch)) != 0 ||
            version < bad->first || version > bad->last)
            continue;
        return jg_fail(JITGEMM_E_NO_NVRTC,
                       "NVRTC %d.%d (%s) is not used for %s: it %s; set "
                       "JITGEMM_LIBNVRTC to another one, or "
                       "JITGEMM_ANY_NVRTC=1 to use it nevertheless",
                       nvrtc->major, nvrtc->minor, nvrtc->path, arch,
                       bad->why);
    }
    return JITGEMM_OK;
}
