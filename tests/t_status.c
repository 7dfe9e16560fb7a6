/* SPDX-License-Identifier: MIT */
/* The error record, one a thread, and log lines. */
#include "status.h"

#include <pthread.h>

#include "test.h"

static char line[2048];
static int lines, last_level, user;

static void keep_line(void *given, int level, const char *text)
{
    CHECK(given == &user);
    snprintf(line, sizeof line, "%s", text);
    last_level = level;
    lines++;
}

static void *fail_elsewhere(void *unused)
{
    CHECK_INT(jitgemm_last_error()->status, JITGEMM_OK);
    jg_fail(JITGEMM_E_DRIVER, "elsewhere");
    return unused;
}

static void test_record(void)
{
    const jitgemm_error *error = jitgemm_last_error();
    pthread_t thread;
    char text[3000];

    CHECK_INT(error->size, sizeof *error);
    CHECK_INT(error->status, JITGEMM_OK);
    CHECK_INT(error->group, -1);
    CHECK_INT(jg_fail_argument(JITGEMM_E_SHAPE, "k", 3, 33, 32, "k is %d", 33),
              JITGEMM_E_SHAPE);
    CHECK_INT(error->status, JITGEMM_E_SHAPE);
    CHECK_STR(error->argument, "k");
    CHECK_STR(error->text, "k is 33");
    CHECK_INT(error->group, 3);
    CHECK_INT(error->got, 33);
    CHECK_INT(error->want, 32);
    jg_error()->cuda = 700;
    CHECK_INT(error->cuda, 700);

    CHECK_INT(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK_INT(error->status, JITGEMM_E_SHAPE);

    /* Nothing of the record before is left. */
    CHECK_INT(jg_fail(JITGEMM_E_MEMORY, "%s", "none"), JITGEMM_E_MEMORY);
    CHECK(!error->argument && !error->cuda && !error->got && !error->want);
    CHECK_INT(error->group, -1);
    CHECK_STR(error->text, "none");

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    jg_fail(JITGEMM_E_COMPILE, "%s", text);
    CHECK_INT(strlen(error->text), sizeof error->text - 1);
}

static void test_log(void)
{
    struct jg_log log = {keep_line, &user, JITGEMM_LOG_WARNING};

    jg_log(NULL, JITGEMM_LOG_ERROR, "dropped");
    jg_log(&(struct jg_log){NULL, &user, 4}, JITGEMM_LOG_ERROR, "dropped");
    jg_log(&log, JITGEMM_LOG_INFO, "dropped");
    CHECK_INT(lines, 0);
    jg_log(&log, JITGEMM_LOG_WARNING, "%s %d", "kept", 1);
    CHECK_INT(lines, 1);
    CHECK_INT(last_level, JITGEMM_LOG_WARNING);
    CHECK_STR(line, "kept 1");
    log.level = JITGEMM_LOG_OFF;
    jg_log(&log, JITGEMM_LOG_ERROR, "dropped");
    CHECK_INT(lines, 1);
}

int main(void)
{
#define CHECK_STATUS(name, number, text)                                      \
    CHECK_INT(JITGEMM_##name, number);                                        \
    CHECK_STR(jitgemm_status_string(JITGEMM_##name), text);
    JITGEMM_STATUS_MAP(CHECK_STATUS)
    CHECK_STR(jitgemm_status_string((jitgemm_status)12345), "unknown status");
    test_record();
    test_log();
    return test_end();
}
