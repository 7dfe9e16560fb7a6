/* SPDX-License-Identifier: MIT */
/* What a conversion is made for, and its kernel. Pure. */
#ifndef JG_CONVERSION_SPEC_H
#define JG_CONVERSION_SPEC_H

#include <base/conversion.h>
#include <stdbool.h>

#include "spec.h"

struct jg_conversion_kind {
    jitgemm_type x_type;
    enum jg_rows layout;
    enum jg_scale_place place;
    enum jg_activation activation;
    bool gather;  /* rows of x */
    bool combine; /* them, to c_type */
    bool cast;    /* to c_type */
    jitgemm_type c_type;
    bool linear; /* scales in the order of the rows, which needs no place */
    bool dependent; /* launch */
    int sm_limit; /* multiprocessors; 0: all. Of this and of the launch the
                     kernel does not depend */
};

/* Checks the caller's options: E_ARGUMENT or E_VERSION. */
jitgemm_status jg_conversion_kind_read(const jitgemm_conversion_options *from,
                                       struct jg_conversion_kind *to);

void jg_conversion_spec(const struct jg_conversion_kind *kind,
                        const struct jg_device *device, struct jg_spec *spec);

/* k that a block of the kernel does at once. */
int jg_conversion_tile_k(const struct jg_conversion_kind *kind);

#endif
