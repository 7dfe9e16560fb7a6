/* SPDX-License-Identifier: MIT */
/* Which configuration a plan chooses, and how a group is cut. */
#include "cases.h"
#include "plan_text.h"
#include "plan.h"
#include "spec.h"
#include "test.h"

static struct jg_device device;

static struct jg_config chosen;

static const struct jg_config *choose(int32_t groups, int32_t m, int32_t n,
                                      int32_t k)
{
    struct jg_size sizes[64];
    struct jg_problem problem = {
        .groups = groups, .sizes = sizes, .output = JG_F16};

    for (int32_t g = 0; g < groups; g++)
        sizes[g] = (struct jg_size){m, n, k};
    CHECK_INT(jg_plan_choose(&problem, &device, &chosen), JITGEMM_OK);
    return &chosen;
}

/* The number of parts of a product whose k may be split. */
static int parts(int32_t groups, int32_t m, int32_t n, int32_t k)
{
    struct jg_size sizes[64];
    struct jg_problem problem = {
        .groups = groups, .sizes = sizes, .split_k = true};

    for (int32_t g = 0; g < groups; g++)
        sizes[g] = (struct jg_size){m, n, k};
    sizes[groups] = (struct jg_size){0, 8, 32}; /* does not matter */
    problem.groups++;
    CHECK_INT(jg_plan_choose(&problem, &device, &chosen), JITGEMM_OK);
    return chosen.ctas;
}

static const struct jg_config *choose_case(const char *name)
{
    const struct gemm_case *c = case_find(name);
    struct jg_size sizes[64];
    struct jg_problem problem = {
        .groups = c->groups, .sizes = sizes, .output = JG_F16};

    for (int32_t g = 0; g < c->groups; g++)
        sizes[g] = (struct jg_size){(int32_t)c->m[g], (int32_t)c->n[g],
                                    (int32_t)c->k[g]};
    CHECK_INT(jg_plan_choose(&problem, &device, &chosen), JITGEMM_OK);
    return &chosen;
}

static void test_choice(void)
{
    static const int32_t tokens[] = {8, 16, 32, 64, 128, 256};

    /* As many tiles as fill an H200 many times over: the tile that fits. */
    for (int i = 0; i < 6; i++)
        CHECK_INT(choose(32, tokens[i], 4096, 7168)->tile_m, tokens[i]);
    CHECK_INT(choose(1, 8192, 8192, 8192)->tile_m, 256);
    /* Little work is done in one launch, much is not. */
    CHECK(choose(1, 1, 4096, 4096)->fused);
    CHECK_INT(choose(1, 1, 4096, 4096)->tile_n, 64); /* few tiles */
    CHECK_INT(choose(1, 16, 8192, 8192)->tile_n, 64);
    CHECK_INT(choose(1, 16, 8192, 8192)->tile_m, 16);
    CHECK(choose(1, 8, 8192, 8192)->fused);
    CHECK(!choose(32, 8, 4096, 7168)->fused);
    CHECK(!choose(8, 128, 4096, 7168)->fused);
    /* k is split where that is allowed, a cluster has a tile, and each part a
     * stage. */
    CHECK_INT(choose(1, 4, 2048, 2048)->ctas, 1);
    CHECK_INT(parts(1, 4, 2048, 2048), 4);
    CHECK_INT(parts(1, 4, 4096, 4096), 4);
    CHECK_INT(parts(1, 16, 4096, 4096), 2);
    CHECK_INT(parts(1, 4, 66 * 128, 8192), 2);
    CHECK_INT(parts(1, 4, 67 * 128, 8192), 1);
    CHECK_INT(parts(1, 4, 2048, 128), 1);
    CHECK_INT(parts(32, 8, 4096, 7168), 1);
    /* What was fastest of all when it was measured. */
    CHECK_INT(choose_case("gm1")->tile_m, 256);
    CHECK_INT(choose_case("gm2")->tile_m, 96);
    CHECK_INT(choose_case("gm3")->tile_m, 128);
    CHECK_INT(choose_case("gm4")->tile_m, 128);
    CHECK_INT(choose_case("decode_32")->tile_n, 256);
    CHECK_INT(choose_case("prefill_down")->tile_m, 256);
    /* Few tiles: narrower ones keep more multiprocessors busy. */
    CHECK(choose(1, 256, 1024, 4096)->tile_m < 256);
    /* Nothing to do is no division by zero. */
    CHECK(choose(4, 0, 128, 128) != NULL);
}

