/* SPDX-License-Identifier: MIT */
/*
 * One input file: plain or gzip, on disk or a stream. Gzip is recognised by its first bytes,
 * whatever the name; a name that ends with ".gz" promises it. Calls block; before one waits for a
 * stream it says so, for those who have something to do meanwhile. One thread at a time.
 */
#ifndef WEIR_RECORDS_SOURCE_H
#define WEIR_RECORDS_SOURCE_H

#include "records/gzip.h"
#include "records/identity.h"

/*
 * Called in the reader's thread when a stream has nothing to say now. Returns after how many
 * milliseconds (at least 1) of silence it wants to be called again; -1: not before the next wait.
 */
struct weir_idle {
    int (*run)(void *ctx); /* NULL: nobody wants to know */
    void *ctx;
};

struct weir_source {
    const char *name; /* borrowed; as people know it */
    int fd;
    bool fd_owned;
    bool on_disk;
    struct weir_gunzip *gunzip; /* NULL: plain */
    char *raw;                  /* read ahead */
    int stop_fd;
    struct weir_idle idle;
    struct weir_str ahead; /* the part of it that was not used */
    bool raw_last;
};

/* "standard input" for "-", otherwise the path itself. */
const char *weir_source_name(const char *path);

/* As a sentence calls the file of that name: `input "a.csv"`, of a long name the end; of NULL,
 * `the input`. */
#define WEIR_SOURCE_TITLE_MAX 300
struct weir_source_title {
    char text[WEIR_SOURCE_TITLE_MAX + sizeof("input \"…\"")];
};
struct weir_source_title weir_source_title(const char *name);

/* Whether `path` is "-", or there and neither a file nor a directory: a pipe, for example. */
bool weir_source_is_stream(const char *path);

/*
 * Open `path` (borrowed as long as the source lives), or take `stdin_fd` if it is "-", which stays
 * open. When `stop_fd` (0: none) can be read, reading a stream ends with WEIR_E_CANCELLED. A
 * directory, what cannot be opened, and what is named .gz and is not, fails.
 */
enum weir_status weir_source_init(struct weir_source *source, const char *path, int stdin_fd,
                                  int stop_fd, struct weir_idle idle, struct weir_error *err);
void weir_source_release(struct weir_source *source);

/* Up to `len` decoded bytes, at least one; 0: the end. */
enum weir_status weir_source_read(struct weir_source *source, char *to, size_t len, size_t *ret_len,
                                  struct weir_error *err);

/* Whether weir_source_seek() can be called: plain and on disk. */
bool weir_source_can_seek(const struct weir_source *source);

/* Go on reading at `offset`. */
enum weir_status weir_source_seek(struct weir_source *source, uint64_t offset,
                                  struct weir_error *err);

#endif
