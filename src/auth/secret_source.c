/* SPDX-License-Identifier: MIT */
/*
 * Reading secrets; see secret_source.h. The rights are those of the file that was opened, not of
 * whatever has its name a moment later.
 */
#include "auth/secret_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "config/quote.h"

static const char *quoted(struct weir_quoted *memory, const char *text)
{
    *memory = weir_quote(weir_str_from(text));
    return memory->text;
}

/* For a command that somebody may copy: the whole path, unless it could garble the terminal. */
static const char *shown(const char *path)
{
    struct weir_str text = weir_str_from(path);
    for (size_t i = 0; i < text.len; i++) {
        if (weir_control_bytes(text, i))
            return "FILE";
    }
    return path;
}

static enum weir_status check_rights(const char *path, const struct stat *stat,
                                     struct weir_error *err)
{
    struct weir_quoted name;
    quoted(&name, path);
    if (stat->st_uid != geteuid())
        return weir_fail(err, WEIR_E_INVALID,
                         "the file %s belongs to somebody else; a secret must be in a file of our "
                         "own: chown it, then chmod 600 %s",
                         name.text, shown(path));
    if (stat->st_mode & 077)
        return weir_fail(err, WEIR_E_INVALID,
                         "the file %s may be used by others (mode %04o); a secret must be ours "
                         "alone: chmod 600 %s",
                         name.text, (unsigned)stat->st_mode & 07777, shown(path));
    return WEIR_OK;
}

static enum weir_status check_file(int fd, const char *path, enum weir_file_guard guard,
                                   struct weir_error *err)
{
    struct stat stat;
    struct weir_quoted name;
    if (fstat(fd, &stat))
        return weir_fail(err, WEIR_E_IO, "the file %s cannot be examined: %s", quoted(&name, path),
                         strerror(errno));
    if (!S_ISREG(stat.st_mode))
        return weir_fail(err, WEIR_E_INVALID, "%s is not a regular file", quoted(&name, path));
    if (guard == WEIR_FILE_OURS_ALONE)
        return check_rights(path, &stat, err);
    return WEIR_OK;
}

/* All of it; one byte more than is allowed is enough to know. */
static enum weir_status read_all(int fd, const char *path, struct weir_buf *text,
                                 struct weir_error *err)
{
    struct weir_quoted name;
    while (text->len < text->bytes_max) {
        ssize_t len = read(fd, text->ptr + text->len, text->bytes_max - text->len);
        if (len < 0 && errno == EINTR)
            continue;
        if (len < 0)
            return weir_fail(err, WEIR_E_IO, "the file %s cannot be read: %s", quoted(&name, path),
                             strerror(errno));
        if (len == 0)
            return WEIR_OK;
        text->len += (size_t)len;
    }
    return weir_fail(err, WEIR_E_TOO_BIG, "the file %s is longer than %d bytes",
                     quoted(&name, path), WEIR_SECRET_BYTES_MAX);
}

static enum weir_status read_opened(int fd, const char *path, enum weir_file_guard guard,
                                    struct weir_secret *ret, struct weir_error *err)
{
    enum weir_status status = check_file(fd, path, guard, err);
    if (status)
        return status;
    struct weir_buf text;
    struct weir_quoted name;
    weir_secret_buf_init(&text, WEIR_SECRET_BYTES_MAX + 1);
    status = read_all(fd, path, &text, err);
    if (status == WEIR_OK)
        status = weir_secret_read_text(quoted(&name, path), weir_str(text.ptr, text.len), ret, err);
    weir_secret_buf_release(&text);
    return status;
}

enum weir_status weir_secret_read_file(const char *path, enum weir_file_guard guard,
                                       struct weir_secret *ret, struct weir_error *err)
{
    struct weir_quoted name;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a pipe would block */
    if (fd < 0)
        return weir_fail(err, errno == ENOENT ? WEIR_E_NOT_FOUND : WEIR_E_IO,
                         "the file %s cannot be opened: %s", quoted(&name, path), strerror(errno));
    enum weir_status status = read_opened(fd, path, guard, ret, err);
    close(fd);
    return status;
}

enum weir_status weir_secret_read_environment(const char *name, struct weir_secret *ret,
                                              struct weir_error *err)
{
    const char *value = getenv(name);
    struct weir_quoted memory;
    if (!value || !value[0])
        return weir_fail(err, WEIR_E_NOT_FOUND, "the environment variable %s is not set",
                         quoted(&memory, name));
    weir_secret_set(ret, weir_str_from(value));
    return WEIR_OK;
}

enum weir_status weir_secret_read_text(const char *what, struct weir_str text,
                                       struct weir_secret *ret, struct weir_error *err)
{
    while (text.len && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r'))
        text.len--;
    if (!text.len)
        return weir_fail(err, WEIR_E_INVALID,
                         "%s is empty; it must hold the secret and nothing else", what);
    if (memchr(text.ptr, 0, text.len))
        return weir_fail(err, WEIR_E_INVALID, "%s has a 0 byte in it, which no secret has", what);
    weir_secret_set(ret, text);
    return WEIR_OK;
}
