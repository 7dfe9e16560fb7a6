/* SPDX-License-Identifier: MIT */
/* Measured choices: classes, the text of the file, and names of kernels. */
#include "plan.h"
#include "spec.h"
#include "test.h"
#include "tuning.h"

static const char first_line[] = "jitgemm tuning 1 sm_90a 132\n";
static struct jg_device device;

/* ---- Classes ---- */

static void test_classes(void)
{
    struct jg_size sizes[3] = {{5, 64, 96}, {0, 64, 96}, {4, 64, 96}};
    struct jg_problem problem = {.groups = 3, .sizes = sizes};
    struct jg_tuning_entry entry;

    CHECK(jg_tuning_class(&problem, &device, &entry));
    CHECK_STR(entry.class, "3x64x96 rows 16 longest 8 nvfp4 f16");
    sizes[1].m = 7; /* 16 rows, no more */
    CHECK(jg_tuning_class(&problem, &device, &entry));
    CHECK_STR(entry.class, "3x64x96 rows 16 longest 8 nvfp4 f16");
    sizes[2].m = 9;
    problem.input = JG_IN_BF16;
    problem.output = JG_F32;
    problem.on_device = problem.split_k = problem.accumulate = true;
    problem.row_c = 512;
    CHECK(jg_tuning_class(&problem, &device, &entry));
    CHECK_STR(entry.class, "3x64x96 rows 32 longest 16 bf16 f32 device "
                           "split-k strided accumulate");
    problem.accumulate = false;
    problem.row_c = 0;
    problem.sm_limit = 131; /* of 132 */
    CHECK(jg_tuning_class(&problem, &device, &entry));
    CHECK_STR(entry.class,
              "3x64x96 rows 32 longest 16 bf16 f32 device split-k sms 131");
    problem.sm_limit = 132;
    CHECK(jg_tuning_class(&problem, &device, &entry));
    CHECK_STR(entry.class,
              "3x64x96 rows 32 longest 16 bf16 f32 device split-k");
    problem.weights = JG_W_MXFP4;
    CHECK(jg_tuning_class(&problem, &device, &entry));
    CHECK_STR(entry.class,
              "3x64x96 rows 32 longest 16 bf16 mxfp4 f32 device split-k");
    sizes[0].m = sizes[1].m = sizes[2].m = 0;
    CHECK(jg_tuning_class(&problem, &device, &entry));
    CHECK(strstr(entry.class, " rows 0 longest 0 ") != NULL);
    sizes[1].k = 64;
    CHECK(!jg_tuning_class(&problem, &device, &entry));
    sizes[1].k = 96;
    sizes[2].n = 72;
    CHECK(!jg_tuning_class(&problem, &device, &entry));
}

/* The longest there can be. */
static void test_long_class(void)
{
    static struct jg_size sizes[65536];
    struct jg_problem problem = {.groups = 65536, .sizes = sizes,
                                 .input = JG_IN_BF16, .output = JG_BF16,
                                 .weights = JG_W_MXFP4,
                                 .on_device = true, .split_k = true,
                                 .accumulate = true, .row_a = INT32_MAX,
                                 .sm_limit = INT32_MAX - 1};
    struct jg_device huge = {.sms = INT32_MAX};
    struct jg_tuning_entry entry;

    for (int g = 0; g < 65536; g++)
        sizes[g] = (struct jg_size){INT32_MAX, 2147483640, 2147483616};
    CHECK(jg_tuning_class(&problem, &huge, &entry));
    CHECK_STR(entry.class,
              "65536x2147483640x2147483616 rows 140737488355328 "
              "longest 2147483648 bf16 mxfp4 bf16 device split-k strided "
              "accumulate sms 2147483646");
}

/* ---- The file ---- */

static struct jg_tuning_entry make_entry(const char *class, int64_t ns)
{
    struct jg_tuning_entry entry = {.ns = ns, .model_ns = 2 * ns};

    snprintf(entry.class, sizeof entry.class, "%s", class);
    snprintf(entry.kernel, sizeof entry.kernel, "kernel, of %s", class);
    return entry;
}

