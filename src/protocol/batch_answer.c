/* SPDX-License-Identifier: MIT */
/*
 * Reading the answer to a $batch; see batch_answer.h. A part is a head within a head:
 *
 *     Content-Type: application/http        of the part: only this matters
 *
 *     HTTP/1.1 204 No Content               of the answer inside
 *     OData-EntityId: …
 *
 *     body                                  up to the delimiter; Content-Length must agree with it
 *
 * Headers are handed out as C strings, so the heads are copied. Twice over the parts: the first
 * pass reads and counts, the second copies into memory of just that size.
 */
#include "protocol/batch_answer.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "protocol/multipart.h"

/* ---- heads ---- */

/* One line taken off *text; the last one may lack its end, which was the delimiter's. */
static bool take_line(struct weir_str *text, struct weir_str *ret)
{
    if (weir_multipart_take_line(text, ret))
        return true;
    *ret = *text;
    *text = weir_str(text->ptr + text->len, 0);
    return ret->len > 0;
}

/* Name and value of a header line. False: it is none. */
static bool split_header(struct weir_str line, struct weir_str *ret_name,
                         struct weir_str *ret_value)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    size_t len = colon ? (size_t)(colon - line.ptr) : 0;
    if (len == 0 || memchr(line.ptr, '\0', line.len) || memchr(line.ptr, '\r', line.len))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (line.ptr[i] == ' ' || line.ptr[i] == '\t')
            return false; /* a folded line, or a blank in front of the colon */
    }
    *ret_name = weir_str(line.ptr, len);
    *ret_value = weir_str_trim(weir_str(colon + 1, line.len - len - 1));
    return true;
}

/*
 * Header lines and the empty one behind them, taken off *text. Where there is no body, the empty
 * one may be missing. False: malformed, or too much.
 */
static bool take_headers(struct weir_str *text, struct weir_str *ret, size_t *ret_count)
{
    const char *start = text->ptr;
    const char *end = start;
    struct weir_str line, name, value;
    size_t count = 0;
    while (take_line(text, &line) && line.len) {
        end = line.ptr + line.len;
        if (count++ == WEIR_PART_HEADERS_MAX ||
            (size_t)(end - start) > WEIR_PART_HEADERS_BYTES_MAX ||
            !split_header(line, &name, &value))
            return false;
    }
    *ret = weir_str(start, (size_t)(end - start));
    *ret_count = count;
    return true;
}

/* The value of a header in a head that has been taken; the last one if it is repeated. */
static struct weir_str find_header(struct weir_str head, const char *wanted)
{
    struct weir_str found = weir_str(NULL, 0);
    struct weir_str line, name, value;
    while (take_line(&head, &line)) {
        if (split_header(line, &name, &value) && weir_str_equal_nocase(name, weir_str_from(wanted)))
            found = value;
    }
    return found;
}

/* "HTTP/1.1 204 No Content"; 0: it is none. */
static int read_status_line(struct weir_str line)
{
    bool http =
        weir_str_starts_nocase(line, "HTTP/1.1 ") || weir_str_starts_nocase(line, "HTTP/1.0 ");
    int64_t status;
    if (!http || line.len < 12 || (line.len > 12 && line.ptr[12] != ' ') || line.ptr[9] < '2' ||
        line.ptr[9] > '5' || !weir_str_to_int64(weir_str(line.ptr + 9, 3), &status))
        return 0;
    return (int)status;
}

/* ---- parts ---- */

struct part {
    int status;
    struct weir_str head;
    size_t header_count;
    struct weir_str body;
};

/* NULL: fine. */
static const char *check_part_head(struct weir_str head)
{
    struct weir_str type = find_header(head, "Content-Type");
    if (weir_str_starts_nocase(type, "multipart/"))
        return "a part holds the answer to a change set, and none was sent";
    if (!weir_str_starts_nocase(type, "application/http"))
        return "a part is not application/http";
    return NULL;
}

/* The length that the answer inside names is that of its body, up to line ends. */
static bool agree_on_length(struct part *part)
{
    struct weir_str text = find_header(part->head, "Content-Length");
    int64_t len;
    if (!text.ptr)
        return true;
    if (!weir_str_to_int64(text, &len) || len < 0 || (uint64_t)len > part->body.len)
        return false;
    struct weir_str rest = weir_str(part->body.ptr + len, part->body.len - (size_t)len);
    part->body.len = (size_t)len;
    return weir_str_trim(rest).len == 0;
}

