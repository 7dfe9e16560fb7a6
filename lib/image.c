/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L /* gethostname */
#include "image.h"

#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bool jg_image_read(struct jg_image *image, const struct jg_cache *cache,
                   const struct jg_key *key, jitgemm_source refused,
                   const struct jg_log *log)
{
    struct jg_entry entry;
    void *file = NULL;
    jitgemm_source source =
        jg_cache_get(cache, key, refused, &entry, &file, log);

    if (source == JITGEMM_SOURCE_NONE)
        return false;
    jg_buf_add(&image->cubin, entry.cubin.data, entry.cubin.size);
    image->registers = entry.registers;
    image->spill_bytes = entry.spill_bytes;
    image->shared_bytes = entry.shared_bytes;
    image->source = source;
    free(file);
    if (!image->cubin.failed)
        return true;
    memset(image, 0, sizeof *image);
    return false;
}

static struct jg_span span(const char *text)
{
    return (struct jg_span){text, strlen(text)};
}

static void publish(const struct jg_compiled *made,
                    const struct jg_cache *cache, const struct jg_key *key,
                    const struct jg_nvrtc *nvrtc, const struct jg_spec *spec,
                    const struct jg_log *log)
{
    char compiler[32], host[256] = "";
    struct jg_entry entry = {
        .key = {key->blob.data, key->blob.size},
        .cubin = {made->cubin.data, made->cubin.size},
        .symbol = span(spec->symbol),
        .arch = span(spec->arch),
        .library = span(PACKAGE_VERSION),
        .log = {made->log.data, made->log.size},
        .sm = (uint32_t)strtoul(spec->arch + 3, NULL, 10),
        .registers = made->registers,
        .spill_bytes = made->spill_bytes,
        .shared_bytes = made->shared_bytes,
        .compile_ms = made->ms,
        .created = (int64_t)time(NULL),
    };

    snprintf(compiler, sizeof compiler, "NVRTC %d.%d", nvrtc->major,
             nvrtc->minor);
    entry.compiler = span(compiler);
    gethostname(host, sizeof host - 1);
    entry.host = span(host);
    jg_cache_put(cache, key, &entry, log);
}

jitgemm_status
jg_image_compile(struct jg_image *image, const struct jg_cache *cache,
                 const struct jg_key *key, const struct jg_nvrtc *nvrtc,
                 const struct jg_spec *spec, const struct jg_log *log)
{
    struct jg_compiled made = {0};
    jitgemm_status status = jg_compile(nvrtc, spec, &made);

    jg_compile_log(&made, spec, log);
    if (status == JITGEMM_OK) {
        publish(&made, cache, key, nvrtc, spec, log);
        image->cubin = made.cubin;
        memset(&made.cubin, 0, sizeof made.cubin);
        image->registers = made.registers;
        image->spill_bytes = made.spill_bytes;
        image->shared_bytes = made.shared_bytes;
        image->source = JITGEMM_SOURCE_COMPILED;
    }
    jg_compiled_free(&made);
    return status;
}

jitgemm_status jg_image_load(struct jg_image *image,
                             const struct jg_cuda *cuda, const char *symbol)
{
    CUlibrary library = NULL;
    const char *call = "cuLibraryLoadData";
    CUresult result = cuda->cuLibraryLoadData(&library, image->cubin.data,
                                              NULL, NULL, 0, NULL, NULL, 0);

    if (result == CUDA_SUCCESS) {
        call = "cuLibraryGetKernel";
        result = cuda->cuLibraryGetKernel(&image->kernel, library, symbol);
    }
    if (result == CUDA_SUCCESS) { /* a lazy driver looks at the code here */
        CUfunction function;

        call = "cuKernelGetFunction";
        result = cuda->cuKernelGetFunction(&function, image->kernel);
    }
    if (result == CUDA_SUCCESS) {
        image->library = library;
        return JITGEMM_OK;
    }
    if (library)
        cuda->cuLibraryUnload(library);
    return jg_driver_fail(cuda, result, call);
}

bool jg_image_is_bad(const jitgemm_error *error)
{
    switch ((CUresult)error->cuda) {
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_NOT_FOUND:
    case CUDA_ERROR_FILE_NOT_FOUND:
        return true;
    default:
        return false;
    }
}

void jg_image_free(struct jg_image *image, const struct jg_cuda *cuda)
{
    if (image->library)
        cuda->cuLibraryUnload(image->library);
    jg_buf_free(&image->cubin);
    memset(image, 0, sizeof *image);
}
