/* SPDX-License-Identifier: MIT */
/* An answer is the same however its bytes are cut into pieces, and no beginning of it is whole. */
#include "base/limits.h"
#include "base/mem.h"
#include "base/rng.h"
#include "net/reply.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define OK           "HTTP/1.1 200 OK\r\n"
#define CHUNKED      OK "Transfer-Encoding: chunked\r\n\r\n"
#define BODY_MAX     1000

static struct weir_reply reply;

static void setup(void)
{
    weir_reply_init(&reply, BODY_MAX);
}

static void teardown(void)
{
    weir_reply_release(&reply);
}

/* In pieces of one to `piece` bytes, each with nothing behind it, until it is over. */
static enum weir_reply_result read_in_pieces(struct weir_rng *rng, const char *bytes, size_t len,
                                             size_t piece)
{
    enum weir_reply_result result = WEIR_REPLY_MORE;
    weir_reply_reset(&reply);
    for (size_t at = 0; at < len && result == WEIR_REPLY_MORE;) {
        size_t part = 1 + (size_t)weir_rng_below(rng, piece);
        part = part < len - at ? part : len - at;
        char *copy = weir_strndup(bytes + at, part);
        result = weir_reply_read(&reply, copy, part);
        free(copy);
        at += part;
    }
    return result;
}

static const struct {
    const char *bytes;
    const char *body;
    int status;
} whole[] = {
    { OK "Content-Length: 5\r\nA: b\r\n\r\nabcde", "abcde", 200 },
    { OK "Content-Length: 0\r\n\r\n", "", 200 },
    { "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", "", 204 },
    { "HTTP/1.1 304 x\r\nContent-Length: 9\r\n\r\n", "", 304 },
    { CHUNKED "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: u\r\n\r\n", "abcde", 200 },
    { CHUNKED "0\r\n\r\n", "", 200 },
    { "HTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/1.1 429 x\nContent-Length: 2\n\n{}", "{}", 429 },
};

START_TEST(an_answer_is_the_same_in_any_pieces)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 3, 0);
    setup();
    for (size_t i = 0; i < COUNT(whole); i++) {
        size_t len = strlen(whole[i].bytes);
        for (size_t piece = 1; piece <= len; piece++) {
            ck_assert_int_eq(read_in_pieces(&rng, whole[i].bytes, len, piece), WEIR_REPLY_WHOLE);
            ck_assert_int_eq(reply.head.status, whole[i].status);
            ck_assert_str_eq(weir_buf_text(&reply.body), whole[i].body);
            ck_assert_uint_eq(reply.bytes, len);
            must(!reply.excess && !reply.problem);
        }
        for (size_t cut = 0; cut < len; cut++)
            must(read_in_pieces(&rng, whole[i].bytes, cut, len) == WEIR_REPLY_MORE);
    }
    teardown();
}
END_TEST

/* What is behind an answer in the same piece is seen, and is not part of it. */
START_TEST(more_than_an_answer_is_told)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 4, 0);
    setup();
    for (size_t i = 0; i < COUNT(whole); i++) {
        char text[300];
        size_t len = (size_t)snprintf(text, sizeof(text), "%sH", whole[i].bytes);
        weir_reply_reset(&reply);
        ck_assert_int_eq(weir_reply_read(&reply, text, len), WEIR_REPLY_WHOLE);
        ck_assert(reply.excess);
        ck_assert_uint_eq(reply.bytes, len - 1);
        ck_assert_str_eq(weir_buf_text(&reply.body), whole[i].body);
    }
    teardown();
}
END_TEST

START_TEST(what_is_wrong_is_wrong_in_any_pieces)
{
    static char line[WEIR_ANSWER_LINE_MAX + 100];
    static const struct {
        const char *bytes;
        enum weir_reply_result result;
    } rows[] = {
        { "hello\n", WEIR_REPLY_BROKEN },
        { OK "\r\n", WEIR_REPLY_BROKEN },
        { OK "Content-Length: x\r\n", WEIR_REPLY_BROKEN },
        { CHUNKED "x", WEIR_REPLY_BROKEN },
        { OK "Content-Length: 1001\r\n\r\n", WEIR_REPLY_TOO_BIG },
        { line, WEIR_REPLY_TOO_BIG },
    };
    struct weir_rng rng;
    weir_rng_init(&rng, 5, 0);
    memset(line, 'x', sizeof(line) - 1);
    setup();
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t piece = 1; piece < 3000; piece = 2 * piece + 1) {
            ck_assert_int_eq(read_in_pieces(&rng, rows[i].bytes, strlen(rows[i].bytes), piece),
                             rows[i].result);
            ck_assert_ptr_nonnull(reply.problem);
        }
    }
    teardown();
}
END_TEST

/* Chunks do not announce how many there will be. */
START_TEST(a_body_in_chunks_has_the_same_bound)
{
    setup();
    for (size_t size = BODY_MAX; size <= BODY_MAX + 1; size++) {
        struct weir_buf text;
        weir_buf_init(&text, (size_t)2 * BODY_MAX);
        weir_buf_printf(&text, CHUNKED "%zx\r\n", size);
        for (size_t i = 0; i < size; i++)
            weir_buf_add_char(&text, 'a');
        weir_buf_add_text(&text, "\r\n0\r\n\r\n");
        weir_reply_reset(&reply);
        ck_assert_int_eq(weir_reply_read(&reply, text.ptr, text.len),
                         size > BODY_MAX ? WEIR_REPLY_TOO_BIG : WEIR_REPLY_WHOLE);
        weir_buf_release(&text);
    }
    teardown();
}
END_TEST

/* Damaged at random: it ends, and in one piece as in many. */
START_TEST(any_bytes_are_read_alike)
{
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 0);
    setup();
    for (int round = 0; round < 2000; round++) {
        char bytes[300];
        size_t len = (size_t)snprintf(bytes, sizeof(bytes), "%s",
                                      whole[weir_rng_below(&rng, COUNT(whole))].bytes);
        for (int damage = 0; damage < 2; damage++)
            bytes[weir_rng_below(&rng, len)] = (char)weir_rng_below(&rng, 256);
        weir_reply_reset(&reply);
        enum weir_reply_result once = weir_reply_read(&reply, bytes, len);
        uint64_t read = reply.bytes;
        size_t body = reply.body.len;
        enum weir_reply_result again = read_in_pieces(&rng, bytes, len, 9);
        must(once == again);
        must(once != WEIR_REPLY_WHOLE || (read == reply.bytes && body == reply.body.len));
    }
    teardown();
}
END_TEST

int main(void)
{
    struct suite s = suite_new("reply");
    suite_add(&s, an_answer_is_the_same_in_any_pieces);
    suite_add(&s, more_than_an_answer_is_told);
    suite_add(&s, what_is_wrong_is_wrong_in_any_pieces);
    suite_add(&s, a_body_in_chunks_has_the_same_bound);
    suite_add_loop(&s, "any_bytes_are_read_alike", any_bytes_are_read_alike, 5);
    return suite_run(&s);
}
