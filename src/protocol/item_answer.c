/* SPDX-License-Identifier: MIT */
/* A part or a row as an answer of its own; see item_answer.h. */
#include "protocol/item_answer.h"

static const char *const waits[] = { "retry-after-ms", "x-ms-retry-after-ms", "Retry-After" };

#define WAIT_COUNT (sizeof(waits) / sizeof(waits[0]))

/* The last header of that name; NULL: there is none. */
static const struct weir_http_header *find(const struct weir_http_header *headers, size_t count,
                                           const char *name)
{
    for (size_t i = count; i > 0; i--) {
        if (weir_str_equal_nocase(weir_str_from(headers[i - 1].name), weir_str_from(name)))
            return &headers[i - 1];
    }
    return NULL;
}

static bool asks_to_wait(const struct weir_http_header *headers, size_t count)
{
    for (size_t i = 0; i < WAIT_COUNT; i++) {
        if (find(headers, count, waits[i]))
            return true;
    }
    return false;
}

static void add(struct weir_item_answer *item, const struct weir_http_header *header)
{
    if (header && item->http.header_count < WEIR_ITEM_HEADERS_MAX)
        item->headers[item->http.header_count++] = *header;
}

/* What is missing of Retry-After and Date among the item's headers. */
static void complete(struct weir_item_answer *item, const struct weir_fault *fault,
                     const struct weir_http_header *outer, size_t outer_count)
{
    size_t own_count = item->http.header_count;
    if (!asks_to_wait(item->headers, own_count)) {
        for (size_t i = 0; i < WAIT_COUNT; i++)
            add(item, find(outer, outer_count, waits[i]));
        struct weir_http_header told = { "Retry-After", fault->retry_after };
        if (item->http.header_count == own_count && fault->retry_after[0])
            add(item, &told);
    }
    if (item->http.header_count > own_count || !find(item->headers, own_count, "Date"))
        add(item, find(outer, outer_count, "Date"));
}

/* Parts and rows are told of by the service itself, be it without a word: no gateway's refusal. */
static void speak(struct weir_item_answer *item)
{
    if (!item->http.error_message)
        item->http.error_message = "";
}

void weir_item_answer_init_part(struct weir_item_answer *item, const struct weir_part_answer *part,
                                const struct weir_http_header *outer, size_t outer_count)
{
    *item = (struct weir_item_answer){ .http = { .status = part->status, .sent = true } };
    item->http.headers = item->headers;
    if (part->status == 0)
        return;
    for (size_t i = 0; i < part->header_count; i++)
        add(item, &part->headers[i]);
    if (part->status >= 300)
        weir_fault_read(part->body, &item->fault);
    weir_fault_tell(&item->fault, &item->http);
    speak(item);
    complete(item, &item->fault, outer, outer_count);
}

void weir_item_answer_init_row(struct weir_item_answer *item, const struct weir_fault_row *row,
                               const struct weir_fault *fault, const struct weir_http_header *outer,
                               size_t outer_count)
{
    /* 0 would mean that nothing came back; a code without a status is something. */
    int status = row->status || !row->code[0] ? row->status : -1;
    *item = (struct weir_item_answer){ .http = { .status = status, .sent = true } };
    item->http.headers = item->headers;
    if (row->code[0])
        item->http.error_code = row->code;
    speak(item);
    complete(item, fault, outer, outer_count);
}

void weir_item_answer_release(struct weir_item_answer *item)
{
    weir_fault_release(&item->fault);
    *item = (struct weir_item_answer){ 0 };
}
