/* SPDX-License-Identifier: MIT */
/* Descriptors of block-scaled products that one block cannot have. */
#include "tensor_unit.h"

using namespace emu_test;

namespace {

/* Bits of both descriptors that change what the product could do. */
void test_descriptors()
{
    static const u32 words[] = {
        1 << 2,  1 << 3,  1 << 4,   1 << 6,  1 << 8,
        1 << 11, 1 << 15, 1 << 16,  1 << 27, 1 << 28,
        1 << 29, 1 << 30, 1u << 31, 4 << 17 /* no n */};
    static const struct {
        u64 change;
        const char *name;
    } descriptors[] = {{u64(1) << 14, "bad-descriptor"},
                       {u64(1) << 31, "bad-descriptor"},
                       {u64(1) << 46, "bad-descriptor"},
                       {u64(1) << 47, "bad-descriptor"},
                       {u64(1) << 48, "bad-descriptor"},
                       {u64(1) << 49, "misaligned"},
                       {u64(1) << 52, "bad-descriptor"},
                       {u64(1) << 60, "bad-descriptor"},
                       {u64(1) << 61, "bad-descriptor"},
                       {u64(3) << 61, "bad-descriptor"},
                       {u64(64) << 32, "bad-descriptor"},
                       {u64(32) << 32, "misaligned"},
                       {u64(8), "misaligned"},
                       {u64(7), "bad-descriptor"},
                       {u64(192) << 32, "shared-out-of-bounds"}};

    for (u32 word : words) {
        variant = int(word);
        bad_word = word;
        check(one_product, 32, "bad-instruction");
    }
    bad_word = 0;
    for (const auto &descriptor : descriptors) {
        variant = int(&descriptor - descriptors);
        bad_descriptor = descriptor.change;
        check(one_product, 32, descriptor.name);
    }
    bad_descriptor = 0;
}

} // namespace

int main()
{
    test_descriptors();
    return test_end();
}