static void test_choice_sm100(void)
{
    int32_t k = 7168;

    CHECK_INT(jg_device_of_arch("sm_100a", &device), JITGEMM_OK);
    /* Few tokens: their side is the narrow one. */
    for (int32_t m = 1; m <= 32; m *= 2) {
        CHECK(choose(32, m, 4096, k)->swapped);
        CHECK_INT(chosen.tile_m, 32);
    }
    CHECK(choose(32, 48, 4096, k)->swapped);
    CHECK_INT(chosen.tile_m, 64);
    /* A wave of whole tiles of tokens is not swapped, one of parts is. */
    CHECK(!choose(1, 128, 148 * 128, k)->swapped);
    CHECK_INT(chosen.tile_m, 128);
    CHECK(choose(1, 72, 148 * 128, k)->swapped);
    CHECK_INT(chosen.tile_m, 128);
    /* Much work: the widest, which pairs share; but not an odd number of 32 k,
     * nor more groups than the host makes maps for. */
    CHECK_INT(choose(1, 8192, 8192, 8192)->ctas, 2);
    CHECK_INT(chosen.tile_n, 256);
    CHECK_INT(choose(1, 8192, 8192, 8192 + 32)->ctas, 1);
    CHECK_INT(chosen.tile_n, 256);
    CHECK(choose(4, 0, 128, 128) != NULL);
    CHECK(!chosen.edits_maps);
    CHECK_INT(jg_cut_tile_rows(&chosen, (struct jg_size){9, 8, 32}),
              chosen.tile_m);
    CHECK_INT(jg_cut_units(&chosen, (struct jg_size){9, 8, 32}), 0);
}

/* More groups than the host makes maps for; other types of C. */
static void test_variants(void)
{
    static struct jg_size sizes[513];
    struct jg_problem problem = {
        .groups = 513, .sizes = sizes, .output = JG_F32};
    struct jg_config config;

    for (int i = 0; i < 513; i++)
        sizes[i] = (struct jg_size){8, 128, 256};
    CHECK_INT(jg_plan_choose(&problem, &device, &config), JITGEMM_OK);
    CHECK(config.edits_maps);
    CHECK_INT(config.output, JG_F32);
    for (int i = 0; i < jg_model_sm100.count; i++)
        CHECK_INT(jg_cut_allows(&jg_model_sm100.configs[i], &problem,
                                &device),
                  jg_model_sm100.configs[i].ctas == 1);
    problem.groups = 512;
    CHECK_INT(jg_plan_choose(&problem, &device, &config), JITGEMM_OK);
    CHECK(!config.edits_maps);
    CHECK_INT(jg_device_of_arch("sm_90a", &device), JITGEMM_OK);
    CHECK_INT(jg_plan_choose(&problem, &device, &config), JITGEMM_OK);
    CHECK_INT(config.output, JG_F32);
    CHECK(!config.edits_maps);
}

static void test_cuts(void)
{
    struct jg_config config = {
        .tile_m = 64, .tile_n = 128, .tile_k = 256, .width_step = 64};

    CHECK_INT(jg_cut_tiles(&config, (struct jg_size){0, 128, 256}), 0);
    CHECK_INT(jg_cut_tiles(&config, (struct jg_size){1, 8, 32}), 1);
    CHECK_INT(jg_cut_tiles(&config, (struct jg_size){65, 136, 32}), 4);
    /* As few tiles as can be, equal up to whole atoms. */
    CHECK_INT(jg_cut_tile_rows(&config, (struct jg_size){0, 8, 32}), 0);
    CHECK_INT(jg_cut_tile_rows(&config, (struct jg_size){1, 8, 32}), 8);
    CHECK_INT(jg_cut_tile_rows(&config, (struct jg_size){64, 8, 32}), 64);
    CHECK_INT(jg_cut_tile_rows(&config, (struct jg_size){65, 8, 32}), 40);
    CHECK_INT(jg_cut_tile_rows(&config, (struct jg_size){1000, 8, 32}), 64);
    /* Its time grows with its width: 64 here, then 16. */
    CHECK(!(jg_model_sm90.tile_us(&config, (struct jg_size){9, 8, 64}) <
            jg_model_sm90.tile_us(&config, (struct jg_size){64, 8, 64})));
    config.width_step = 16;
    CHECK(jg_model_sm90.tile_us(&config, (struct jg_size){9, 8, 64}) <
          jg_model_sm90.tile_us(&config, (struct jg_size){64, 8, 64}));
    CHECK_INT(jg_cut_chunks(&config, (struct jg_size){1, 8, 32}), 4);
    CHECK_INT(jg_cut_chunks(&config, (struct jg_size){1, 8, 288}), 8);
    CHECK_INT(jg_cut_units(&config, (struct jg_size){9, 8, 288}), 16);
    config.fused = true;
    CHECK_INT(jg_cut_units(&config, (struct jg_size){9, 8, 288}), 0);
    CHECK_INT(jg_cut_tiles(&config,
                            (struct jg_size){INT32_MAX, INT32_MAX, 32}),
              (int64_t)33554432 * 16777216);
}

