/* SPDX-License-Identifier: MIT */
/* A batch in the making; see packing.h. */
#include "bulk/packing.h"

#include "base/mem.h"

#define FIRST_BYTES ((size_t)4 * 1024)

static const struct weir_str frame_begin = { WEIR_BULK_FRAME_BEGIN,
                                             sizeof(WEIR_BULK_FRAME_BEGIN) - 1 };
static const struct weir_str frame_end = { WEIR_BULK_FRAME_END, sizeof(WEIR_BULK_FRAME_END) - 1 };

void weir_packing_init(struct weir_packing *packing, const struct weir_bulk_writer *writer,
                       uint32_t rows_max)
{
    *packing = (struct weir_packing){ .writer = writer, .rows_max = rows_max };
}

void weir_packing_release(struct weir_packing *packing)
{
    free(packing->rows);
    free(packing->message.bytes);
    free(packing->texts.bytes);
    *packing = (struct weir_packing){ 0 };
}

/* --- memory ----------------------------------------------------------------------------------- */

static void move_slice(struct weir_str *slice, const struct weir_packing_memory *from, char *to)
{
    if (slice->len && slice->ptr >= from->bytes && slice->ptr < from->bytes + from->len)
        slice->ptr = to + (slice->ptr - from->bytes);
}

/* Copy what is in a memory; the slices of the rows go with it. */
static void move_rows(struct weir_row *rows, uint32_t count, const struct weir_packing_memory *from,
                      char *to)
{
    if (from->len)
        memcpy(to, from->bytes, from->len);
    for (uint32_t i = 0; i < count; i++) {
        struct weir_str *const slices[] = {
            &rows[i].raw,        &rows[i].written,        &rows[i].target.id,
            &rows[i].target.key, &rows[i].target.members, &rows[i].target.partition,
            &rows[i].refusal,    &rows[i].column,
        };
        for (size_t j = 0; j < sizeof(slices) / sizeof(slices[0]); j++)
            move_slice(slices[j], from, to);
    }
}

/* Room for `len` bytes more. */
static void make_room(struct weir_packing *packing, struct weir_packing_memory *memory, size_t len)
{
    size_t capacity = memory->capacity ? memory->capacity : FIRST_BYTES;
    if (memory->capacity - memory->len >= len)
        return;
    while (capacity - memory->len < len)
        capacity += capacity / 4; /* so that it is well filled when it has grown */
    char *bytes = weir_realloc(NULL, capacity, 1);
    move_rows(packing->rows, packing->row_count, memory, bytes);
    free(memory->bytes);
    memory->bytes = bytes;
    memory->capacity = capacity;
}

/* --- adding ----------------------------------------------------------------------------------- */

static void keep_text(struct weir_packing_memory *texts, struct weir_str *text)
{
    if (!text->len) {
        *text = weir_str("", 0);
        return;
    }
    char *to = texts->bytes + texts->len;
    memcpy(to, text->ptr, text->len);
    text->ptr = to;
    texts->len += text->len;
}

/* What stands in the message need not be kept beside it. */
static void keep_texts(struct weir_packing *packing, struct weir_row *row)
{
    struct weir_str *const slices[] = { &row->raw,           &row->target.partition,
                                        &row->refusal,       &row->column,
                                        &row->target.id,     &row->target.key,
                                        &row->target.members };
    size_t count = row->written.len ? 4 : sizeof(slices) / sizeof(slices[0]);
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += slices[i]->len;
    make_room(packing, &packing->texts, bytes);
    for (size_t i = 0; i < count; i++)
        keep_text(&packing->texts, slices[i]);
}

static void make_rows(struct weir_packing *packing)
{
    size_t bytes = sizeof(struct weir_row) + sizeof(struct weir_guid);
    packing->rows = weir_realloc(NULL, packing->rows_max, bytes);
    packing->ids = (struct weir_guid *)(packing->rows + packing->rows_max);
}

/* Behind the others, with a comma behind it, so that the end of the frame fits as well. */
static void write_row(struct weir_packing *packing, const struct weir_draft *draft,
                      struct weir_row *row)
{
    struct weir_packing_memory *message = &packing->message;
    struct weir_guid *id = &packing->ids[packing->row_count];
    size_t bytes = weir_bulk_written_bytes(packing->writer, &row->target,
                                           draft->id_known ? &draft->id : NULL, id);
    if (!bytes) { /* whoever sends it will say why not */
        packing->unwritten = true;
        return;
    }
    make_room(packing, message, frame_begin.len + bytes + frame_end.len);
    if (!message->len) {
        memcpy(message->bytes, frame_begin.ptr, frame_begin.len);
        message->len = frame_begin.len;
    }
    char *to = message->bytes + message->len;
    weir_bulk_write(packing->writer, &row->target, to);
    row->written = weir_str(to, bytes);
    to[bytes] = ',';
    message->len += bytes + 1;
    packing->written_count++;
}

/* It is the last one now. */
static void look_at_row(struct weir_packing *packing, const struct weir_row *row)
{
    bool first = packing->row_count == 0;
    packing->plain = (first || packing->plain) && !row->refusal.len && !row->idle && !row->key_hash;
    packing->unbroken = first || (packing->unbroken && row->file == row[-1].file &&
                                  row->number == row[-1].number + 1);
}

