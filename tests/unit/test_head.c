/* SPDX-License-Identifier: MIT */
/* The head of an answer, line by line. */
#include <ctype.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/rng.h"
#include "net/head.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Line by line up to the last one; stops at the first that is not good. */
static enum weir_head_result read_head(struct weir_head *head, const char *bytes, size_t len)
{
    enum weir_head_result result = WEIR_HEAD_GOOD;
    while (len && result == WEIR_HEAD_GOOD && !head->whole) {
        const char *end = memchr(bytes, '\n', len);
        size_t line = end ? (size_t)(end - bytes) + 1 : len;
        result = weir_head_line(head, weir_str(bytes, line));
        bytes += line;
        len -= line;
    }
    return result;
}

#define OK "HTTP/1.1 200 OK\r\n"

static const struct {
    const char *bytes;
    int status;
    enum weir_framing framing;
    int64_t length;
    size_t count;
} good[] = {
    { OK "Content-Length: 5\r\n\r\n", 200, WEIR_FRAMING_LENGTH, 5, 1 },
    { OK "content-LENGTH:0\r\n\r\n", 200, WEIR_FRAMING_LENGTH, 0, 1 },
    { OK "Content-Length: 5\r\nContent-Length: 5\r\n\r\n", 200, WEIR_FRAMING_LENGTH, 5, 2 },
    { OK "Content-Length: 9223372036854775807\r\n\r\n", 200, WEIR_FRAMING_LENGTH, INT64_MAX, 1 },
    { OK "Transfer-Encoding: Chunked\r\n\r\n", 200, WEIR_FRAMING_CHUNKED, -1, 1 },
    { "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n", 200, WEIR_FRAMING_LENGTH, 1, 1 },
    { "HTTP/1.1 204 No Content\r\n\r\n", 204, WEIR_FRAMING_NONE, -1, 0 },
    { "HTTP/1.1 204\r\n\r\n", 204, WEIR_FRAMING_NONE, -1, 0 },
    { "HTTP/1.1 204 \r\n\r\n", 204, WEIR_FRAMING_NONE, -1, 0 },
    { "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", 304, WEIR_FRAMING_NONE, 7, 1 },
    { "HTTP/1.1 204 x\n\n", 204, WEIR_FRAMING_NONE, -1, 0 },
    { "HTTP/1.1 100 Continue\r\nContent-Length: 9\r\nA: b\r\n\r\n" OK
      "Transfer-Encoding: chunked\r\n\r\n",
      200, WEIR_FRAMING_CHUNKED, -1, 1 },
    { "HTTP/1.1 429 \xc3\xa9\r\nRetry-After: 3\r\nA:\r\nContent-Length: 0\r\n\r\n", 429,
      WEIR_FRAMING_LENGTH, 0, 3 },
};

START_TEST(good_heads_are_understood_and_no_beginning_of_them_is_whole)
{
    struct weir_head head;
    weir_head_init(&head);
    for (size_t i = 0; i < COUNT(good); i++) {
        size_t len = strlen(good[i].bytes);
        weir_head_reset(&head);
        ck_assert_msg(read_head(&head, good[i].bytes, len) == WEIR_HEAD_GOOD, "%s: %s",
                      good[i].bytes, head.problem);
        ck_assert(head.whole);
        ck_assert_int_eq(head.status, good[i].status);
        ck_assert_int_eq(head.framing, good[i].framing);
        ck_assert_int_eq(head.length, good[i].length);
        ck_assert_uint_eq(head.count, good[i].count);
        ck_assert_uint_eq(head.bytes, len);
        /* only whole lines are handed over */
        for (const char *end = strchr(good[i].bytes, '\n'); end[1]; end = strchr(end + 1, '\n')) {
            weir_head_reset(&head);
            must(read_head(&head, good[i].bytes, (size_t)(end - good[i].bytes) + 1) ==
                 WEIR_HEAD_GOOD);
            must(!head.whole);
        }
    }
    weir_head_release(&head);
}
END_TEST

