/* SPDX-License-Identifier: MIT */
/* jitgemm-warm --model: configurations of models, and their problems. */
#include <string.h>

#include "model_config.h"
#include "model_list.h"
#include "test.h"

/* ---- Configurations ---- */

static const char *parse(const char *text, struct moe_model *model,
                         const char **at)
{
    return model_config_parse(text, strlen(text), model, at);
}

static void test_config(void)
{
    struct moe_model model = {.name = "m"};
    const char *at;

    CHECK(!parse(" {\"num_local_experts\":8,\"num_experts_per_tok\":2,"
                 "\"hidden_size\":4096,\"intermediate_size\":14336}",
                 &model, &at));
    CHECK_INT(model.experts, 8);
    CHECK_INT(model.top, 2);
    CHECK_INT(model.hidden, 4096);
    CHECK_INT(model.intermediate, 14336);
    CHECK_STR(model.name, "m");
    /* The first of the names; and a part for text, whatever is outside. */
    CHECK(!parse("{\"text_config\":{\"num_experts\":9,"
                 "\"n_routed_experts\":160,\"num_experts_per_tok\":160,"
                 "\"intermediate_size\":10944,\"hidden_size\":5120,"
                 "\"moe_intermediate_size\":1536},\"hidden_size\":\"x\"}",
                 &model, &at));
    CHECK_INT(model.experts, 160);
    CHECK_INT(model.intermediate, 1536);
    CHECK_INT(model.hidden, 5120);
    CHECK(!parse("{\"num_experts\":128,\"n_routed_experts\":null,"
                 "\"num_experts_per_tok\":8,\"intermediate_size\":6144,"
                 "\"hidden_size\":2048,\"moe_intermediate_size\":null,"
                 "\"text_config\":null}",
                 &model, &at));
    CHECK_INT(model.experts, 128);
    CHECK_INT(model.intermediate, 6144);
}

