/* SPDX-License-Identifier: MIT */
/*
 * A file system for SQLite that fails when it is told to: the n-th call of a kind returns an error,
 * finds the disk full or writes half; or fsync lies, and a simulated power cut takes back all that
 * was written since. Everything else is handed to the real one.
 */
#ifndef WEIR_TESTS_FLAKY_VFS_H
#define WEIR_TESTS_FLAKY_VFS_H

#include <stdbool.h>
#include <stdint.h>

enum flaky_op {
    FLAKY_OPEN,
    FLAKY_READ,
    FLAKY_WRITE,
    FLAKY_TRUNCATE,
    FLAKY_SYNC,
    FLAKY_DELETE,
    FLAKY_OPS
};

enum flaky_how {
    FLAKY_ERROR,
    FLAKY_FULL,  /* no room */
    FLAKY_SHORT, /* a write that stops half way */
};

/* The name to open a journal with. */
#define FLAKY_VFS "flaky"

void flaky_register(void);

/* From now on the `nth` (from 1) call of that kind fails, once; 0: none. Counts start again. */
void flaky_fail(enum flaky_op op, enum flaky_how how, uint64_t nth);

bool flaky_has_failed(void);

/* Writes, truncations and fsyncs that came after the failure. */
uint64_t flaky_changes_after(void);

/* Whether files that are opened from now on can be shared in memory, as a write-ahead log needs it;
 * those of some network file systems cannot. */
void flaky_share(bool shared);

/* From now on fsync does nothing but say it did. */
void flaky_lie(void);

/*
 * From now on what was written and not fsynced can be lost; the power goes at the `nth` change from
 * here: it and all later ones are refused. 0: not by itself.
 */
void flaky_watch_power(uint64_t nth);

/* Refuse every further change, as a machine without power does. */
void flaky_cut_power(void);

/* After everything is closed: take back what was written since flaky_lie(), or not fsynced. */
void flaky_forget(void);

const char *flaky_op_name(enum flaky_op op);

#endif
