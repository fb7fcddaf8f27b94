/* SPDX-License-Identifier: MIT */
/*
 * The bytes of one file after the other, decoded, in large pieces, and their hashes.
 *
 * The file at hand is read into a block of 4 MiB. Pieces are handed out as they come, unless a hash
 * of that block was journaled: then the block is read as far as it was hashed and compared first,
 * so that nothing of an input that has changed gets out. Hashes of finished blocks wait to be
 * taken; that of the block at hand can be had, too, so that little of a stream goes unrecorded.
 *
 *     weir_input_open(file)  →  weir_input_read … until a piece is empty  →  the next file
 *
 * Calls block on the file; they belong into the reader's thread. One thread at a time.
 */
#ifndef WEIR_RECORDS_INPUT_H
#define WEIR_RECORDS_INPUT_H

#include "records/source.h"

struct weir_input;

struct weir_input_options {
    const char *const *paths; /* borrowed, like the strings; "-" is standard input */
    uint32_t path_count;
    int stdin_fd;
    int stop_fd;                     /* readable: reading a stream ends; 0: none */
    const struct weir_block *blocks; /* as journaled, ascending; borrowed; NULL: none */
    size_t block_count;
};

/* Valid until the next call. */
struct weir_piece {
    struct weir_str bytes; /* empty: the file ends at `offset` */
    uint64_t offset;       /* decoded, in the file */
};

struct weir_input *weir_input_new(const struct weir_input_options *options); /* never NULL */
void weir_input_free(struct weir_input *input);

/* Whom to call before waiting for a stream; until then nobody. */
void weir_input_watch(struct weir_input *input, struct weir_idle idle);

/* Begin to read file number `file`; another one that was open is closed. */
enum weir_status weir_input_open(struct weir_input *input, uint32_t file, struct weir_error *err);

/*
 * What comes before `offset` of the open file is not wanted. A plain file is entered at the block
 * of that offset, so that the block can be compared; others are read and thrown away. Pieces may
 * still begin before it, never behind it.
 */
enum weir_status weir_input_skip_to(struct weir_input *input, uint64_t offset,
                                    struct weir_error *err);

/* WEIR_E_INVALID: has changed, is damaged or cut; WEIR_E_IO: cannot be read. */
enum weir_status weir_input_read(struct weir_input *input, struct weir_piece *ret,
                                 struct weir_error *err);

/* The oldest finished block that was not taken; false: none. */
bool weir_input_take_block(struct weir_input *input, struct weir_block *ret);

/* The block at hand as far as it was read; false: nothing of it was, or it is finished. */
bool weir_input_partial_block(const struct weir_input *input, struct weir_block *ret);

/*
 * The same, if it has grown by `step` bytes, or by an eighth, since this was last true of it: a
 * short one is told of soon, and hashing a long one again and again costs little.
 */
bool weir_input_grown_block(struct weir_input *input, size_t step, struct weir_block *ret);

#endif
