/* SPDX-License-Identifier: MIT */
/* A libnvrtc that makes a cubin of nothing: counts its compiles, takes its
 * time, and fails on demand. Also serves as its own builtins. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include "fake_nvrtc.h"

#include <nvrtc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct fake_nvrtc fake_nvrtc = {.major = 13, .minor = 0, .ms = 20};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char report[] = "ptxas info : Used 40 registers, 64 bytes smem\n"
                             "0 bytes spill stores, 8 bytes spill loads\n";
static const char complaint[] = "gemm/x.cu(1): note: look\n"
                                "gemm/x.cu(2): error: as told\n";

/* As much of an ELF header as says "cubin for SM 90". */
static const unsigned char cubin[64] = {
    0x7f, 'E', 'L', 'F', 2, 1, 1, 65, 8, [16] = 2, [18] = 190, [20] = 1,
    [49] = 90,
};

struct _nvrtcProgram {
    char name[sizeof fake_nvrtc.name];
    int failed;
    int (*stop)(void *, void *);
    void *payload;
};

nvrtcResult nvrtcVersion(int *major, int *minor)
{
    fake_nvrtc.asked++;
    *major = fake_nvrtc.major;
    *minor = fake_nvrtc.minor;
    return NVRTC_SUCCESS;
}

const char *nvrtcGetErrorString(nvrtcResult result)
{
    return result == NVRTC_ERROR_COMPILATION ? "NVRTC_ERROR_COMPILATION"
                                             : "NVRTC_ERROR_FAKE";
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source,
                               const char *name, int headers,
                               const char *const *texts,
                               const char *const *names)
{
    (void)source;
    (void)headers;
    (void)texts;
    (void)names;
    *program = calloc(1, sizeof **program);
    if (!*program)
        return NVRTC_ERROR_OUT_OF_MEMORY;
    snprintf((*program)->name, sizeof(*program)->name, "%s", name);
    return NVRTC_SUCCESS;
}

#ifndef FAKE_OLD
nvrtcResult nvrtcSetFlowCallback(nvrtcProgram program,
                                 int (*callback)(void *, void *),
                                 void *payload)
{
    program->stop = callback;
    program->payload = payload;
    return NVRTC_SUCCESS;
}
#endif

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    free(*program);
    *program = NULL;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count,
                                const char *const *options)
{
    struct timespec step = {0, 1000 * 1000};
    nvrtcResult result;
    size_t used = 0;

    pthread_mutex_lock(&lock);
    fake_nvrtc.begun++;
    pthread_mutex_unlock(&lock);
    for (int ms = 0; ms < fake_nvrtc.ms || *(volatile int *)&fake_nvrtc.hold;
         ms++) {
        nanosleep(&step, NULL);
        if (program->stop && program->stop(program->payload, NULL)) {
            program->failed = 1;
            return (nvrtcResult)16; /* NVRTC_ERROR_CANCELLED */
        }
    }
    pthread_mutex_lock(&lock);
    fake_nvrtc.compiles++;
    result = (nvrtcResult)fake_nvrtc.result;
    memcpy(fake_nvrtc.name, program->name, sizeof fake_nvrtc.name);
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(fake_nvrtc.options + used,
                                 sizeof fake_nvrtc.options - used, "%s\n",
                                 options[i]);
    pthread_mutex_unlock(&lock);
    program->failed = result != NVRTC_SUCCESS;
    return result;
}

static const char *log_of(nvrtcProgram program)
{
    return program->failed ? complaint : report;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size)
{
    *size = strlen(log_of(program)) + 1;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log)
{
    memcpy(log, log_of(program), strlen(log_of(program)) + 1);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *size)
{
    (void)program;
    *size = sizeof cubin;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *to)
{
    (void)program;
    memcpy(to, cubin, sizeof cubin);
    return NVRTC_SUCCESS;
}
