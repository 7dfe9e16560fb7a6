/* SPDX-License-Identifier: MIT */
/* What may be a pack, what happens to one that is open, and reads that fail.
 * pread is replaced here by one that fails when told to. */
#define _GNU_SOURCE /* nftw, syscall */
#undef _FORTIFY_SOURCE
#include <errno.h>
#include <sys/syscall.h>

#include "file.h"
#include "one_pack.h"

static struct { /* the next `times` calls fail, or read one byte or none */
    int times, error, end;
} fault;

ssize_t pread(int fd, void *data, size_t size, off_t start)
{
    if (fault.times > 0) {
        fault.times--;
        errno = fault.error;
        if (fault.error)
            return -1;
        size = fault.end ? 0 : 1;
    }
    return syscall(SYS_pread64, fd, data, size, start);
}

/* What happens to the file once it is open. */
static void test_changes(void)
{
    struct jg_buf bytes = encode(ENTRIES);
    const char *why, *path = in_scratch("p.jgp");
    struct jg_pack *pack = open_bytes(bytes.data, bytes.size, &why);

    CHECK(unlink(path) == 0); /* or replaced by another */
    CHECK_INT(found(pack), 7);
    jg_pack_close(pack);
    pack = open_bytes(bytes.data, bytes.size, &why);
    CHECK(truncate(path, (off_t)bytes.size - 1) == 0);
    CHECK_INT(found(pack), 3);
    CHECK_INT(verified(pack), 3);
    CHECK(truncate(path, 0) == 0);
    CHECK_INT(found(pack), 0);
    CHECK(truncate(path, (off_t)bytes.size) == 0); /* zeros */
    CHECK_INT(found(pack), 0);
    CHECK_INT(verified(pack), 0);
    jg_pack_close(pack);
    jg_buf_free(&bytes);
}

static int open_error(const char *name, const char *text)
{
    struct jg_pack *pack = NULL;
    const char *why = NULL;
    int error = jg_pack_open(top, name, 0, &pack, &why);

    CHECK(!pack);
    CHECK_STR(why, text);
    return error;
}

static void test_trust(void)
{
    struct jg_buf bytes = encode(1);
    const char *untrusted = jg_file_text(JG_FILE_UNTRUSTED);
    const char *kind = jg_file_text(JG_FILE_WRONG_KIND);

    CHECK_INT(open_error("none.jgp", strerror(ENOENT)), ENOENT);
    write_file(in_scratch("open.jgp"), bytes.data, bytes.size, 0666);
    CHECK_INT(open_error("open.jgp", untrusted), JG_FILE_UNTRUSTED);
    CHECK(symlink("p.jgp", in_scratch("link.jgp")) == 0);
    CHECK_INT(open_error("link.jgp", kind), JG_FILE_WRONG_KIND);
    CHECK(mkfifo(in_scratch("fifo.jgp"), 0600) == 0);
    CHECK_INT(open_error("fifo.jgp", kind), JG_FILE_WRONG_KIND);
    make_folder(in_scratch("folder.jgp"), 0700);
    CHECK_INT(open_error("folder.jgp", kind), JG_FILE_WRONG_KIND);
    jg_buf_free(&bytes);
}

static void test_faults(void)
{
    struct jg_buf bytes = encode(ENTRIES);
    const char *why;
    struct jg_pack *pack = open_bytes(bytes.data, bytes.size, &why);

    fault.times = 20; /* a byte at a time */
    CHECK_INT(found(pack), 7);
    fault.times = 5;
    fault.error = EINTR;
    CHECK_INT(found(pack), 7);
    fault.times = 1;
    fault.error = EIO;
    CHECK_INT(found(pack), 6);
    for (int good = 0; good < 2; good++) {
        fault.times = 1;
        fault.error = good ? 0 : EIO;
        fault.end = good;
        CHECK(open_error("p.jgp", good ? jg_file_text(JG_FILE_WRONG_SIZE)
                                       : strerror(EIO)));
    }
    jg_pack_close(pack);
    jg_buf_free(&bytes);
}

int main(void)
{
    one_pack_begin();
    test_changes();
    test_trust();
    test_faults();
    one_pack_end();
    return test_end();
}
