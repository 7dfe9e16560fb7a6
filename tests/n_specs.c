/* SPDX-License-Identifier: MIT */
/* NVRTC compiles every kernel of every configuration: no warning, no spill,
 * and a register count that the warpgroups' shares add up to. */
#include <stdlib.h>

#include "compile.h"
#include "test.h"

/* The constant of that name in a spec's text, or 0. */
static int constant(const struct jg_spec *spec, const char *name)
{
    const char *at = strstr(spec->text, name);

    return at ? atoi(at + strlen(name) + strlen(" = ")) : 0;
}

static void check_spec(const struct jg_nvrtc *nvrtc,
                       const struct jg_spec *spec)
{
    struct jg_compiled result = {0};
    jitgemm_status status = jg_compile(nvrtc, spec, &result);
    const char *log = result.log.size ? (const char *)result.log.data : "";

    CHECK_INT(status, JITGEMM_OK);
    if (status != JITGEMM_OK)
        fprintf(stderr, "%s\n%s\n", jitgemm_last_error()->text, log);
    CHECK(result.cubin.size > 0);
    /* ptxas: C75xx says that wgmma was serialized or setmaxnreg ignored. */
    CHECK(strstr(log, "C7") == NULL);
    CHECK(strstr(log, "warning") == NULL);
    CHECK(strstr(log, spec->symbol) != NULL);
    CHECK_INT(result.spill_bytes, 0);
    CHECK(result.registers > 0);
    CHECK((int)result.registers * spec->threads <= 65536);
    /* A warpgroup that asks for more than others gave back waits for ever. */
    CHECK(constant(spec, "producer_registers") +
              2 * constant(spec, "consumer_registers") <=
          3 * (int)result.registers);
    CHECK(spec->shared_bytes <= 232448); /* 227 KiB */
    printf("%-48s %3u registers, %6zu bytes, %4.0f ms\n", spec->name,
           result.registers, result.cubin.size, result.ms);
    jg_compiled_free(&result);
}

/* The error has the compiler's words, and says which compiler it is. */
static void check_unknown_arch(const struct jg_nvrtc *nvrtc,
                               const struct jg_spec *known)
{
    struct jg_compiled result = {0};
    struct jg_spec spec = *known;
    const char *text = jitgemm_last_error()->text;

    snprintf(spec.arch, sizeof spec.arch, "sm_999a");
    CHECK_INT(jg_compile(nvrtc, &spec, &result), JITGEMM_E_COMPILE);
    CHECK(strstr(text, "for sm_999a: ") != NULL);
    CHECK(strstr(text, "gpu-architecture") != NULL);
    CHECK(strstr(text, nvrtc->path) != NULL);
    jg_compiled_free(&result);
}

int main(void)
{
    const struct jg_nvrtc *nvrtc;
    struct jg_device device;
    struct jg_spec spec;

    if (jg_compiler_open(0, &nvrtc) != JITGEMM_OK) {
        printf("skipped: %s\n", jitgemm_last_error()->text);
        return TEST_SKIP;
    }
    CHECK_INT(jg_device_of_arch("sm_90a", &device), JITGEMM_OK);
    for (int i = 0; i < jg_plan_configs_count; i++) {
        for (int j = 0; j < jg_spec_count(&jg_plan_configs[i]); j++) {
            jg_spec_make(&jg_plan_configs[i], &device, j, &spec);
            check_spec(nvrtc, &spec);
        }
    }
    check_unknown_arch(nvrtc, &spec);
    return test_end();
}
