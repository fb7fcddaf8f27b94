/* SPDX-License-Identifier: MIT */
/* The reader of chunked bodies against one that has the whole of it before its eyes. */
#include "base/limits.h"
#include "base/rng.h"
#include "net/chunks.h"
#include "support/suite.h"

#define WIRE_MAX 4096

/* --- a naive reader --------------------------------------------------------------------------- */

/* Where the line that begins at `at` ends, behind its CR LF; 0: it has no end, or a wrong one. */
static size_t line_end(const char *wire, size_t len, size_t at)
{
    for (; at < len; at++) {
        unsigned char c = (unsigned char)wire[at];
        if (c == '\r')
            return at + 1 < len && wire[at + 1] == '\n' ? at + 2 : 0;
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return 0;
    }
    return 0;
}

/* How long the body is on the wire; 0: it is not whole, or wrong. */
static size_t naive(const char *wire, size_t len, struct weir_buf *body)
{
    size_t at = 0;
    for (;;) {
        size_t end = line_end(wire, len, at);
        size_t digits = strspn(wire + at, "0123456789abcdefABCDEF");
        if (!end || digits == 0 || digits > 15 || !strchr("\r; \t", wire[at + digits]))
            return 0;
        size_t size = (size_t)strtoull(wire + at, NULL, 16);
        at = end;
        if (size == 0)
            break;
        if (size > len - at || len - at - size < 2 || memcmp(wire + at + size, "\r\n", 2) != 0)
            return 0;
        weir_buf_add(body, wire + at, size);
        at += size + 2;
    }
    for (;;) {
        size_t end = line_end(wire, len, at);
        if (!end || end == at + 2)
            return end;
        at = end;
    }
}

/* --- random bodies ---------------------------------------------------------------------------- */

static void add_size(struct weir_rng *rng, struct weir_buf *wire, unsigned size)
{
    static const char *const behind[] = { "", "", ";a=b", " ;q=\"1\"", "\t" };
    if (weir_rng_below(rng, 2))
        weir_buf_printf(wire, "%04X", size);
    else
        weir_buf_printf(wire, "%x", size);
    weir_buf_printf(wire, "%s\r\n", behind[weir_rng_below(rng, 5)]);
}

static void make_wire(struct weir_rng *rng, struct weir_buf *wire, struct weir_buf *body)
{
    for (uint64_t chunks = weir_rng_below(rng, 5); chunks; chunks--) {
        unsigned size = 1 + (unsigned)weir_rng_below(rng, 40);
        add_size(rng, wire, size);
        for (unsigned i = 0; i < size; i++) {
            char c = "\r\n0aZ\0;:"[weir_rng_below(rng, 8)];
            weir_buf_add_char(wire, c);
            weir_buf_add_char(body, c);
        }
        weir_buf_add_text(wire, "\r\n");
    }
    weir_buf_add_text(wire, "0\r\n");
    for (uint64_t trailers = weir_rng_below(rng, 3); trailers; trailers--)
        weir_buf_add_text(wire, "X-A: b\r\n");
    weir_buf_add_text(wire, "\r\n");
}

/* In pieces of any size; the bytes of the body, whether or not it is whole. */
static size_t read_in_pieces(struct weir_rng *rng, struct weir_chunks *chunks,
                             const struct weir_buf *wire, struct weir_buf *body)
{
    size_t taken = 0;
    *chunks = (struct weir_chunks){ 0 };
    for (size_t at = 0; at < wire->len;) {
        size_t piece = 1 + (size_t)weir_rng_below(rng, 1 + wire->len - at);
        piece = piece < wire->len - at ? piece : wire->len - at;
        taken += weir_chunks_read(chunks, wire->ptr + at, piece, body);
        at += piece;
    }
    return taken;
}

struct bodies {
    struct weir_buf wire, sent, read, expected;
};

static void init(struct bodies *it)
{
    weir_buf_init(&it->wire, WIRE_MAX);
    weir_buf_init(&it->sent, WIRE_MAX);
    weir_buf_init(&it->read, WIRE_MAX);
    weir_buf_init(&it->expected, WIRE_MAX);
}

static void release(struct bodies *it)
{
    weir_buf_release(&it->wire);
    weir_buf_release(&it->sent);
    weir_buf_release(&it->read);
    weir_buf_release(&it->expected);
}

static bool same(const struct weir_buf *a, const struct weir_buf *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->ptr, b->ptr, a->len) == 0);
}

