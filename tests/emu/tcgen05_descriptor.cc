/* SPDX-License-Identifier: MIT */
/* Bits of descriptors, and what in them a product cannot do. */
#include "tcgen05_descriptor.h"
#include "machine.h"
#include "operand.h"
#include "shared.h"

namespace emu {

namespace {

/* Bits 46-48 are 1: the version, and one that must be 0. */
constexpr uint64_t matrix_unused = uint64_t(3) << 14 | uint64_t(3) << 30 |
                                   uint64_t(1) << 48 | uint64_t(0xff) << 53;
constexpr uint32_t instruction_unused = 0xf | 1 << 6;
constexpr unsigned no_span = ~0u;

/* Bytes of a layout's swizzle. 1, of 32-byte units, is not for k first. */
unsigned span_of(unsigned layout)
{
    static const unsigned spans[] = {0,  no_span, 128, no_span,
                                     64, no_span, 32,  no_span};

    return spans[layout];
}

tcgen05_matrix checked_matrix(uint64_t word, const char *what)
{
    tcgen05_matrix matrix = tcgen05_split_matrix(word);
    unsigned long long descriptor = word;

    if (matrix.unused)
        fail("bad-descriptor", "%s: 0x%llx has unused bits set", what,
             descriptor);
    if (matrix.version != 1)
        fail("bad-descriptor", "%s: 0x%llx is of version %u, not 1", what,
             descriptor, matrix.version);
    if (matrix.absolute_leading)
        fail("bad-descriptor",
             "%s: 0x%llx: an absolute leading offset is for 96 k", what,
             descriptor);
    if (span_of(matrix.layout) == no_span)
        fail("bad-descriptor", "%s: 0x%llx: layout %u is not emulated", what,
             descriptor, matrix.layout);
    return matrix;
}

} // namespace

tcgen05_instruction tcgen05_split_instruction(uint32_t word)
{
    tcgen05_instruction split{};

    split.b_scale_id = bits_of(word, 4, 2);
    split.a_format = bits_of(word, 7, 3);
    split.b_format = bits_of(word, 10, 3);
    split.a_negate = bits_of(word, 13, 1);
    split.b_negate = bits_of(word, 14, 1);
    split.a_major = bits_of(word, 15, 1);
    split.b_major = bits_of(word, 16, 1);
    split.n = bits_of(word, 17, 6) << 3;
    split.ue8m0 = bits_of(word, 23, 1);
    split.m = bits_of(word, 24, 5) << 4;
    split.a_scale_id = bits_of(word, 29, 2);
    split.k96 = bits_of(word, 31, 1);
    split.unused = word & instruction_unused;
    return split;
}

tcgen05_matrix tcgen05_split_matrix(uint64_t word)
{
    tcgen05_matrix split{};

    split.start = bits_of(word, 0, 14) << 4;
    split.leading = bits_of(word, 16, 14) << 4;
    split.stride = bits_of(word, 32, 14) << 4;
    split.version = bits_of(word, 46, 2);
    split.base_offset = bits_of(word, 49, 3);
    split.absolute_leading = bits_of(word, 52, 1);
    split.layout = bits_of(word, 61, 3);
    split.unused = word & matrix_unused;
    return split;
}

tcgen05_instruction tcgen05_checked_instruction(int ctas, uint32_t word)
{
    tcgen05_instruction i = tcgen05_split_instruction(word);
    const char *fault = nullptr;

    if (i.unused)
        fault = "has unused bits set, or is sparse";
    else if (i.a_format != 1 || i.b_format != 1)
        fault = "has operands that are not e2m1";
    else if (i.a_major || i.b_major)
        fault = "has an operand of fp4 that is not k first";
    else if (i.k96)
        fault = "is of 96 k, not 64";
    else if (i.m != unsigned(ctas * tcgen05_rows))
        fault = ctas == 1 ? "has an M that is not 128"
                          : "has an M that is not 256, of a pair";
    else if (!i.n || i.n > 256)
        fault = "has an N that is not 8 to 256";
    else if (i.n % unsigned(8 * ctas))
        fault = "has an N that is no multiple of 16, of a pair";
    else if (i.a_scale_id || i.b_scale_id)
        fault = "has a scale id, but four scales take a whole word";
    if (fault)
        fail("bad-instruction", "instruction descriptor 0x%08x %s", word,
             fault);
    return i;
}

std::vector<uint32_t> tcgen05_operand_units(unsigned rank, uint64_t descriptor,
                                            int rows, const char *what)
{
    tcgen05_matrix matrix = checked_matrix(descriptor, what);
    unsigned span = span_of(matrix.layout);

    if (!span && !matrix.leading)
        fail("bad-descriptor", "%s: 0x%llx: a leading offset of 0", what,
             static_cast<unsigned long long>(descriptor));
    return operand_units({descriptor, shared_of_rank(matrix.start, rank),
                          matrix.leading, matrix.stride, span,
                          matrix.base_offset},
                         rows, what);
}

std::vector<uint32_t> tcgen05_copy_units(unsigned rank, uint64_t descriptor)
{
    const char *what = "tcgen05.cp";
    tcgen05_matrix matrix = checked_matrix(descriptor, what);
    std::vector<uint32_t> units;

    if (matrix.layout || matrix.base_offset)
        fail("bad-descriptor", "%s: 0x%llx: a swizzle of scales", what,
             static_cast<unsigned long long>(descriptor));
    if (!matrix.stride)
        fail("bad-descriptor", "%s: 0x%llx: a stride of 0", what,
             static_cast<unsigned long long>(descriptor));
    for (uint32_t row = 0; row < 32; row++) {
        uint32_t address = shared_of_rank(matrix.start, rank) +
                           row / 8 * matrix.stride + row % 8 * shared_unit;

        shared_check(address, shared_unit, shared_unit, what);
        units.push_back(address);
    }
    return units;
}

} // namespace emu
