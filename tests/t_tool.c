/* SPDX-License-Identifier: MIT */
/* The inside of jitgemm-warm against a library of five functions, written
 * here, whose kernels fail or finish in an order of the test's choice. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common.h"
#include "kernel_list.h"
#include "problem_list.h"
#include "report.h"
#include "test.h"

enum { FAILS = 96, WAITS = 64 }; /* k of problems whose kernels do so */

static _Thread_local jitgemm_error last;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int prepared, wait_for, late; /* guarded by mutex */

const jitgemm_error *jitgemm_last_error(void)
{
    return &last;
}

/* Kernel 0 depends on k, kernel 1 is everyone's. */
jitgemm_status jitgemm_problem_kernel(jitgemm_context *context,
                                      const jitgemm_problem *problem,
                                      int32_t index, jitgemm_kernel *kernel)
{
    (void)context;
    if (index > 1) {
        strcpy(last.text, "no more");
        return JITGEMM_E_NOT_FOUND;
    }
    snprintf(kernel->name, sizeof kernel->name, "k%d",
             index ? 0 : (int)problem->k[0]);
    memcpy(kernel->key, kernel->name, sizeof kernel->key - 1);
    strcpy(kernel->arch, "sm_90a");
    return JITGEMM_OK;
}

/* Until `wait_for` others are prepared; 20 seconds are a failure. */
static void wait_for_others(void)
{
    struct timespec limit;

    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 20;
    while (prepared < wait_for && !late)
        late = pthread_cond_timedwait(&changed, &mutex, &limit) != 0;
}

jitgemm_status jitgemm_prepare(jitgemm_context *context,
                               const jitgemm_problem *problem, int32_t index,
                               jitgemm_kernel *kernel)
{
    int64_t k = index ? 0 : problem->k[0];

    jitgemm_problem_kernel(context, problem, index, kernel);
    kernel->source = JITGEMM_SOURCE_COMPILED;
    kernel->ms = (double)k;
    pthread_mutex_lock(&mutex);
    if (k == WAITS)
        wait_for_others();
    prepared++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    if (k != FAILS)
        return JITGEMM_OK;
    strcpy(last.text, "k is 96");
    return JITGEMM_E_COMPILE;
}

/* Kernels of f16 and bf16 in the place explicit are the same. */
jitgemm_status
jitgemm_conversion_describe(jitgemm_context *context,
                            const jitgemm_conversion_options *options,
                            jitgemm_kernel *kernel)
{
    (void)context;
    snprintf(kernel->name, sizeof kernel->name, "c%d %d %d %d",
             (int)options->x_type, (int)options->layout, (int)options->place,
             (int)options->scale_order);
    if (options->place == JITGEMM_PLACE_EXPLICIT)
        strcpy(kernel->name, "c");
    memcpy(kernel->key, kernel->name, sizeof kernel->key - 1);
    return JITGEMM_OK;
}

jitgemm_status
jitgemm_conversion_prepare(jitgemm_context *context,
                           const jitgemm_conversion_options *options,
                           jitgemm_kernel *kernel)
{
    jitgemm_conversion_describe(context, options, kernel);
    kernel->ms = 5;
    if (options->scale_order == JITGEMM_SCALES_BLOCKED)
        return JITGEMM_OK;
    strcpy(last.text, "linear");
    return JITGEMM_E_COMPILE;
}

/* What the calls between capture() and captured() write to the stream. */
static FILE *capture_file;
static int capture_saved;

static void capture(FILE *stream)
{
    fflush(stream);
    capture_saved = dup(fileno(stream));
    capture_file = tmpfile();
    dup2(fileno(capture_file), fileno(stream));
}

static const char *captured(FILE *stream)
{
    static char text[2048];
    size_t length;

    fflush(stream);
    dup2(capture_saved, fileno(stream));
    close(capture_saved);
    rewind(capture_file);
    length = fread(text, 1, sizeof text - 1, capture_file);
    text[length] = '\0';
    fclose(capture_file);
    return text;
}

static void test_experts(void)
{
    struct problem_list list = {0};
    const jitgemm_problem *all, *few;

    CHECK(problem_list_add(&list, NULL, "36@4096x2048x7168"));
    CHECK(problem_list_add(&list, NULL, "8@128/99x64x96:masked:strided"));
    CHECK_INT(list.count, 2);
    all = &list.items[0].problem;
    few = &list.items[1].problem;
    CHECK_INT(all->groups, 36);
    CHECK(all->m == NULL);
    CHECK_INT(all->n[0], 2048);
    CHECK_INT(all->k[0], 7168);
    CHECK_INT(all->sizes, JITGEMM_SIZES_DEVICE);
    CHECK_INT(all->layout, JITGEMM_ROWS_STACKED);
    CHECK_INT(all->place, JITGEMM_PLACE_TIGHT);
    CHECK_INT(all->max_rows, 4096);
    CHECK_INT(all->hint_rows, 0);
    CHECK_INT(few->layout, JITGEMM_ROWS_MASKED);
    CHECK_INT(few->place, JITGEMM_PLACE_STRIDED);
    CHECK_INT(few->max_rows, 128);
    CHECK_INT(few->hint_rows, 99);
    problem_list_free(&list);
}

