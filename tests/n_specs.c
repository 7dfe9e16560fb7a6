/* SPDX-License-Identifier: MIT */
/* NVRTC compiles every kernel of every configuration: no warning, no spill,
 * and a register count that the warpgroups' shares add up to. Of kernels that
 * are not products, and of architectures like another, it takes one in five,
 * and of A of 16 bits one type, but "n_specs --all [FOLDER]" all, and writes
 * the cubins there, for n_sass.sh; "n_specs --find" only looks for NVRTC. */
#include <stdlib.h>

#include "compile.h"
#include "conversion_spec.h"
#include "plan.h"
#include "test.h"

static bool all;
static const char *folder; /* for cubins, or NULL */

/* Of the kernels that it is asked about, all but each fifth. */
static bool is_left_out(void)
{
    static int asked;

    return !all && asked++ % 5;
}

/* The constant of that name in a spec's text, or 0. */
static int constant(const struct jg_spec *spec, const char *name)
{
    const char *at = strstr(spec->text, name);

    return at ? atoi(at + strlen(name) + strlen(" = ")) : 0;
}

static void write_cubin(const struct jg_spec *spec, const struct jg_buf *cubin)
{
    static int number;
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s-%s-%d.cubin", folder, spec->arch,
             spec->symbol, number++);
    file = fopen(path, "wb");
    CHECK(file && fwrite(cubin->data, 1, cubin->size, file) == cubin->size);
    CHECK(file && fclose(file) == 0);
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
              (spec->threads / 128 - 1) *
                  constant(spec, "consumer_registers") <=
          spec->threads / 128 * (int)result.registers);
    CHECK(spec->shared_bytes <= 232448); /* 227 KiB */
    /* As many blocks as are meant to share a multiprocessor's 228 KiB, of
     * which the driver takes one for each. */
    CHECK(constant(spec, "int blocks") * (spec->shared_bytes + 1024) <=
          233472);
    CHECK(strlen(spec->name) + 1 < sizeof spec->name); /* not cut */
    printf("%-48s %3u registers, %6zu bytes, %4.0f ms\n", spec->name,
           result.registers, result.cubin.size, result.ms);
    if (folder)
        write_cubin(spec, &result.cubin);
    jg_compiled_free(&result);
}

static void check_config(const struct jg_nvrtc *nvrtc,
                         const struct jg_device *device,
                         const struct jg_config *config)
{
    for (int i = 0; i < jg_spec_count(config); i++) {
        struct jg_spec spec;

        jg_spec_make(config, device, i, &spec);
        check_spec(nvrtc, &spec);
    }
}

static void check_conversion(const struct jg_nvrtc *nvrtc,
                             const struct jg_device *device,
                             const jitgemm_conversion_options *options)
{
    struct jg_conversion_kind kind;
    struct jg_spec spec;

    CHECK_INT(jg_conversion_kind_read(options, &kind), JITGEMM_OK);
    jg_conversion_spec(&kind, device, &spec);
    check_spec(nvrtc, &spec);
}

/* All kinds of quantization for Hopper, of other architectures a few: the texts
 * ask for none. */
static void check_quantization(const struct jg_nvrtc *nvrtc,
                              const struct jg_device *device)
{
    static const jitgemm_type types[] = {JITGEMM_F16, JITGEMM_BF16,
                                         JITGEMM_E4M3};

    for (int i = 0; i < 3 * 2 * 6 * 6; i++) {
        jitgemm_conversion_options options = {
            .size = sizeof options,
            .x_type = types[i % 3],
            .layout = (jitgemm_layout)(i / 3 % 2),
            .place = (jitgemm_place)(i % 36 / 6 % 5),
            .scale_order = (jitgemm_scale_order)(i % 36 / 30),
            .activation = (jitgemm_activation)(i / 36 % 5),
            .flags = i / 36 == 5 ? JITGEMM_GATHER : 0,
        };
        struct jg_conversion_kind kind;

        if (device->family != JG_SM90 && i % 7)
            continue;
        if (jg_conversion_kind_read(&options, &kind) != JITGEMM_OK)
            continue; /* which t_conversion.c looks at */
        if (!is_left_out())
            check_conversion(nvrtc, device, &options);
    }
}

static void check_casts(const struct jg_nvrtc *nvrtc,
                        const struct jg_device *device)
{
    for (int i = 0; i < 2 * 2 * 2 * 2 * 5; i++) {
        jitgemm_conversion_options options = {
            .size = sizeof options,
            .flags = JITGEMM_CAST | (i / 8 % 2 ? JITGEMM_GATHER : 0),
            .x_type = (jitgemm_type)(i % 2),
            .c_type = (jitgemm_type)(i / 2 % 2),
            .layout = (jitgemm_layout)(i / 4 % 2),
            .activation = (jitgemm_activation)(i / 16),
        };

        if (!is_left_out())
            check_conversion(nvrtc, device, &options);
    }
}

static void check_combine(const struct jg_nvrtc *nvrtc,
                          const struct jg_device *device)
{
    for (int i = 0; i < 9; i++) {
        jitgemm_conversion_options options = {
            .size = sizeof options,
            .flags = JITGEMM_COMBINE,
            .x_type = (jitgemm_type)(i % 3),
            .c_type = (jitgemm_type)(i / 3),
        };

        if (!is_left_out())
            check_conversion(nvrtc, device, &options);
    }
}

