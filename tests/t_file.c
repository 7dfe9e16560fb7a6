/* SPDX-License-Identifier: MIT */
/* Trusted folders and files. pread, write, fsync and close are replaced here
 * by ones that fail when told to. */
#define _GNU_SOURCE /* nftw, syscall */
#undef _FORTIFY_SOURCE /* its inline pread() would be in the way */
#include "file.h"

#include <errno.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "scratch.h"

/* The next `times` calls of a function fail with `error`, or, if that is 0,
 * do one byte (pread, write) or nothing (pread at once says end of file). */
static struct fault {
    int times, error, end;
} on_read, on_write, on_fsync, on_close;

static bool fails(struct fault *fault)
{
    if (fault->times <= 0)
        return false;
    fault->times--;
    errno = fault->error;
    return true;
}

ssize_t pread(int fd, void *data, size_t size, off_t start)
{
    if (fails(&on_read)) {
        if (on_read.error || on_read.end)
            return on_read.error ? -1 : 0;
        size = size ? 1 : 0;
    }
    return syscall(SYS_pread64, fd, data, size, start);
}

ssize_t write(int fd, const void *data, size_t size)
{
    if (fails(&on_write)) {
        if (on_write.error || on_write.end)
            return on_write.error ? -1 : 0;
        size = size ? 1 : 0;
    }
    return syscall(SYS_write, fd, data, size);
}

int fsync(int fd)
{
    return fails(&on_fsync) ? -1 : (int)syscall(SYS_fsync, fd);
}

int close(int fd)
{
    int result = (int)syscall(SYS_close, fd);

    return fails(&on_close) ? -1 : result;
}

static int top, temporary; /* scratch, scratch/t */

static int publish(const char *text, unsigned flags)
{
    int error =
        jg_file_publish(temporary, top, "file", flags, text, strlen(text));

    on_write.times = on_fsync.times = on_close.times = 0;
    CHECK_INT(count_files(in_scratch("t")), 0);
    return error;
}

/* The error, after checking that the text is this if there is none. */
static int fetch(const char *name, unsigned flags, size_t limit,
                 const char *text)
{
    void *data = NULL;
    size_t size = 0;
    int error = jg_file_read(top, name, flags, limit, &data, &size);

    on_read.times = 0;
    if (!error) {
        CHECK_INT(size, strlen(text));
        CHECK_INT(memcmp(data, text, strlen(text)), 0);
    }
    CHECK_INT(!data, error != 0);
    free(data);
    return error;
}

static void test_publish(void)
{
    struct rlimit limit, small;

    CHECK_INT(publish("old", 0), 0);
    CHECK_INT(mode_of(in_scratch("file")), S_IFREG | 0600);
    on_write = (struct fault){7, ENOSPC, 0};
    CHECK_INT(publish("new text", 0), ENOSPC);
    on_write = (struct fault){7, 0, 1};
    CHECK_INT(publish("new text", 0), ENOSPC);
    on_fsync = (struct fault){1, EIO, 0};
    CHECK_INT(publish("new text", 0), EIO);
    on_close = (struct fault){1, EDQUOT, 0};
    CHECK_INT(publish("new text", 0), EDQUOT);
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 4;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &small), 0);
    CHECK_INT(publish("new text", 0), EFBIG); /* and no SIGXFSZ */
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK_INT(jg_file_publish(temporary, top, "d", 0, "", 0), EISDIR);
    CHECK_INT(count_files(in_scratch("t")), 0);
    CHECK_INT(fetch("file", 0, 100, "old"), 0);

    on_write = (struct fault){3, 0, 0};
    CHECK_INT(publish("new text", 0), 0);
    CHECK_INT(fetch("file", 0, 100, "new text"), 0);
    on_write = (struct fault){1, EINTR, 0};
    CHECK_INT(publish("newer text", 0), 0);
    CHECK_INT(fetch("file", 0, 100, "newer text"), 0);
    on_close = (struct fault){1, EINTR, 0};
    CHECK_INT(publish("newest", JG_FILE_GROUP), 0);
    CHECK_INT(mode_of(in_scratch("file")), S_IFREG | 0640);
    CHECK_INT(publish("", 0), 0);
    CHECK_INT(fetch("file", 0, 0, ""), 0);
}

