/* SPDX-License-Identifier: MIT */
/* Records on their way; see queue.h. */
#include "journal/queue.h"

#include "base/mem.h"

void weir_queue_release(struct weir_queue *queue)
{
    while (queue->first) {
        struct weir_queued *gone = queue->first;
        queue->first = gone->next;
        free(gone);
    }
    *queue = (struct weir_queue){ 0 };
}

/* Move a text to *at, which goes behind it. */
static void keep(struct weir_str *text, char **at)
{
    if (text->len > 0)
        memcpy(*at, text->ptr, text->len);
    text->ptr = *at;
    *at += text->len;
}

static void keep_texts(struct weir_entry *record, char *at)
{
    struct weir_reject *reject = &record->reject;
    switch (record->kind) {
    case WEIR_ENTRY_RANGE:
        keep(&record->range.ids, &at);
        break;
    case WEIR_ENTRY_REJECT:
        keep(&reject->column, &at);
        keep(&reject->class_name, &at);
        keep(&reject->message, &at);
        keep(&reject->request_id, &at);
        keep(&reject->connection, &at);
        keep(&reject->bytes, &at);
        break;
    case WEIR_ENTRY_NOTE:
        keep(&record->note.name, &at);
        keep(&record->note.text, &at);
        break;
    case WEIR_ENTRY_BLOCK:
    case WEIR_ENTRY_KINDS:
        break;
    }
}

void weir_queue_add(struct weir_queue *queue, const struct weir_entry *record)
{
    size_t bytes = sizeof(struct weir_queued) + weir_entry_bytes(record);
    struct weir_queued *queued = weir_calloc(1, bytes);
    queued->bytes = bytes;
    queued->record = *record;
    keep_texts(&queued->record, queued->text);
    if (queue->last)
        queue->last->next = queued;
    else
        queue->first = queued;
    queue->last = queued;
    queue->count++;
    queue->bytes += bytes;
}

struct weir_queue weir_queue_take(struct weir_queue *queue)
{
    struct weir_queue taken = *queue;
    *queue = (struct weir_queue){ 0 };
    return taken;
}
