/* SPDX-License-Identifier: MIT */
/* A file that is there whole; see outfile.h. */
#include "journal/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"

#define BUFFER_BYTES ((size_t)64 * 1024)

static enum weir_status fail(struct weir_outfile *file, int reason, struct weir_error *err)
{
    return weir_fail(err, WEIR_E_IO, "\"%.300s\" cannot be written: %s", file->path.text,
                     weir_hooks_reason(reason));
}

enum weir_status weir_outfile_init(struct weir_outfile *file, const char *directory,
                                   const char *name, const struct weir_journal_hooks *hooks,
                                   struct weir_error *err)
{
    *file = (struct weir_outfile){ .hooks = hooks, .directory = directory, .last = '\n' };
    char hidden[64];
    snprintf(hidden, sizeof(hidden), ".%s.new", name);
    file->path = weir_path_join(directory, name);
    file->temporary = weir_path_join(directory, hidden);
    file->fd = weir_hooks_open(hooks, file->temporary.text,
                               O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    if (file->fd < 0)
        return fail(file, errno, err);
    file->buffer = weir_calloc(BUFFER_BYTES, 1);
    return WEIR_OK;
}

static void flush(struct weir_outfile *file)
{
    if (!file->reason &&
        weir_hooks_pwrite(file->hooks, file->fd, file->buffer, file->buffered, file->written))
        file->reason = errno;
    file->written += (off_t)file->buffered;
    file->buffered = 0;
}

void weir_outfile_add(struct weir_outfile *file, struct weir_str bytes)
{
    if (bytes.len > 0)
        file->last = bytes.ptr[bytes.len - 1];
    while (bytes.len > 0) {
        size_t room = BUFFER_BYTES - file->buffered;
        size_t len = bytes.len < room ? bytes.len : room;
        memcpy(file->buffer + file->buffered, bytes.ptr, len);
        file->buffered += len;
        bytes = weir_str(bytes.ptr + len, bytes.len - len);
        if (file->buffered == BUFFER_BYTES)
            flush(file);
    }
}

enum weir_status weir_outfile_commit(struct weir_outfile *file, enum weir_point before_rename,
                                     enum weir_point after_rename, struct weir_error *err)
{
    flush(file);
    if (file->reason)
        return fail(file, file->reason, err);
    if (weir_hooks_fsync(file->hooks, file->fd))
        return fail(file, errno, err);
    weir_hooks_at(file->hooks, before_rename);
    if (weir_hooks_rename(file->hooks, file->temporary.text, file->path.text))
        return fail(file, errno, err);
    weir_hooks_at(file->hooks, after_rename);
    close(file->fd);
    file->fd = -1;
    if (weir_hooks_fsync_directory(file->hooks, file->directory))
        return fail(file, errno, err);
    return WEIR_OK;
}

void weir_outfile_release(struct weir_outfile *file)
{
    if (file->fd >= 0) {
        close(file->fd);
        unlink(file->temporary.text);
    }
    free(file->buffer);
    file->buffer = NULL;
    file->fd = -1;
}
