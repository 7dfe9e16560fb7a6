/* SPDX-License-Identifier: MIT */
/* The size that the cache may have, as text. */
#include "settings.h"

#include "one_entry.h"
#include "test.h"

static void test_sizes(void)
{
    static const struct {
        const char *text;
        uint64_t bytes;
        int warnings;
    } rows[] = {
        {NULL, 1 << 30, 0},     {"0", UINT64_MAX, 0},   {"123", 123, 0},
        {"7K", 7 << 10, 0},     {"0G", UINT64_MAX, 0},  {"5M", 5 << 20, 0},
        {"1T", 1 << 30, 1},     {"-1", 1 << 30, 1},     {"K", 1 << 30, 1},
        {"1KB", 1 << 30, 1},    {" 1", 1 << 30, 1},     {"1.5G", 1 << 30, 1},
        {"17179869183G", 17179869183ULL << 30, 0},
        {"17179869184G", 1 << 30, 1},
        {"99999999999999999999", 1 << 30, 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct jg_env env = {.cache_max_size = rows[i].text};

        warnings = 0;
        CHECK(jg_settings_read(&env, &counting).max_bytes == rows[i].bytes);
        CHECK_INT(warnings, rows[i].warnings);
    }
}

int main(void)
{
    test_sizes();
    return test_end();
}
