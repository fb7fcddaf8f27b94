/* SPDX-License-Identifier: MIT */
/*
 * The bytes of one file after the other; see input.h.
 *
 *     block   ┌─ handed out ─┬─ read ─┬─ room ──────────────┐
 *             0            served  filled   WEIR_INPUT_BLOCK_BYTES
 *             └ stands at index × WEIR_INPUT_BLOCK_BYTES of the file
 *
 * A block is finished, once, when it is full or the file ends: hashed, compared, and its hash put
 * into the queue. A file whose length is a multiple of the block's ends with an empty one.
 */
#include "records/input.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"

struct weir_input {
    struct weir_input_options options;
    struct weir_idle idle;
    struct weir_source source;
    bool open;
    uint32_t file;

    char *block;
    uint64_t index;
    size_t filled;
    size_t served;
    size_t noted; /* so much of the block at hand was told of before it was finished */
    struct weir_hash_run hashed;
    bool compared; /* it has been, with what was journaled of it */
    bool finished;
    bool ended; /* the file */
    uint64_t skip_to;

    struct weir_block *queue; /* finished ones, from queue_first on */
    size_t queue_first;
    size_t queue_count;
    size_t queue_capacity;
};

struct weir_input *weir_input_new(const struct weir_input_options *options)
{
    struct weir_input *input = weir_calloc(1, sizeof(*input));
    input->options = *options;
    input->block = weir_realloc(NULL, WEIR_INPUT_BLOCK_BYTES, 1);
    return input;
}

static void close_source(struct weir_input *input)
{
    if (input->open)
        weir_source_release(&input->source);
    input->open = false;
}

void weir_input_free(struct weir_input *input)
{
    if (!input)
        return;
    close_source(input);
    free(input->queue);
    free(input->block);
    free(input);
}

static void begin_block(struct weir_input *input, uint64_t index)
{
    input->index = index;
    input->filled = 0;
    input->served = 0;
    input->noted = 0;
    weir_hash_run_init(&input->hashed);
    input->compared = false;
    input->finished = false;
}

void weir_input_watch(struct weir_input *input, struct weir_idle idle)
{
    input->idle = idle;
    input->source.idle = idle;
}

enum weir_status weir_input_open(struct weir_input *input, uint32_t file, struct weir_error *err)
{
    close_source(input);
    enum weir_status status =
        weir_source_init(&input->source, input->options.paths[file], input->options.stdin_fd,
                         input->options.stop_fd, input->idle, err);
    if (status)
        return status;
    input->open = true;
    input->file = file;
    input->ended = false;
    input->skip_to = 0;
    begin_block(input, 0);
    return WEIR_OK;
}

enum weir_status weir_input_skip_to(struct weir_input *input, uint64_t offset,
                                    struct weir_error *err)
{
    uint64_t index = offset / WEIR_INPUT_BLOCK_BYTES;
    input->skip_to = offset;
    if (!weir_source_can_seek(&input->source) || index <= input->index)
        return WEIR_OK;
    enum weir_status status = weir_source_seek(&input->source, index * WEIR_INPUT_BLOCK_BYTES, err);
    if (status)
        return status;
    input->ended = false;
    begin_block(input, index);
    return WEIR_OK;
}

/* ---- hashes ---- */

static void push(struct weir_input *input, struct weir_block block)
{
    if (input->queue_first == input->queue_count)
        input->queue_first = input->queue_count = 0;
    if (input->queue_count == input->queue_capacity) {
        input->queue_capacity = input->queue_capacity ? 2 * input->queue_capacity : 8;
        input->queue = weir_realloc(input->queue, input->queue_capacity, sizeof(*input->queue));
    }
    input->queue[input->queue_count++] = block;
}

bool weir_input_take_block(struct weir_input *input, struct weir_block *ret)
{
    if (input->queue_first == input->queue_count)
        return false;
    *ret = input->queue[input->queue_first++];
    return true;
}

static bool has_partial(const struct weir_input *input)
{
    return input->open && !input->finished && input->filled;
}

