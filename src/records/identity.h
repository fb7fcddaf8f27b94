/* SPDX-License-Identifier: MIT */
/*
 * Whether an input is still the one that a job began with. Two kinds of evidence, both journaled:
 *
 * - of a file on disk, before anything is read: its size and a hash of its first and of its last
 *   MiB, of the bytes as they lie there (of a gzip file: the compressed ones);
 * - of every input, while it is read: a hash per block of 4 MiB of decoded bytes.
 *
 * Pure but for weir_file_identity_read(). Any thread.
 */
#ifndef WEIR_RECORDS_IDENTITY_H
#define WEIR_RECORDS_IDENTITY_H

#include "base/str.h"
#include "records/hash.h"
#include "weir/error.h"

struct weir_file_identity {
    bool on_disk; /* false: a stream, about which nothing is known; the rest is 0 */
    uint64_t bytes;
    uint64_t head; /* hash of the first MiB, or of all */
    uint64_t tail; /* of the last */
};

struct weir_block {
    uint32_t file;
    uint64_t index; /* the block begins at index × WEIR_INPUT_BLOCK_BYTES */
    uint32_t bytes; /* that were hashed: all of the block unless it is the last or not yet read */
    bool last;      /* the file ends with it */
    uint64_t hash;
};

/* What `fd` has now. Does not move its position. `name` is for the message. */
enum weir_status weir_file_identity_read(int fd, const char *name, struct weir_file_identity *ret,
                                         struct weir_error *err);

/* WEIR_E_INVALID: has changed; the message says in what. */
enum weir_status weir_file_identity_compare(const char *name, const struct weir_file_identity *then,
                                            const struct weir_file_identity *now,
                                            struct weir_error *err);

/* What `bytes`, read so far of block `index`, amount to. `last`: the file ends behind them. */
struct weir_block weir_block_make(uint32_t file, uint64_t index, struct weir_str bytes, bool last);

/* The same of a block that fills up; `run` is of its first bytes. */
struct weir_block weir_block_grow(uint32_t file, uint64_t index, struct weir_str bytes, bool last,
                                  struct weir_hash_run *run);

/*
 * Whether `bytes` are the block that `then` was made from. They are the whole block; `last`: the
 * file ends behind them.
 */
enum weir_status weir_block_compare(const char *name, const struct weir_block *then,
                                    struct weir_str bytes, bool last, struct weir_error *err);

#endif
