/* SPDX-License-Identifier: MIT */
/* An entry compiled again, by an NVRTC that makes the same of everything; and
 * a miss explained by the entries that are there. */
#define _GNU_SOURCE /* nftw, setenv */
#include "rebuild.h"

#include "cache.h"
#include "explain.h"
#include "fake/fakes.h"
#include "sample.h"
#include "scratch.h"

static const struct jg_nvrtc *nvrtc;
static struct jg_spec spec = {.program = "gemm/sm90_nvfp4.cu",
                              .symbol = "gemm",
                              .name = "gemm",
                              .arch = "sm_90a",
                              .text = "constexpr int tile_m = 128;\n"};

static void expect(const struct jg_entry *entry, jitgemm_entry_state want,
                   const char *text)
{
    struct jg_buf why = {.data = NULL};

    CHECK_INT(jg_rebuild_compare(nvrtc, entry, &why), want);
    CHECK_STR(why.size ? (char *)why.data : "", text);
    jg_buf_free(&why);
}

static void test_rebuild(const struct jg_key *key, struct fake_nvrtc *fake)
{
    char want[1300];
    struct jg_compiled made = {.ms = 0};
    struct jg_entry entry = sample_entry(key);
    struct jg_key other = {.blob = {.data = NULL}};
    struct jg_nvrtc patched = *nvrtc;

    CHECK_INT(jg_compile(nvrtc, &spec, &made), JITGEMM_OK);
    entry.cubin = (struct jg_span){made.cubin.data, made.cubin.size};
    expect(&entry, JITGEMM_ENTRY_REBUILT, "");
    entry.cubin.size--;
    expect(&entry, JITGEMM_ENTRY_DIFFERENT,
           "the cubin made here has 64 bytes, not 63");
    entry.cubin.size++;
    made.cubin.data[63] ^= 1;
    expect(&entry, JITGEMM_ENTRY_DIFFERENT,
           "the cubin made here has other bytes");
    fake->result = NVRTC_ERROR_COMPILATION;
    snprintf(want, sizeof want,
             "nvrtcCompileProgram of the entry for sm_90a: "
             "NVRTC_ERROR_COMPILATION (6): gemm/x.cu(2): error: as told\n"
             " (NVRTC 13.0, %s)",
             nvrtc->path);
    expect(&entry, JITGEMM_ENTRY_DIFFERENT, want);
    fake->result = NVRTC_SUCCESS;

    patched.id[0] ^= 1;
    patched.minor++;
    CHECK_INT(jg_compile_key(&patched, &spec, &other), JITGEMM_OK);
    entry.key = (struct jg_span){other.blob.data, other.blob.size};
    expect(&entry, JITGEMM_ENTRY_NOT_COMPARABLE,
           "another nvrtc, nvrtc_id than here");
    entry.key.size--;
    expect(&entry, JITGEMM_ENTRY_NOT_COMPARABLE, "a key of another version");
    jg_key_free(&other);
    jg_compiled_free(&made);
}

/* A specialization too long for today's spec, and no kernel at all. */
static void test_foreign(void)
{
    static char text[sizeof spec.text + 1];
    struct jg_key_fields fields = sample_fields;
    struct jg_key key = {.blob = {.data = NULL}};
    struct jg_entry entry;

    memset(text, 'x', sizeof text - 1);
    fields.spec = text;
    for (int i = 0; i < 3; i++) {
        CHECK_INT(jg_key_make(&fields, &key), JITGEMM_OK);
        entry = sample_entry(&key);
        expect(&entry, JITGEMM_ENTRY_NOT_COMPARABLE,
               "a specialization of another version");
        jg_key_free(&key);
        fields = sample_fields;
        if (i)
            fields.arch = "sm_1234567890";
        else
            fields.kernel = "";
    }
}

/* The last line logged. */
static char line[300];

static void keep(void *user, int level, const char *text)
{
    (void)user;
    CHECK_INT(level, JITGEMM_LOG_DEBUG);
    snprintf(line, sizeof line, "%s", text);
}

static void test_explain(const struct jg_key *wanted)
{
    struct jg_env env = {.untrusted = false};
    struct jg_cache *cache = jg_cache_open(in_scratch("c"), &env, NULL);
    struct jg_log log = {keep, NULL, JITGEMM_LOG_DEBUG};
    struct jg_nvrtc patched = *nvrtc;
    struct jg_key near = {.blob = {.data = NULL}}, far = near, none = near;
    struct jg_entry entry = sample_entry(wanted);
    char want[sizeof line];
    void *file = NULL;

    patched.id[0] ^= 1;
    CHECK_INT(jg_compile_key(&patched, &spec, &near), JITGEMM_OK);
    patched.minor++;
    CHECK_INT(jg_compile_key(&patched, &spec, &far), JITGEMM_OK);
    spec.text[0] ^= 1;
    CHECK_INT(jg_compile_key(nvrtc, &spec, &none), JITGEMM_OK);
    CHECK(jg_cache_put(cache, &far, &entry, NULL));
    CHECK(jg_cache_put(cache, &near, &entry, NULL));

    jg_explain_miss(jg_cache_directory(cache), 0, wanted, &log);
    snprintf(want, sizeof want, "cache: no %s, but %s of another nvrtc_id",
             wanted->name, near.name);
    CHECK_STR(line, want);
    line[0] = 0;
    CHECK_INT(jg_cache_get(cache, wanted, JITGEMM_SOURCE_NONE, &entry, &file,
                           &log), /* says so */
              JITGEMM_SOURCE_NONE);
    CHECK_STR(line, want);
    snprintf(want, sizeof want, "cache: no %s", none.name);
    jg_explain_miss(jg_cache_directory(cache), 0, &none, &log);
    CHECK_STR(line, want);
    line[0] = 0;
    jg_explain_miss(in_scratch("none"), 0, &none, &log);
    CHECK_STR(line, want);
    line[0] = 0;
    jg_explain_miss(jg_cache_directory(cache), 0, wanted, NULL);
    log.level = JITGEMM_LOG_INFO;
    jg_explain_miss(jg_cache_directory(cache), 0, wanted, &log);
    CHECK_STR(line, "");
    jg_key_free(&near);
    jg_key_free(&far);
    jg_key_free(&none);
    jg_cache_close(cache);
}

int main(void)
{
    struct fakes fakes = fakes_open();
    struct jg_key key = {.blob = {.data = NULL}};

    scratch_begin();
    CHECK_INT(jg_compiler_open(0, &nvrtc), JITGEMM_OK);
    CHECK_INT(jg_compile_key(nvrtc, &spec, &key), JITGEMM_OK);
    test_rebuild(&key, fakes.nvrtc);
    test_foreign();
    test_explain(&key);
    jg_key_free(&key);
    scratch_end();
    fakes_close(&fakes);
    return test_end();
}
