/* SPDX-License-Identifier: MIT */
/* Without NVRTC kernels are found that somebody compiled: everywhere in the
 * cache, the newest compiler's first, and no others than those that would be
 * compiled; what is missing is said once and for what. */
#define _GNU_SOURCE /* nftw */
#include "jitgemm.h"

#include <cuda.h>
#include <pthread.h>
#include <sys/wait.h>

#include "cache.h"
#include "compile.h"
#include "fake/fakes.h"
#include "plan.h"
#include "problem.h"
#include "sample.h"
#include "scratch.h"

#define NOWHERE "/nowhere/libnvrtc.so"

static struct fakes fakes;
static int64_t m[] = {8}, n[] = {64}, k[] = {64}; /* takes one kernel */
static jitgemm_problem problem = {.size = sizeof problem,
                                  .groups = 1,
                                  .m = m,
                                  .n = n,
                                  .k = k,
                                  .c_type = JITGEMM_F16};
static jitgemm_kernel kernel = {.size = sizeof kernel};
static struct jg_spec spec; /* of it */

/* ---- What others compiled ---- */

static struct jg_key key_of(const char *id, int major, int minor)
{
    struct jg_nvrtc nvrtc = {.major = major, .minor = minor};
    struct jg_key key = {.blob = {.data = NULL}};

    snprintf(nvrtc.id, sizeof nvrtc.id, "%s", id);
    snprintf(nvrtc.builtins_id, sizeof nvrtc.builtins_id, "of %s", id);
    CHECK_INT(jg_compile_key(&nvrtc, &spec, &key), JITGEMM_OK);
    return key;
}

static const char *path_of(const char *dir, const char *name)
{
    char rest[200];

    snprintf(rest, sizeof rest, "%s/v1/e/%.2s/%s.jgc", dir, name, name);
    return in_scratch(rest);
}

/* Its kernel can be told by the registers. Takes the key over. */
static void put(const char *dir, struct jg_key key, uint32_t registers)
{
    const struct jg_env env = {.cache_ro_path = ":"};
    struct jg_cache *cache = jg_cache_open(in_scratch(dir), &env, NULL);
    struct jg_entry entry = sample_entry(&key);

    entry.registers = registers;
    CHECK(jg_cache_put(cache, &key, &entry, NULL));
    jg_cache_close(cache);
    jg_key_free(&key);
}

/* ---- Asking ---- */

static int stop_failing; /* 1: a warning ends the driver's refusals */

static void relent(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    (void)line;
    if (stop_failing)
        fakes.cuda->fail = NULL;
}

static jitgemm_context *open_context(const char *dir)
{
    jitgemm_context_options options = {.size = sizeof options,
                                       .cache_dir = in_scratch(dir),
                                       .log = relent,
                                       .log_level = JITGEMM_LOG_WARNING};
    jitgemm_context *context = NULL;

    CHECK_INT(jitgemm_context_create(&options, &context), JITGEMM_OK);
    return context;
}

static jitgemm_status ask(jitgemm_context *context)
{
    memset(&kernel, 0, sizeof kernel);
    kernel.size = sizeof kernel;
    return jitgemm_prepare(context, &problem, 0, &kernel);
}

static void expect(jitgemm_context *context, jitgemm_source source,
                   int registers)
{
    CHECK_INT(ask(context), JITGEMM_OK);
    CHECK_INT(kernel.source, source);
    CHECK_INT(kernel.registers, registers);
}

/* In a new context. */
static void expect_new(const char *dir, jitgemm_source source, int registers)
{
    jitgemm_context *context = open_context(dir);

    expect(context, source, registers);
    jitgemm_context_destroy(context);
}

/* The error names the kernel and what was tried. */
static void expect_none(jitgemm_context *context)
{
    const char *text;

    CHECK_INT(ask(context), JITGEMM_E_NO_NVRTC);
    text = jitgemm_last_error()->text;
    CHECK(strstr(text, spec.name) == text);
    CHECK(strstr(text, " for sm_90a is not cached") != NULL);
    CHECK(strstr(text, "tried " NOWHERE ": is not there") != NULL);
}

/* ---- Tests ---- */

static void test_miss(void)
{
    jitgemm_context *context = open_context("miss");
    jitgemm_stats stats = {.size = sizeof stats};

    CHECK_INT(jitgemm_problem_ready(context, &problem), JITGEMM_E_NOT_READY);
    expect_none(context);
    CHECK_INT(jitgemm_problem_ready(context, &problem), JITGEMM_E_NO_NVRTC);
    CHECK_INT(jitgemm_problem_kernel(context, &problem, 0, &kernel),
              JITGEMM_E_NO_NVRTC);
    CHECK(strstr(jitgemm_last_error()->text, spec.name) != NULL);
    CHECK_INT(jitgemm_prepare_async(context, &problem), JITGEMM_OK);
    CHECK_INT(jitgemm_prepare_wait(context, -1), JITGEMM_E_NO_NVRTC);
    CHECK_INT(jitgemm_stats_read(context, &stats), JITGEMM_OK);
    CHECK_INT(stats.failed, 2);
    CHECK_INT(stats.misses, 2);
    CHECK_INT(stats.compiles, 0);
    CHECK_INT(stats.kernels, 0);

    /* It came meanwhile. */
    put("miss", key_of("a", 13, 0), 30);
    CHECK_INT(jitgemm_problem_ready(context, &problem), JITGEMM_E_NO_NVRTC);
    expect(context, JITGEMM_SOURCE_DISK, 30);
    CHECK_INT(jitgemm_problem_ready(context, &problem), JITGEMM_OK);
    jitgemm_context_destroy(context);
}

