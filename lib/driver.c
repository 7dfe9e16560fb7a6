/* SPDX-License-Identifier: MIT */
/* Opening and checking libcuda. */
#include "driver.h"

#include <pthread.h>

#include "fork.h"
#include "library.h"

#define OLDEST_DRIVER 12000 /* cuLibraryLoadData, tensor maps: CUDA 12.0 */

#define TEXT(name) #name
#define EXPANDED_TEXT(name) TEXT(name)

#define SYMBOL(name) {EXPANDED_TEXT(name), offsetof(struct jg_cuda, name)},

static const struct jg_symbol symbols[] = {JG_CUDA_FUNCTIONS(SYMBOL)};

jitgemm_status jg_driver_alive(const struct jg_cuda *cuda)
{
    if (cuda->generation == jg_fork_generation())
        return JITGEMM_OK;
    return jg_fail(JITGEMM_E_FORKED,
                   "the CUDA driver was opened before this process was "
                   "forked, and does not work in a child; fork before the "
                   "first context, or use posix_spawn or exec");
}

int jg_driver_newest(const struct jg_cuda *cuda)
{
    return cuda ? cuda->version / 1000 : 0;
}

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
    const char *missing, *why;
    CUresult result;
    void *library = jg_library_open(path, &why);

    if (!library)
        return jg_fail(JITGEMM_E_NO_DRIVER, "no CUDA driver: %s", why);
    missing = jg_library_fill(library, symbols,
                              sizeof symbols / sizeof *symbols, cuda);
    if (missing)
        return jg_fail(JITGEMM_E_NO_DRIVER,
                       "CUDA driver too old: %s has no %s (12.0 is the "
                       "oldest supported)",
                       path, missing);
    result = cuda->cuDriverGetVersion(&cuda->version);
    if (result == CUDA_SUCCESS && cuda->version < OLDEST_DRIVER)
        return jg_fail(JITGEMM_E_NO_DRIVER,
                       "CUDA driver too old: %s supports CUDA %d.%d; 12.0 is "
                       "the oldest supported",
                       path, cuda->version / 1000,
                       cuda->version % 1000 / 10);
    if (result == CUDA_SUCCESS)
        result = cuda->cuInit(0);
    if (result != CUDA_SUCCESS)
        return jg_driver_fail(cuda, result, "cuInit");
    return JITGEMM_OK;
}

jitgemm_status jg_driver_cuda(const struct jg_env *env,
                              const struct jg_cuda **cuda)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct jg_cuda table;
    static bool opened;
    jitgemm_status status = JITGEMM_OK;

    pthread_mutex_lock(&lock);
    if (!opened) {
        status = open_cuda(env->libcuda ? env->libcuda : "libcuda.so.1",
                           &table);
        opened = status == JITGEMM_OK;
        table.generation = jg_fork_generation();
    } else {
        status = jg_driver_alive(&table);
    }
    pthread_mutex_unlock(&lock);
    if (status == JITGEMM_OK)
        *cuda = &table;
    return status;
}
