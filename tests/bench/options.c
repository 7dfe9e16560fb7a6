/* SPDX-License-Identifier: MIT */
/* Options, and the cases that they name. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models.h"
#include "timing.h"

enum { MOST_MODELS = 16, MOST_COUNTS = 8, MOST_TOKENS = 65536 };

static const char usage[] =
    "usage: bench [OPTION...] [CASE...]\n"
    "  --model NAME   both products of a model's layer of experts; may be\n"
    "                 given again\n"
    "  --tokens N,... that the layer gets (128)\n"
    "  --runs N       repeat all, and give the spread over the runs\n"
    "  --json FILE    write the figures there too\n"
    "  --cases        only print the shapes as JSON, for peers.py\n"
    "  --config M,STEP,N,K,STAGES,BLOCKS,FUSED\n"
    "                 instead of the plan's choice\n"
    "  --a TYPE, --b TYPE, --c TYPE\n"
    "                 nvfp4, f16, bf16; nvfp4, mxfp4 (with A of bf16); f16,\n"
    "                 bf16, f32: of activations, weights and results,\n"
    "                 without peers; limits are for the first\n"
    "  --split-k      allow it\n"
    "  --tiny         hardly any work, for the emulated device\n"
    "JITGEMM_LIBCUBLAS names the library to compare with.\n"
    "models:";

struct layers {
    const struct moe_model *models[MOST_MODELS];
    int count;
    int64_t tokens[MOST_COUNTS]; /* for each */
    int counts;
};

static bool refuse(const char *argument, const char *value)
{
    fprintf(stderr, "bench: %s %s\n%s", argument, value ? value : "", usage);
    for (size_t i = 0; i < moe_models_count; i++)
        fprintf(stderr, " %s", moe_models[i].name);
    fprintf(stderr, "\n");
    return false;
}

static bool choose(struct options *options, const struct gemm_case *c)
{
    if (options->case_count == MOST_CASES)
        return refuse(c->name, "is a case too many");
    options->cases[options->case_count++] = c;
    return true;
}

static bool choose_layers(struct options *options, const struct layers *layers)
{
    static struct gemm_case made[MOST_MODELS * MOST_COUNTS][2];

    for (int i = 0; i < layers->count * layers->counts; i++) {
        moe_model_cases(layers->models[i / layers->counts],
                        layers->tokens[i % layers->counts], &made[i][0],
                        &made[i][1]);
        if (!choose(options, &made[i][0]) || !choose(options, &made[i][1]))
            return false;
    }
    return true;
}

static bool choose_all(struct options *options)
{
    for (size_t i = 0; i < cases_count; i++)
        if (cases[i].kind != CASE_TEST && !choose(options, &cases[i]))
            return false;
    return true;
}

static bool read_config(const char *text, struct options *options)
{
    struct jg_config *config = &options->config;
    int fused;
    int count = sscanf(text, "%d,%d,%d,%d,%d,%d,%d", &config->tile_m,
                       &config->width_step, &config->tile_n, &config->tile_k,
                       &config->stages, &config->blocks, &fused);

    config->family = JG_SM90;
    config->ctas = 1;
    config->fused = fused != 0;
    options->configured = true;
    return count == 7;
}

static bool add_model(const char *name, struct layers *layers)
{
    const struct moe_model *model = moe_model_find(name);

    if (!model || layers->count == MOST_MODELS)
        return false;
    layers->models[layers->count++] = model;
    return true;
}

static bool read_tokens(const char *value, struct layers *layers)
{
    char *end;

    for (layers->counts = 0;; value = end + 1) {
        long tokens = strtol(value, &end, 10);

        if (tokens < 1 || tokens > MOST_TOKENS ||
            layers->counts == MOST_COUNTS)
            return false;
        layers->tokens[layers->counts++] = tokens;
        if (*end != ',')
            return !*end;
    }
}

static bool read_a(const char *type, jitgemm_input *to)
{
    *to = strcmp(type, "f16") == 0    ? JITGEMM_INPUT_F16
          : strcmp(type, "bf16") == 0 ? JITGEMM_INPUT_BF16
                                      : JITGEMM_INPUT_NVFP4;
    return *to || strcmp(type, "nvfp4") == 0;
}

static bool read_b(const char *type, struct options *options)
{
    if (strcmp(type, "mxfp4") != 0)
        return strcmp(type, "nvfp4") == 0;
    options->a_type = JITGEMM_INPUT_BF16;
    options->b_type = JITGEMM_WEIGHTS_MXFP4;
    return true;
}

static bool read_c(const char *type, jitgemm_type *to)
{
    *to = strcmp(type, "bf16") == 0  ? JITGEMM_BF16
          : strcmp(type, "f32") == 0 ? JITGEMM_F32
                                     : JITGEMM_F16;
    return *to || strcmp(type, "f16") == 0;
}

static bool read_value(const char *option, const char *value,
                       struct options *options, struct layers *layers)
{
    if (strcmp(option, "--json") == 0) {
        options->json = value;
        return true;
    }
    if (strcmp(option, "--runs") == 0) {
        options->runs = atoi(value);
        return options->runs >= 1 && options->runs <= MOST_RUNS;
    }
    if (strcmp(option, "--tokens") == 0)
        return read_tokens(value, layers);
    if (strcmp(option, "--model") == 0)
        return add_model(value, layers);
    if (strcmp(option, "--a") == 0)
        return read_a(value, &options->a_type);
    if (strcmp(option, "--b") == 0)
        return read_b(value, options);
    if (strcmp(option, "--c") == 0)
        return read_c(value, &options->c_type);
    return strcmp(option, "--config") == 0 && read_config(value, options);
}

bool options_read(char **arguments, struct options *options)
{
    struct layers layers = {.tokens = {128}, .counts = 1};

    memset(options, 0, sizeof *options);
    options->runs = 1;
    for (char **at = arguments + 1; *at; at++) {
        const struct gemm_case *c = case_find(*at);

        if (strcmp(*at, "--cases") == 0) {
            options->cases_only = true;
        } else if (strcmp(*at, "--split-k") == 0) {
            options->flags |= JITGEMM_ALLOW_SPLIT_K;
        } else if (strcmp(*at, "--tiny") == 0) {
            timing_tiny();
        } else if (c) {
            if (!choose(options, c))
                return false;
        } else {
            if (!at[1] || !read_value(at[0], at[1], options, &layers))
                return refuse(at[0], at[1]);
            at++;
        }
    }
    if (!choose_layers(options, &layers))
        return false;
    return options->case_count || choose_all(options);
}