static void test_frozen(void)
{
    jitgemm_context *context = open_context("frozen");

    CHECK_INT(jitgemm_freeze(context), JITGEMM_OK);
    CHECK_INT(ask(context), JITGEMM_E_FROZEN);
    put("frozen", key_of("a", 13, 0), 30);
    expect(context, JITGEMM_SOURCE_DISK, 30);
    jitgemm_context_destroy(context);
}

/* In the directory, in a folder layer, and in a pack. */
static void test_places(void)
{
    const char *const pack[] = {in_scratch("disk")};
    struct jg_key key = key_of("a", 13, 0);
    jitgemm_context *context;
    jitgemm_stats stats = {.size = sizeof stats};

    put("disk", key_of("a", 13, 0), 30);
    context = open_context("disk");
    CHECK_INT(jitgemm_problem_kernel(context, &problem, 0, &kernel),
              JITGEMM_OK);
    CHECK_STR(kernel.key, key.name);
    expect(context, JITGEMM_SOURCE_DISK, 30);
    CHECK_STR(kernel.key, key.name);
    expect(context, JITGEMM_SOURCE_MEMORY, 30);
    CHECK_INT(jitgemm_stats_read(context, &stats), JITGEMM_OK);
    CHECK_INT(stats.disk_hits, 1);
    CHECK_INT(stats.memory_hits, 1);
    CHECK_INT(stats.misses, 0);
    CHECK_INT(stats.kernels, 1);
    jitgemm_context_destroy(context);
    jg_key_free(&key);

    setenv("JITGEMM_CACHE_RO_PATH", in_scratch("disk"), 1);
    expect_new("empty", JITGEMM_SOURCE_PACK, 30);
    make_folder(in_scratch("packs"), 0755);
    CHECK_INT(jitgemm_cache_copy(pack, 1, in_scratch("packs/p.jgp"), NULL,
                                 NULL),
              JITGEMM_OK);
    setenv("JITGEMM_CACHE_RO_PATH", in_scratch("packs"), 1);
    expect_new("empty", JITGEMM_SOURCE_PACK, 30);
    put("newer", key_of("a", 13, 1), 31); /* behind the layer, but newer */
    expect_new("newer", JITGEMM_SOURCE_DISK, 31);
    setenv("JITGEMM_CACHE_RO_PATH", ":", 1);
}

/* A key that differs in one field fits only if that is the compiler's. */
static void test_fields(void)
{
    struct jg_span values[JG_KEY_FIELD_COUNT];
    struct jg_key key = key_of("a", 13, 0);
    char texts[JG_KEY_FIELD_COUNT][4096];

    CHECK(jg_key_read((struct jg_span){key.blob.data, key.blob.size},
                      values));
    for (int field = 0; field < JG_KEY_FIELD_COUNT; field++) {
        jitgemm_context *context;
        struct jg_key other;
        char dir[20];

        for (int i = 0; i < JG_KEY_FIELD_COUNT; i++)
            snprintf(texts[i], sizeof texts[i], "%.*s%s", (int)values[i].size,
                     (const char *)values[i].data, i == field ? "0" : "");
#define TEXT(name) .name = texts[JG_KEY_##name],
        CHECK_INT(jg_key_make(&(struct jg_key_fields){JG_KEY_FIELDS(TEXT)},
                              &other),
                  JITGEMM_OK);
#undef TEXT
        snprintf(dir, sizeof dir, "field-%d", field);
        put(dir, other, 30);
        context = open_context(dir);
        if (field == JG_KEY_nvrtc || field == JG_KEY_nvrtc_id ||
            field == JG_KEY_builtins_id)
            expect(context, JITGEMM_SOURCE_DISK, 30);
        else
            expect_none(context);
        jitgemm_context_destroy(context);
    }
    jg_key_free(&key);
}

/* Whatever their order in the folder; and what the driver refuses or is
 * damaged is passed over. */