/* Weights, which the model or its part tells. */
static void test_weights(void)
{
    static const char numbers[] =
        "\"num_experts\":32,\"num_experts_per_tok\":4,"
        "\"hidden_size\":2880,\"intermediate_size\":2880";
    static const struct {
        const char *before, *behind;
        bool mxfp4;
    } cases[] = {
        {"{", "}", false},
        {"{\"quantization_config\":{\"modules_to_not_convert\":[\"lm_head\"],"
         " \"quant_method\" : \"mxfp4\"},", "}", true},
        {"{\"quantization_config\":{\"quant_method\":\"mxfp4\"},"
         "\"text_config\":{", "}}", true},
        {"{\"text_config\":{", ",\"quantization_config\":"
         "{\"quant_method\":\"mxfp4\"}}}", true},
        {"{\"quantization_config\":{\"quant_method\":\"mxfp4x\"},", "}",
         false},
        {"{\"quantization_config\":{\"quant_method\":\"modelopt\"},", "}",
         false},
        {"{\"quantization_config\":{\"quant_method\":4},", "}", false},
        {"{\"quantization_config\":{},", "}", false},
        {"{\"quantization_config\":null,", "}", false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct moe_model model = {.mxfp4 = !cases[i].mxfp4};
        char text[512];
        const char *at;

        snprintf(text, sizeof text, "%s%s%s", cases[i].before, numbers,
                 cases[i].behind);
        CHECK(!parse(text, &model, &at));
        CHECK_INT(model.mxfp4, cases[i].mxfp4);
        CHECK_INT(model.experts, 32);
    }
}

static void test_bad_config(void)
{
    static const struct {
        const char *text, *at, *rule;
    } bad[] = {
        {"[]", "[]", "expected an object"},
        {"{", "", "expected a string"},
        {" {\"num_experts\":null}", "{\"num_experts\":null}",
         "no experts: neither n_routed_experts, num_experts nor "
         "num_local_experts"},
        {"{\"num_experts\":1}", "{\"num_experts\":1}",
         "no num_experts_per_tok"},
        {"{\"num_experts\":1,\"num_experts_per_tok\":1}",
         "{\"num_experts\":1,\"num_experts_per_tok\":1}", "no hidden_size"},
        {"{\"num_experts\":1,\"num_experts_per_tok\":1,\"hidden_size\":1}",
         "{\"num_experts\":1,\"num_experts_per_tok\":1,\"hidden_size\":1}",
         "no moe_intermediate_size or intermediate_size"},
        {"{\"num_experts\":1.5}", "1.5}",
         "expected a whole number from 1 to 2147483647"},
        {"{\"text_config\":[]}", "[]}", "expected an object"},
        {"{\"quantization_config\":\"mxfp4\"}", "\"mxfp4\"}",
         "expected an object"},
        {"{\"text_config\":{\"num_experts\":0}}", "0}}",
         "expected a whole number from 1 to 2147483647"},
        {"{\"num_experts\":1,\"num_experts\":1}", "\"num_experts\":1}",
         "the name was there before"},
        {"{\"num_experts\":1,\"num_experts_per_tok\":2,\"hidden_size\":1,"
         "\"intermediate_size\":1}",
         NULL, "num_experts_per_tok is more than there are experts"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct moe_model model = {.experts = -1};
        const char *at;

        CHECK_STR(parse(bad[i].text, &model, &at), bad[i].rule);
        CHECK_STR(at, bad[i].at ? bad[i].at : bad[i].text);
        CHECK_INT(model.experts, -1);
    }
}

/* ---- Problems ---- */

static void check_problem(const struct named_problem *named, int64_t n,
                          int64_t k, int64_t max_rows, int64_t hint_rows)
{
    CHECK_INT(named->problem.groups, 32);
    CHECK_INT(named->problem.sizes, JITGEMM_SIZES_DEVICE);
    CHECK_INT(named->problem.n[0], n);
    CHECK_INT(named->problem.k[0], k);
    CHECK_INT(named->problem.max_rows, max_rows);
    CHECK_INT(named->problem.hint_rows, hint_rows);
    CHECK_INT(named->problem.b_type, JITGEMM_WEIGHTS_MXFP4);
}

static void test_problems(void)
{
    static const int64_t typical[] = {3, 4, 8, 16, 17};
    struct problem_list list = {0};

    CHECK(model_list_add(&list, "gpt-oss-20b", "3-17,64", 1));
    CHECK_INT(list.count, 12);
    for (size_t i = 0; i < 5 && list.count == 12; i++) {
        check_problem(&list.items[2 * i], 5760, 2880, 4 * 17,
                      4 * typical[i]);
        check_problem(&list.items[2 * i + 1], 2880, 2880, 4 * 17,
                      4 * typical[i]);
    }
    check_problem(&list.items[10], 5760, 2880, 4 * 64, 4 * 64);
    CHECK_STR(list.items[11].where, "gpt-oss-20b/down/64: problem "
                                    "\"32@256/256x2880x2880\"");
    problem_list_free(&list);

    CHECK(model_list_add(&list, "gpt-oss-20b", "8-8", 3));
    CHECK_INT(list.count, 2);
    check_problem(&list.items[0], 1920, 2880, 32, 32);
    check_problem(&list.items[1], 2880, 960, 32, 32);
    problem_list_free(&list);

    CHECK(model_list_add(&list, "gpt-oss-20b", "1-2147483647", 1));
    CHECK_INT(list.count, 64); /* powers from 0 to 30, and the last */
    problem_list_free(&list);

    CHECK(model_list_add(&list, "mixtral-8x7b", "8", 1));
    CHECK_INT(list.items[1].problem.b_type, JITGEMM_WEIGHTS_NVFP4);
    CHECK_INT(list.count, 2);
    list.items[0].problem.c_type = JITGEMM_BF16;
    CHECK(model_list_convert(&list));
    CHECK_INT(list.count, 5);
    CHECK_STR(list.items[3].where,
              "mixtral-8x7b/activation: conversion \"bf16+swiglu\"");
    CHECK_INT(list.items[3].conversion.activation, JITGEMM_SWIGLU);
    CHECK_INT(list.items[4].conversion.flags, JITGEMM_COMBINE);
    problem_list_free(&list);
}

/* What is between the products. */
static void test_activation(void)
{
    static const char numbers[] =
        "\"num_experts\":32,\"num_experts_per_tok\":4,"
        "\"hidden_size\":2880,\"intermediate_size\":2880}";
    static const struct {
        const char *before;
        bool oai;
    } cases[] = {{"{", false},
                 {"{\"model_type\":\"gpt_oss\",", true},
                 {"{\"model_type\":\"qwen3_moe\",", false},
                 {"{\"model_type\":4,", false}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct moe_model model = {.oai = !cases[i].oai};
        char text[512];
        const char *at;

        snprintf(text, sizeof text, "%s%s", cases[i].before, numbers);
        CHECK(!parse(text, &model, &at));
        CHECK_INT(model.oai, cases[i].oai);
    }
}

int main(void)
{
    test_config();
    test_weights();
    test_activation();
    test_bad_config();
    test_problems();
    return test_end();
}