static const char *const bad[] = {
    "HTTP/1.1 20 OK\r\n",
    "HTTP/1.1 2000 OK\r\n",
    "HTTP/1.1 200OK\r\n",
    "HTTP/1.1 600 No\r\n",
    "HTTP/1.1 099 No\r\n",
    "HTTP/1.1  200 OK\r\n",
    "HTTP/1.2 200 OK\r\n",
    "HTTP/2 200\r\n",
    "http/1.1 200 OK\r\n",
    "ICY 200 OK\r\n",
    "\r\n",
    "HTTP/1.1 101 Switching Protocols\r\n",
    "HTTP/1.1 200 O\rK\r\n",
    OK "\r\n", /* only the end of the connection would end the body */
    OK "Connection: close\r\n\r\n",
    OK "Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
    OK "Content-Length: 5, 5\r\n\r\n",
    OK "Content-Length: -1\r\n\r\n",
    OK "Content-Length: +1\r\n\r\n",
    OK "Content-Length: 0x5\r\n\r\n",
    OK "Content-Length:\r\n\r\n",
    OK "Content-Length: 9223372036854775808\r\n\r\n",
    OK "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    OK "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
    OK "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
    OK "Transfer-Encoding: gzip, chunked\r\n\r\n",
    OK "Transfer-Encoding: identity\r\nContent-Length: 5\r\n\r\n",
    "HTTP/1.1 204 x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    OK "Content-Length : 5\r\n\r\n",
    OK "NoColon\r\n\r\n",
    OK ": nothing\r\n\r\n",
    OK "A: b\r\n c\r\nContent-Length: 5\r\n\r\n", /* folded */
    OK "A: b\x01\r\nContent-Length: 5\r\n\r\n",
    OK "A: b\rc\r\nContent-Length: 5\r\n\r\n",
    OK "A\xc3\xa9: b\r\nContent-Length: 5\r\n\r\n",
    OK "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
};

START_TEST(bad_heads_are_malformed)
{
    struct weir_head head;
    weir_head_init(&head);
    for (size_t i = 0; i < COUNT(bad); i++) {
        weir_head_reset(&head);
        ck_assert_msg(read_head(&head, bad[i], strlen(bad[i])) == WEIR_HEAD_MALFORMED, "%s",
                      bad[i]);
        ck_assert_ptr_nonnull(head.problem);
        ck_assert(!head.whole);
    }
    weir_head_reset(&head);
    static const char nul[] = OK "A: b\0c\r\n";
    ck_assert_int_eq(read_head(&head, nul, sizeof(nul) - 1), WEIR_HEAD_MALFORMED);
    weir_head_release(&head);
}
END_TEST

START_TEST(headers_come_back_in_their_order_without_blanks_around_them)
{
    static const char bytes[] = OK "B:  two words \t\r\na: \r\nB:3\r\nContent-Length: 0\r\n\r\n";
    struct weir_head head;
    struct weir_http_header headers[4];
    weir_head_init(&head);
    ck_assert_int_eq(read_head(&head, bytes, sizeof(bytes) - 1), WEIR_HEAD_GOOD);
    ck_assert_uint_eq(head.count, 4);
    weir_head_list(&head, headers);
    ck_assert_str_eq(headers[0].name, "B");
    ck_assert_str_eq(headers[0].value, "two words");
    ck_assert_str_eq(headers[1].name, "a");
    ck_assert_str_eq(headers[1].value, "");
    ck_assert_str_eq(headers[2].value, "3");
    ck_assert_str_eq(headers[3].name, "Content-Length");
    weir_head_release(&head);
}
END_TEST

/* A line of `len` bytes with its end. */
static enum weir_head_result long_line(struct weir_head *head, size_t len)
{
    char *line = weir_calloc(len + 1, 1);
    memset(line, 'x', len);
    memcpy(line, "A: ", 3);
    memcpy(line + len - 2, "\r\n", 2);
    enum weir_head_result result = weir_head_line(head, weir_str(line, len));
    free(line);
    return result;
}

START_TEST(a_line_has_a_bound)
{
    struct weir_head head;
    weir_head_init(&head);
    read_head(&head, OK, strlen(OK));
    ck_assert_int_eq(long_line(&head, WEIR_ANSWER_LINE_MAX), WEIR_HEAD_GOOD);
    ck_assert_int_eq(long_line(&head, WEIR_ANSWER_LINE_MAX + 1), WEIR_HEAD_TOO_BIG);
    weir_head_release(&head);
}
END_TEST

START_TEST(headers_have_a_number)
{
    struct weir_head head;
    weir_head_init(&head);
    read_head(&head, OK, strlen(OK));
    for (int i = 0; i < WEIR_ANSWER_HEADERS_MAX; i++)
        must(read_head(&head, "A: b\r\n", 6) == WEIR_HEAD_GOOD);
    ck_assert_int_eq(read_head(&head, "A: b\r\n", 6), WEIR_HEAD_TOO_BIG);
    weir_head_release(&head);
}
END_TEST

/* One head of them all, heads of 1xx without end. */
START_TEST(all_lines_together_have_a_bound)
{
    static const char *const beginnings[] = { OK, "" };
    static const char *const lines[] = { NULL, "HTTP/1.1 100 Continue\r\nA: b\r\n\r\n" };
    struct weir_head head;
    weir_head_init(&head);
    for (size_t i = 0; i < COUNT(beginnings); i++) {
        weir_head_reset(&head);
        enum weir_head_result result = read_head(&head, beginnings[i], strlen(beginnings[i]));
        while (result == WEIR_HEAD_GOOD) {
            must(head.bytes <= WEIR_ANSWER_HEAD_BYTES_MAX);
            result =
                lines[i] ? read_head(&head, lines[i], strlen(lines[i])) : long_line(&head, 1024);
        }
        ck_assert_int_eq(result, WEIR_HEAD_TOO_BIG);
        ck_assert_uint_gt(head.bytes, WEIR_ANSWER_HEAD_BYTES_MAX);
    }
    weir_head_release(&head);
}
END_TEST

