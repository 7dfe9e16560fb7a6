/* SPDX-License-Identifier: MIT */
/* What is asked of entries is printed as the library goes through them: a
 * line for each, then one that counts them. */
#include "cache_verbs.h"

#include <inttypes.h>
#include <jitgemm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "entry_diff.h"
#include "json.h"

enum { STATES = JITGEMM_ENTRY_NOT_COMPARABLE + 1 };

static const char *const state_names[STATES] = {
    [JITGEMM_ENTRY_GOOD] = "good",
    [JITGEMM_ENTRY_BAD] = "bad",
    [JITGEMM_ENTRY_REBUILT] = "rebuilt",
    [JITGEMM_ENTRY_DIFFERENT] = "different",
    [JITGEMM_ENTRY_NOT_COMPARABLE] = "not comparable",
};

struct counts {
    bool json, rebuild;
    size_t states[STATES];
    int64_t bytes;
};

/* ---- An entry ---- */

static void put_json_entry(const jitgemm_entry *entry, const char *state)
{
    const struct {
        const char *name, *value;
    } texts[] = {
        {"key", entry->key},
        {"arch", entry->arch},
        {"state", state},
        {"why", entry->why},
        {"symbol", entry->symbol},
        {"compiler", entry->compiler},
        {"library", entry->library},
        {"host", entry->host},
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        putchar(i ? ',' : '{');
        json_field(texts[i].name, texts[i].value);
    }
    printf(",\"bytes\":%" PRId64 ",\"created\":%" PRId64 ",\"ms\":%.3f",
           entry->bytes, entry->created,
           entry->compile_ms >= 0 && entry->compile_ms < 1e12
               ? entry->compile_ms
               : 0);
    printf(",\"registers\":%" PRId32 ",\"spill_bytes\":%" PRId32
           ",\"shared_bytes\":%" PRId32 ",\"fields\":{",
           entry->registers, entry->spill_bytes, entry->shared_bytes);
    for (int32_t i = 0; i < entry->field_count; i++) {
        if (i)
            putchar(',');
        json_field(entry->fields[i].name, entry->fields[i].value);
    }
    puts("}}");
}

static void put_entry(void *user, const jitgemm_entry *entry)
{
    struct counts *counts = user;
    const char *state = state_names[entry->state];

    counts->states[entry->state]++;
    counts->bytes += entry->bytes;
    if (counts->json) {
        put_json_entry(entry, state);
        return;
    }
    printf("%-14s  %-8s  %s", state, entry->arch, entry->key);
    if (entry->state != JITGEMM_ENTRY_BAD)
        printf("  %9" PRId64 "  %s, %s, library %s", entry->bytes,
               entry->symbol, entry->compiler, entry->library);
    putchar('\n');
    fflush(stdout);
    if (*entry->why)
        complain("%s: %s", entry->key, entry->why);
}

/* ---- After the entries ---- */

static void put_digest(const struct counts *counts, const char *pack)
{
    char digest[65];

    if (jitgemm_pack_digest(pack, digest) != JITGEMM_OK)
        return; /* a directory, or it has gone */
    if (counts->json) {
        putchar('{');
        json_field("pack", pack);
        putchar(',');
        json_field("sha256", digest);
        puts("}");
    } else {
        printf("sha256 %s  %s\n", digest, pack);
    }
}

static void put_counts(const struct counts *counts)
{
    const size_t *states = counts->states;
    size_t all = 0;

    if (counts->json)
        return;
    for (size_t i = 0; i < STATES; i++)
        all += states[i];
    printf("%zu %s of %" PRId64 " bytes:", all, all == 1 ? "entry" : "entries",
           counts->bytes);
    if (counts->rebuild)
        printf(" %zu rebuilt, %zu different, %zu not comparable,",
               states[JITGEMM_ENTRY_REBUILT], states[JITGEMM_ENTRY_DIFFERENT],
               states[JITGEMM_ENTRY_NOT_COMPARABLE]);
    else
        printf(" %zu good,", states[JITGEMM_ENTRY_GOOD]);
    printf(" %zu bad\n", states[JITGEMM_ENTRY_BAD]);
}

static int result_of(const struct counts *counts)
{
    return counts->states[JITGEMM_ENTRY_BAD] ||
                   counts->states[JITGEMM_ENTRY_DIFFERENT]
               ? EXIT_BAD
               : EXIT_SUCCESS;
}

/* After a message about the library's last error. */
static int fail(jitgemm_status status)
{
    complain("%s", jitgemm_last_error()->text);
    return status == JITGEMM_E_CACHE ? EXIT_BAD : EXIT_MISSING;
}

/* ---- The verbs ---- */

static int worse(int a, int b)
{
    return a > b ? a : b;
}

static int list(struct counts *counts, char **paths, size_t count)
{
    int result = EXIT_SUCCESS;

    for (size_t i = 0; i < count; i++) {
        jitgemm_status status = jitgemm_cache_list(
            paths[i], counts->rebuild ? JITGEMM_LIST_REBUILD : 0, put_entry,
            counts);

        if (status != JITGEMM_OK)
            result = worse(result, fail(status));
        else if (paths[i])
            put_digest(counts, paths[i]);
    }
    put_counts(counts);
    return worse(result, result_of(counts));
}

/* `pack`: the target if it is one. */
static int copy(struct counts *counts, char **sources, size_t count,
                const char *target, const char *pack)
{
    jitgemm_status status =
        jitgemm_cache_copy((const char *const *)sources, (int32_t)count,
                           target, put_entry, counts);

    if (status != JITGEMM_OK)
        return fail(status);
    if (pack)
        put_digest(counts, pack);
    put_counts(counts);
    if (counts->bytes)
        return result_of(counts);
    complain("there was no good entry to copy");
    return worse(EXIT_MISSING, result_of(counts));
}

/* Absolute paths, or the cache directory if there are none. */
static char **make_paths(char **operands, size_t *count, char *cache_dir)
{
    size_t capacity = 0;
    char **paths = grow(NULL, &capacity, *count + 1, sizeof *paths);

    for (size_t i = 0; i < *count; i++)
        paths[i] = absolute_path(operands[i]);
    if (!*count)
        paths[(*count)++] = cache_dir ? copy_text(cache_dir) : NULL;
    return paths;
}

int cache_verb(const struct settings *settings)
{
    enum verb verb = settings->verb;
    struct counts counts = {.json = settings->json,
                            .rebuild = settings->rebuild};
    size_t skip = verb == VERB_DIFF                           ? 2
                  : verb == VERB_EXPORT || verb == VERB_MERGE ? 1
                                                              : 0;
    size_t count = settings->operand_count - skip;
    char **paths =
        make_paths(settings->operands + skip, &count, settings->cache_dir);
    int result;

    if (verb == VERB_DIFF)
        result = entry_diff(settings->operands, paths, count, counts.json);
    else if (verb == VERB_IMPORT)
        result = copy(&counts, paths, count, settings->cache_dir, NULL);
    else if (skip)
        result = copy(&counts, paths, count, settings->operands[0],
                      settings->operands[0]);
    else
        result = list(&counts, paths, count);
    while (count)
        free(paths[--count]);
    free(paths);
    if (flush_output())
        return result;
    return worse(result, EXIT_MISSING);
}
