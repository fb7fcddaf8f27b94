/* SPDX-License-Identifier: MIT */
/* The journal's own system calls; see hooks.h. */
#include "journal/hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int system_open(void *ctx, const char *path, int flags, mode_t mode)
{
    (void)ctx;
    return open(path, flags, mode);
}

static ssize_t system_pwrite(void *ctx, int fd, const void *bytes, size_t len, off_t at)
{
    (void)ctx;
    return pwrite(fd, bytes, len, at);
}

static int system_ftruncate(void *ctx, int fd, off_t len)
{
    (void)ctx;
    return ftruncate(fd, len);
}

static int system_fsync(void *ctx, int fd)
{
    (void)ctx;
    return fsync(fd);
}

static int system_rename(void *ctx, const char *from, const char *to)
{
    (void)ctx;
    return rename(from, to);
}

const struct weir_journal_io weir_journal_io_system = {
    .open = system_open,
    .pwrite = system_pwrite,
    .ftruncate = system_ftruncate,
    .fsync = system_fsync,
    .rename = system_rename,
};

static const struct weir_journal_io *io_of(const struct weir_journal_hooks *hooks)
{
    return hooks->io ? hooks->io : &weir_journal_io_system;
}

void weir_hooks_at(const struct weir_journal_hooks *hooks, enum weir_point point)
{
    if (hooks->at)
        hooks->at(hooks->ctx, point);
}

int weir_hooks_open(const struct weir_journal_hooks *hooks, const char *path, int flags,
                    mode_t mode)
{
    return io_of(hooks)->open(hooks->ctx, path, flags | O_CLOEXEC, mode);
}

int weir_hooks_ftruncate(const struct weir_journal_hooks *hooks, int fd, off_t len)
{
    return io_of(hooks)->ftruncate(hooks->ctx, fd, len);
}

int weir_hooks_fsync(const struct weir_journal_hooks *hooks, int fd)
{
    return io_of(hooks)->fsync(hooks->ctx, fd);
}

int weir_hooks_rename(const struct weir_journal_hooks *hooks, const char *from, const char *to)
{
    return io_of(hooks)->rename(hooks->ctx, from, to);
}

int weir_hooks_pwrite(const struct weir_journal_hooks *hooks, int fd, const void *bytes, size_t len,
                      off_t at)
{
    const char *next = bytes;
    while (len > 0) {
        ssize_t written = io_of(hooks)->pwrite(hooks->ctx, fd, next, len, at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written == 0)
            errno = ENOSPC;
        if (written <= 0)
            return -1;
        next += written;
        at += written;
        len -= (size_t)written;
    }
    return 0;
}

const char *weir_hooks_reason(int reason)
{
    const char *words = strerrordesc_np(reason);
    if (reason == ENOSPC || reason == EDQUOT)
        return "disk full";
    return words ? words : "unknown reason";
}

int weir_hooks_fsync_directory(const struct weir_journal_hooks *hooks, const char *path)
{
    int fd = weir_hooks_open(hooks, path, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return -1;
    int result = weir_hooks_fsync(hooks, fd);
    int reason = errno;
    close(fd);
    errno = reason;
    return result;
}
