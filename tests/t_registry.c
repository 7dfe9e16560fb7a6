/* SPDX-License-Identifier: MIT */
/* Single flight: many threads, one compile; one failure for all of them. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include "registry.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "fake/fakes.h"
#include "plan.h"
#include "test.h"

#define THREADS 16

static struct fakes fakes;
static const struct jg_nvrtc *nvrtc;
static struct jg_registry *registry;
static struct jg_spec spec;
static struct jg_client client, frozen; /* two contexts */
static struct jg_request request = {
    .client = &client, .spec = &spec, .problem = "7x8x32"};

struct answer {
    jitgemm_status status;
    struct jg_made made;
    jitgemm_error error;
};

static void *ask(void *data)
{
    struct answer *answer = data;

    answer->status = jg_registry_make(registry, &request, &answer->made);
    answer->error = *jitgemm_last_error();
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
    CHECK_INT(jg_registry_peek(registry, &request), JITGEMM_E_NOT_READY);
    ask_all(answers);
    CHECK_INT(fakes.nvrtc->compiles, before + 1);
    for (int i = 0; i < THREADS; i++) {
        CHECK_INT(answers[i].status, JITGEMM_OK);
        CHECK_INT(strlen(answers[i].made.key), 32);
        CHECK_INT(answers[i].made.registers, 40);
        CHECK_INT(answers[i].made.shared_bytes, 64);
        CHECK_INT(answers[i].made.spill_bytes, 8);
        compiled += answers[i].made.source == JITGEMM_SOURCE_COMPILED;
        CHECK(answers[i].made.source == JITGEMM_SOURCE_COMPILED ||
              answers[i].made.source == JITGEMM_SOURCE_MEMORY);
    }
    CHECK_INT(compiled, 1);
    CHECK_INT(jg_registry_peek(registry, &request), JITGEMM_OK);
}

/* All who waited have its error, to the last byte; it is remembered, until
 * somebody wants another try, which all who wait for that share again. */
static void test_one_failure(void)
{
    struct answer answers[THREADS];
    int before = fakes.nvrtc->compiles;

    make_spec(1);
    fakes.nvrtc->result = NVRTC_ERROR_COMPILATION;
    for (int again = 0; again < 2; again++) {
        ask_all(answers);
        CHECK_INT(fakes.nvrtc->compiles, before + 1);
        for (int i = 0; i < THREADS; i++) {
            CHECK_INT(answers[i].status, JITGEMM_E_COMPILE);
            CHECK_INT(answers[i].error.nvrtc, NVRTC_ERROR_COMPILATION);
            CHECK(memcmp(&answers[i].error, &answers[0].error,
                         sizeof answers[i].error) == 0);
        }
        CHECK(strstr(answers[0].error.text, "gemm/x.cu(2): error: as told") !=
              NULL);
        CHECK(strstr(answers[0].error.text, "NVRTC_ERROR_COMPILATION") !=
              NULL);
        CHECK_INT(jg_registry_peek(registry, &request), JITGEMM_E_COMPILE);
        CHECK_STR(jitgemm_last_error()->text, answers[0].error.text);
    }
    request.retry = true;
    ask(&answers[0]);
    CHECK_INT(answers[0].status, JITGEMM_E_COMPILE);
    CHECK_INT(fakes.nvrtc->compiles, before + 2);
    fakes.nvrtc->result = NVRTC_SUCCESS;
    ask_all(answers);
    request.retry = false;
    CHECK_INT(fakes.nvrtc->compiles, before + 3);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(answers[i].status, JITGEMM_OK);
    CHECK_INT(jg_registry_peek(registry, &request), JITGEMM_OK);
}

static void test_passing_failure(void)
{
    struct answer answer;
    int before = fakes.nvrtc->compiles;

    make_spec(2);
    fakes.nvrtc->result = NVRTC_ERROR_OUT_OF_MEMORY;
    ask(&answer);
    CHECK_INT(answer.status, JITGEMM_E_MEMORY);
    CHECK_INT(jg_registry_peek(registry, &request), JITGEMM_E_MEMORY);
    fakes.nvrtc->result = NVRTC_SUCCESS;
    ask(&answer);
    CHECK_INT(answer.status, JITGEMM_OK);
    CHECK_INT(fakes.nvrtc->compiles, before + 2);
}

