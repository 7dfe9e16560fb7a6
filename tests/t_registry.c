/* SPDX-License-Identifier: MIT */
/* Single flight: many threads, one compile; one failure for all of them. */
#include "registry.h"

#include <pthread.h>
#include <stdlib.h>

#include "fake/fakes.h"
#include "plan.h"
#include "test.h"

#define THREADS 16

static struct fakes fakes;
static const struct jg_nvrtc *nvrtc;
static struct jg_registry *registry;
static struct jg_spec spec;

struct answer {
    jitgemm_status status;
    jitgemm_source source;
    struct jg_kernel *kernel;
    char text[sizeof(jitgemm_error)];
};

static void *ask(void *data)
{
    struct answer *answer = data;

    answer->status = jg_registry_get(registry, nvrtc, &spec, NULL,
                                     &answer->kernel, &answer->source);
    memcpy(answer->text, jitgemm_last_error()->text,
           sizeof jitgemm_last_error()->text);
    return NULL;
}

static void ask_all(struct answer answers[THREADS])
{
    pthread_t threads[THREADS];

    memset(answers, 0, THREADS * sizeof *answers);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, ask, &answers[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void make_spec(int config)
{
    struct jg_device device;

    jg_device_of_arch("sm_90a", &device);
    jg_spec_make(&jg_model_sm90.configs[config], &device,
                 jg_spec_count(&jg_model_sm90.configs[config]) - 1, &spec);
}

static void test_one_compile(void)
{
    struct answer answers[THREADS];
    int compiled = 0, before = fakes.nvrtc->compiles;

    make_spec(0);
    ask_all(answers);
    CHECK_INT(fakes.nvrtc->compiles, before + 1);
    for (int i = 0; i < THREADS; i++) {
        CHECK_INT(answers[i].status, JITGEMM_OK);
        CHECK(answers[i].kernel == answers[0].kernel);
        compiled += answers[i].source == JITGEMM_SOURCE_COMPILED;
        CHECK(answers[i].source == JITGEMM_SOURCE_COMPILED ||
              answers[i].source == JITGEMM_SOURCE_MEMORY);
    }
    CHECK_INT(compiled, 1);
    CHECK_INT(answers[0].kernel->registers, 40);
    CHECK_INT(answers[0].kernel->shared_bytes, 64);
    CHECK_INT(answers[0].kernel->spill_bytes, 8);
    CHECK(strstr(answers[0].kernel->log, "ptxas info") != NULL);
}

static void test_one_failure(void)
{
    struct answer answers[THREADS];
    int before = fakes.nvrtc->compiles;

    make_spec(1);
    fakes.nvrtc->result = NVRTC_ERROR_COMPILATION;
    ask_all(answers);
    CHECK_INT(fakes.nvrtc->compiles, before + 1);
    for (int i = 0; i < THREADS; i++) {
        CHECK_INT(answers[i].status, JITGEMM_E_COMPILE);
        CHECK_STR(answers[i].text, answers[0].text);
    }
    CHECK(strstr(answers[0].text, "gemm/x.cu(2): error: as told") != NULL);
    CHECK(strstr(answers[0].text, "NVRTC_ERROR_COMPILATION") != NULL);

    /* It is remembered: compiling again would give the same. */
    fakes.nvrtc->result = NVRTC_SUCCESS;
    ask_all(answers);
    CHECK_INT(answers[0].status, JITGEMM_E_COMPILE);
    CHECK_INT(fakes.nvrtc->compiles, before + 1);
}

static void test_passing_failure(void)
{
    struct answer answer;
    int before = fakes.nvrtc->compiles;

    make_spec(2);
    fakes.nvrtc->result = NVRTC_ERROR_OUT_OF_MEMORY;
    ask(&answer);
    CHECK_INT(answer.status, JITGEMM_E_MEMORY);
    fakes.nvrtc->result = NVRTC_SUCCESS;
    ask(&answer);
    CHECK_INT(answer.status, JITGEMM_OK);
    CHECK_INT(fakes.nvrtc->compiles, before + 2);
}

static void test_disk(const struct jg_env *env)
{
    struct answer answer;
    struct jg_registry *shared = jg_registry_open(NULL, env, NULL);
    int before = fakes.nvrtc->compiles;

    CHECK(shared == registry);
    jg_registry_close(shared, NULL);
    jg_registry_close(registry, NULL);
    registry = jg_registry_open(NULL, env, NULL);
    make_spec(0);
    ask(&answer);
    CHECK_INT(answer.status, JITGEMM_OK);
    CHECK_INT(answer.source, JITGEMM_SOURCE_DISK);
    CHECK_INT(answer.kernel->registers, 40);
    CHECK(strstr(answer.kernel->log, "ptxas info") != NULL);
    ask(&answer);
    CHECK_INT(answer.source, JITGEMM_SOURCE_MEMORY);
    CHECK_INT(fakes.nvrtc->compiles, before);
}

/* The driver refuses until so many warnings have said so. */
static int refusals;

static void relent(void *user, int level, const char *line)
{
    (void)user;
    (void)line;
    if (level <= JITGEMM_LOG_WARNING && --refusals == 0)
        fakes.cuda->fail = NULL;
}

static const struct jg_log relenting = {relent, NULL, JITGEMM_LOG_WARNING};

/* What the driver refuses of a read-only layer is looked for behind it, then
 * compiled; the next process finds that. */
static void test_heal_layer(struct jg_env env)
{
    const struct jg_cuda *cuda;
    char behind[300];
    int before = fakes.nvrtc->compiles;

    CHECK_INT(jg_driver_cuda(&env, &cuda), JITGEMM_OK);
    snprintf(behind, sizeof behind, "%s/behind", fakes.folder);
    env.cache_ro_path = env.cache_dir;
    make_spec(0);
    for (int i = 0; i < 2; i++) {
        struct jg_registry *layered = jg_registry_open(behind, &env, NULL);
        struct jg_kernel *kernel = NULL;
        CUkernel loaded = NULL;
        jitgemm_source source = JITGEMM_SOURCE_NONE;

        CHECK(layered != registry);
        CHECK_INT(jg_registry_get(layered, nvrtc, &spec, NULL, &kernel,
                                  &source),
                  JITGEMM_OK);
        CHECK_INT(source, JITGEMM_SOURCE_PACK);
        fakes.cuda->fail = "cuLibraryLoadData";
        fakes.cuda->fail_after = 0;
        fakes.cuda->fail_result = CUDA_ERROR_INVALID_IMAGE;
        refusals = 1;
        CHECK_INT(jg_registry_load(layered, cuda, nvrtc, &spec, &relenting,
                                   kernel, &loaded),
                  JITGEMM_OK);
        CHECK(loaded != NULL && !fakes.cuda->fail);
        CHECK_INT(fakes.nvrtc->compiles, before + 1);
        jg_registry_close(layered, cuda);
    }
}

/* Refused by a layer and by the directory, which may only be read: compiled
 * all the same. */
static void test_heal_read_only(struct jg_env env)
{
    const struct jg_cuda *cuda;
    struct jg_registry *layered;
    struct jg_kernel *kernel = NULL;
    CUkernel loaded = NULL;
    jitgemm_source source = JITGEMM_SOURCE_NONE;
    int before = fakes.nvrtc->compiles;

    CHECK_INT(jg_driver_cuda(&env, &cuda), JITGEMM_OK);
    env.cache_ro_path = env.cache_dir;
    env.mode = "read";
    make_spec(0);
    layered = jg_registry_open(NULL, &env, NULL);
    CHECK_INT(jg_registry_get(layered, nvrtc, &spec, NULL, &kernel, &source),
              JITGEMM_OK);
    CHECK_INT(source, JITGEMM_SOURCE_PACK);
    fakes.cuda->fail = "cuLibraryLoadData";
    fakes.cuda->fail_after = 0;
    fakes.cuda->fail_result = CUDA_ERROR_INVALID_IMAGE;
    refusals = 2;
    CHECK_INT(jg_registry_load(layered, cuda, nvrtc, &spec, &relenting, kernel,
                               &loaded),
              JITGEMM_OK);
    CHECK(loaded != NULL && !fakes.cuda->fail);
    CHECK_INT(fakes.nvrtc->compiles, before + 1);
    jg_registry_close(layered, cuda);
}

/* An entry that the driver refuses is compiled again, once. */
static void test_heal(const struct jg_env *env)
{
    const struct jg_cuda *cuda;
    struct answer answer;
    CUkernel loaded = NULL;
    int before = fakes.nvrtc->compiles;

    CHECK_INT(jg_driver_cuda(env, &cuda), JITGEMM_OK);
    fakes.cuda->fail = "cuLibraryLoadData";
    fakes.cuda->fail_after = 0;
    fakes.cuda->fail_result = CUDA_ERROR_OUT_OF_MEMORY;
    make_spec(0);
    ask(&answer);
    CHECK_INT(jg_registry_load(registry, cuda, nvrtc, &spec, NULL,
                               answer.kernel, &loaded),
              JITGEMM_E_MEMORY);
    CHECK_INT(fakes.nvrtc->compiles, before);

    /* The image is bad, whatever is done: reported after one more compile. */
    fakes.cuda->fail_result = CUDA_ERROR_INVALID_IMAGE;
    CHECK_INT(jg_registry_load(registry, cuda, nvrtc, &spec, NULL,
                               answer.kernel, &loaded),
              JITGEMM_E_DRIVER);
    CHECK_INT(fakes.nvrtc->compiles, before + 1);
    CHECK(loaded == NULL);

    fakes.cuda->fail = NULL;
    for (int i = 0; i < 2; i++)
        CHECK_INT(jg_registry_load(registry, cuda, nvrtc, &spec, NULL,
                                   answer.kernel, &loaded),
                  JITGEMM_OK);
    CHECK(loaded != NULL);
    CHECK_INT(fakes.cuda->loads, 1);
    jg_registry_close(registry, cuda);
    CHECK_INT(fakes.cuda->loads, 0);
}

int main(void)
{
    struct jg_env env;

    fakes = fakes_open();
    env = jg_env_read();
    if (jg_compiler_open(0, &nvrtc) != JITGEMM_OK) {
        fprintf(stderr, "%s\n", jitgemm_last_error()->text);
        return 1;
    }
    CHECK(strlen(nvrtc->id) >= 16);
    registry = jg_registry_open(NULL, &env, NULL);
    test_one_compile();
    test_one_failure();
    test_passing_failure();
    test_disk(&env);
    test_heal_layer(env);
    test_heal_read_only(env);
    test_heal(&env);
    fakes_close(&fakes);
    return test_end();
}
