/* SPDX-License-Identifier: MIT */
/* SHA-256 against NIST's examples, and at every length around a block. */
#include "sha256.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

static const char *digest_of(const void *bytes, size_t size)
{
    static char hex[2 * JG_SHA256_SIZE + 1];
    unsigned char digest[JG_SHA256_SIZE];

    jg_sha256(bytes, size, digest);
    jg_sha256_text(digest, hex);
    return hex;
}

static void test_examples(void)
{
    static const struct {
        const char *text, *digest;
    } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb924"
             "27ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223"
                "b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039"
         "a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
         "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b049237"
         "0b249b11e8f07a51afac45037afee9d1"},
    };
    char *many = malloc(1000000);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_STR(digest_of(rows[i].text, strlen(rows[i].text)),
                  rows[i].digest);
    memset(many, 'a', 1000000);
    CHECK_STR(digest_of(many, 1000000), "cdc76e5c9914fb9281a1c7e284d73e67"
                                        "f1809a48a497200e046d39ccc7112cd0");
    free(many);
}

/* The digest of the digests of 0 to 299 zeros, as sha256sum has it. */
static void test_lengths(void)
{
    unsigned char all[300 * JG_SHA256_SIZE];

    for (size_t size = 0; size < 300; size++) {
        void *zeros = calloc(1, size + !size); /* of exactly this size */

        jg_sha256(zeros, size, all + size * JG_SHA256_SIZE);
        free(zeros);
    }
    CHECK_STR(digest_of(all, sizeof all), "a623c720bdf879ab1ab1d3f3b1af6982"
                                          "37802d9f4af8be0b0b8cd87f36e9fca4");
}

int main(void)
{
    test_examples();
    test_lengths();
    return test_end();
}