static void test_types(void)
{
    struct problem_list list = {0};

    CHECK(problem_list_add(&list, NULL, "8x64x96"));
    CHECK(problem_list_add(&list, NULL, "8@128x64x96"));
    problem_list_set(&list,
                     &(jitgemm_problem){.flags = JITGEMM_ALLOW_SPLIT_K,
                                        .a_type = JITGEMM_INPUT_F16,
                                        .b_type = JITGEMM_WEIGHTS_MXFP4,
                                        .c_type = JITGEMM_F32,
                                        .sm_limit = 64,
                                        .row_a = 32,
                                        .row_c = 48});
    for (size_t i = 0; i < list.count; i++) {
        CHECK_INT(list.items[i].problem.a_type, JITGEMM_INPUT_F16);
        CHECK_INT(list.items[i].problem.b_type, JITGEMM_WEIGHTS_MXFP4);
        CHECK_INT(list.items[i].problem.c_type, JITGEMM_F32);
        CHECK_INT(list.items[i].problem.flags, JITGEMM_ALLOW_SPLIT_K);
        CHECK_INT(list.items[i].problem.sm_limit, 64);
        CHECK_INT(list.items[i].problem.row_a, 32);
        CHECK_INT(list.items[i].problem.row_c, 48);
    }
    list.items[1].problem.b_type = JITGEMM_WEIGHTS_NVFP4;
    problem_list_set(
        &list, &(jitgemm_problem){
                   .a_type = (jitgemm_input)PROBLEM_LIST_UNTOLD,
                   .b_type = (jitgemm_weights)PROBLEM_LIST_UNTOLD});
    CHECK_INT(list.items[0].problem.a_type, JITGEMM_INPUT_BF16);
    CHECK_INT(list.items[0].problem.b_type, JITGEMM_WEIGHTS_MXFP4);
    CHECK_INT(list.items[1].problem.a_type, JITGEMM_INPUT_NVFP4);
    CHECK_INT(list.items[1].problem.b_type, JITGEMM_WEIGHTS_NVFP4);
    problem_list_free(&list);
}

/* In their place among problems; of those with one kernel only the first. */
static void test_conversions(void)
{
    struct problem_list problems = {0};
    struct kernel_list list = {0};

    CHECK(problem_list_convert(&problems, NULL, "e4m3"));
    CHECK(problem_list_add(&problems, NULL, "1x8x64"));
    CHECK(problem_list_convert(&problems, NULL, "f16:masked:strided:blocked"));
    CHECK(problem_list_convert(&problems, NULL, "f16:stacked:explicit"));
    CHECK(problem_list_convert(&problems, NULL, "bf16:stacked:explicit"));
    CHECK(problem_list_convert(&problems, NULL, "bf16:stacked:tight:linear"));
    CHECK(kernel_list_add(&list, NULL, "device", &problems));
    CHECK_INT(list.count, 6);
    kernel_list_start(&list, 2);
    for (size_t done = 0; done < list.count;)
        done = kernel_list_wait(&list, done);
    kernel_list_finish(&list);
    CHECK_STR(list.jobs[0].kernel.name, "c3 0 0 0");
    CHECK_STR(list.jobs[1].kernel.name, "k64");
    CHECK_STR(list.jobs[3].kernel.name, "c0 1 3 0");
    CHECK_INT(list.jobs[3].kernel.ms, 5);
    CHECK_STR(list.jobs[4].kernel.name, "c");
    CHECK_STR(list.jobs[5].kernel.name, "c1 0 0 1");
    CHECK(!list.jobs[4].error);
    CHECK_STR(list.jobs[5].error, "linear");
    kernel_list_free(&list);
    problem_list_free(&problems);
}

/* The first of three kernels ends last: its line still comes first. */
static void test_order(size_t threads)
{
    static const char *const texts[] = {"1x8x64", "2,3x8x96", "4x8x64"};
    struct problem_list problems = {0};
    struct kernel_list list = {0};
    size_t done = 0;

    for (int i = 0; i < 3; i++)
        CHECK(problem_list_add(&problems, NULL, texts[i]));
    CHECK(kernel_list_add(&list, NULL, "device", &problems));
    CHECK(kernel_list_add(&list, NULL, "its twin", &problems));
    CHECK_INT(list.count, 3);
    prepared = late = 0;
    wait_for = threads > 1 ? 2 : 0;
    kernel_list_start(&list, threads);
    while (done < list.count)
        done = kernel_list_wait(&list, done);
    CHECK_INT(kernel_list_wait(&list, done), 3); /* at once */
    for (size_t i = 0; i < list.count; i++)
        CHECK(kernel_list_is_done(&list, i));
    kernel_list_finish(&list);
    CHECK(!late);
    CHECK_INT(prepared, 3);
    CHECK_STR(list.jobs[0].kernel.name, "k64");
    CHECK_STR(list.jobs[1].kernel.name, "k0");
    CHECK_STR(list.jobs[2].kernel.name, "k96");
    CHECK(!list.jobs[0].error && !list.jobs[1].error);
    CHECK_STR(list.jobs[2].error, "k is 96"); /* of the thread that failed */
    CHECK_INT(list.jobs[0].kernel.ms, 64);
    kernel_list_free(&list);
    problem_list_free(&problems);
}

