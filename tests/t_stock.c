/* SPDX-License-Identifier: MIT */
/* A cache directory that others change while it is gone through. */
#define _GNU_SOURCE /* nftw */
#include "stock.h"

#include <errno.h>

#include "some_cache.h"
#include "view.h"

static int told;

static void tell(void *user, const jitgemm_entry *entry)
{
    CHECK(user == &told);
    CHECK_INT(entry->state, JITGEMM_ENTRY_BAD);
    CHECK_STR(entry->why, "why");
    told++;
}

/* An entry that has gone is none; one that cannot be read is bad. */
static void test_removed(void)
{
    struct jg_stock *stock = NULL;
    struct jg_entry entry;
    struct jg_span file;
    const char *why = "left alone";

    CHECK_INT(jg_stock_open(in_scratch("c/v1"), 0, &stock, &why), 0);
    CHECK_INT(jg_stock_count(stock), ENTRIES);
    CHECK(unlink(entry_path("c", 1)) == 0);
    CHECK(!jg_stock_read(stock, 1, &entry, &file, &why) && !why);
    make_folder(entry_path("c", 1), 0700);
    CHECK(!jg_stock_read(stock, 1, &entry, &file, &why) && why);
    CHECK(jg_stock_read(stock, 2, &entry, &file, &why));
    CHECK(same_span(file, packed[2].file));
    CHECK(same_span(entry.key,
                    (struct jg_span){keys[2].blob.data, keys[2].blob.size}));
    free((void *)file.data);
    scratch_clear(in_scratch("c/v1"));
    CHECK(!jg_stock_read(stock, 2, &entry, &file, &why) && !why);
    jg_stock_close(stock);
    CHECK_INT(jg_stock_open(in_scratch("c/v1"), 0, &stock, &why), ENOENT);
    CHECK_STR(why, strerror(ENOENT));

    jg_view_bad("", NULL, tell, &told);
    jg_view_bad("", "why", NULL, NULL);
    CHECK_INT(told, 0);
    jg_view_bad("", "why", tell, &told);
    CHECK_INT(told, 1);
}

/* Names come in their order, whatever that of the folder is, and only those
 * of entries. */
static void test_names(void)
{
    static const char *const others[] = {
        "fe0123456789abcdef0123456789abcd.jgx", "fe01.jgc", "fe",
        "fe0123456789abcdeg0123456789abcd.jgc",
        "fe0123456789abcdef0123456789abcd.jgc.t"};
    struct jg_stock *stock = NULL;
    const char *why;
    char path[80];

    make_cache("n", 1);
    make_folder(in_scratch("n/v1/e/fe"), 0700);
    for (unsigned i = 0; i < 16; i++) {
        snprintf(path, sizeof path, "n/v1/e/fe/fe%030x.jgc", i * 7 % 16);
        write_file(in_scratch(path), "", 0, 0600);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(path, sizeof path, "n/v1/e/fe/%s", others[i]);
        write_file(in_scratch(path), "", 0, 0600);
    }
    CHECK_INT(jg_stock_open(in_scratch("n/v1"), 0, &stock, &why), 0);
    CHECK_INT(jg_stock_count(stock), 17);
    for (size_t i = 0; i < 16; i++)
        CHECK(strcmp(jg_stock_name(stock, i), jg_stock_name(stock, i + 1)) <
              0);
    jg_stock_close(stock);
}

int main(void)
{
    scratch_begin();
    some_entries_begin();
    make_cache("c", 7);
    test_removed();
    test_names();
    some_entries_end();
    scratch_end();
    return test_end();
}
