/* SPDX-License-Identifier: MIT */
/* Structs that begin with their size. */
#include "abi.h"

#include <string.h>

static jitgemm_status check(uint32_t size, size_t least, const char *name)
{
    if (size >= least)
        return JITGEMM_OK;
    return jg_fail_argument(JITGEMM_E_VERSION, name, -1, size, (int64_t)least,
                            "%s->size is %u, not the size of the struct (at "
                            "least %zu)",
                            name, size, least);
}

jitgemm_status jg_abi_read(void *to, size_t known, size_t least,
                           const void *from, const char *name)
{
    const unsigned char *bytes = from;
    uint32_t size;
    jitgemm_status status;

    if (!from)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, name, -1, 0, 0,
                                "%s is NULL", name);
    memcpy(&size, from, sizeof size);
    status = check(size, least, name);
    if (status != JITGEMM_OK)
        return status;
    for (size_t i = known; i < size; i++)
        if (bytes[i])
            return jg_fail_argument(
                JITGEMM_E_VERSION, name, -1, size, (int64_t)known,
                "%s has a field set that this version does not know: size is "
                "%u, known are %zu bytes",
                name, size, known);
    memset(to, 0, known);
    memcpy(to, from, size < known ? size : known);
    return JITGEMM_OK;
}

jitgemm_status jg_abi_write(void *to, const void *from, size_t known,
                            size_t least, const char *name)
{
    uint32_t size;
    jitgemm_status status;

    if (!to)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, name, -1, 0, 0,
                                "%s is NULL", name);
    memcpy(&size, to, sizeof size);
    status = check(size, least, name);
    if (status != JITGEMM_OK)
        return status;
    memcpy(to, from, size < known ? size : known);
    memcpy(to, &size, sizeof size);
    return JITGEMM_OK;
}
