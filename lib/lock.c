/* SPDX-License-Identifier: MIT */
/* flock() with a limit to the wait. */
#define _DEFAULT_SOURCE /* flock, nanosleep */
#include "lock.h"

#include <errno.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "file.h"

/* Polls, since a wait with a limit would need a signal or a thread: at first
 * after 1 ms, at last every 32 ms, little beside a compile. */
static int wait_for(int fd, double seconds)
{
    double limit = jg_clock_ms() + seconds * 1e3;
    struct timespec pause = {0, 1000000};

    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return errno;
        if (jg_clock_ms() >= limit)
            return EWOULDBLOCK;
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 32000000)
            pause.tv_nsec *= 2;
    }
    return 0;
}

int jg_lock_take(int folder, const char *name, unsigned flags, double seconds,
                 int *lock)
{
    int fd, error = jg_file_open_lock(folder, name, flags, &fd);

    if (error)
        return error;
    error = wait_for(fd, seconds);
    if (error)
        close(fd);
    else
        *lock = fd;
    return error;
}

void jg_lock_release(int lock)
{
    if (lock < 0)
        return;
    /* A child forked meanwhile shares the lock: closing is not enough. */
    flock(lock, LOCK_UN);
    close(lock);
}

bool jg_lock_is_remote(int folder)
{
    static const uint32_t kinds[] = {
        0x6969,     /* NFS */
        0x517b,     /* SMB */
        0xff534d42, /* CIFS */
        0xfe534d42, /* SMB 2 */
        0x0bd00bd0, /* Lustre */
        0x47504653, /* GPFS */
        0x65735546, /* FUSE, virtiofs */
        0x01021997, /* 9P */
        0x00c36400, /* Ceph */
        0x19830326, /* BeeGFS */
        0x5346414f, /* AFS */
        0x6b414653, /* AFS of Linux */
        0x20030528, /* OrangeFS */
        0x7461636f, /* OCFS2 */
        0x01161970, /* GFS2 */
        0xaad7aaea, /* PanFS */
    };
    struct statfs info;

    if (fstatfs(folder, &info) != 0)
        return false;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((uint32_t)info.f_type == kinds[i])
            return true;
    return false;
}