/* Each of another C, too. */
static void check_input(const struct jg_nvrtc *nvrtc,
                        const struct jg_device *device,
                        struct jg_config config, enum jg_input input)
{
    config.input = input;
    config.output = input == JG_IN_F16 ? JG_F32 : JG_BF16;
    check_config(nvrtc, device, &config);
    if (input != JG_IN_BF16)
        return;
    config.weights = JG_W_MXFP4;
    check_config(nvrtc, device, &config);
}

/* With strides, added to C, or both. */
static void check_rows(const struct jg_nvrtc *nvrtc,
                       const struct jg_device *device, struct jg_config config,
                       int i)
{
    config.strided = i % 3 != 1;
    config.accumulate = i % 3 != 2;
    config.output = (enum jg_output)(i / 3 % 3);
    check_config(nvrtc, device, &config);
}

/* That of experts, of every kind; with strides and zeros a few. */
static void check_experts(const struct jg_nvrtc *nvrtc,
                          const struct jg_device *device,
                          const struct jg_config *row)
{
    struct jg_config config = *row;
    struct jg_spec spec;

    config.experts = true;
    for (int i = 0; i < 2 * 5; i++) {
        config.layout = (enum jg_rows)(i / 5);
        config.place = (enum jg_scale_place)(i % 5);
        if (config.layout == JG_STACKED && config.place == JG_STRIDED)
            continue;
        if (is_left_out())
            continue;
        for (int more = 0; more < (i % 5 == 1 ? 4 : 1); more++) {
            config.strided = more % 2;
            config.zero_tail = more / 2;
            jg_spec_make(&config, device, 0, &spec);
            check_spec(nvrtc, &spec);
        }
    }
}

/* Those that make the table of groups themselves. */
static void check_own_table(const struct jg_nvrtc *nvrtc,
                            const struct jg_device *device,
                            struct jg_config config, int i)
{
    if (device->family != JG_SM90 || config.ctas > 1 || (!all && i % 3))
        return;
    config.own_table = true;
    check_config(nvrtc, device, &config);
    check_input(nvrtc, device, config, JG_IN_BF16);
    check_rows(nvrtc, device, config, i);
}

/* Every row of the table; and of some every kind of C, and both kinds of maps.
 */
static void check_arch(const struct jg_nvrtc *nvrtc, const char *arch)
{
    struct jg_device device;
    const struct jg_model *model;
    struct jg_config config;

    CHECK_INT(jg_device_of_arch(arch, &device), JITGEMM_OK);
    check_quantization(nvrtc, &device);
    check_casts(nvrtc, &device);
    check_combine(nvrtc, &device);
    model = jg_model_of(device.family);
    check_experts(nvrtc, &device, &model->configs[0]);
    check_experts(nvrtc, &device, &model->configs[model->count - 1]);
    for (int i = 0; i < model->count; i++) {
        config = model->configs[i];
        if (strcmp(arch, "sm_90a") != 0 && strcmp(arch, "sm_100a") != 0 &&
            is_left_out())
            continue;
        check_config(nvrtc, &device, &config);
        if (device.family == JG_SM90 && (all || i % 2))
            check_input(nvrtc, &device, config, JG_IN_F16);
        if (device.family == JG_SM90 && (all || i % 2 == 0))
            check_input(nvrtc, &device, config, JG_IN_BF16);
        check_rows(nvrtc, &device, config, i);
        check_own_table(nvrtc, &device, config, i);
        if (i % 4)
            continue;
        config.edits_maps = device.family == JG_SM100;
        for (int type = JG_BF16; type <= JG_F32; type++) {
            config.output = (enum jg_output)type;
            check_config(nvrtc, &device, &config);
        }
    }
}

/* The error has the compiler's words, and says which compiler it is. */
static void check_unknown_arch(const struct jg_nvrtc *nvrtc)
{
    struct jg_compiled result = {0};
    struct jg_device device;
    struct jg_spec spec;
    const char *text = jitgemm_last_error()->text;

    CHECK_INT(jg_device_of_arch("sm_90a", &device), JITGEMM_OK);
    jg_spec_make(&jg_model_sm90.configs[0], &device, 0, &spec);
    snprintf(spec.arch, sizeof spec.arch, "sm_999a");
    CHECK_INT(jg_compile(nvrtc, &spec, &result), JITGEMM_E_COMPILE);
    CHECK(strstr(text, "for sm_999a: ") != NULL);
    CHECK(strstr(text, "gpu-architecture") != NULL);
    CHECK(strstr(text, nvrtc->path) != NULL);
    jg_compiled_free(&result);
}

int main(int count, char **arguments)
{
    static const char *const archs[] = {"sm_90a", "sm_100a", "sm_103a",
                                        "sm_100f"};
    const struct jg_nvrtc *nvrtc;

    const char *option = count > 1 ? arguments[1] : "";

    all = strcmp(option, "--all") == 0;
    folder = all && count > 2 ? arguments[2] : NULL;
    if (jg_compiler_open(0, &nvrtc) != JITGEMM_OK) {
        printf("skipped: %s\n", jitgemm_last_error()->text);
        return TEST_SKIP;
    }
    if (strcmp(option, "--find") == 0)
        return 0;
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        if (jg_compiler_check(nvrtc, archs[i]) == JITGEMM_OK)
            check_arch(nvrtc, archs[i]);
        else
            printf("not compiled: %s\n", jitgemm_last_error()->text);
    }
    check_unknown_arch(nvrtc);
    return test_end();
}
