/* SPDX-License-Identifier: MIT */
/* The facts about a GPU that plans depend on. */
#ifndef JG_DEVICE_H
#define JG_DEVICE_H

#include "status.h"

struct jg_cuda;

enum jg_family { JG_SM90, JG_SM100 }; /* that have kernels in common */

struct jg_device {
    char arch[12]; /* of its kernels: "sm_90a" */
    enum jg_family family;
    int sms; /* multiprocessors */
};

/* A full-size chip of that arch. E_ARCH names those supported. */
jitgemm_status jg_device_of_arch(const char *arch, struct jg_device *device);

/* The GPU of that CUdevice: E_ARCH or E_DRIVER. */
jitgemm_status jg_device_query(const struct jg_cuda *cuda, int handle,
                               struct jg_device *device);

#endif
