/* SPDX-License-Identifier: MIT */
/* Families of models have their own names for the numbers; the first that is
 * there counts. A model that takes images has those of its text in a part. */
#include "model_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "json_read.h"

enum { MOST_BYTES = 1 << 20 };

static const struct {
    const char *names[3];
    const char *missing; /* the rule */
} keys[] = {
    {{"n_routed_experts", "num_experts", "num_local_experts"},
     "no experts: neither n_routed_experts, num_experts nor "
     "num_local_experts"},
    {{"num_experts_per_tok"}, "no num_experts_per_tok"},
    {{"hidden_size"}, "no hidden_size"},
    {{"moe_intermediate_size", "intermediate_size"},
     "no moe_intermediate_size or intermediate_size"},
};
enum { EXPERTS, TOP, HIDDEN, INTERMEDIATE, KEYS };

static const char *read_key(const char *object, int key, int64_t *number,
                            const char **at)
{
    const char *value = NULL, *rule;

    for (int i = 0; i < 3 && keys[key].names[i] && !value; i++)
        if ((rule = json_member(object, keys[key].names[i], &value, at)))
            return rule;
    if (value)
        return json_count(value, number, at);
    *at = object;
    return keys[key].missing;
}

/* Of the model or of its part. */
static const char *read_weights(const char *object, bool *mxfp4,
                                const char **at)
{
    const char *config, *method = NULL;
    const char *rule =
        json_member(object, "quantization_config", &config, at);

    if (!rule && config)
        rule = json_member(config, "quant_method", &method, at);
    if (!rule && method)
        *mxfp4 = json_is(method, "mxfp4");
    return rule;
}

/* What the experts do between their products is known by the model. */
static const char *read_activation(const char *object, bool *oai,
                                   const char **at)
{
    const char *type = NULL;
    const char *rule = json_member(object, "model_type", &type, at);

    if (!rule && type)
        *oai = json_is(type, "gpt_oss");
    return rule;
}

const char *model_config_parse(const char *text, size_t size,
                               struct moe_model *model, const char **at)
{
    const char *rule = json_check(text, size, at), *object, *part;
    int64_t numbers[KEYS];
    bool mxfp4 = false, oai = false;

    if (rule)
        return rule;
    object = text + strspn(text, " \t\n\r");
    if ((rule = json_member(object, "text_config", &part, at)) ||
        (rule = read_weights(object, &mxfp4, at)) ||
        (rule = read_activation(object, &oai, at)))
        return rule;
    if (part)
        object = part;
    if (part && ((rule = read_weights(object, &mxfp4, at)) ||
                 (rule = read_activation(object, &oai, at))))
        return rule;
    for (int key = 0; key < KEYS; key++)
        if ((rule = read_key(object, key, &numbers[key], at)))
            return rule;
    *at = object;
    if (numbers[TOP] > numbers[EXPERTS])
        return "num_experts_per_tok is more than there are experts";
    model->experts = (int32_t)numbers[EXPERTS];
    model->top = (int32_t)numbers[TOP];
    model->hidden = numbers[HIDDEN];
    model->intermediate = numbers[INTERMEDIATE];
    model->mxfp4 = mxfp4;
    model->oai = oai;
    return NULL;
}

static void reject(const char *path, const char *text, const char *at,
                   const char *rule)
{
    size_t line = 1, column = 1;

    for (; text < at; text++, column++)
        if (*text == '\n') {
            line++;
            column = 0;
        }
    complain("%s:%zu:%zu: %s", path, line, column, rule);
}

/* The names that --model knows, in case this was to be one. */
static void cannot_read(const char *path)
{
    int error = errno;
    char names[512] = "";
    size_t length = 0;

    for (size_t i = 0; i < moe_models_count; i++)
        length += (size_t)snprintf(names + length, sizeof names - length,
                                   "%s%s", i ? ", " : "", moe_models[i].name);
    complain("cannot read %s: %s; models with a name are %s", path,
             strerror(error), names);
}

bool model_config_read(const char *path, struct moe_model *model)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    const char *at, *rule = NULL;
    size_t capacity = 0, size = 0;
    bool good = false;

    if (file) {
        text = grow(NULL, &capacity, MOST_BYTES + 1, 1);
        size = fread(text, 1, MOST_BYTES + 1, file);
    }
    if (!file || ferror(file)) {
        cannot_read(path);
    } else if (size > MOST_BYTES) {
        complain("%s: more than 1 MiB: not a model's config.json", path);
    } else {
        text[size] = '\0';
        rule = model_config_parse(text, size, model, &at);
        model->name = path;
        good = !rule;
        if (rule)
            reject(path, text, at, rule);
    }
    free(text);
    if (file)
        fclose(file);
    return good;
}
