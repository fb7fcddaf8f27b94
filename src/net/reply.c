/* SPDX-License-Identifier: MIT */
/* An answer, from bytes to head and body; see reply.h. */
#include "net/reply.h"

#include <string.h>

#include "base/limits.h"

/* --- beginning and end ------------------------------------------------------------------------ */

void weir_reply_init(struct weir_reply *reply, size_t body_bytes_max)
{
    *reply = (struct weir_reply){ 0 };
    weir_head_init(&reply->head);
    weir_buf_init_secret(&reply->line, WEIR_ANSWER_LINE_MAX);
    weir_buf_init_secret(&reply->body, body_bytes_max);
}

void weir_reply_release(struct weir_reply *reply)
{
    weir_head_release(&reply->head);
    weir_buf_release(&reply->line);
    weir_buf_release(&reply->body);
}

static void empty(struct weir_buf *buf)
{
    weir_buf_reset(buf);
    if (buf->capacity > WEIR_EXCHANGE_BODY_KEPT_MAX)
        weir_buf_release(buf);
}

void weir_reply_reset(struct weir_reply *reply)
{
    empty(&reply->head.text);
    weir_head_reset(&reply->head);
    empty(&reply->line);
    empty(&reply->body);
    reply->chunks = (struct weir_chunks){ 0 };
    reply->bytes = 0;
    reply->excess = false;
    reply->problem = NULL;
}

/* --- the head --------------------------------------------------------------------------------- */

static enum weir_reply_result fail(struct weir_reply *reply, enum weir_reply_result result,
                                   const char *problem)
{
    reply->problem = problem;
    return result;
}

static const char body_too_big[] = "a body over its bound";

static enum weir_reply_result read_line(struct weir_reply *reply, struct weir_str line)
{
    struct weir_head *head = &reply->head;
    enum weir_head_result result = weir_head_line(head, line);
    if (result == WEIR_HEAD_MALFORMED)
        return fail(reply, WEIR_REPLY_BROKEN, head->problem);
    if (result == WEIR_HEAD_TOO_BIG)
        return fail(reply, WEIR_REPLY_TOO_BIG, head->problem);
    if (head->whole && head->framing == WEIR_FRAMING_LENGTH &&
        (uint64_t)head->length > reply->body.bytes_max)
        return fail(reply, WEIR_REPLY_TOO_BIG, body_too_big);
    return WEIR_REPLY_MORE;
}

/* A line that began in an earlier piece: `line` is what has come of it now. */
static enum weir_reply_result read_rest_of_line(struct weir_reply *reply, struct weir_str line)
{
    weir_buf_add(&reply->line, line.ptr, line.len);
    if (reply->line.overflow)
        return fail(reply, WEIR_REPLY_TOO_BIG, "a header line over its bound");
    if (line.len == 0 || line.ptr[line.len - 1] != '\n')
        return WEIR_REPLY_MORE;
    enum weir_reply_result result = read_line(reply, weir_str(reply->line.ptr, reply->line.len));
    weir_buf_reset(&reply->line);
    return result;
}

/* Lines up to the blank one; *at goes on to what is behind it. */
static enum weir_reply_result read_head(struct weir_reply *reply, const char **at, const char *end)
{
    enum weir_reply_result result = WEIR_REPLY_MORE;
    while (*at < end && !reply->head.whole && result == WEIR_REPLY_MORE) {
        const char *line_end = memchr(*at, '\n', (size_t)(end - *at));
        struct weir_str line = weir_str(*at, (size_t)((line_end ? line_end + 1 : end) - *at));
        result =
            line_end && !reply->line.len ? read_line(reply, line) : read_rest_of_line(reply, line);
        *at += line.len;
    }
    return result;
}

/* --- the body --------------------------------------------------------------------------------- */

static enum weir_reply_result read_chunks(struct weir_reply *reply, const char **at,
                                          const char *end)
{
    *at += weir_chunks_read(&reply->chunks, *at, (size_t)(end - *at), &reply->body);
    if (reply->body.overflow)
        return fail(reply, WEIR_REPLY_TOO_BIG, body_too_big);
    if (reply->chunks.state == WEIR_CHUNKS_WRONG)
        return fail(reply, WEIR_REPLY_BROKEN, "malformed chunks");
    if (reply->chunks.state == WEIR_CHUNKS_TOO_BIG)
        return fail(reply, WEIR_REPLY_TOO_BIG, "trailers over their bound");
    return reply->chunks.state == WEIR_CHUNKS_DONE ? WEIR_REPLY_WHOLE : WEIR_REPLY_MORE;
}

static enum weir_reply_result read_length(struct weir_reply *reply, const char **at,
                                          const char *end)
{
    uint64_t missing = (uint64_t)reply->head.length - reply->body.len;
    size_t len = (size_t)(end - *at);
    if (len > missing)
        len = (size_t)missing;
    weir_buf_add(&reply->body, *at, len);
    *at += len;
    return len == missing ? WEIR_REPLY_WHOLE : WEIR_REPLY_MORE;
}

static enum weir_reply_result read_body(struct weir_reply *reply, const char **at, const char *end)
{
    switch (reply->head.framing) {
    case WEIR_FRAMING_CHUNKED:
        return read_chunks(reply, at, end);
    case WEIR_FRAMING_LENGTH:
        return read_length(reply, at, end);
    case WEIR_FRAMING_NONE:
        break;
    }
    return WEIR_REPLY_WHOLE;
}

enum weir_reply_result weir_reply_read(struct weir_reply *reply, const char *bytes, size_t len)
{
    const char *at = bytes;
    const char *end = bytes + len;
    enum weir_reply_result result = read_head(reply, &at, end);
    if (result == WEIR_REPLY_MORE && reply->head.whole)
        result = read_body(reply, &at, end);
    reply->bytes += (uint64_t)(at - bytes);
    reply->excess = result == WEIR_REPLY_WHOLE && at < end;
    return result;
}
