/* SPDX-License-Identifier: MIT */
/* Spans to strings. */
#include "view.h"

#include <stdlib.h>
#include <string.h>

static const jitgemm_entry nothing = {
    .size = sizeof(jitgemm_entry),
    .why = "",
    .arch = "",
    .symbol = "",
    .compiler = "",
    .library = "",
    .host = "",
};

/* A string of the span at *to, which goes on behind it. */
static const char *put(char **to, struct jg_span span)
{
    char *text = *to;

    memcpy(text, span.data, span.size);
    text[span.size] = 0;
    *to += span.size + 1;
    return text;
}

jitgemm_status jg_view_good(const char *name, const struct jg_entry *entry,
                            size_t bytes, struct jg_view *view)
{
    struct jg_span values[JG_KEY_FIELD_COUNT];
    /* All the strings, which lie in the entry, and their NULs. */
    char *to = malloc(bytes + JG_KEY_FIELD_COUNT + 5);

    if (!to)
        return jg_fail(JITGEMM_E_MEMORY, "out of memory for an entry");
    view->text = to;
    view->entry = nothing;
    view->entry.key = name;
    view->entry.arch = put(&to, entry->arch);
    view->entry.symbol = put(&to, entry->symbol);
    view->entry.compiler = put(&to, entry->compiler);
    view->entry.library = put(&to, entry->library);
    view->entry.host = put(&to, entry->host);
    view->entry.fields = view->fields;
    if (jg_key_read(entry->key, values)) {
        for (int i = 0; i < JG_KEY_FIELD_COUNT; i++)
            view->fields[i] =
                (jitgemm_field){jg_key_field_names[i], put(&to, values[i])};
        view->entry.field_count = JG_KEY_FIELD_COUNT;
    }
    view->entry.registers = (int32_t)entry->registers;
    view->entry.spill_bytes = (int32_t)entry->spill_bytes;
    view->entry.shared_bytes = (int32_t)entry->shared_bytes;
    view->entry.bytes = (int64_t)bytes;
    view->entry.created = entry->created;
    view->entry.compile_ms = entry->compile_ms;
    return JITGEMM_OK;
}

void jg_view_free(struct jg_view *view)
{
    free(view->text);
    view->text = NULL;
}

void jg_view_bad(const char *name, const char *why, jitgemm_entry_fn function,
                 void *user)
{
    jitgemm_entry entry = nothing;

    entry.state = JITGEMM_ENTRY_BAD;
    entry.key = name;
    entry.why = why;
    if (function && why)
        function(user, &entry);
}
