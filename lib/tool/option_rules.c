/* SPDX-License-Identifier: MIT */
#include "option_rules.h"

#include <stdint.h>
#include <string.h>

#include "common.h"

/* How many operands the verbs take. */
static const struct {
    const char *name, *needs;
    size_t least, most;
} verbs[] = {
    [VERB_WARM] = {"", "", 0, 0},
    [VERB_LIST] = {"--list", "", 0, SIZE_MAX},
    [VERB_TUNE] = {"--tune", "", 0, 0},
    [VERB_EXPLAIN] = {"--explain", "", 0, 0},
    [VERB_VERIFY] = {"--verify", "", 0, SIZE_MAX},
    [VERB_DIFF] = {"--diff", "two keys", 2, SIZE_MAX},
    [VERB_EXPORT] = {"--export", "a pack", 1, 1},
    [VERB_IMPORT] = {"--import", "a pack", 1, SIZE_MAX},
    [VERB_MERGE] = {"--merge", "a pack to write and what to read", 2,
                    SIZE_MAX},
    [VERB_PRUNE] = {"--prune", "", 0, 0},
};

/* Whether problems were given where they must be, and only there. */
static bool check_problems(const struct settings *settings)
{
    bool chooses =
        settings->verb == VERB_TUNE || settings->verb == VERB_EXPLAIN;
    bool looks = settings->verb && !settings->problems_given && !chooses;

    if (settings->problems_given && settings->verb > VERB_EXPLAIN) {
        complain("%s takes no problems", verbs[settings->verb].name);
        return false;
    }
    if (settings->json && (settings->verb == VERB_PRUNE || chooses)) {
        complain("%s prints no JSON", verbs[settings->verb].name);
        return false;
    }
    if (settings->conversions_given && chooses) {
        complain("%s takes no conversions: they have one kernel each",
                 verbs[settings->verb].name);
        return false;
    }
    if (settings->arch_count && settings->verb == VERB_TUNE) {
        complain("--tune measures on the GPUs here: it takes no --arch");
        return false;
    }
    if (looks &&
        (settings->arch_count || settings->jobs || settings->types_given)) {
        complain("--a, --accumulate, --arch, --b, --c, --jobs, --row-a, "
                 "--row-c, --sm-limit, --split-k and --zero-tail are for "
                 "problems");
        return false;
    }
    if (!looks && !settings->problems_given) {
        complain("no problem: give --problem, --file, --model or "
                 "--conversion");
        return false;
    }
    return true;
}

static bool check_models(const struct settings *settings)
{
    if (settings->model_count && !settings->tokens) {
        complain("--model needs --tokens");
        return false;
    }
    if (!settings->model_count && (settings->tokens || settings->tp)) {
        complain("--tokens and --tp are for --model");
        return false;
    }
    return true;
}

static bool check_operands(const struct settings *settings)
{
    enum verb verb = settings->verb;
    size_t count = settings->operand_count;
    size_t most = settings->problems_given ? 0 : verbs[verb].most;

    if (count > most) {
        complain("unexpected argument \"%s\"", settings->operands[most]);
        return false;
    }
    if (count < verbs[verb].least) {
        complain("%s needs %s", verbs[verb].name, verbs[verb].needs);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const char *operand = settings->operands[i];
        size_t length = strlen(operand);
        bool pack = verb == VERB_IMPORT || (verb >= VERB_EXPORT && !i);

        if (!length) {
            complain("an empty argument");
            return false;
        }
        if (verb == VERB_DIFF && i < 2 &&
            (length > 32 || strspn(operand, "0123456789abcdef") != length)) {
            complain("\"%s\" is not a key", operand);
            return false;
        }
        if (pack && (length < 4 || strcmp(operand + length - 4, ".jgp"))) {
            complain("%s: the name of a pack ends in .jgp; \"%s\" does not",
                     verbs[verb].name, operand);
            return false;
        }
    }
    return true;
}

bool option_rules_check(const struct settings *settings)
{
    return check_problems(settings) && check_models(settings) &&
           check_operands(settings);
}