START_TEST(a_body_in_any_pieces_is_read_and_ends_where_it_ends)
{
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 1);
    for (int round = 0; round < 300; round++) {
        struct bodies it;
        struct weir_chunks chunks;
        init(&it);
        make_wire(&rng, &it.wire, &it.sent);
        size_t len = it.wire.len;
        weir_buf_add_text(&it.wire, "HTTP/1.1 200 OK\r\n");
        must(read_in_pieces(&rng, &chunks, &it.wire, &it.read) == len);
        must(chunks.state == WEIR_CHUNKS_DONE);
        must(same(&it.read, &it.sent));
        release(&it);
    }
}
END_TEST

START_TEST(no_beginning_of_a_body_is_a_body)
{
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 2);
    struct bodies it;
    init(&it);
    make_wire(&rng, &it.wire, &it.sent);
    for (size_t len = 0; len < it.wire.len; len++) {
        struct weir_chunks chunks = { 0 };
        weir_buf_reset(&it.read);
        must(weir_chunks_read(&chunks, it.wire.ptr, len, &it.read) == len);
        must(chunks.state < WEIR_CHUNKS_DONE);
    }
    release(&it);
}
END_TEST

START_TEST(a_damaged_body_is_read_as_the_naive_reader_reads_it)
{
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 3);
    int whole = 0, wrong = 0;
    for (int round = 0; round < 2000; round++) {
        struct bodies it;
        struct weir_chunks chunks;
        init(&it);
        make_wire(&rng, &it.wire, &it.sent);
        for (uint64_t damage = 1 + weir_rng_below(&rng, 2); damage; damage--)
            it.wire.ptr[weir_rng_below(&rng, it.wire.len)] =
                "\r\n0f;\x01 \tg:\x7f"[weir_rng_below(&rng, 11)];
        size_t len = naive(it.wire.ptr, it.wire.len, &it.expected);
        size_t taken = read_in_pieces(&rng, &chunks, &it.wire, &it.read);
        must((len != 0) == (chunks.state == WEIR_CHUNKS_DONE));
        must(!len || (taken == len && same(&it.read, &it.expected)));
        whole += len != 0;
        wrong += chunks.state == WEIR_CHUNKS_WRONG;
        release(&it);
    }
    must(whole > 100 && wrong > 100);
}
END_TEST

START_TEST(sizes_extensions_and_trailers_have_bounds)
{
    struct weir_buf body;
    weir_buf_init(&body, 16);
    struct weir_chunks chunks = { 0 };
    weir_chunks_read(&chunks, "fffffffffffffff\r\n", 17, &body);
    ck_assert_int_eq(chunks.state, WEIR_CHUNKS_DATA);
    chunks = (struct weir_chunks){ 0 };
    weir_chunks_read(&chunks, "0000000000000001\r\n", 18, &body);
    ck_assert_int_eq(chunks.state, WEIR_CHUNKS_WRONG);

    for (int i = 0; i < 2; i++) {
        static const char *const beginnings[] = { "1;", "0\r\n" };
        chunks = (struct weir_chunks){ 0 };
        weir_chunks_read(&chunks, beginnings[i], strlen(beginnings[i]), &body);
        for (size_t n = 0; n < WEIR_ANSWER_HEAD_BYTES_MAX; n++)
            must(weir_chunks_read(&chunks, "x", 1, &body) == 1 && chunks.state < WEIR_CHUNKS_DONE);
        weir_chunks_read(&chunks, "x", 1, &body);
        ck_assert_int_eq(chunks.state, WEIR_CHUNKS_TOO_BIG);
        ck_assert_uint_eq(weir_chunks_read(&chunks, "x", 1, &body), 0);
    }
    weir_buf_release(&body);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("chunks");
    suite_add_loop(&s, "a_body_in_any_pieces_is_read_and_ends_where_it_ends",
                   a_body_in_any_pieces_is_read_and_ends_where_it_ends, 10);
    suite_add_loop(&s, "no_beginning_of_a_body_is_a_body", no_beginning_of_a_body_is_a_body, 20);
    suite_add_loop(&s, "a_damaged_body_is_read_as_the_naive_reader_reads_it",
                   a_damaged_body_is_read_as_the_naive_reader_reads_it, 10);
    suite_add(&s, sizes_extensions_and_trailers_have_bounds);
    return suite_run(&s);
}
