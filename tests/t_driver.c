/* SPDX-License-Identifier: MIT */
/* What is said of a libcuda that is missing, too old, foreign or without a
 * GPU. A failure is not remembered: each case is followed by the next. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "driver.h"

#include <stdlib.h>

#include "fake/fakes.h"
#include "test.h"

static struct fakes fakes;

/* Opening gives `status` with a text that has these words. */
#define CHECK_OPEN(open, status_, word, other)                                \
    do {                                                                      \
        struct jg_env env_ = jg_env_read();                                   \
        CHECK_INT(open, status_);                                             \
        CHECK_INT(jitgemm_last_error()->status, status_);                     \
        CHECK(strstr(jitgemm_last_error()->text, word) != NULL);              \
        CHECK(strstr(jitgemm_last_error()->text, other) != NULL);             \
    } while (0)

static void test_cuda(const char *fake)
{
    const struct jg_cuda *cuda = NULL;

    setenv("JITGEMM_LIBCUDA", "/nowhere/libcuda.so.1", 1);
    CHECK_OPEN(jg_driver_cuda(&env_, &cuda), JITGEMM_E_NO_DRIVER,
               "/nowhere/libcuda.so.1", "no CUDA driver");
    setenv("JITGEMM_LIBCUDA", "libc.so.6", 1);
    CHECK_OPEN(jg_driver_cuda(&env_, &cuda), JITGEMM_E_NO_DRIVER, "libc.so.6",
               "has no cu");
    setenv("JITGEMM_LIBCUDA", fake, 1);
    fakes.cuda->version = 11080;
    CHECK_OPEN(jg_driver_cuda(&env_, &cuda), JITGEMM_E_NO_DRIVER, "11.8",
               "12.0 is the oldest");
    fakes.cuda->version = 13000;
    fakes.cuda->fail = "cuInit";
    fakes.cuda->fail_result = CUDA_ERROR_NO_DEVICE;
    CHECK_OPEN(jg_driver_cuda(&env_, &cuda), JITGEMM_E_NO_DEVICE, "cuInit",
               "(100)");
    CHECK_INT(jitgemm_last_error()->cuda, CUDA_ERROR_NO_DEVICE);
    CHECK(cuda == NULL);
    fakes.cuda->fail = NULL;
    CHECK_INT(jg_driver_cuda(&(struct jg_env){.libcuda = fake}, &cuda),
              JITGEMM_OK);
    CHECK(cuda && cuda->cuMemAlloc != NULL);
}

int main(void)
{
    char *fake;

    fakes = fakes_open();
    fake = strdup(getenv("JITGEMM_LIBCUDA"));
    test_cuda(fake);
    free(fake);
    fakes_close(&fakes);
    return test_end();
}