static void test_entries(void)
{
    static const char *const classes[] = {"m", "c", "x", "a", "m"};
    struct jg_tuning tuning = {0}, again = {0};
    struct jg_buf text = {.data = NULL}, other = {.data = NULL};
    int line;

    for (int i = 0; i < 5; i++) {
        struct jg_tuning_entry entry = make_entry(classes[i], i + 1);

        CHECK(jg_tuning_put(&tuning, &entry));
    }
    CHECK_INT(tuning.count, 4);
    CHECK_INT(jg_tuning_find(&tuning, "m")->ns, 5);
    CHECK_INT(jg_tuning_find(&tuning, "x")->ns, 3);
    CHECK(!jg_tuning_find(&tuning, "b") && !jg_tuning_find(&tuning, "z"));
    jg_tuning_print(&tuning, &device, &text);
    CHECK_STR((char *)text.data, "jitgemm tuning 1 sm_90a 132\n"
                                 "a\tkernel, of a\t4\t8\n"
                                 "c\tkernel, of c\t2\t4\n"
                                 "m\tkernel, of m\t5\t10\n"
                                 "x\tkernel, of x\t3\t6\n");
    CHECK(!jg_tuning_read((struct jg_span){text.data, text.size}, &device,
                          &again, &line));
    jg_tuning_print(&again, &device, &other);
    CHECK_STR((char *)other.data, (char *)text.data);
    jg_tuning_free(&tuning);
    CHECK(!jg_tuning_find(&tuning, "m"));
    jg_tuning_free(&again);
    jg_buf_free(&text);
    jg_buf_free(&other);
}

static void test_limit(void)
{
    struct jg_tuning tuning = {0};
    struct jg_tuning_entry entry;
    char class[16];

    for (int i = 0; i < JG_TUNING_ENTRIES; i++) {
        snprintf(class, sizeof class, "%d", i);
        entry = make_entry(class, 1);
        CHECK(jg_tuning_put(&tuning, &entry));
    }
    CHECK(jg_tuning_put(&tuning, &entry)); /* in place of one */
    entry = make_entry("one more", 1);
    CHECK(!jg_tuning_put(&tuning, &entry));
    CHECK_INT(tuning.count, JG_TUNING_ENTRIES);
    jg_tuning_free(&tuning);
}