/* NULL: the part is well-formed. */
static const char *read_part(struct weir_str content, struct part *ret)
{
    struct weir_str head, line;
    size_t count;
    if (!take_headers(&content, &head, &count))
        return "a part has malformed headers";
    const char *problem = check_part_head(head);
    if (problem)
        return problem;
    ret->status = take_line(&content, &line) ? read_status_line(line) : 0;
    if (!ret->status)
        return "a part has no status line";
    if (!take_headers(&content, &ret->head, &ret->header_count))
        return "the answer in a part has malformed headers";
    ret->body = content;
    return agree_on_length(ret) ? NULL : "the body of a part has not the length that it names";
}

/* ---- the first pass ---- */

struct reading {
    struct part *parts;
    size_t count;
    size_t expected;
    size_t header_count;
    size_t header_bytes;
    bool complete;
    const char *problem; /* NULL: none */
};

/* False: more parts than were sent. */
static bool read_parts(struct reading *reading, struct weir_multipart *multipart)
{
    struct weir_str content;
    while (weir_multipart_next(multipart, &content)) {
        if (reading->count == reading->expected)
            return false;
        struct part *part = &reading->parts[reading->count];
        reading->problem = read_part(content, part);
        if (reading->problem)
            return true;
        reading->count++;
        reading->header_count += part->header_count;
        reading->header_bytes += part->head.len + 2 * part->header_count;
    }
    reading->complete = multipart->complete;
    if (!reading->complete)
        reading->problem = "the closing boundary is missing";
    return true;
}

/* ---- the second pass ---- */

static char *copy_text(char **at, struct weir_str text)
{
    char *copy = *at;
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    *at += text.len + 1;
    return copy;
}

static void copy_headers(const struct part *part, struct weir_http_header *headers, char **at)
{
    struct weir_str head = part->head;
    struct weir_str line, name, value;
    while (take_line(&head, &line) && split_header(line, &name, &value)) {
        headers->name = copy_text(at, name);
        headers->value = copy_text(at, value);
        headers++;
    }
}

static void hand_out(const struct reading *reading, struct weir_batch_answer *ret)
{
    *ret = (struct weir_batch_answer){
        .parts = weir_calloc(reading->expected, sizeof(*ret->parts)),
        .part_count = reading->expected,
        .answered = reading->count,
        .complete = reading->complete,
        .problem = reading->problem ? reading->problem : "",
        .headers = weir_calloc(reading->header_count + 1, sizeof(*ret->headers)),
        .texts = weir_calloc(reading->header_bytes + 1, 1),
    };
    struct weir_http_header *headers = ret->headers;
    char *at = ret->texts;
    for (size_t i = 0; i < reading->count; i++) {
        const struct part *part = &reading->parts[i];
        copy_headers(part, headers, &at);
        ret->parts[i] = (struct weir_part_answer){ .status = part->status,
                                                   .headers = headers,
                                                   .header_count = part->header_count,
                                                   .body = part->body };
        headers += part->header_count;
    }
}

enum weir_status weir_batch_answer_read(struct weir_str body, const char *content_type,
                                        size_t expected, struct weir_batch_answer *ret,
                                        struct weir_error *err)
{
    struct weir_str boundary;
    struct weir_multipart multipart;
    if (expected == 0 || expected > WEIR_BATCH_PARTS_MAX)
        return weir_fail(err, WEIR_E_INVALID, "a batch has 1 to %d requests, not %zu",
                         WEIR_BATCH_PARTS_MAX, expected);
    if (!weir_multipart_boundary(weir_str_from(content_type), &boundary))
        return weir_fail(err, WEIR_E_INVALID,
                         "the answer to a batch is not multipart/mixed with a boundary");
    if (!weir_multipart_open(&multipart, body, boundary))
        return weir_fail(err, WEIR_E_INVALID, "the answer to a batch lacks its boundary");
    struct reading reading = { .parts = weir_calloc(expected, sizeof(*reading.parts)),
                               .expected = expected };
    bool understood = read_parts(&reading, &multipart);
    if (understood)
        hand_out(&reading, ret);
    free(reading.parts);
    if (!understood)
        return weir_fail(err, WEIR_E_INVALID,
                         "the answer to a batch has more parts than the %zu that were sent",
                         expected);
    return WEIR_OK;
}

void weir_batch_answer_release(struct weir_batch_answer *answer)
{
    free(answer->parts);
    free(answer->headers);
    free(answer->texts);
    *answer = (struct weir_batch_answer){ .problem = "" };
}
