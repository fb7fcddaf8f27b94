/* SPDX-License-Identifier: MIT */
/* The file of a report; see report_file.h. */
#include "report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"

/* Beside it, hidden, and of this process only. The caller frees it. */
static char *temporary_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    struct weir_buf text;
    weir_buf_init(&text, SIZE_MAX);
    weir_buf_printf(&text, "%.*s.weir-report.%ld.new", folder, path, (long)getpid());
    return weir_buf_take(&text);
}

static enum weir_status fail(enum weir_status status, const char *path, int reason,
                             struct weir_error *err)
{
    return weir_fail(err, status, "the report \"%.300s\" cannot be written: %s", path,
                     strerrordesc_np(reason));
}

static int open_temporary(const char *temporary)
{
    unlink(temporary); /* of a process that had our number and was killed */
    return open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
}

enum weir_status report_file_try(const char *path, struct weir_error *err)
{
    struct stat about;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return fail(WEIR_E_INVALID, path, EISDIR, err);
    char *temporary = temporary_of(path);
    int fd = open_temporary(temporary);
    int reason = errno;
    if (fd >= 0) {
        close(fd);
        unlink(temporary);
    }
    free(temporary);
    return fd >= 0 ? WEIR_OK : fail(WEIR_E_INVALID, path, reason, err);
}

/* 0, or errno. */
static int write_all(int fd, struct weir_str bytes)
{
    while (bytes.len > 0) {
        ssize_t got = write(fd, bytes.ptr, bytes.len);
        if (got < 0 && errno != EINTR)
            return errno;
        size_t len = got > 0 ? (size_t)got : 0;
        bytes = weir_str(bytes.ptr + len, bytes.len - len);
    }
    return fsync(fd) ? errno : 0;
}

enum weir_status report_file_write(const char *path, struct weir_str bytes, struct weir_error *err)
{
    char *temporary = temporary_of(path);
    int fd = open_temporary(temporary);
    int reason = fd < 0 ? errno : write_all(fd, bytes);
    if (fd >= 0 && close(fd) && !reason)
        reason = errno;
    if (!reason && rename(temporary, path))
        reason = errno;
    if (reason && fd >= 0)
        unlink(temporary);
    free(temporary);
    return reason ? fail(WEIR_E_IO, path, reason, err) : WEIR_OK;
}