static void test_compilers(void)
{
    struct jg_key newest = key_of("a", 13, 0);
    jitgemm_context *context;

    put("many", key_of("c", 12, 9), 9);
    put("many", key_of("b", 12, 10), 10);
    put("many", key_of("a", 12, 10), 11);
    expect_new("many", JITGEMM_SOURCE_DISK, 11);
    put("many", key_of("a", 13, 0), 30);
    expect_new("many", JITGEMM_SOURCE_DISK, 30);

    context = open_context("many");
    fakes.cuda->fail = "cuLibraryLoadData";
    fakes.cuda->fail_after = 0;
    fakes.cuda->fail_result = CUDA_ERROR_INVALID_IMAGE;
    stop_failing = 1;
    expect(context, JITGEMM_SOURCE_DISK, 11);
    stop_failing = 0;
    CHECK(!exists(path_of("many", newest.name))); /* set aside */

    /* One that is in memory stays in use. */
    put("many", key_of("a", 13, 0), 30);
    expect(context, JITGEMM_SOURCE_MEMORY, 11);
    jitgemm_context_destroy(context);

    write_file(path_of("many", newest.name), "damaged", 7, 0600);
    expect_new("many", JITGEMM_SOURCE_DISK, 11);
    jg_key_free(&newest);
}

enum { THREADS = 8 };

static void *ask_once(void *data)
{
    jitgemm_kernel mine = {.size = sizeof mine};

    return jitgemm_prepare(data, &problem, 0, &mine) ? data : NULL;
}

static void test_threads(void)
{
    jitgemm_context *context = open_context("frozen");
    int loads = fakes.cuda->loads;
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, ask_once, context);
    for (int i = 0; i < THREADS; i++) {
        void *failed;

        pthread_join(threads[i], &failed);
        CHECK(failed == NULL);
    }
    CHECK_INT(fakes.cuda->loads, loads + 1);
    jitgemm_context_destroy(context);
}

/* ---- In a process each: drivers and compilers are opened once ---- */

/* A driver loads nothing of a compiler newer than itself. */
static void old_driver(void)
{
    fakes.cuda->version = 12080;
    put("old", key_of("a", 13, 0), 30);
    put("old", key_of("a", 12, 9), 29);
    expect_new("old", JITGEMM_SOURCE_DISK, 29);
}

/* A context goes on without NVRTC when there is one; a new one has it, and
 * takes no kernel of another compiler. The first finds what that compiled. */
static void both(void)
{
    jitgemm_context *without, *with;

    put("both", key_of("a", 14, 0), 30); /* newer than the fake */
    fakes.cuda->version = 14000;
    without = open_context("both");
    expect(without, JITGEMM_SOURCE_DISK, 30);
    setenv("JITGEMM_LIBNVRTC", fakes.folder, 1);
    with = open_context("both");
    CHECK_INT(jitgemm_problem_ready(with, &problem), JITGEMM_E_NOT_READY);
    expect(with, JITGEMM_SOURCE_COMPILED, 40);
    expect(without, JITGEMM_SOURCE_MEMORY, 30);
    expect(with, JITGEMM_SOURCE_MEMORY, 40);
    m[0] = 2000; /* another kernel */
    n[0] = 4096;
    k[0] = 256;
    setenv("JITGEMM_LIBNVRTC", NOWHERE, 1);
    CHECK_INT(ask(without), JITGEMM_E_NO_NVRTC);
    expect(with, JITGEMM_SOURCE_COMPILED, 40);
    expect(without, JITGEMM_SOURCE_MEMORY, 40);
    jitgemm_context_destroy(with);
    jitgemm_context_destroy(without);
}

/* One that is refused is opened once a context, not for every kernel. */
static void refused(void)
{
    jitgemm_context *context = open_context("refused");

    setenv("JITGEMM_LIBNVRTC", fakes.folder, 1);
    fakes.nvrtc->major = 11;
    for (int i = 0; i < 3; i++)
        CHECK_INT(ask(context), JITGEMM_E_NO_NVRTC);
    CHECK_INT(fakes.nvrtc->asked, 1);
    jitgemm_context_destroy(context);
}

static void in_child(void (*test)(void))
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        test_failures = 0;
        test();
        _exit(test_failures != 0);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
}

static void make_spec(void)
{
    struct jg_problem read = {.groups = 0};
    struct jg_device device;
    struct jg_config config;

    CHECK_INT(jg_problem_read(&problem, &read), JITGEMM_OK);
    CHECK_INT(jg_device_of_arch("sm_90a", &device), JITGEMM_OK);
    CHECK_INT(jg_plan_choose(&read, &device, &config), JITGEMM_OK);
    CHECK_INT(jg_spec_count(&config), 1);
    jg_spec_make(&config, &device, 0, &spec);
    jg_problem_free(&read);
}

int main(void)
{
    fakes = fakes_open();
    scratch_begin();
    setenv("JITGEMM_LIBNVRTC", NOWHERE, 1);
    setenv("JITGEMM_CACHE_RO_PATH", ":", 1);
    make_spec();
    in_child(old_driver);
    in_child(both);
    in_child(refused);
    test_miss();
    test_frozen();
    test_places();
    test_fields();
    test_compilers();
    test_threads();
    scratch_end();
    fakes_close(&fakes);
    return test_end();
}
