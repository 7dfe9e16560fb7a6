/* SPDX-License-Identifier: MIT */
/* The growable byte string. */
#include "buf.h"

#include <stdint.h>

#include "test.h"

int main(void)
{
    struct jg_buf buf = {.data = NULL};

    jg_buf_add(&buf, NULL, 0);
    CHECK_STR((char *)buf.data, "");
    jg_buf_add(&buf, "a\0b", 3);
    CHECK_INT(buf.size, 3);
    CHECK_INT(memcmp(buf.data, "a\0b", 4), 0);
    jg_buf_free(&buf);
    CHECK(!buf.data && !buf.size && !buf.capacity && !buf.failed);

    /* Every size on the way through several doublings. */
    for (int i = 0; i < 2000; i++) {
        char letter = (char)('a' + i % 26);

        if (buf.data) /* the NUL must not be there by luck */
            memset(buf.data + buf.size, 0xff, buf.capacity - buf.size);
        if (i % 2)
            jg_buf_printf(&buf, "%c", letter);
        else
            jg_buf_add(&buf, &letter, 1);
        CHECK_INT(buf.size, i + 1);
        CHECK(buf.capacity > buf.size && !buf.data[buf.size]);
    }
    for (int i = 0; i < 2000; i++)
        CHECK_INT(buf.data[i], 'a' + i % 26);
    jg_buf_free(&buf);

    jg_buf_printf(&buf, "%s-%0300d", "x", 7);
    CHECK_INT(buf.size, 302);
    CHECK_INT(buf.data[301], '7');
    CHECK_INT(buf.data[300], '0');

    /* A failure is remembered and the bytes before it are kept. */
    jg_buf_add(&buf, "", SIZE_MAX - 1);
    CHECK(buf.failed);
    CHECK_INT(buf.size, 302);
    jg_buf_add(&buf, "more", 4);
    jg_buf_printf(&buf, "more");
    CHECK(buf.failed);
    CHECK_INT(buf.size, 302);
    jg_buf_free(&buf);
    CHECK(!buf.failed);
    return test_end();
}
