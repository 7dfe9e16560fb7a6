/* SPDX-License-Identifier: MIT */
/* Reads the symbol table of a cubin, the text of jitgemm_spec, and what
 * .nv.info has of registers, threads and parameters. */
#include "cubin.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>

namespace emu_driver {

namespace {

constexpr unsigned machine_cuda = 190; /* EM_CUDA */
constexpr size_t page = 4096, most_bytes = (size_t)1 << 30;
/* .nv.info: u8 format, u8 attribute, u16 size, then u32 symbol, u32 count. */
constexpr unsigned char format_sized = 4, attribute_registers = 0x2f;
/* The same with u32 x, y, z: of __launch_bounds__ and __cluster_dims__. */
constexpr unsigned char attribute_threads = 0x05, attribute_cluster = 0x3d;
/* .nv.info.KERNEL: u8 format, u8 attribute, u16 value. */
constexpr unsigned char format_value = 3, attribute_parameter_bytes = 0x19;

struct image {
    const char *base;
    Elf64_Ehdr header;

    Elf64_Shdr section(unsigned i) const
    {
        Elf64_Shdr section;
        memcpy(&section, base + header.e_shoff + i * header.e_shentsize,
               sizeof section);
        return section;
    }

    const char *name(const Elf64_Shdr &section) const
    {
        return base + this->section(header.e_shstrndx).sh_offset +
               section.sh_name;
    }
};

void read_symbols(const image &elf, const Elf64_Shdr &table, cubin *result)
{
    Elf64_Shdr strings = elf.section(table.sh_link);

    for (size_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size;
         at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, elf.base + table.sh_offset + at, sizeof symbol);
        const char *name = elf.base + strings.sh_offset + symbol.st_name;

        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_size)
            result->symbol = name;
        if (strcmp(name, "jitgemm_spec"))
            continue;
        Elf64_Shdr data = elf.section(symbol.st_shndx);
        std::string text(elf.base + data.sh_offset + symbol.st_value);
        size_t line = text.find('\n');
        result->program = text.substr(0, line);
        result->spec = line == text.npos ? "" : text.substr(line + 1);
    }
}

void read_info(const image &elf, const Elf64_Shdr &info, cubin *result)
{
    const char *at = elf.base + info.sh_offset, *end = at + info.sh_size;

    while (at + 4 <= end) {
        unsigned char format = static_cast<unsigned char>(at[0]);
        unsigned char attribute = static_cast<unsigned char>(at[1]);
        uint16_t size;
        memcpy(&size, at + 2, 2);
        at += 4;
        if (format == format_value && attribute == attribute_parameter_bytes)
            result->parameter_bytes = size;
        if (format != format_sized)
            continue;
        if (attribute == attribute_registers)
            memcpy(&result->registers, at + 4, 4);
        if (attribute == attribute_threads)
            memcpy(&result->threads, at, 4);
        if (attribute == attribute_cluster)
            memcpy(result->cluster, at, sizeof result->cluster);
        at += size;
    }
}

/* Whether all pages of these bytes are mapped: an image comes without its
 * size, and what is damaged may name any. */
bool is_mapped(const char *base, size_t bytes)
{
    uintptr_t begin = reinterpret_cast<uintptr_t>(base);
    uintptr_t first = begin / page * page;

    return !msync(reinterpret_cast<void *>(first), begin + bytes - first,
                  MS_ASYNC);
}

const char *check_sections(const image &elf)
{
    const Elf64_Ehdr &header = elf.header;
    size_t sections = header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr);
    size_t segments = header.e_phoff + header.e_phnum * sizeof(Elf64_Phdr);
    size_t end = sections > segments ? sections : segments;

    if (header.e_shentsize != sizeof(Elf64_Shdr) || !header.e_shnum ||
        header.e_shstrndx >= header.e_shnum || header.e_shoff > most_bytes ||
        header.e_phoff > most_bytes || !is_mapped(elf.base, end))
        return "its section table is damaged";
    for (unsigned i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section = elf.section(i);

        if (section.sh_type != SHT_NOBITS &&
            (section.sh_offset > end || section.sh_size > end ||
             section.sh_offset + section.sh_size > end ||
             section.sh_link >= header.e_shnum))
            return "a section lies outside of it";
    }
    return nullptr;
}

/* Which bits of the flags hold it is of the ABI version: 7 of CUDA 12, 8 of
 * CUDA 13 (LLVM's BinaryFormat/ELF.h). 0: another version. */
int number_of(const Elf64_Ehdr &header)
{
    int version = header.e_ident[EI_ABIVERSION];

    return version == 7   ? static_cast<int>(header.e_flags & 0xff)
           : version == 8 ? static_cast<int>(header.e_flags >> 8 & 0xff)
                          : 0;
}

} // namespace

const char *read_cubin(const void *bytes, cubin *result)
{
    image elf;

    elf.base = static_cast<const char *>(bytes);
    if (memcmp(bytes, ELFMAG, SELFMAG))
        return "it is no ELF file";
    memcpy(&elf.header, bytes, sizeof elf.header);
    if (elf.header.e_ident[EI_CLASS] != ELFCLASS64 ||
        elf.header.e_machine != machine_cuda)
        return "it is for another machine";
    if (const char *fault = check_sections(elf))
        return fault;
    *result = {};
    result->threads = 1024;
    result->sm = number_of(elf.header);
    for (unsigned i = 0; i < elf.header.e_shnum; i++) {
        Elf64_Shdr section = elf.section(i);

        if (section.sh_type == SHT_SYMTAB)
            read_symbols(elf, section, result);
        else if (!strncmp(elf.name(section), ".nv.info", 8))
            read_info(elf, section, result);
    }
    if (!result->sm)
        return "its ABI version is neither 7 nor 8";
    if (result->symbol.empty())
        return "it has no kernel";
    if (!result->registers || !result->parameter_bytes)
        return "it does not say how many registers or parameters it has";
    if (result->program.empty())
        return "it has no jitgemm_spec";
    return nullptr;
}

} // namespace emu_driver