/* One by one: to zero all of it first would take as long as the rest. */
static void copy_draft(const struct weir_draft *draft, struct weir_row *row)
{
    row->number = draft->number;
    row->file = draft->file;
    row->offset = draft->offset;
    row->end = draft->end;
    row->raw = draft->raw;
    row->target = draft->target;
    row->written = weir_str("", 0);
    row->named_by_input = draft->named_by_input;
    row->key_hash = draft->key_hash;
    row->idle = draft->idle;
    row->refusal = draft->refusal;
    row->column = draft->column;
}

size_t weir_packing_add(struct weir_packing *packing, const struct weir_draft *draft)
{
    size_t before = packing->message.len + packing->texts.len;
    if (!packing->rows)
        make_rows(packing);
    struct weir_row *row = &packing->rows[packing->row_count];
    copy_draft(draft, row);
    if (!row->refusal.len && !row->idle)
        write_row(packing, draft, row);
    else
        packing->ids[packing->row_count] = (struct weir_guid){ 0 };
    keep_texts(packing, row);
    look_at_row(packing, row);
    packing->row_count++;
    return sizeof(*row) + sizeof(packing->ids[0]) + sizeof(struct weir_row_state) +
           packing->message.len + packing->texts.len - before;
}

/* --- closing ---------------------------------------------------------------------------------- */

static bool is_well_filled(size_t used, size_t capacity)
{
    return used >= capacity - capacity / 4;
}

/* The rows with their ids, or a copy of just their size. */
static struct weir_row *take_rows(struct weir_packing *packing, struct weir_guid **ret_ids,
                                  size_t *ret_bytes)
{
    const size_t each = sizeof(struct weir_row) + sizeof(struct weir_guid);
    struct weir_row *rows = packing->rows;
    size_t count = packing->row_count;
    *ret_ids = packing->ids;
    if (is_well_filled(count, packing->rows_max)) {
        packing->rows = NULL;
        *ret_bytes += packing->rows_max * each;
        return rows;
    }
    *ret_bytes += count * each;
    rows = weir_realloc(NULL, count, each);
    *ret_ids = (struct weir_guid *)(rows + count);
    memcpy(rows, packing->rows, count * sizeof(*rows));
    memcpy(*ret_ids, packing->ids, count * sizeof(**ret_ids));
    return rows;
}

/* The next batch will be about as large as one that was full. */
static void begin_anew(struct weir_packing_memory *memory, size_t capacity)
{
    *memory = (struct weir_packing_memory){ weir_realloc(NULL, capacity, 1), 0, capacity };
}

/* A memory, or a copy of just its size. */
static char *take_memory(struct weir_packing_memory *memory, struct weir_row *rows,
                         uint32_t row_count, bool full, size_t *ret_bytes)
{
    char *bytes = memory->bytes;
    size_t len = memory->len;
    if (!len)
        return NULL;
    if (is_well_filled(len, memory->capacity)) {
        *ret_bytes += memory->capacity;
        begin_anew(memory, memory->capacity);
        return bytes;
    }
    *ret_bytes += len;
    bytes = weir_realloc(NULL, len, 1);
    move_rows(rows, row_count, memory, bytes);
    memory->len = 0;
    if (full && memory->capacity > FIRST_BYTES) {
        free(memory->bytes);
        begin_anew(memory, len + len / 16);
    }
    return bytes;
}

/* The last comma makes way for the end of the frame; there is room for it. */
static void end_message(struct weir_packing_memory *message)
{
    if (!message->len)
        return;
    memcpy(message->bytes + message->len - 1, frame_end.ptr, frame_end.len);
    message->len += frame_end.len - 1;
}

struct weir_batch *weir_packing_close(struct weir_packing *packing, uint64_t serial,
                                      const uint64_t *after, uint32_t after_count)
{
    size_t bytes = sizeof(struct weir_batch) + after_count * sizeof(*after);
    struct weir_batch *batch = weir_realloc(NULL, bytes, 1);
    uint64_t *copy = (uint64_t *)(batch + 1);
    if (after_count)
        memcpy(copy, after, after_count * sizeof(*after));
    end_message(&packing->message);
    size_t message_bytes = packing->message.len;
    uint32_t row_count = packing->row_count;
    bool full = row_count == packing->rows_max;
    struct weir_guid *ids;
    struct weir_row *rows = take_rows(packing, &ids, &bytes);
    char *message = take_memory(&packing->message, rows, row_count, full, &bytes);
    char *texts = take_memory(&packing->texts, rows, row_count, full, &bytes);
    *batch = (struct weir_batch){
        .serial = serial,
        .rows = rows,
        .row_count = row_count,
        .bytes = bytes + row_count * sizeof(struct weir_row_state),
        .after = copy,
        .after_count = after_count,
        .ids = ids,
        .message = weir_str(message, packing->unwritten ? 0 : message_bytes),
        .message_rows = packing->written_count,
        .plain = packing->plain,
        .unbroken = packing->unbroken,
        .message_memory = message,
        .texts_memory = texts,
    };
    packing->row_count = packing->written_count = 0;
    packing->unwritten = false;
    return batch;
}

void weir_packing_free_batch(struct weir_batch *batch)
{
    if (!batch)
        return;
    free(batch->rows);
    free(batch->message_memory);
    free(batch->texts_memory);
    free(batch);
}