/* What is in memory is found when frozen; what is not is refused, and not
 * remembered: another context may compile it, and then it is there. */
static void test_frozen(void)
{
    struct answer answer;
    int before = fakes.nvrtc->begun;

    jg_gate_shut(&frozen.compiler);
    CHECK(jg_gate_is_shut(&frozen.compiler));
    CHECK(!jg_gate_is_shut(&client.compiler));
    request.client = &frozen;
    make_spec(0);
    ask(&answer);
    CHECK_INT(answer.status, JITGEMM_OK);
    CHECK_INT(answer.made.source, JITGEMM_SOURCE_MEMORY);
    make_spec(3);
    request.retry = true; /* makes no difference */
    ask(&answer);
    request.retry = false;
    CHECK_INT(answer.status, JITGEMM_E_FROZEN);
    CHECK_INT(answer.error.status, JITGEMM_E_FROZEN);
    CHECK(strstr(answer.error.text, spec.name) != NULL);
    CHECK(strstr(answer.error.text, answer.made.key) != NULL);
    CHECK(strstr(answer.error.text, request.problem) != NULL);
    CHECK_INT(jg_registry_peek(registry, &request), JITGEMM_E_NOT_READY);
    CHECK_INT(fakes.nvrtc->begun, before);
    request.client = &client;
    ask(&answer);
    CHECK_INT(answer.made.source, JITGEMM_SOURCE_COMPILED);
    request.client = &frozen;
    ask(&answer);
    CHECK_INT(answer.made.source, JITGEMM_SOURCE_MEMORY);
    request.client = &client;
}

/* Threads of a context that is frozen and of one that is not want the same
 * kernel: the latter never get the former's error. */
static void *ask_frozen(void *data)
{
    struct jg_request mine = request;
    struct answer *answer = data;

    mine.client = &frozen;
    answer->status = jg_registry_make(registry, &mine, &answer->made);
    return NULL;
}

static void test_half_frozen(void)
{
    struct answer answers[THREADS];
    pthread_t threads[THREADS];
    int before = fakes.nvrtc->compiles;

    make_spec(4);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, i % 2 ? ask : ask_frozen,
                       &answers[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(answers[i].status == JITGEMM_OK ||
              (i % 2 == 0 && answers[i].status == JITGEMM_E_FROZEN));
    }
    CHECK_INT(fakes.nvrtc->compiles, before + 1);
}

/* Of compiles at that moment freezing waits for the end, and none begins
 * after. */
static struct jg_spec specs[8];

static void *ask_own(void *data)
{
    struct jg_client *one = data;
    struct jg_made made;

    for (int i = 0; i < 8; i++)
        jg_registry_make(registry,
                         &(struct jg_request){.client = one,
                                              .nvrtc = nvrtc,
                                              .spec = &specs[i],
                                              .problem = ""},
                         &made);
    return NULL;
}

static void test_freezing(void)
{
    struct jg_client one = {.log.function = NULL};
    pthread_t threads[THREADS];
    int begun = fakes.nvrtc->begun;

    jg_gate_open(&one.compiler);
    for (int i = 0; i < 8; i++) {
        specs[i] = spec;
        snprintf(specs[i].text, sizeof specs[i].text, "%d", i);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, ask_own, &one);
    while (*(volatile int *)&fakes.nvrtc->begun == begun)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    jg_gate_shut(&one.compiler);
    begun = *(volatile int *)&fakes.nvrtc->begun;
    CHECK_INT(*(volatile int *)&fakes.nvrtc->compiles, begun);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(fakes.nvrtc->begun, begun);
    jg_gate_destroy(&one.compiler);
}

