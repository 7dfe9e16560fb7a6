/* SPDX-License-Identifier: MIT */
/* The loader, and the notes of what it has loaded. */
#define _GNU_SOURCE /* dlinfo, dl_iterate_phdr */
#include "library.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

void *jg_library_open(const char *path, const char **why)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        *why = dlerror();
    return library;
}

void *jg_library_find(void *library, const char *name)
{
    return dlsym(library, name);
}

const char *jg_library_fill(void *library, const struct jg_symbol *symbols,
                            size_t count, void *table)
{
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(library, symbols[i].name);

        if (!address)
            return symbols[i].name;
        memcpy((char *)table + symbols[i].offset, &address, sizeof address);
    }
    return NULL;
}

const char *jg_library_path(void *library)
{
    struct link_map *map;

    return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : "";
}

struct search {
    ElfW(Addr) base;
    char *id; /* JG_LIBRARY_ID_SIZE, "" until found */
};

/* ELF notes: name size, description size, type; then both, padded to 4. */
static void read_notes(const unsigned char *notes, size_t size, char *id)
{
    ElfW(Nhdr) note;

    while (size >= sizeof note) {
        size_t name, all;
        const unsigned char *bytes;

        memcpy(&note, notes, sizeof note);
        name = (note.n_namesz + 3u) & ~3u;
        all = sizeof note + name + ((note.n_descsz + 3u) & ~3u);
        if (all > size)
            return;
        bytes = notes + sizeof note + name;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            memcmp(notes + sizeof note, "GNU", 4) == 0 &&
            2 * (size_t)note.n_descsz < JG_LIBRARY_ID_SIZE)
            for (size_t i = 0; i < note.n_descsz; i++)
                snprintf(id + 2 * i, 3, "%02x", bytes[i]);
        notes += all;
        size -= all;
    }
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *search = data;

    (void)size;
    if (info->dlpi_addr != search->base)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];

        if (part->p_type == PT_NOTE)
            read_notes(
                (const unsigned char *)(info->dlpi_addr + part->p_vaddr),
                part->p_memsz, search->id);
    }
    return 1;
}

bool jg_library_build_id(void *library, char id[JG_LIBRARY_ID_SIZE])
{
    struct link_map *map;
    struct search search = {.id = id};

    *id = 0;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
        return false;
    search.base = map->l_addr;
    dl_iterate_phdr(visit, &search);
    return *id != 0;
}
