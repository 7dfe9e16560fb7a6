/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target on its seeds and on some thousands of variations of each,
 * the same ones every time. With an argument, a folder, it writes the seeds
 * there instead, for libFuzzer. */
#include "fuzz.h"

#include <string.h>

enum { VARIATIONS = 3000 };

static const char *folder;
static unsigned long inputs, seeds;

static uint64_t next(void)
{
    static uint64_t state = 88172645463325252u; /* xorshift, Marsaglia 2003 */

    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static size_t below(size_t limit)
{
    return (size_t)(next() % limit);
}

/* Puts `size` bytes of `from` in place of `cut` bytes at `at`. */
static void splice(struct jg_buf *bytes, size_t at, size_t cut,
                   const void *from, size_t size)
{
    struct jg_buf made = {.data = NULL};

    jg_buf_add(&made, bytes->data, at);
    jg_buf_add(&made, from, size);
    jg_buf_add(&made, bytes->data + at + cut, bytes->size - at - cut);
    FUZZ_CHECK(!made.failed);
    jg_buf_free(bytes);
    *bytes = made;
}

static void vary(struct jg_buf *bytes)
{
    static const unsigned char edges[] = {0, 1, 0x7f, 0x80, 0xff};
    size_t at = bytes->size ? below(bytes->size) : 0;
    size_t left = bytes->size - at;
    unsigned char some[8];

    for (size_t i = 0; i < sizeof some; i++)
        some[i] = edges[below(sizeof edges)];
    if (!left) {
        splice(bytes, 0, 0, some, sizeof some);
        return;
    }
    switch (below(6)) {
    case 0:
        bytes->data[at] ^= (unsigned char)(1 << below(8));
        break;
    case 1:
        bytes->data[at] = some[0];
        break;
    case 2: /* a number of 1 to 8 bytes */
        memcpy(bytes->data + at, some, left < 8 ? left : below(8) + 1);
        break;
    case 3:
        splice(bytes, at, below(left) + 1, "", 0);
        break;
    case 4:
        splice(bytes, at, 0, some, below(8) + 1);
        break;
    default: /* a part of it once more, elsewhere */
        splice(bytes, below(bytes->size), 0, bytes->data + at,
               below(left) + 1);
        break;
    }
}

static void run(const struct jg_buf *bytes)
{
    LLVMFuzzerTestOneInput(bytes->data, bytes->size);
    inputs++;
}

static void write_seed(const struct jg_buf *seed)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/seed%lu", folder, seeds);
    file = fopen(path, "w");
    FUZZ_CHECK(file && fwrite(seed->data, 1, seed->size, file) == seed->size);
    FUZZ_CHECK(fclose(file) == 0);
}

static void use(const struct jg_buf *seed)
{
    unsigned long before = fuzz_accepted;

    seeds++;
    if (folder) {
        write_seed(seed);
        return;
    }
    run(seed);
    FUZZ_CHECK(fuzz_accepted > before);
    for (int i = 0; i < VARIATIONS; i++) {
        struct jg_buf bytes = {.data = NULL};

        jg_buf_add(&bytes, seed->data, seed->size);
        for (size_t changes = below(4) + 1; changes; changes--)
            vary(&bytes);
        run(&bytes);
        jg_buf_free(&bytes);
    }
}

int main(int argc, char **argv)
{
    folder = argc > 1 ? argv[1] : NULL;
    fuzz_seeds(use);
    printf("%lu seeds, %lu inputs, %lu times accepted\n", seeds, inputs,
           fuzz_accepted);
    return !seeds;
}
