/* SPDX-License-Identifier: MIT */
/*
 * Where a test may reach into the journal: the system calls of its own files, SQLite's file system
 * and the fault points. A zeroed struct weir_journal_hooks is production.
 */
#ifndef WEIR_JOURNAL_HOOKS_H
#define WEIR_JOURNAL_HOOKS_H

#include <stddef.h>
#include <sys/types.h>

#include "journal/point.h"

/* Each as the call of its name: -1 and errno. Called on whichever thread does the work. */
struct weir_journal_io {
    int (*open)(void *ctx, const char *path, int flags, mode_t mode);
    ssize_t (*pwrite)(void *ctx, int fd, const void *bytes, size_t len, off_t at);
    int (*ftruncate)(void *ctx, int fd, off_t len);
    int (*fsync)(void *ctx, int fd);
    int (*rename)(void *ctx, const char *from, const char *to);
};

/* The operating system's. */
extern const struct weir_journal_io weir_journal_io_system;

struct weir_journal_hooks {
    const struct weir_journal_io *io; /* NULL: the operating system's */
    const char *vfs;                  /* SQLite's name of a file system; NULL: the default */
    void (*at)(void *ctx, enum weir_point point);
    void *ctx;
};

void weir_hooks_at(const struct weir_journal_hooks *hooks, enum weir_point point);

int weir_hooks_open(const struct weir_journal_hooks *hooks, const char *path, int flags,
                    mode_t mode);
int weir_hooks_ftruncate(const struct weir_journal_hooks *hooks, int fd, off_t len);
int weir_hooks_fsync(const struct weir_journal_hooks *hooks, int fd);
int weir_hooks_rename(const struct weir_journal_hooks *hooks, const char *from, const char *to);

/* All of it: a short write is continued. -1: not all of it, errno says why. */
int weir_hooks_pwrite(const struct weir_journal_hooks *hooks, int fd, const void *bytes, size_t len,
                      off_t at);

/* "disk full", or the operating system's words. */
const char *weir_hooks_reason(int reason);

/* Make what happened to the names in a directory durable. */
int weir_hooks_fsync_directory(const struct weir_journal_hooks *hooks, const char *path);

#endif
