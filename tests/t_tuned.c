/* SPDX-License-Identifier: MIT */
/* The file of measured choices in a cache directory: who believes it, and how
 * it is written. */
#define _GNU_SOURCE /* nftw */
#include "context.h"
#include "scratch.h"

static const char first_line[] = "jitgemm tuning 1 sm_90a 132\n";

static char warned[512];

static void keep_warning(void *user, int level, const char *line)
{
    (void)user;
    if (level <= JITGEMM_LOG_WARNING)
        snprintf(warned, sizeof warned, "%s", line);
}

static jitgemm_context *open_context(void)
{
    const jitgemm_context_options options = {
        .size = sizeof options,
        .arch = "sm_90a",
        .cache_dir = in_scratch("cache"),
        .log = keep_warning,
        .log_level = JITGEMM_LOG_DEBUG,
    };
    jitgemm_context *context = NULL;

    warned[0] = '\0';
    CHECK_INT(jitgemm_context_create(&options, &context), JITGEMM_OK);
    return context;
}

static const char class[] = "1x4096x4096 rows 8 longest 8 nvfp4 f16";
static const char kernel[] =
    "sm90_nvfp4 64x128x256, 4 stages, f16"; /* not what the model takes */

/* What a context says of the problem, and whether it takes that kernel. */
static bool is_tuned(jitgemm_context *context, const char *text)
{
    const int64_t m = 5, n = 4096, k = 4096;
    const jitgemm_problem problem = {
        .size = sizeof problem, .groups = 1, .m = &m, .n = &n, .k = &k};
    static char all[8192];
    const char *mark;

    CHECK_INT(jitgemm_problem_explain(context, &problem, all, sizeof all,
                                      NULL),
              JITGEMM_OK);
    if (!strstr(all, text)) {
        fprintf(stderr, "no \"%s\" in: %s\n", text, all);
        CHECK(!"said");
    }
    mark = strstr(all, "\n*");
    return mark && strstr(mark, kernel) &&
           strstr(mark, kernel) < strchr(mark + 1, '\n');
}

static bool is_tuned_anew(const char *text)
{
    jitgemm_context *context = open_context();
    bool tuned = is_tuned(context, text);

    jitgemm_context_destroy(context);
    return tuned;
}

static const char *file_path(void)
{
    return in_scratch("cache/v1/tuning-sm_90a-132");
}

static void write_tuning(const char *first, const char *of, mode_t mode)
{
    char text[512];
    int size = snprintf(text, sizeof text, "%s%s\t%s\t12340\t15000\n", first,
                        class, of);

    write_file(file_path(), text, (size_t)size, mode);
}

static void test_contexts(void)
{
    jitgemm_context *context;

    make_folder(in_scratch("cache"), 0700);
    make_folder(in_scratch("cache/v1"), 0700);
    CHECK(!is_tuned_anew("not tuned: tuning-sm_90a-132: No such file"));
    CHECK_STR(warned, "");
    write_tuning(first_line, kernel, 0600);
    context = open_context();
    CHECK(is_tuned(context, "tuned for 1x4096x4096 rows 8 longest 8 nvfp4 "
                            "f16: measured 12.34 us; the model's choice "
                            "15.00 us\n"));
    CHECK_INT(unlink(file_path()), 0);
    CHECK(is_tuned(context, "tuned for")); /* was read once */
    jitgemm_context_destroy(context);
    CHECK(!is_tuned_anew("No such file"));
    CHECK_STR(warned, "");

    write_tuning("jitgemm tuning 2 sm_90a 132\n", kernel, 0600);
    CHECK(!is_tuned_anew("line 1: of another version or GPU"));
    CHECK_STR(warned, "no tuning: tuning-sm_90a-132, line 1: of another "
                      "version or GPU");
    write_tuning(first_line, kernel, 0622);
    CHECK(!is_tuned_anew("tuning-sm_90a-132: wrong owner, or writable by "
                         "others"));
    CHECK(strstr(warned, "wrong owner") != NULL);
    write_tuning(first_line, "sm90_nvfp4 of old", 0600);
    CHECK(!is_tuned_anew("has sm90_nvfp4 of old, which is no kernel of this"));
    write_tuning(first_line, "sm90_nvfp4 8x128x128, 6 stages, f16, 2 blocks, "
                             "fused, split k 2", 0600);
    CHECK(!is_tuned_anew("split k 2, which cannot do this problem"));
    write_tuning("jitgemm tuning 1 sm_90a 132\n0\tk\t1\t1\n", kernel, 0600);
    CHECK(is_tuned_anew("tuned for"));
    CHECK_INT(rename(file_path(), in_scratch("elsewhere")), 0);
    CHECK_INT(symlink(in_scratch("elsewhere"), file_path()), 0);
    CHECK(!is_tuned_anew("not a regular file"));
    CHECK_INT(unlink(file_path()), 0);
}

static jitgemm_status put(jitgemm_context *context, const char *in)
{
    struct jg_tuning_entry entry = {.ns = 7, .model_ns = 8};

    snprintf(entry.class, sizeof entry.class, "%s", in);
    snprintf(entry.kernel, sizeof entry.kernel, "%s", kernel);
    return jg_tuned_put(&context->tuned, jg_registry_cache(context->registry),
                        &context->device, &context->client.log, &entry);
}

static void test_put(void)
{
    jitgemm_context *context = open_context();
    char *text;
    size_t size;

    CHECK(!is_tuned(context, "No such file"));
    write_tuning(first_line, "another process's", 0600);
    CHECK_INT(put(context, "9"), JITGEMM_OK);
    CHECK(!is_tuned(context, "another process's")); /* kept beside it */
    CHECK_INT(put(context, class), JITGEMM_OK);
    CHECK(is_tuned(context, "measured 0.01 us"));
    CHECK(is_tuned_anew("measured 0.01 us"));
    write_tuning("something else\n", kernel, 0600); /* is replaced */
    CHECK_INT(put(context, class), JITGEMM_OK);
    CHECK(is_tuned_anew("measured 0.01 us"));
    CHECK_INT(mode_of(file_path()) & 07777, 0600);
    text = read_file(file_path(), &size);
    CHECK(text && size > sizeof first_line &&
          memcmp(text, first_line, sizeof first_line - 1) == 0);
    free(text);
    CHECK_INT(count_files(in_scratch("cache")), 1); /* no scratch is left */

    /* What cannot be written is not used either. */
    CHECK_INT(unlink(file_path()), 0);
    make_folder(file_path(), 0700);
    CHECK_INT(put(context, class), JITGEMM_E_CACHE);
    CHECK_STR(jitgemm_last_error()->argument ? "argument" : "none", "none");
    CHECK(strstr(jitgemm_last_error()->text, "cannot be written") != NULL);
    CHECK(!is_tuned(context, "not tuned: tuning-sm_90a-132: not a regular"));
    jitgemm_context_destroy(context);
}

int main(void)
{
    unsetenv("JITGEMM_MODE");
    scratch_begin();
    test_contexts();
    test_put();
    scratch_end();
    return test_end();
}
