/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as an answer on the wire: lines of a head up to its end, then a chunked body. The first
 * byte says how the body is cut into pieces. It must not crash; a head that is whole has headers
 * that can stand in one, and its end of the body follows in one way; in one piece or in many, the
 * body is the same; and what was cut is never done.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "net/chunks.h"
#include "net/head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool truth)
{
    if (!truth)
        abort();
}

/* A line with its end, taken off *text. */
static struct weir_str take_line(struct weir_str *text)
{
    const char *end = memchr(text->ptr, '\n', text->len);
    size_t len = end ? (size_t)(end - text->ptr) + 1 : text->len;
    struct weir_str line = weir_str(text->ptr, len);
    *text = weir_str(text->ptr + len, text->len - len);
    return line;
}

static void check_head(const struct weir_head *head)
{
    struct weir_http_header headers[WEIR_ANSWER_HEADERS_MAX];
    need(head->status >= 200 && head->status <= 599);
    need(head->count <= WEIR_ANSWER_HEADERS_MAX && head->bytes <= WEIR_ANSWER_HEAD_BYTES_MAX);
    weir_head_list(head, headers);
    for (size_t i = 0; i < head->count; i++) {
        need(weir_head_is_token(weir_str_from(headers[i].name)));
        for (const char *c = headers[i].value; *c; c++)
            need((unsigned char)*c >= ' ' ? *c != 0x7f : *c == '\t');
    }
    need((head->framing == WEIR_FRAMING_LENGTH) ==
         (head->length >= 0 && !head->chunked && head->status != 204 && head->status != 304));
    need(head->framing != WEIR_FRAMING_CHUNKED || head->chunked);
}

/* Reads it to its end; what is left of *text is the body. */
static void read_head(struct weir_str *text)
{
    struct weir_head head;
    enum weir_head_result result = WEIR_HEAD_GOOD;
    weir_head_init(&head);
    while (text->len && result == WEIR_HEAD_GOOD && !head.whole)
        result = weir_head_line(&head, take_line(text));
    need((result == WEIR_HEAD_GOOD) == (head.problem == NULL));
    if (result == WEIR_HEAD_GOOD && head.whole)
        check_head(&head);
    weir_head_release(&head);
}

/* In pieces of so many bytes; copies, so that reading beyond an end is noticed. */
static struct weir_chunks read_chunks(struct weir_str text, size_t piece, struct weir_buf *body,
                                      size_t *ret_taken)
{
    struct weir_chunks chunks = { 0 };
    size_t taken = 0;
    while (taken < text.len) {
        size_t len = text.len - taken < piece ? text.len - taken : piece;
        char *copy = weir_realloc(NULL, len, 1);
        memcpy(copy, text.ptr + taken, len);
        size_t used = weir_chunks_read(&chunks, copy, len, body);
        free(copy);
        need(used <= len);
        taken += used;
        if (used < len || chunks.state >= WEIR_CHUNKS_DONE)
            break;
    }
    *ret_taken = taken;
    return chunks;
}

static void check_chunks(struct weir_str text, size_t piece)
{
    struct weir_buf whole;
    struct weir_buf pieces;
    size_t taken_whole;
    size_t taken_pieces;
    weir_buf_init(&whole, WEIR_ANSWER_BYTES_MAX);
    weir_buf_init(&pieces, WEIR_ANSWER_BYTES_MAX);
    struct weir_chunks a = read_chunks(text, text.len + 1, &whole, &taken_whole);
    struct weir_chunks b = read_chunks(text, piece, &pieces, &taken_pieces);
    need(a.state == b.state && taken_whole == taken_pieces);
    need(whole.len == pieces.len && whole.len <= text.len);
    need(!whole.len || memcmp(whole.ptr, pieces.ptr, whole.len) == 0);
    if (a.state == WEIR_CHUNKS_DONE) {
        weir_buf_reset(&pieces);
        b = read_chunks(weir_str(text.ptr, taken_whole - 1), piece, &pieces, &taken_pieces);
        need(b.state < WEIR_CHUNKS_DONE);
    }
    weir_buf_release(&whole);
    weir_buf_release(&pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    struct weir_str text = weir_str((const char *)data + 1, size - 1);
    read_head(&text);
    check_chunks(text, (size_t)data[0] + 1);
    check_chunks(weir_str((const char *)data + 1, size - 1), (size_t)data[0] + 1);
    return 0;
}