static void test_read(void)
{
    CHECK_INT(publish("some text", 0), 0);
    on_read = (struct fault){5, 0, 0};
    CHECK_INT(fetch("file", 0, 9, "some text"), 0);
    on_read = (struct fault){2, EINTR, 0};
    CHECK_INT(fetch("file", 0, 9, "some text"), 0);
    on_read = (struct fault){1, ESTALE, 0};
    CHECK_INT(fetch("file", 0, 9, ""), ESTALE);
    on_read = (struct fault){1, EIO, 0};
    CHECK_INT(fetch("file", 0, 9, ""), EIO);
    on_read = (struct fault){1, 0, 1};
    CHECK_INT(fetch("file", 0, 9, ""), JG_FILE_WRONG_SIZE);
    CHECK_INT(fetch("file", 0, 8, ""), JG_FILE_WRONG_SIZE);
    CHECK_INT(fetch("absent", 0, 9, ""), ENOENT);
    CHECK_INT(fetch("t", 0, 9, ""), JG_FILE_WRONG_KIND);
    CHECK_INT(symlink("file", in_scratch("link")), 0);
    CHECK_INT(fetch("link", 0, 9, ""), JG_FILE_WRONG_KIND);
    CHECK_INT(mkfifo(in_scratch("fifo"), 0600), 0);
    CHECK_INT(fetch("fifo", 0, 9, ""), JG_FILE_WRONG_KIND);
}

/* Read with the time of change `age` seconds ago, which is then this. */
static long long age_after_read(long long age, unsigned flags)
{
    struct timespec times[2] = {{0, UTIME_OMIT}, {0, 0}};
    struct stat info;

    times[1].tv_sec = time(NULL) - age;
    CHECK_INT(utimensat(top, "file", times, 0), 0);
    CHECK_INT(fetch("file", flags, 9, "some text"), 0);
    CHECK_INT(fstatat(top, "file", &info, 0), 0);
    return time(NULL) - info.st_mtime;
}

/* At most once an hour, also where the clock was, or is, a day ahead. */
static void test_stamp(void)
{
    CHECK(age_after_read(3000, JG_FILE_STAMP) >= 3000);
    CHECK(age_after_read(-3000, JG_FILE_STAMP) <= -2990);
    CHECK(llabs(age_after_read(4000, JG_FILE_STAMP)) < 60);
    CHECK(llabs(age_after_read(-86400, JG_FILE_STAMP)) < 60);
    CHECK(age_after_read(4000, 0) >= 4000);
}

static void test_lock_file(void)
{
    int fd = -1;

    CHECK_INT(jg_file_open_lock(top, "lock", 0, &fd), 0);
    CHECK_INT(close(fd), 0);
    CHECK_INT(mode_of(in_scratch("lock")), S_IFREG | 0600);
    CHECK_INT(jg_file_open_lock(top, "lock", 0, &fd), 0);
    CHECK_INT(close(fd), 0);
    CHECK_INT(jg_file_open_lock(top, "link", 0, &fd), JG_FILE_WRONG_KIND);
    CHECK_INT(jg_file_open_lock(top, "fifo", 0, &fd), JG_FILE_WRONG_KIND);
    CHECK_INT(chmod(in_scratch("lock"), 0622), 0);
    CHECK_INT(jg_file_open_lock(top, "lock", 0, &fd), JG_FILE_UNTRUSTED);
}