static void test_none(void)
{
    struct kernel_list list = {0};

    kernel_list_start(&list, 4);
    CHECK_INT(kernel_list_wait(&list, 0), 0);
    kernel_list_finish(&list);
    kernel_list_free(&list);
}

/* A byte that is no part of a UTF-8 character, as it comes out. */
#define BAD "\\ufffd"

static void test_json(void)
{
    static const char head[] = "{\"key\":\"0\",\"arch\":\"a\\\"\\\\\","
                               "\"name\":\"\\u0009\\u001f\x7f\"";
    struct report report = {.json = true};
    struct kernel_job job = {.kernel = {.key = "0",
                                        .arch = "a\"\\",
                                        .name = "\t\x1f\x7f",
                                        .ms = 1.5,
                                        .source = JITGEMM_SOURCE_PACK}};
    /* Good characters of 2, 3, 4 bytes; a stray byte; overlong forms; a
     * surrogate; numbers too large; a character cut off. */
    char error[] = "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xFF "
                   "\xC0\xAF \xE0\x80\xAF \xF0\x80\x80\xAF \xED\xA0\x80 "
                   "\xF4\x90\x80\x80 \xF5\x80\x80\x80 \xE2\x82";
    char want[1024];

    snprintf(want, sizeof want,
             "%s,\"source\":\"pack\",\"ms\":1.500}\n"
             "%s,\"source\":null,\"ms\":null,\"error\":\""
             "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 " BAD " " BAD BAD
             " " BAD BAD BAD " " BAD BAD BAD BAD " " BAD BAD BAD
             " " BAD BAD BAD BAD " " BAD BAD BAD BAD " " BAD BAD "\"}\n"
             "%s}\n",
             head, head, head);
    capture(stdout);
    report_kernel(&report, &job);
    job.error = error;
    report_kernel(&report, &job);
    report_need(&report, &job.kernel);
    report_summary(&report, 1, "dir");
    CHECK_STR(captured(stdout), want);
    CHECK_INT(report.failed, 1);
}

static void test_text(void)
{
    struct report report = {0};
    struct kernel_job job = {.kernel = {.key = "0",
                                        .arch = "sm_90a",
                                        .name = "gemm",
                                        .ms = 12.34,
                                        .source = JITGEMM_SOURCE_PACK}};
    char error[] = "why";

    capture(stdout);
    report_kernel(&report, &job);
    report_summary(&report, 99.6, NULL);
    job.kernel.source = JITGEMM_SOURCE_MEMORY;
    report_kernel(&report, &job);
    job.error = error;
    report_kernel(&report, &job); /* and a line on stderr */
    job.error = NULL;
    job.kernel.source = (jitgemm_source)(JITGEMM_SOURCE_COMPILED + 1);
    report_kernel(&report, &job);
    report_summary(&report, 1, "dir");
    CHECK_STR(captured(stdout),
              "pack          12.3 ms  sm_90a    0  gemm\n"
              "1 kernel: 0 compiled, 0 from disk, 1 from a pack, 0 failed; "
              "100 ms\n"
              "memory        12.3 ms  sm_90a    0  gemm\n"
              "failed              -  sm_90a    0  gemm\n"
              "none          12.3 ms  sm_90a    0  gemm\n"
              "4 kernels: 0 compiled, 0 from disk, 1 from a pack, "
              "1 from memory, 1 from elsewhere, 1 failed; 1 ms; cache dir\n");
}

static void test_stderr(void)
{
    struct report report = {0};
    struct kernel_job job = {.kernel = {.arch = "sm_90a", .name = "gemm"}};
    char error[] = "why";

    job.error = error;
    capture(stderr);
    report_progress(&report, 1, 2); /* no bar: nothing */
    report_progress_clear(&report);
    report_kernel(&report, &job);
    report.bar = true;
    report_progress(&report, 1, 4);
    report_progress(&report, 4, 4); /* all done: nothing */
    report_progress_clear(&report);
    CHECK_STR(captured(stderr),
              "jitgemm-warm: sm_90a: gemm: why\n"
              "\r\033[K[##########------------------------------] 1/4"
              "\r\033[K");
}

int main(void)
{
    test_experts();
    test_types();
    test_conversions();
    test_order(1);
    test_order(2);
    test_order(8);
    test_none();
    test_json();
    test_text();
    test_stderr();
    return test_end();
}
