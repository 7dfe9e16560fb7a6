/* SPDX-License-Identifier: MIT */
/* Reads the symbol table of a cubin, the text of jitgemm_spec, and what
 * .nv.info has of registers and parameters. */
#include "cubin.h"

#include <elf.h>
#include <string.h>

namespace emu_driver {

namespace {

constexpr unsigned machine_cuda = 190; /* EM_CUDA */
/* .nv.info: u8 format, u8 attribute, u16 size, then u32 symbol, u32 count. */
constexpr unsigned char format_sized = 4, attribute_registers = 0x2f;
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
        at += size;
    }
}

} // namespace

const char *read_cubin(const void *bytes, cubin *result)
{
    image elf;

    elf.base = static_cast<const char *>(bytes);
    if (memcmp(bytes, ELFMAG, SELFMAG))
        return "it is no ELF file";
    memcpy(&elf.header, bytes, sizeof elf.header);
    if (elf.header.e_machine != machine_cuda)
        return "it is for another machine";
    *result = {};
    result->sm = static_cast<int>(elf.header.e_flags >> 8 & 0xff);
    for (unsigned i = 0; i < elf.header.e_shnum; i++) {
        Elf64_Shdr section = elf.section(i);

        if (section.sh_type == SHT_SYMTAB)
            read_symbols(elf, section, result);
        else if (!strncmp(elf.name(section), ".nv.info", 8))
            read_info(elf, section, result);
    }
    if (result->symbol.empty())
        return "it has no kernel";
    if (!result->registers || !result->parameter_bytes)
        return "it does not say how many registers or parameters it has";
    if (result->program.empty())
        return "it has no jitgemm_spec";
    return nullptr;
}

} // namespace emu_driver
