/* SPDX-License-Identifier: MIT */
/* Checks for test programs: each prints both sides and counts, none stops the
 * program. main() ends with `return test_end();`. */
#ifndef TEST_H
#define TEST_H

#include <stdio.h>
#include <string.h>

#define TEST_SKIP 77 /* exit status that automake counts as skipped */

static int test_checks, test_failures;

#define CHECK(condition)                                                     \
    do {                                                                     \
        test_checks++;                                                       \
        if (!(condition)) {                                                  \
            test_failures++;                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);  \
        }                                                                    \
    } while (0)

#define CHECK_INT(got, want)                                                 \
    do {                                                                     \
        long long got_ = (long long)(got), want_ = (long long)(want);        \
        test_checks++;                                                       \
        if (got_ != want_) {                                                 \
            test_failures++;                                                 \
            fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__,       \
                    __LINE__, #got, got_, want_);                            \
        }                                                                    \
    } while (0)

#define CHECK_STR(got, want)                                                 \
    do {                                                                     \
        const char *got_ = (got), *want_ = (want);                           \
        test_checks++;                                                       \
        if (!got_ || strcmp(got_, want_) != 0) {                             \
            test_failures++;                                                 \
            fprintf(stderr, "%s:%d: %s is \"%s\", not \"%s\"\n", __FILE__,   \
                    __LINE__, #got, got_ ? got_ : "(null)", want_);          \
        }                                                                    \
    } while (0)

static inline int test_end(void)
{
    printf("%d checks, %d failed\n", test_checks, test_failures);
    return test_failures || !test_checks ? 1 : 0;
}

#endif
