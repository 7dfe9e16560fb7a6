/* SPDX-License-Identifier: MIT */
/* Makes packs that the tool makes only of compiled kernels, or never:
 *
 *   make_pack PACK LIBRARY SPEC...   entries of that version of the library
 *   make_pack PACK --alter FROM      those of FROM with other cubins */
#define _POSIX_C_SOURCE 200809L /* AT_FDCWD */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "pack.h"
#include "sample.h"

enum { MOST = 16 };

static struct jg_packed packed[MOST];

static int compare(const void *a, const void *b)
{
    const struct jg_packed *one = a, *other = b;

    return strcmp(one->name, other->name);
}

static void add(size_t index, const struct jg_entry *entry, const char *name)
{
    struct jg_buf bytes = {.data = NULL};

    jg_entry_encode(entry, &bytes);
    memcpy(packed[index].name, name, sizeof packed[index].name);
    packed[index].file = (struct jg_span){bytes.data, bytes.size};
}

static size_t make(const char *library, char **specs)
{
    size_t count = 0;

    for (; specs[count] && count < MOST; count++) {
        struct jg_key_fields fields = sample_fields;
        struct jg_key key;
        struct jg_entry entry;

        fields.spec = specs[count];
        if (jg_key_make(&fields, &key))
            exit(1);
        entry = sample_entry(&key);
        entry.library = (struct jg_span){library, strlen(library)};
        add(count, &entry, key.name);
        jg_key_free(&key);
    }
    qsort(packed, count, sizeof *packed, compare);
    return count;
}

static size_t alter(const char *from)
{
    struct jg_pack *pack;
    const char *why;

    if (jg_pack_open(AT_FDCWD, from, 0, &pack, &why)) {
        fprintf(stderr, "%s: %s\n", from, why);
        exit(1);
    }
    for (size_t i = 0; i < jg_pack_count(pack) && i < MOST; i++) {
        struct jg_span file;
        struct jg_entry entry;

        if (!jg_pack_read(pack, i, &file, &why) ||
            !jg_entry_decode(file, &entry, &why))
            exit(1);
        ((unsigned char *)entry.cubin.data)[entry.cubin.size - 1] ^= 1;
        add(i, &entry, jg_pack_name(pack, i));
        free((void *)file.data);
    }
    return jg_pack_count(pack);
}

int main(int argc, char **argv)
{
    struct jg_buf bytes = {.data = NULL};
    size_t count;
    FILE *out;

    if (argc < 4)
        return 2;
    count =
        strcmp(argv[2], "--alter") ? make(argv[2], argv + 3) : alter(argv[3]);
    jg_pack_encode(packed, count, &bytes);
    out = fopen(argv[1], "w");
    return !out || fwrite(bytes.data, 1, bytes.size, out) != bytes.size ||
           fclose(out);
}