static void test_disk(const struct jg_env *env)
{
    struct answer answer;
    struct jg_registry *shared = jg_registry_open(NULL, env, NULL);
    int before = fakes.nvrtc->compiles;

    CHECK(shared == registry);
    jg_registry_close(shared);
    jg_registry_close(registry);
    registry = jg_registry_open(NULL, env, NULL);
    make_spec(0);
    request.client = &frozen;
    ask(&answer);
    request.client = &client;
    CHECK_INT(answer.status, JITGEMM_OK);
    CHECK_INT(answer.made.source, JITGEMM_SOURCE_DISK);
    CHECK_INT(answer.made.registers, 40);
    ask(&answer);
    CHECK_INT(answer.made.source, JITGEMM_SOURCE_MEMORY);
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

/* Asks a registry of its own, while the call refuses images so often. */
static void ask_refused(const char *dir, const struct jg_env *env,
                        const char *call, int times)
{
    struct jg_registry *before = registry;
    struct answer answer;

    make_spec(0);
    registry = jg_registry_open(dir, env, NULL);
    CHECK(registry != before);
    fakes.cuda->fail = call;
    fakes.cuda->fail_after = 0;
    fakes.cuda->fail_result = CUDA_ERROR_INVALID_IMAGE;
    refusals = times;
    client.log = (struct jg_log){relent, NULL, JITGEMM_LOG_WARNING};
    ask(&answer);
    CHECK_INT(answer.status, JITGEMM_OK);
    CHECK(answer.made.kernel != NULL && !fakes.cuda->fail);
    client.log = (struct jg_log){NULL, NULL, 0};
    jg_registry_close(registry);
    registry = before;
}

/* What the driver refuses of a read-only layer is looked for behind it, then
 * compiled; the next process finds that. What may not be set aside either is
 * compiled all the same. */
static void test_heal_layers(struct jg_env env)
{
    static const char *const calls[] = {"cuLibraryLoadData",
                                        "cuKernelGetFunction"};
    char behind[300];
    int before = fakes.nvrtc->compiles;

    CHECK_INT(jg_driver_cuda(&env, &request.cuda), JITGEMM_OK);
    snprintf(behind, sizeof behind, "%s/behind", fakes.folder);
    env.cache_ro_path = env.cache_dir;
    for (int i = 0; i < 2; i++) {
        ask_refused(behind, &env, calls[i], 1);
        CHECK_INT(fakes.nvrtc->compiles, before + 1);
    }
    env.mode = "read";
    ask_refused(NULL, &env, calls[0], 2);
    CHECK_INT(fakes.nvrtc->compiles, before + 2);
    request.cuda = NULL;
}

/* An entry that the driver refuses is compiled again, once, but not if the
 * context is frozen. */
static void test_heal(const struct jg_env *env)
{
    struct answer answer;
    int before = fakes.nvrtc->compiles;

    CHECK_INT(jg_driver_cuda(env, &request.cuda), JITGEMM_OK);
    fakes.cuda->fail = "cuLibraryLoadData";
    fakes.cuda->fail_after = 0;
    fakes.cuda->fail_result = CUDA_ERROR_OUT_OF_MEMORY;
    make_spec(0);
    ask(&answer);
    CHECK_INT(answer.status, JITGEMM_E_MEMORY);
    CHECK_INT(fakes.nvrtc->compiles, before);

    fakes.cuda->fail_result = CUDA_ERROR_INVALID_IMAGE;
    request.client = &frozen;
    ask(&answer);
    CHECK_INT(answer.status, JITGEMM_E_FROZEN);
    CHECK_INT(fakes.nvrtc->compiles, before);
    request.client = &client;

    /* The image is bad, whatever is done: reported after one more compile. */
    ask(&answer);
    CHECK_INT(answer.status, JITGEMM_E_DRIVER);
    CHECK_INT(answer.error.cuda, CUDA_ERROR_INVALID_IMAGE);
    CHECK_INT(fakes.nvrtc->compiles, before + 1);
    CHECK_INT(jg_registry_peek(registry, &request), JITGEMM_E_DRIVER);

    fakes.cuda->fail = NULL;
    for (int i = 0; i < 2; i++) {
        ask(&answer);
        CHECK_INT(answer.status, JITGEMM_OK);
        CHECK(answer.made.kernel != NULL);
    }
    CHECK_INT(fakes.nvrtc->compiles, before + 1);
    CHECK_INT(fakes.cuda->loads, 1);
    jg_registry_close(registry);
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
    request.nvrtc = nvrtc;
    jg_gate_open(&client.compiler);
    jg_gate_open(&frozen.compiler);
    registry = jg_registry_open(NULL, &env, NULL);
    test_one_compile();
    test_one_failure();
    test_passing_failure();
    test_frozen();
    test_half_frozen();
    test_freezing();
    test_disk(&env);
    test_heal_layers(env);
    test_heal(&env);
    jg_gate_destroy(&client.compiler);
    jg_gate_destroy(&frozen.compiler);
    fakes_close(&fakes);
    return test_end();
}
