/* SPDX-License-Identifier: MIT */
/* Configurations of models: what is accepted has numbers in range, and is read
 * alike when it is written again. */
#include "fuzz.h"

#include <string.h>

#include "tool/model_config.h"

unsigned long fuzz_accepted;

static void check(const struct moe_model *model)
{
    struct moe_model again;
    const char *at;
    char text[256];
    int size = snprintf(text, sizeof text,
                        "{\"num_experts\":%d,\"num_experts_per_tok\":%d,"
                        "\"hidden_size\":%lld,\"intermediate_size\":%lld,"
                        "\"quantization_config\":{\"quant_method\":"
                        "\"%s\"}}",
                        (int)model->experts, (int)model->top,
                        (long long)model->hidden,
                        (long long)model->intermediate,
                        model->mxfp4 ? "mxfp4" : "");

    FUZZ_CHECK(model->top >= 1 && model->top <= model->experts);
    FUZZ_CHECK(!model_config_parse(text, (size_t)size, &again, &at));
    FUZZ_CHECK(again.experts == model->experts && again.top == model->top);
    FUZZ_CHECK(again.hidden == model->hidden);
    FUZZ_CHECK(again.mxfp4 == model->mxfp4);
    FUZZ_CHECK(again.intermediate == model->intermediate);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct moe_model model;
    const char *at = NULL, *rule;

    FUZZ_CHECK(text);
    memcpy(text, data, size);
    text[size] = '\0';
    rule = model_config_parse(text, size, &model, &at);
    FUZZ_CHECK(at >= text && at <= text + size);
    if (!rule) {
        fuzz_accepted++;
        check(&model);
    }
    free(text);
    return 0;
}

void fuzz_seeds(void (*use)(const struct jg_buf *seed))
{
    static const char *const seeds[] = {
        "{\"num_local_experts\": 8, \"num_experts_per_tok\": 2,\n"
        " \"hidden_size\": 4096, \"intermediate_size\": 14336}\n",
        "{\"architectures\": [\"A\\u00e9\\n\"], \"rope_theta\": 1e-6,\n"
        " \"tie\": false, \"text_config\": {\"n_routed_experts\": 256,\n"
        " \"num_experts_per_tok\": 8, \"hidden_size\": 7168,\n"
        " \"moe_intermediate_size\": 2048, \"rope_scaling\": {\"a\": null}}}",
        "{\"num_experts\": 32, \"num_experts_per_tok\": 4,\n"
        " \"hidden_size\": 2880, \"intermediate_size\": 2880,\n"
        " \"quantization_config\": {\"quant_method\": \"mxfp4\"}}",
    };

    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        struct jg_buf bytes = {.data = NULL};

        jg_buf_add(&bytes, seeds[i], strlen(seeds[i]));
        use(&bytes);
        jg_buf_free(&bytes);
    }
}
