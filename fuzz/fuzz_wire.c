/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as an answer on the wire, and as a chunked body alone. The first byte says how they are
 * cut into pieces. It must not crash; a head that is whole has headers that can stand in one, and
 * its end of the body follows in one way; in one piece or in many, what is read is the same; and
 * what was cut is never whole.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "net/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool truth)
{
    if (!truth)
        abort();
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

/* In pieces of so many bytes; copies, so that reading beyond an end is noticed. */
static enum weir_reply_result read_reply(struct weir_reply *reply, struct weir_str text,
                                         size_t piece)
{
    enum weir_reply_result result = WEIR_REPLY_MORE;
    for (size_t at = 0; at < text.len && result == WEIR_REPLY_MORE; at += piece) {
        size_t len = text.len - at < piece ? text.len - at : piece;
        char *copy = weir_realloc(NULL, len, 1);
        memcpy(copy, text.ptr + at, len);
        result = weir_reply_read(reply, copy, len);
        free(copy);
    }
    need((result == WEIR_REPLY_BROKEN || result == WEIR_REPLY_TOO_BIG) == (reply->problem != NULL));
    return result;
}

static void check_same(const struct weir_reply *a, const struct weir_reply *b)
{
    need(a->bytes == b->bytes && a->head.status == b->head.status &&
         a->head.close == b->head.close);
    need(a->head.count == b->head.count && a->body.len == b->body.len);
    need(a->head.framing == b->head.framing && a->head.text.len == b->head.text.len);
    need(!a->head.text.len || memcmp(a->head.text.ptr, b->head.text.ptr, a->head.text.len) == 0);
    need(!a->body.len || memcmp(a->body.ptr, b->body.ptr, a->body.len) == 0);
}

static void check_reply(struct weir_str text, size_t piece)
{
    struct weir_reply once;
    struct weir_reply pieces;
    weir_reply_init(&once, WEIR_ANSWER_BYTES_MAX);
    weir_reply_init(&pieces, WEIR_ANSWER_BYTES_MAX);
    enum weir_reply_result result = read_reply(&once, text, text.len + 1);
    need(result == read_reply(&pieces, text, piece));
    if (once.head.whole)
        check_head(&once.head);
    if (result == WEIR_REPLY_WHOLE) {
        check_same(&once, &pieces);
        weir_reply_reset(&pieces);
        struct weir_str cut = weir_str(text.ptr, (size_t)once.bytes - 1);
        need(read_reply(&pieces, cut, piece) == WEIR_REPLY_MORE);
    }
    weir_reply_release(&once);
    weir_reply_release(&pieces);
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
    check_reply(text, (size_t)data[0] + 1);
    check_chunks(text, (size_t)data[0] + 1);
    return 0;
}