/* Whether the connection ends behind the answer is a word of a list. */
START_TEST(who_says_close_ends_the_connection)
{
    static const struct {
        const char *lines;
        bool close;
    } rows[] = {
        { "", false },
        { "Connection: keep-alive\r\n", false },
        { "Connection: close\r\n", true },
        { "connection:CLOSE\r\n", true },
        { "Connection: keep-alive, close\r\n", true },
        { "Connection: close ,upgrade\r\n", true },
        { "Connection: a\r\nConnection: close\r\n", true },
        { "Connection: closed\r\n", false },
        { "Connection: not close\r\n", false },
        { "Connection: ,,\r\n", false },
        { "Proxy-Connection: close\r\n", false },
        { "Connection:\r\n", false },
        { "Content-Length: 0\r\n", false },
        { "Content-Length: 1\r\n", true }, /* a body that must not come */
        { "Transfer-Encoding: chunked\r\n", true },
    };
    struct weir_head head;
    weir_head_init(&head);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[200];
        snprintf(text, sizeof(text), "HTTP/1.1 204 x\r\n%s\r\n", rows[i].lines);
        weir_head_reset(&head);
        must(read_head(&head, text, strlen(text)) == WEIR_HEAD_GOOD && head.whole);
        ck_assert_msg(head.close == rows[i].close, "%s", rows[i].lines);
    }
    weir_head_release(&head);
}
END_TEST

/* Whatever comes, it ends, and what is listed is terminated text. */
START_TEST(any_bytes_are_borne)
{
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 0);
    struct weir_head head;
    static struct weir_http_header headers[WEIR_ANSWER_HEADERS_MAX];
    weir_head_init(&head);
    for (int round = 0; round < 2000; round++) {
        char bytes[512];
        const char *from = good[weir_rng_below(&rng, COUNT(good))].bytes;
        int len = snprintf(bytes, sizeof(bytes), "%s", from);
        for (int damage = 0; damage < 3; damage++)
            bytes[weir_rng_below(&rng, (uint64_t)len)] = (char)weir_rng_below(&rng, 256);
        weir_head_reset(&head);
        if (read_head(&head, bytes, (size_t)len) != WEIR_HEAD_GOOD)
            continue;
        weir_head_list(&head, headers);
        for (size_t i = 0; i < head.count; i++)
            must(weir_head_is_token(weir_str_from(headers[i].name)) &&
                 strlen(headers[i].value) < (size_t)len);
    }
    weir_head_release(&head);
}
END_TEST

/* Every byte, in every place of values of every length around that of a word. */
START_TEST(control_bytes_are_found_wherever_they_stand)
{
    char value[20];
    for (size_t len = 1; len <= sizeof(value); len++) {
        for (size_t at = 0; at < len; at++) {
            for (int byte = 0; byte < 256; byte++) {
                memset(value, '~', len);
                value[at] = (char)byte;
                bool fine = (byte >= 0x20 && byte != 0x7f) || byte == '\t';
                must(weir_head_is_text(weir_str(value, len)) == fine);
            }
        }
    }
    must(weir_head_is_text(weir_str("", 0)));
}
END_TEST

START_TEST(tokens_are_made_of_what_the_standard_says)
{
    for (int byte = 0; byte < 256; byte++) {
        char text[2] = { 'a', (char)byte };
        bool fine = byte < 128 && byte && (isalnum(byte) || strchr("!#$%&'*+-.^_`|~", byte));
        must(weir_head_is_token(weir_str(text, sizeof(text))) == fine);
    }
    must(!weir_head_is_token(weir_str("", 0)));
}
END_TEST

int main(void)
{
    struct suite s = suite_new("head");
    suite_add(&s, good_heads_are_understood_and_no_beginning_of_them_is_whole);
    suite_add(&s, bad_heads_are_malformed);
    suite_add(&s, headers_come_back_in_their_order_without_blanks_around_them);
    suite_add(&s, control_bytes_are_found_wherever_they_stand);
    suite_add(&s, tokens_are_made_of_what_the_standard_says);
    suite_add(&s, a_line_has_a_bound);
    suite_add(&s, headers_have_a_number);
    suite_add(&s, all_lines_together_have_a_bound);
    suite_add(&s, who_says_close_ends_the_connection);
    suite_add_loop(&s, "any_bytes_are_borne", any_bytes_are_borne, 10);
    return suite_run(&s);
}
