/* SPDX-License-Identifier: MIT */
/* Where the time zones of this system are; see zone.h. A name stays below the directory. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "records/zone.h"

#define DIRECTORY "/usr/share/zoneinfo"

/* `Area/Place`: no part of it is empty or begins with a dot. */
static bool is_name(const char *name)
{
    char before = '/';
    size_t len = 0;
    for (; name[len]; len++) {
        char c = name[len];
        bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!letter && (c == '\0' || !strchr("/_+-.", c)))
            return false;
        if (before == '/' && (c == '/' || c == '.'))
            return false;
        before = c;
    }
    return before != '/' && len <= WEIR_ZONE_NAME_MAX;
}

/* Everything in the file, one byte more than is allowed at most. */
static enum weir_status read_file(int file, struct weir_buf *ret)
{
    char bytes[4096];
    for (;;) {
        ssize_t got = read(file, bytes, sizeof(bytes));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return WEIR_E_IO;
        weir_buf_add(ret, bytes, (size_t)got);
        if (!got || ret->overflow)
            return ret->overflow ? WEIR_E_TOO_BIG : WEIR_OK;
    }
}

/* A fifo must not make it wait, and a directory is no zone. */
static int open_zone(const char *name)
{
    const char *directory = getenv("TZDIR");
    struct weir_buf path;
    struct stat about;
    weir_buf_init(&path, WEIR_JOURNAL_PATH_MAX);
    weir_buf_printf(&path, "%s/%s", directory && *directory ? directory : DIRECTORY, name);
    int file = open(weir_buf_text(&path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    weir_buf_release(&path);
    if (file >= 0 && (fstat(file, &about) || !S_ISREG(about.st_mode))) {
        close(file);
        errno = ENOENT;
        return -1;
    }
    return file;
}

static enum weir_status fail_open(const char *name, struct weir_error *err)
{
    if (errno == ENOENT || errno == ENOTDIR)
        return weir_fail(err, WEIR_E_NOT_FOUND,
                         "there is no time zone \"%s\" on this system; it must be an IANA name "
                         "such as Europe/Berlin",
                         name);
    return weir_fail(err, WEIR_E_IO, "the file of the time zone \"%s\" cannot be read: %s", name,
                     strerror(errno));
}

enum weir_status weir_zone_load(const char *name, struct weir_zone **ret, struct weir_error *err)
{
    if (!is_name(name))
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.*s\" is no name of a time zone; it must be an IANA name such as "
                         "Europe/Berlin",
                         WEIR_ZONE_NAME_MAX, name);
    int file = open_zone(name);
    if (file < 0)
        return fail_open(name, err);
    struct weir_buf bytes;
    weir_buf_init(&bytes, WEIR_ZONE_BYTES_MAX);
    enum weir_status status = read_file(file, &bytes);
    if (status == WEIR_OK)
        status = weir_zone_new(name, weir_str(bytes.ptr, bytes.len), ret, err);
    else
        weir_fail(err, status, "the file of the time zone \"%s\" cannot be read: %s", name,
                  status == WEIR_E_TOO_BIG ? "it is too large" : strerror(errno));
    weir_buf_release(&bytes);
    close(file);
    return status;
}
