/* SPDX-License-Identifier: MIT */
/* One input file; see source.h. */
#include "records/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"

/* Enough to recognise gzip. */
#define MAGIC_BYTES 2

const char *weir_source_name(const char *path)
{
    return strcmp(path, "-") ? path : "standard input";
}

struct weir_source_title weir_source_title(const char *name)
{
    struct weir_source_title title = { "the input" };
    const size_t len = name ? strlen(name) : 0;
    const char *tail = name;
    if (!name)
        return title;
    if (len > WEIR_SOURCE_TITLE_MAX) {
        for (tail += len - WEIR_SOURCE_TITLE_MAX; (*tail & 0xC0) == 0x80; tail++)
            ; /* not within a character */
    }
    snprintf(title.text, sizeof(title.text), "input \"%s%s\"", tail > name ? "…" : "", tail);
    return title;
}

bool weir_source_is_stream(const char *path)
{
    struct stat about;
    if (!strcmp(path, "-"))
        return true;
    return !stat(path, &about) && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
}

static enum weir_status fail_errno(const struct weir_source *source, const char *what,
                                   struct weir_error *err)
{
    int error = errno;
    return weir_fail(err, error == ENOENT ? WEIR_E_NOT_FOUND : WEIR_E_IO,
                     "input \"%s\" cannot be %s: %s", source->name, what, strerror(error));
}

/* A stream may say nothing for ever: wait for its next word, or to be told to stop. */
static enum weir_status await_stream(const struct weir_source *source, struct weir_error *err)
{
    const struct weir_idle *idle = &source->idle;
    struct pollfd fds[] = { { .fd = source->fd, .events = POLLIN },
                            { .fd = source->stop_fd > 0 ? source->stop_fd : -1,
                              .events = POLLIN } };
    if (source->on_disk || (source->stop_fd <= 0 && !idle->run))
        return WEIR_OK;
    int timeout_ms = idle->run ? 0 : -1;
    int ready;
    while (!(ready = poll(fds, 2, timeout_ms)) || (ready < 0 && errno == EINTR)) {
        if (!ready && idle->run) /* without it poll() does not return for want of time */
            timeout_ms = idle->run(idle->ctx);
    }
    if (fds[1].revents)
        return weir_fail(err, WEIR_E_CANCELLED, "reading \"%s\" was stopped", source->name);
    return WEIR_OK; /* whatever is wrong, read() says it */
}

/* Up to `len` bytes as they lie there; 0: the end. */
static enum weir_status read_fd(struct weir_source *source, char *to, size_t len, size_t *ret_len,
                                struct weir_error *err)
{
    enum weir_status status = await_stream(source, err);
    if (status)
        return status;
    ssize_t got;
    do
        got = read(source->fd, to, len);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return fail_errno(source, "read", err);
    *ret_len = (size_t)got;
    return WEIR_OK;
}

/* Nothing is left of what was read ahead: read on. */
static enum weir_status refill(struct weir_source *source, struct weir_error *err)
{
    size_t got = 0;
    enum weir_status status = read_fd(source, source->raw, WEIR_INPUT_READ_BYTES, &got, err);
    if (status)
        return status;
    source->ahead = weir_str(source->raw, got);
    source->raw_last = got == 0;
    return WEIR_OK;
}

static bool is_named_gz(const char *path)
{
    size_t len = strlen(path);
    return len > 3 && weir_str_equal_nocase(weir_str(path + len - 3, 3), weir_str_from(".gz"));
}

/* Read the first bytes, however few come at once, and decide. */
static enum weir_status recognise(struct weir_source *source, const char *path,
                                  struct weir_error *err)
{
    size_t have = 0;
    while (have < MAGIC_BYTES) {
        size_t got = 0;
        enum weir_status status =
            read_fd(source, source->raw + have, WEIR_INPUT_READ_BYTES - have, &got, err);
        if (status)
            return status;
        if (!got)
            break;
        have += got;
    }
    source->ahead = weir_str(source->raw, have);
    if (weir_gzip_is(source->ahead))
        source->gunzip = weir_gunzip_new();
    else if (is_named_gz(path))
        return weir_fail(err, WEIR_E_INVALID,
                         "input \"%s\" is named .gz but does not begin as gzip does", path);
    return WEIR_OK;
}

static enum weir_status open_path(struct weir_source *source, const char *path, int stdin_fd,
                                  struct weir_error *err)
{
    source->fd_owned = strcmp(path, "-") != 0;
    source->fd = source->fd_owned ? open(path, O_RDONLY | O_CLOEXEC) : stdin_fd;
    if (source->fd < 0)
        return fail_errno(source, "opened", err);
    struct stat about;
    if (fstat(source->fd, &about))
        return fail_errno(source, "read", err);
    if (S_ISDIR(about.st_mode))
        return weir_fail(err, WEIR_E_INVALID, "input \"%s\" is a directory; it must be a file",
                         path);
    source->on_disk = S_ISREG(about.st_mode) && source->fd_owned;
    return WEIR_OK;
}

enum weir_status weir_source_init(struct weir_source *source, const char *path, int stdin_fd,
                                  int stop_fd, struct weir_idle idle, struct weir_error *err)
{
    *source = (struct weir_source){
        .name = weir_source_name(path), .fd = -1, .stop_fd = stop_fd, .idle = idle
    };
    source->raw = weir_realloc(NULL, WEIR_INPUT_READ_BYTES, 1);
    enum weir_status status = open_path(source, path, stdin_fd, err);
    if (!status)
        status = recognise(source, path, err);
    if (status)
        weir_source_release(source);
    return status;
}

void weir_source_release(struct weir_source *source)
{
    if (source->fd_owned && source->fd >= 0)
        close(source->fd);
    weir_gunzip_free(source->gunzip);
    free(source->raw);
    *source = (struct weir_source){ .fd = -1 };
}

static enum weir_status read_plain(struct weir_source *source, char *to, size_t len,
                                   size_t *ret_len, struct weir_error *err)
{
    if (!source->ahead.len)
        return read_fd(source, to, len, ret_len, err);
    size_t part = len < source->ahead.len ? len : source->ahead.len;
    memcpy(to, source->ahead.ptr, part);
    source->ahead = weir_str(source->ahead.ptr + part, source->ahead.len - part);
    *ret_len = part;
    return WEIR_OK;
}

static enum weir_status read_gzip(struct weir_source *source, char *to, size_t len, size_t *ret_len,
                                  struct weir_error *err)
{
    for (;;) {
        enum weir_status status = WEIR_OK;
        if (!source->ahead.len && !source->raw_last)
            status = refill(source, err);
        if (status)
            return status;
        struct weir_error why;
        status = weir_gunzip_step(source->gunzip, &source->ahead, source->raw_last, to, len,
                                  ret_len, &why);
        if (status)
            return weir_fail(err, status, "input \"%s\" %s", source->name, why.message);
        if (*ret_len || source->raw_last)
            return WEIR_OK;
    }
}

enum weir_status weir_source_read(struct weir_source *source, char *to, size_t len, size_t *ret_len,
                                  struct weir_error *err)
{
    return source->gunzip ? read_gzip(source, to, len, ret_len, err)
                          : read_plain(source, to, len, ret_len, err);
}

bool weir_source_can_seek(const struct weir_source *source)
{
    return source->on_disk && !source->gunzip;
}

enum weir_status weir_source_seek(struct weir_source *source, uint64_t offset,
                                  struct weir_error *err)
{
    if (lseek(source->fd, (off_t)offset, SEEK_SET) < 0)
        return fail_errno(source, "entered", err);
    source->ahead = weir_str(NULL, 0);
    return WEIR_OK;
}