static void test_file_trust(void)
{
    static const struct {
        mode_t mode;
        unsigned flags;
        int error;
    } rows[] = {{0600, 0, 0},
                {0444, 0, 0},
                {0640, 0, 0},
                {0604, 0, 0},
                {0620, 0, JG_FILE_UNTRUSTED},
                {0602, 0, JG_FILE_UNTRUSTED},
                {0666, 0, JG_FILE_UNTRUSTED},
                {0660, JG_FILE_GROUP, 0},
                {0602, JG_FILE_GROUP, JG_FILE_UNTRUSTED},
                {0666, JG_FILE_GROUP, JG_FILE_UNTRUSTED}};
    const char *file = in_scratch("file");

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_file(file, "x", 1, rows[i].mode);
        CHECK_INT(fetch("file", rows[i].flags, 9, "x"), rows[i].error);
    }
    if (geteuid() != 0)
        return;
    /* Another's file; of our group; of a group that is not ours. */
    write_file(file, "x", 1, 0640);
    CHECK_INT(chown(file, 65534, getegid()), 0);
    CHECK_INT(fetch("file", 0, 9, ""), JG_FILE_UNTRUSTED);
    CHECK_INT(fetch("file", JG_FILE_GROUP, 9, "x"), 0);
    CHECK_INT(chown(file, 65534, 65534), 0);
    CHECK_INT(fetch("file", JG_FILE_GROUP, 9, ""), JG_FILE_UNTRUSTED);
}

/* The error of opening a folder, which is closed again. */
static int open_folder(const char *name, unsigned flags)
{
    int folder = -1, error = jg_file_open_folder(top, name, flags, &folder);

    CHECK_INT(folder < 0, error != 0);
    if (!error)
        close(folder);
    return error;
}

static void test_folder(void)
{
    char name[NAME_MAX + 2];

    CHECK_INT(open_folder("a", 0), ENOENT);
    CHECK_INT(open_folder("a", JG_FILE_CREATE), 0);
    CHECK_INT(open_folder("a", JG_FILE_CREATE), 0);
    CHECK_INT(mode_of(in_scratch("a")), S_IFDIR | 0700);
    CHECK_INT(open_folder("g", JG_FILE_CREATE | JG_FILE_GROUP), 0);
    CHECK_INT(mode_of(in_scratch("g")), S_IFDIR | 0750);
    CHECK_INT(open_folder("no/parent", JG_FILE_CREATE), ENOENT);
    CHECK_INT(open_folder("file", JG_FILE_CREATE), ENOTDIR);
    CHECK_INT(symlink("a", in_scratch("to_a")), 0);
    CHECK_INT(open_folder("to_a", JG_FILE_CREATE), ENOTDIR);
    CHECK_INT(open_folder("to_a", JG_FILE_FOLLOW), 0);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    CHECK_INT(open_folder(name, JG_FILE_CREATE), ENAMETOOLONG);

    CHECK_INT(chmod(in_scratch("a"), 0777), 0);
    CHECK_INT(open_folder("a", JG_FILE_CREATE), JG_FILE_UNTRUSTED);
    CHECK_INT(open_folder("to_a", JG_FILE_FOLLOW), JG_FILE_UNTRUSTED);
    CHECK_INT(mode_of(in_scratch("a")), S_IFDIR | 0777);
    CHECK_INT(chmod(in_scratch("a"), 0770), 0);
    CHECK_INT(open_folder("a", 0), JG_FILE_UNTRUSTED);
    CHECK_INT(open_folder("a", JG_FILE_GROUP), 0);

    CHECK_INT(jg_file_may_create(in_scratch("t"), true), 0);
    CHECK_INT(jg_file_may_create(in_scratch("absent"), false), ENOENT);
    if (geteuid() != 0)
        return;
    CHECK_INT(chown(in_scratch("t"), 65534, 65534), 0);
    CHECK_INT(open_folder("t", 0), JG_FILE_UNTRUSTED);
    CHECK_INT(jg_file_may_create(in_scratch("t"), true), JG_FILE_UNTRUSTED);
    CHECK_INT(jg_file_may_create(in_scratch("t"), false), 0);
}

int main(void)
{
    scratch_begin();
    alarm(60); /* seconds; a FIFO that is waited for must not hang */
    make_folder(in_scratch("t"), 0700);
    make_folder(in_scratch("d"), 0700);
    CHECK_INT(jg_file_open_folder(AT_FDCWD, scratch, 0, &top), 0);
    CHECK_INT(jg_file_open_folder(top, "t", 0, &temporary), 0);
    test_publish();
    test_read();
    test_stamp();
    test_lock_file();
    test_file_trust();
    test_folder();
    close(temporary);
    close(top);
    scratch_end();
    return test_end();
}
