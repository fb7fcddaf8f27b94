/* SPDX-License-Identifier: MIT */
/*
 * A file that is there whole or as it was before: written beside its place, fsynced, renamed, and
 * the directory fsynced. What is added passes through a small buffer; the first failure is kept
 * until the end. One thread at a time.
 */
#ifndef WEIR_JOURNAL_OUTFILE_H
#define WEIR_JOURNAL_OUTFILE_H

#include "base/str.h"
#include "journal/hooks.h"
#include "journal/place.h"

struct weir_outfile {
    const struct weir_journal_hooks *hooks;
    const char *directory;
    struct weir_path path;
    struct weir_path temporary;
    int fd;     /* -1: none */
    int reason; /* errno of the first failure; 0: none */
    off_t written;
    char *buffer;
    size_t buffered;
    char last; /* the last byte that was added; '\n' before the first */
};

/* `directory` and `hooks` must outlive the file. */
enum weir_status weir_outfile_init(struct weir_outfile *file, const char *directory,
                                   const char *name, const struct weir_journal_hooks *hooks,
                                   struct weir_error *err);

void weir_outfile_add(struct weir_outfile *file, struct weir_str bytes);

/*
 * Put it into its place, with fault points around the rename. On failure the old one is still there
 * (or, if only the directory could not be fsynced, one of the two).
 */
enum weir_status weir_outfile_commit(struct weir_outfile *file, enum weir_point before_rename,
                                     enum weir_point after_rename, struct weir_error *err);

/* What was not committed is removed. */
void weir_outfile_release(struct weir_outfile *file);

#endif