static void test_damage(void)
{
    static const struct {
        int line;
        const char *rule, *text;
    } rows[] = {
        {1, "of another version or GPU", ""},
        {1, "of another version or GPU", "jitgemm tuning 2 sm_90a 132\n"},
        {1, "of another version or GPU", "jitgemm tuning 1 sm_90a 114\n"},
        {1, "of another version or GPU", "jitgemm tuning 1 sm_90a 1320\n"},
        {1, "of another version or GPU", "jitgemm tuning 1 sm_100a 132\n"},
        {1, "of another version or GPU", "jitgemm tuning 1 sm_90a 132"},
        {2, "cut short", "a\tk\t1\t2"},
        {2, "not four columns", "\n"},
        {2, "not four columns", "a\tk\t1\n"},
        {2, "not a class and a kernel", "\tk\t1\t2\n"},
        {2, "not a class and a kernel", "a\t\t1\t2\n"},
        {2, "not a class and a kernel", "a\r\tk\t1\t2\n"},
        {2, "not a class and a kernel", "a\t\xe4\t1\t2\n"},
        {2, "not a class and a kernel",
         "0123456789012345678901234567890123456789012345678901234567890123456"
         "7890123456789012345678901234567890123456789012345678901234567890123"
         "45678901234567890123456789\tk\t1\t2\n"},
        {2, "not a class and a kernel",
         "a\t01234567890123456789012345678901234567890123456789012345678901234"
         "5678901234567890123456789012345\t1\t2\n"},
        {2, "not a time in nanoseconds", "a\tk\t0\t2\n"},
        {2, "not a time in nanoseconds", "a\tk\t1\t02\n"},
        {2, "not a time in nanoseconds", "a\tk\t1\t-2\n"},
        {2, "not a time in nanoseconds", "a\tk\t1\t\n"},
        {2, "not a time in nanoseconds", "a\tk\t1\t2\t3\n"},
        {2, "not a time in nanoseconds", "a\tk\t1\t1000000000001\n"},
        {2, "not a time in nanoseconds", "a\tk\t1\t10000000000000\n"},
        {3, "not in ascending order", "a\tk\t1\t2\na\tk\t1\t2\n"},
        {3, "not in ascending order", "b\tk\t1\t2\na\tk\t1\t2\n"},
        {4, "not four columns", "a\tk\t1\t2\nb\tk\t1\t2\nc\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct jg_buf text = {.data = NULL};
        struct jg_tuning tuning = {0};
        int line = 0;
        const char *rule;

        jg_buf_printf(&text, "%s%s", rows[i].line > 1 ? first_line : "",
                      rows[i].text);
        rule = jg_tuning_read((struct jg_span){text.data, text.size}, &device,
                              &tuning, &line);
        CHECK_STR(rule, rows[i].rule);
        CHECK_INT(line, rows[i].line);
        CHECK_INT(tuning.count, 0);
        jg_buf_free(&text);
    }
}

/* ---- Kernels ---- */

/* Every configuration is found by its kernel's name, the longest there are
 * included. */
static void test_names(const char *arch)
{
    struct jg_size sizes[2] = {{4, 256, 8192}, {4, 256, 8192}};
    struct jg_problem problem = {.groups = 2,
                                 .sizes = sizes,
                                 .output = JG_BF16,
                                 .accumulate = true,
                                 .row_c = 528};
    const struct jg_model *model;
    struct jg_device gpu;

    CHECK_INT(jg_device_of_arch(arch, &gpu), JITGEMM_OK);
    problem.input = gpu.family == JG_SM90 ? JG_IN_BF16 : JG_IN_NVFP4;
    model = jg_model_of(gpu.family);
    for (int i = 0; i < model->count; i++) {
        struct jg_config config = model->configs[i], found;
        struct jg_spec spec;
        const char *rule;

        jg_plan_complete(&problem, &config);
        jg_spec_make(&config, &gpu, jg_spec_count(&config) - 1, &spec);
        CHECK(strstr(spec.name, ", strided, adds") != NULL);
        problem.split_k = false;
        rule = jg_plan_named(&problem, &gpu, spec.name, &found);
        if (gpu.family == JG_SM90 && config.ctas > 1) {
            CHECK_STR(rule, "cannot do this problem");
            problem.split_k = true;
            rule = jg_plan_named(&problem, &gpu, spec.name, &found);
        }
        CHECK(!rule && memcmp(&found, &config, sizeof config) == 0);
        spec.name[strlen(spec.name) - 1]++;
        CHECK_STR(jg_plan_named(&problem, &gpu, spec.name, &found),
                  "is no kernel of this version");
    }
}

/* More tiles than clusters would hang. */
static void test_many_tiles(void)
{
    struct jg_size size = {4, 67 * 128, 8192};
    struct jg_problem problem = {
        .groups = 1, .sizes = &size, .split_k = true};
    struct jg_config config;
    const char *name = "sm90_nvfp4 8x128x128, 6 stages, f16, 2 blocks, fused, "
                       "split k 2";

    CHECK_STR(jg_plan_named(&problem, &device, name, &config),
              "cannot do this problem");
    size.n -= 128;
    CHECK(!jg_plan_named(&problem, &device, name, &config));
    CHECK_INT(config.ctas, 2);
    problem.sm_limit = 131;
    CHECK_STR(jg_plan_named(&problem, &device, name, &config),
              "cannot do this problem");
    size.n -= 128;
    CHECK(!jg_plan_named(&problem, &device, name, &config));
}

int main(void)
{
    CHECK_INT(jg_device_of_arch("sm_90a", &device), JITGEMM_OK);
    test_classes();
    test_long_class();
    test_entries();
    test_limit();
    test_damage();
    test_names("sm_90a");
    test_names("sm_100a");
    test_many_tiles();
    return test_end();
}