/* The plan's table is what its kernels are compiled from. */
static void test_specs(void)
{
    for (int i = 0; i < jg_model_sm90.count; i++) {
        const struct jg_config *config = &jg_model_sm90.configs[i];
        struct jg_spec spec, other;
        char constant[64];
        int last = jg_spec_count(config) - 1;

        CHECK_INT(last, config->fused ? 0 : 1);
        CHECK(!i || config->ctas > 1 || config[-1].ctas == 1); /* those last */
        jg_spec_make(config, &device, last, &spec);
        CHECK_STR(spec.symbol, "sm90_nvfp4");
        CHECK_STR(spec.arch, "sm_90a");
        snprintf(constant, sizeof constant, "int tile_m = %d;",
                 config->tile_m);
        CHECK(strstr(spec.text, constant) != NULL);
        snprintf(constant, sizeof constant, "int smem_bytes = %d;",
                 spec.shared_bytes);
        CHECK(strstr(spec.text, constant) != NULL);
        CHECK(strstr(spec.text, spec.program) != NULL);
        CHECK(spec.text[sizeof spec.text - 2] == 0); /* not cut short */
        /* Two blocks share 228 KiB, of which each costs one more. */
        CHECK(config->blocks * (spec.shared_bytes + 1024) <= 228 * 1024);
        for (int j = 0; j < i; j++) {
            jg_spec_make(&jg_model_sm90.configs[j], &device,
                         jg_spec_count(&jg_model_sm90.configs[j]) - 1, &other);
            CHECK(strcmp(spec.text, other.text) != 0);
            CHECK(strcmp(spec.name, other.name) != 0);
        }
    }
}

/* The type of C is in the text and in the name; it takes no more memory. */
static void test_outputs(void)
{
    static const char *const names[] = {", f16", ", bf16", ", f32"};
    struct jg_config config = jg_model_sm90.configs[3];
    struct jg_spec spec;
    char constant[64];
    int bytes = 0;

    for (int type = JG_F16; type <= JG_F32; type++) {
        config.output = (enum jg_output)type;
        jg_spec_make(&config, &device, 1, &spec);
        snprintf(constant, sizeof constant, "int output = %d;", type);
        CHECK(strstr(spec.text, constant) != NULL);
        CHECK(strstr(spec.name, names[type]) != NULL);
        CHECK(!bytes || spec.shared_bytes == bytes);
        bytes = spec.shared_bytes;
    }
}

/* One line a configuration, of which one is the choice. */
static void test_explain(void)
{
    struct jg_size size = {8192, 8192, 8192};
    struct jg_problem problem = {
        .groups = 1, .sizes = &size, .output = JG_BF16};
    struct jg_buf text = {0};
    const char *mark;
    int lines = 0, marks = 0;

    CHECK_INT(jg_device_of_arch("sm_103a", &device), JITGEMM_OK);
    CHECK_INT(jg_plan_choose(&problem, &device, &chosen), JITGEMM_OK);
    jg_plan_text(&problem, &device, &chosen, &text);
    for (const char *at = (char *)text.data; *at; at++) {
        lines += *at == '\n';
        marks += at[0] == '\n' && at[1] == '*';
    }
    CHECK_INT(lines, jg_model_sm100.count + 2);
    CHECK_INT(marks, 1);
    mark = strchr((char *)text.data, '*');
    CHECK(mark && strstr(mark, "256x256x256, 5 stages, bf16, 2 CTAs"));
    CHECK(strstr((char *)text.data, "sm_103a with 160") != NULL);
    jg_buf_free(&text);

    /* A pair does not fit into one multiprocessor. */
    problem.sm_limit = 1;
    CHECK_INT(jg_plan_choose(&problem, &device, &chosen), JITGEMM_OK);
    CHECK_INT(chosen.ctas, 1);
    jg_plan_text(&problem, &device, &chosen, &text);
    CHECK(strstr((char *)text.data, "sm_103a with 1 multi") != NULL);
    jg_buf_free(&text);
}

/* Who makes the table of groups. */
static void test_tables(void)
{
    for (int i = 0; i < 8; i++) {
        struct jg_problem problem = {.groups = 256 + i % 2,
                                     .on_device = i / 2 % 2};
        struct jg_config config = {.family = i / 4 ? JG_SM100 : JG_SM90};

        jg_plan_complete(&problem, &config);
        CHECK_INT(config.own_table, i == 2);
        CHECK_INT(config.experts, problem.on_device && !config.own_table);
    }
}

int main(void)
{
    CHECK_INT(jg_device_of_arch("sm_90a", &device), JITGEMM_OK);
    test_choice();
    test_cuts();
    test_specs();
    test_outputs();
    test_choice_sm100();
    test_variants();
    test_explain();
    test_tables();
    return test_end();
}