bool weir_input_partial_block(const struct weir_input *input, struct weir_block *ret)
{
    if (!has_partial(input))
        return false;
    *ret = weir_block_make(input->file, input->index, weir_str(input->block, input->filled), false);
    return true;
}

bool weir_input_grown_block(struct weir_input *input, size_t step, struct weir_block *ret)
{
    size_t eighth = input->noted / 8 + 1;
    if (input->filled - input->noted < (step < eighth ? step : eighth) || !has_partial(input))
        return false;
    *ret = weir_block_grow(input->file, input->index, weir_str(input->block, input->filled), false,
                           &input->hashed);
    input->noted = input->filled;
    return true;
}

static int order(const struct weir_block *block, uint32_t file, uint64_t index)
{
    if (block->file != file)
        return block->file < file ? -1 : 1;
    return block->index == index ? 0 : block->index < index ? -1 : 1;
}

/* What was journaled of the block at hand; NULL: nothing. */
static const struct weir_block *journaled(const struct weir_input *input)
{
    size_t low = 0;
    size_t high = input->options.block_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int where = order(&input->options.blocks[middle], input->file, input->index);
        if (where == 0)
            return &input->options.blocks[middle];
        if (where < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void finish(struct weir_input *input)
{
    struct weir_str bytes = weir_str(input->block, input->filled);
    push(input, weir_block_grow(input->file, input->index, bytes, input->ended, &input->hashed));
    input->finished = true;
}

static bool is_whole(const struct weir_input *input)
{
    return input->ended || input->filled == WEIR_INPUT_BLOCK_BYTES;
}

/* Whether what was read suffices to compare it. Where the file ended it must be seen to end. */
static bool is_comparable(const struct weir_input *input, const struct weir_block *then)
{
    return is_whole(input) || (!then->last && input->filled >= then->bytes);
}

/* ---- reading ---- */

static enum weir_status read_some(struct weir_input *input, struct weir_error *err)
{
    size_t room = WEIR_INPUT_BLOCK_BYTES - input->filled;
    size_t len = 0;
    enum weir_status status =
        weir_source_read(&input->source, input->block + input->filled,
                         room < WEIR_INPUT_READ_BYTES ? room : WEIR_INPUT_READ_BYTES, &len, err);
    if (status)
        return status;
    input->filled += len;
    input->ended = len == 0;
    return WEIR_OK;
}

/* Everything was handed out: read on. */
static enum weir_status fill(struct weir_input *input, struct weir_error *err)
{
    if (input->filled == WEIR_INPUT_BLOCK_BYTES)
        begin_block(input, input->index + 1);
    const struct weir_block *then = input->compared ? NULL : journaled(input);
    enum weir_status status;
    do
        status = read_some(input, err);
    while (!status && then && !is_comparable(input, then));
    if (!status && then)
        status = weir_block_compare(input->source.name, then, weir_str(input->block, input->filled),
                                    input->ended, err);
    if (status)
        return status;
    input->compared = true;
    if (is_whole(input))
        finish(input);
    return WEIR_OK;
}

static bool is_wanted(const struct weir_input *input)
{
    return input->index * WEIR_INPUT_BLOCK_BYTES + input->filled > input->skip_to;
}

enum weir_status weir_input_read(struct weir_input *input, struct weir_piece *ret,
                                 struct weir_error *err)
{
    while (input->served == input->filled && !input->ended) {
        enum weir_status status = fill(input, err);
        if (status)
            return status;
        if (!is_wanted(input))
            input->served = input->filled;
    }
    /* A block that was compared is handed out in the same pieces as others are read in. */
    size_t len = input->filled - input->served;
    if (len > WEIR_INPUT_READ_BYTES)
        len = WEIR_INPUT_READ_BYTES;
    ret->offset = input->index * WEIR_INPUT_BLOCK_BYTES + input->served;
    ret->bytes = weir_str(input->block + input->served, len);
    input->served += len;
    return WEIR_OK;
}
