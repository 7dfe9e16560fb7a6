/* SPDX-License-Identifier: MIT */
/* Which GPUs have kernels, and what is known of them. */
#include "device.h"

#include <stdio.h>
#include <string.h>

#include "driver.h"

/* Multiprocessors of the largest product: H200; B200; B300. Kernels for the
 * family of 10.0 run on all its members. */
static const struct jg_device known[] = {
    {"sm_90a", JG_SM90, 132},
    {"sm_100a", JG_SM100, 148},
    {"sm_103a", JG_SM100, 160},
    {"sm_100f", JG_SM100, 148},
};

jitgemm_status jg_device_of_arch(const char *arch, struct jg_device *device)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(arch, known[i].arch) == 0) {
            *device = known[i];
            return JITGEMM_OK;
        }
    }
    return jg_fail_argument(JITGEMM_E_ARCH, "arch", -1, 0, 0,
                            "no kernels for %s; supported: sm_90a, sm_100a, "
                            "sm_103a, sm_100f",
                            arch);
}

jitgemm_status jg_device_query(const struct jg_cuda *cuda, int handle,
                               struct jg_device *device)
{
    struct jg_device found;
    char arch[sizeof found.arch];
    int major, minor, sms;
    CUresult result = cuda->cuDeviceGetAttribute(
        &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, handle);
    jitgemm_status status;

    if (result == CUDA_SUCCESS)
        result = cuda->cuDeviceGetAttribute(
            &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, handle);
    if (result == CUDA_SUCCESS)
        result = cuda->cuDeviceGetAttribute(
            &sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, handle);
    if (result != CUDA_SUCCESS)
        return jg_driver_fail(cuda, result, "cuDeviceGetAttribute");
    /* From 9.0 on, kernels use instructions of one chip only: suffix a. */
    snprintf(arch, sizeof arch, "sm_%d%d%s", major % 100, minor % 10,
             major >= 9 ? "a" : "");
    status = jg_device_of_arch(arch, &found);
    if (status != JITGEMM_OK && major == 10)
        status = jg_device_of_arch("sm_100f", &found);
    if (status != JITGEMM_OK)
        return status;
    found.sms = sms;
    *device = found;
    return JITGEMM_OK;
}
