/* SPDX-License-Identifier: MIT */
/* An entry can be compared if the key that is made here of its kernel,
 * specialization and architecture is its own. */
#include "rebuild.h"

#include <string.h>

#include "explain.h"

/* The spec to compile; `program` keeps its name. False if it has more
 * than a spec of today may have. */
static bool make_spec(const struct jg_span values[JG_KEY_FIELD_COUNT],
                      struct jg_spec *spec, struct jg_buf *program)
{
    struct jg_span arch = values[JG_KEY_arch], text = values[JG_KEY_spec];

    memset(spec, 0, sizeof *spec);
    if (arch.size >= sizeof spec->arch || text.size >= sizeof spec->text)
        return false;
    jg_buf_add(program, values[JG_KEY_kernel].data,
               values[JG_KEY_kernel].size);
    if (!program->size)
        return false;
    spec->program = (const char *)program->data;
    memcpy(spec->arch, arch.data, arch.size);
    memcpy(spec->text, text.data, text.size);
    memcpy(spec->name, "the entry", sizeof "the entry");
    return true;
}

static jitgemm_entry_state compile(const struct jg_nvrtc *nvrtc,
                                   const struct jg_spec *spec,
                                   struct jg_span cubin, struct jg_buf *why)
{
    struct jg_compiled made = {0};
    jitgemm_entry_state state = JITGEMM_ENTRY_REBUILT;

    if (jg_compile(nvrtc, spec, &made) != JITGEMM_OK)
        jg_buf_printf(why, "%s", jg_error()->text);
    else if (made.cubin.size != cubin.size)
        jg_buf_printf(why, "the cubin made here has %zu bytes, not %zu",
                      made.cubin.size, cubin.size);
    else if (memcmp(made.cubin.data, cubin.data, cubin.size) != 0)
        jg_buf_printf(why, "the cubin made here has other bytes");
    if (why->size || why->failed)
        state = JITGEMM_ENTRY_DIFFERENT;
    jg_compiled_free(&made);
    return state;
}

jitgemm_entry_state jg_rebuild_compare(const struct jg_nvrtc *nvrtc,
                                       const struct jg_entry *entry,
                                       struct jg_buf *why)
{
    struct jg_span values[JG_KEY_FIELD_COUNT], ours[JG_KEY_FIELD_COUNT];
    jitgemm_entry_state state = JITGEMM_ENTRY_NOT_COMPARABLE;
    struct jg_buf program = {.data = NULL}, names = {.data = NULL};
    struct jg_key key = {.blob = {.data = NULL}};
    struct jg_spec spec;

    if (!jg_key_read(entry->key, values))
        jg_buf_printf(why, "a key of another version");
    else if (!make_spec(values, &spec, &program))
        jg_buf_printf(why, "a specialization of another version");
    else if (jg_compile_key(nvrtc, &spec, &key) != JITGEMM_OK)
        jg_buf_printf(why, "%s", jg_error()->text);
    else if (!jg_key_read((struct jg_span){key.blob.data, key.blob.size},
                          ours) ||
             jg_explain_difference(values, ours, &names))
        jg_buf_printf(why, "another %s than here",
                      names.size ? (const char *)names.data : "key");
    else
        state = compile(nvrtc, &spec, entry->cubin, why);
    jg_key_free(&key);
    jg_buf_free(&names);
    jg_buf_free(&program);
    return state;
}
