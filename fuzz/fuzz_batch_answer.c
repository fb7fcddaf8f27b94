/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the answer to a $batch: a line with the number of parts that were sent, a line with
 * the Content-Type, then the body. It must not crash; parts lie within the body, those that were
 * not answered are empty, and what is complete is not so without its closing boundary.
 */
#include "base/limits.h"
#include "base/mem.h"
#include "protocol/item_answer.h"
#include "protocol/multipart.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_part(const struct weir_part_answer *part, struct weir_str body)
{
    static const struct weir_http_header outer[] = { { "Retry-After", "5" }, { "Date", "now" } };
    if (part->status < 200 || part->status > 599 || part->header_count > WEIR_PART_HEADERS_MAX)
        abort();
    if (part->body.ptr < body.ptr || part->body.ptr + part->body.len > body.ptr + body.len)
        abort();
    for (size_t i = 0; i < part->header_count; i++) {
        if (!part->headers[i].name[0] || strpbrk(part->headers[i].value, "\r\n"))
            abort();
    }
    struct weir_item_answer item;
    struct weir_answer answer;
    weir_item_answer_init_part(&item, part, outer, 2);
    weir_answer_read(&item.http, WEIR_US_PER_S, &answer);
    if (answer.verdict.http_status != part->status)
        abort();
    weir_item_answer_release(&item);
}

/* Without its end, from the closing boundary's last hyphen on, it is not complete. */
static void check_cut(struct weir_str body, const char *content_type, size_t expected)
{
    struct weir_str boundary;
    struct weir_multipart multipart;
    struct weir_str part;
    weir_multipart_boundary(weir_str_from(content_type), &boundary);
    weir_multipart_open(&multipart, body, boundary);
    while (weir_multipart_next(&multipart, &part))
        ;
    body.len = (size_t)(multipart.rest.ptr - body.ptr) - 1;
    struct weir_batch_answer answer;
    if (weir_batch_answer_read(body, content_type, expected, &answer, NULL) != WEIR_OK)
        return;
    if (answer.complete)
        abort();
    weir_batch_answer_release(&answer);
}

static void check(const struct weir_batch_answer *answer, struct weir_str body,
                  const char *content_type)
{
    if (answer->answered > answer->part_count || answer->complete != (answer->problem[0] == '\0'))
        abort();
    for (size_t i = 0; i < answer->answered; i++)
        check_part(&answer->parts[i], body);
    for (size_t i = answer->answered; i < answer->part_count; i++) {
        if (answer->parts[i].status || answer->parts[i].body.len)
            abort();
    }
    if (answer->complete)
        check_cut(body, content_type, answer->part_count);
}

static char *take_line(char **text)
{
    char *line = *text;
    char *end = line + strcspn(line, "\n");
    *text = *end ? end + 1 : end;
    *end = '\0';
    return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = weir_strndup((const char *)data, size);
    char *rest = bytes;
    int64_t expected = 0;
    weir_str_to_int64(weir_str_from(take_line(&rest)), &expected);
    const char *content_type = take_line(&rest);
    size_t len = size - (size_t)(rest - bytes);
    /* A copy of just this size, so that reading beyond its end is noticed. */
    char *copy = weir_calloc(len ? len : 1, 1);
    memcpy(copy, rest, len);
    struct weir_batch_answer answer;
    if (weir_batch_answer_read(weir_str(copy, len), content_type, (size_t)(expected & 1023),
                               &answer, NULL) == WEIR_OK) {
        check(&answer, weir_str(copy, len), content_type);
        weir_batch_answer_release(&answer);
    }
    free(copy);
    free(bytes);
    return 0;
}
