/* SPDX-License-Identifier: MIT */
/* Answers to a $batch: whole, cut, malformed, mutated; and each part as an answer of its own. */
#include <stdio.h>

#include "base/buf.h"
#include "base/limits.h"
#include "protocol/item_answer.h"
#include "protocol/multipart.h"
#include "support/gathered.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define S            WEIR_US_PER_S
#define TYPE         "multipart/mixed; boundary=b"
#define HEAD         "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
#define OK           HEAD "HTTP/1.1 204 No Content\r\nOData-Version: 4.0\r\n\r\n\r\n"
#define END          "--b--\r\n"

static struct weir_str text(const char *s)
{
    return weir_str_from(s);
}

/* ---- the boundary of a Content-Type ---- */

START_TEST(boundaries_are_read_with_and_without_quotes)
{
    static const char *const good[] = {
        "multipart/mixed; boundary=a_b-1",
        "multipart/mixed;boundary=\"a_b-1\"",
        "Multipart/Mixed ; charset=utf-8; BOUNDARY = a_b-1 ; x=y",
        "multipart/mixed; x=\"; boundary=no\"; boundary=a_b-1",
    };
    struct weir_str boundary;
    for (size_t i = 0; i < COUNT(good); i++) {
        ck_assert_msg(weir_multipart_boundary(text(good[i]), &boundary), "%s", good[i]);
        ck_assert(weir_str_equal(boundary, text("a_b-1")));
    }
    static const char *const bad[] = {
        "",
        "multipart/mixed",
        "multipart/mixed; boundary",
        "multipart/mixed; boundary=",
        "multipart/mixed; boundary=\"\"",
        "multipart/mixed; boundary=\"a",
        "multipart/form-data; boundary=a",
        "application/json; boundary=a",
        "multipart/mixedboundary=a",
    };
    for (size_t i = 0; i < COUNT(bad); i++)
        ck_assert_msg(!weir_multipart_boundary(text(bad[i]), &boundary), "%s", bad[i]);
    char type[128];
    for (int len = WEIR_BOUNDARY_BYTES_MAX; len <= WEIR_BOUNDARY_BYTES_MAX + 1; len++) {
        snprintf(type, sizeof(type), "multipart/mixed; boundary=%0*d", len, 1);
        ck_assert_int_eq(weir_multipart_boundary(text(type), &boundary),
                         len == WEIR_BOUNDARY_BYTES_MAX);
    }
}
END_TEST

/* ---- what the service may vary ---- */

struct answer_case {
    const char *body;
    size_t expected;
    size_t answered;
    bool complete;
    int statuses[3];
};

static void check_case(const struct answer_case *c)
{
    struct weir_batch_answer answer;
    struct weir_error err;
    if (weir_batch_answer_read(text(c->body), TYPE, c->expected, &answer, &err) != WEIR_OK)
        ck_abort_msg("%s: %s", err.message, c->body);
    ck_assert_msg(answer.complete == c->complete, "%s: %s", answer.problem, c->body);
    ck_assert_msg(answer.answered == c->answered, "%zu parts: %s", answer.answered, c->body);
    ck_assert_uint_eq(answer.part_count, c->expected);
    ck_assert_int_eq(answer.complete, answer.problem[0] == '\0');
    for (size_t i = 0; i < c->expected; i++)
        ck_assert_int_eq(answer.parts[i].status, c->statuses[i]);
    weir_batch_answer_release(&answer);
    weir_batch_answer_release(&answer);
}

START_TEST(answers_are_read_in_the_forms_that_occur)
{
    static const struct answer_case cases[] = {
        { OK OK END, 2, 2, true, { 204, 204 } },
        { "\r\n" OK END, 1, 1, true, { 204 } },
        { "preamble --b\r\n" OK "--b--", 1, 1, true, { 204 } },
        { OK "--b-- \r\nepilogue\r\n--b\r\n", 1, 1, true, { 204 } },
        /* line feeds alone, blanks behind the boundary */
        { "--b \t\nContent-Type: application/http\n\nHTTP/1.1 200 OK\nX: y\n\n{}\n--b--\n",
          1,
          1,
          true,
          { 200 } },
        /* without a body the empty lines may be fewer */
        { HEAD "HTTP/1.1 204 No Content\r\nX: y\r\n\r\n" END, 1, 1, true, { 204 } },
        { HEAD "HTTP/1.1 204 No Content\r\nX: y\r\n" END, 1, 1, true, { 204 } },
        { HEAD "HTTP/1.1 204\r\n" END, 1, 1, true, { 204 } },
        { "--b\r\ncontent-type:application/http; msgtype=response\r\n\r\nHTTP/1.0 404 \r\n\r\n" END,
          1,
          1,
          true,
          { 404 } },
        /* another boundary that begins alike */
        { HEAD "HTTP/1.1 200 OK\r\n\r\n--bb\r\n--b-\r\n--b--x\r\n" END, 1, 1, true, { 200 } },
        { HEAD "HTTP/1.1 200 OK\r\n\r\n--b--x\r\n" OK END, 2, 2, true, { 200, 204 } },
        /* the service stopped at the first failure */
        { OK HEAD "HTTP/1.1 400 Bad Request\r\n\r\n{}\r\n" END, 3, 2, true, { 204, 400 } },
        { END, 2, 0, true, { 0 } },
        { HEAD "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}\r\n" END, 1, 1, true, { 200 } },
        { HEAD "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}\r\n\r\n" END, 1, 1, true, { 200 } },
        { HEAD "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n\r\n" END,
          1,
          1,
          true,
          { 204 } },
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        check_case(&cases[i]);
}
END_TEST

START_TEST(answers_that_are_cut_or_malformed_are_not_complete)
{
    static const struct answer_case cases[] = {
        { OK OK, 2, 1, false, { 204 } },
        { OK OK "--b\r\n", 2, 2, false, { 204, 204 } },
        { OK "--b-", 1, 0, false, { 0 } },
        { OK HEAD "HTTP/1.1 2", 2, 1, false, { 204 } },
        { OK HEAD "HTTP/1.1 2x4 OK\r\n\r\n" END, 2, 1, false, { 204 } },
        { OK HEAD "HTTP/1.1 2044 OK\r\n\r\n" END, 2, 1, false, { 204 } },
        { OK HEAD "HTTP/1.1 100 Continue\r\n\r\n" END, 2, 1, false, { 204 } },
        { OK HEAD "HTTP/1.1 600 No\r\n\r\n" END, 2, 1, false, { 204 } },
        { OK HEAD "HTTP/2 200 OK\r\n\r\n" END, 2, 1, false, { 204 } },
        { OK HEAD END, 2, 1, false, { 204 } },
        { OK HEAD "HTTP/1.1 200 OK\r\nno colon\r\n\r\n" END, 2, 1, false, { 204 } },
        { OK HEAD "HTTP/1.1 200 OK\r\n: x\r\n\r\n" END, 2, 1, false, { 204 } },
        { OK HEAD "HTTP/1.1 200 OK\r\nA: b\r\n folded: c\r\n\r\n" END, 2, 1, false, { 204 } },
        { OK HEAD "HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n" END, 2, 1, false, { 204 } },
        { OK "--b\r\n\r\nHTTP/1.1 200 OK\r\n\r\n" END, 2, 1, false, { 204 } },
        { OK "--b\r\nContent-Type: text/html\r\n\r\nHTTP/1.1 200 OK\r\n\r\n" END,
          2,
          1,
          false,
          { 204 } },
        { HEAD "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}\r\n" END, 1, 0, false, { 0 } },
        { HEAD "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{}\r\n" END, 1, 0, false, { 0 } },
        { HEAD "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n{}\r\n" END, 1, 0, false, { 0 } },
        { HEAD "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}\r\n" END, 1, 0, false, { 0 } },
        { OK "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\n--c--\r\n" END,
          2,
          1,
          false,
          { 204 } },
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        check_case(&cases[i]);
}
END_TEST

START_TEST(what_is_no_answer_to_the_batch_is_refused)
{
    struct weir_batch_answer answer;
    struct weir_error err;
    ck_assert_int_eq(weir_batch_answer_read(text(OK OK END), TYPE, 1, &answer, &err),
                     WEIR_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "more parts than the 1"));
    ck_assert_int_eq(weir_batch_answer_read(text(OK END), NULL, 1, &answer, &err), WEIR_E_INVALID);
    ck_assert_int_eq(weir_batch_answer_read(text(OK END), "application/json", 1, &answer, &err),
                     WEIR_E_INVALID);
    ck_assert_int_eq(weir_batch_answer_read(text(""), TYPE, 1, &answer, &err), WEIR_E_INVALID);
    ck_assert_int_eq(weir_batch_answer_read(weir_str(NULL, 0), TYPE, 1, &answer, &err),
                     WEIR_E_INVALID);
    ck_assert_int_eq(weir_batch_answer_read(text("{}"), TYPE, 1, &answer, &err), WEIR_E_INVALID);
    ck_assert_int_eq(weir_batch_answer_read(text(OK END), TYPE, 0, &answer, &err), WEIR_E_INVALID);
    ck_assert_int_eq(
        weir_batch_answer_read(text(OK END), TYPE, WEIR_BATCH_PARTS_MAX + 1, &answer, &err),
        WEIR_E_INVALID);
    static const char change_set[] =
        "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\n--c--\r\n" END;
    ck_assert_int_eq(weir_batch_answer_read(text(change_set), TYPE, 1, &answer, NULL), WEIR_OK);
    ck_assert_ptr_nonnull(strstr(answer.problem, "change set"));
    weir_batch_answer_release(&answer);
}
END_TEST

START_TEST(headers_of_a_part_have_bounds)
{
    for (int more = 0; more < 2; more++) {
        struct weir_buf buf;
        struct weir_batch_answer answer;
        weir_buf_init(&buf, 1000000);
        weir_buf_add_text(&buf, HEAD "HTTP/1.1 200 OK\r\n");
        for (int i = 0; i < WEIR_PART_HEADERS_MAX + more; i++)
            weir_buf_printf(&buf, "H%d: %d\r\n", i, i);
        weir_buf_add_text(&buf, "\r\n\r\n" END);
        ck_assert_int_eq(weir_batch_answer_read(weir_str(buf.ptr, buf.len), TYPE, 1, &answer, NULL),
                         WEIR_OK);
        ck_assert_int_eq(answer.complete, !more);
        weir_batch_answer_release(&answer);

        weir_buf_reset(&buf);
        weir_buf_add_text(&buf, HEAD "HTTP/1.1 200 OK\r\nH: ");
        for (size_t i = 3; i < WEIR_PART_HEADERS_BYTES_MAX + (size_t)more; i++)
            weir_buf_add_char(&buf, 'x');
        weir_buf_add_text(&buf, "\r\n\r\n\r\n" END);
        ck_assert_int_eq(weir_batch_answer_read(weir_str(buf.ptr, buf.len), TYPE, 1, &answer, NULL),
                         WEIR_OK);
        ck_assert_int_eq(answer.complete, !more);
        weir_batch_answer_release(&answer);
        weir_buf_release(&buf);
    }
}
END_TEST

/* ---- random answers ---- */

struct made_part {
    int status;
    size_t header_count;
    char names[6][16];
    char values[6][32];
    char body[200];
};

struct made {
    struct made_part parts[12];
    size_t count;
    char type[128];
    struct weir_buf body;
    size_t end; /* behind the last hyphen */
};

static void make_part(struct weir_rng *rng, struct made_part *part)
{
    static const int statuses[] = { 200, 201, 204, 400, 404, 412, 429, 500, 503 };
    static const char *const bodies[] = {
        "",
        "{\"error\":{\"code\":\"0x80040217\",\"message\":\"m\"}}",
        "{\"name\":\"--b\",\r\n\"x\":[1,\r\n2]}",
        "--\r\n-- \r\n--not the boundary",
        "<html>\n</html>",
    };
    *part = (struct made_part){ .status = statuses[weir_rng_below(rng, COUNT(statuses))] };
    part->header_count = (size_t)weir_rng_below(rng, 6);
    for (size_t i = 0; i < part->header_count; i++) {
        snprintf(part->names[i], sizeof(part->names[i]), "Name-%u",
                 (unsigned)weir_rng_below(rng, 100));
        snprintf(part->values[i], sizeof(part->values[i]), "%s%u",
                 weir_rng_below(rng, 2) ? "a: b=" : "", (unsigned)weir_rng_below(rng, 100));
    }
    snprintf(part->body, sizeof(part->body), "%s", bodies[weir_rng_below(rng, COUNT(bodies))]);
}

static void write_part(struct weir_rng *rng, struct weir_buf *buf, const char *boundary,
                       const struct made_part *part)
{
    weir_buf_printf(buf, "--%s\r\nContent-Type: application/http\r\n", boundary);
    if (weir_rng_below(rng, 2))
        weir_buf_add_text(buf, "Content-Transfer-Encoding: binary\r\n");
    weir_buf_printf(buf, "\r\nHTTP/1.1 %d Whatever\r\n", part->status);
    for (size_t i = 0; i < part->header_count; i++)
        weir_buf_printf(buf, "%s:%s%s\r\n", part->names[i], weir_rng_below(rng, 2) ? " " : "",
                        part->values[i]);
    weir_buf_printf(buf, "\r\n%s\r\n", part->body);
}

static void make(struct weir_rng *rng, struct made *made)
{
    char boundary[64];
    snprintf(boundary, sizeof(boundary), "batchresponse_%016llx",
             (unsigned long long)weir_rng_u64(rng));
    snprintf(made->type, sizeof(made->type),
             weir_rng_below(rng, 2) ? "multipart/mixed; boundary=%s"
                                    : "multipart/mixed;boundary=\"%s\"",
             boundary);
    made->count = 1 + (size_t)weir_rng_below(rng, COUNT(made->parts));
    weir_buf_init(&made->body, 65536);
    if (weir_rng_below(rng, 3) == 0)
        weir_buf_add_text(&made->body, "\r\n");
    for (size_t i = 0; i < made->count; i++) {
        make_part(rng, &made->parts[i]);
        write_part(rng, &made->body, boundary, &made->parts[i]);
    }
    weir_buf_printf(&made->body, "--%s--", boundary);
    made->end = made->body.len;
    weir_buf_add_text(&made->body, "\r\n");
}

static void check_made(const struct made *made, const struct weir_batch_answer *answer)
{
    for (size_t i = 0; i < answer->answered; i++) {
        const struct made_part *part = &made->parts[i];
        const struct weir_part_answer *got = &answer->parts[i];
        must(got->status == part->status);
        must(weir_str_equal(got->body, text(part->body)));
        must(got->header_count == part->header_count);
        for (size_t k = 0; k < part->header_count; k++) {
            must(strcmp(got->headers[k].name, part->names[k]) == 0);
            must(strcmp(got->headers[k].value, part->values[k]) == 0);
        }
    }
    for (size_t i = answer->answered; i < answer->part_count; i++)
        must(answer->parts[i].status == 0 && answer->parts[i].header_count == 0);
}

START_TEST(random_answers_are_read_back_as_they_were_made)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 7, (uint64_t)_i);
    for (int run = 0; run < 1000; run++) {
        struct made made;
        struct weir_batch_answer answer;
        make(&rng, &made);
        size_t missing = (size_t)weir_rng_below(&rng, 3);
        must(weir_batch_answer_read(weir_str(made.body.ptr, made.body.len), made.type,
                                    made.count + missing, &answer, NULL) == WEIR_OK);
        must(answer.complete && answer.answered == made.count);
        must(answer.part_count == made.count + missing);
        check_made(&made, &answer);
        weir_batch_answer_release(&answer);
        weir_buf_release(&made.body);
    }
}
END_TEST

START_TEST(no_answer_that_is_cut_anywhere_is_complete)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 8, 0);
    for (int run = 0; run < 40; run++) {
        struct made made;
        make(&rng, &made);
        for (size_t len = 0; len < made.end; len++) {
            struct weir_batch_answer answer;
            char *cut = exact_copy(weir_str(made.body.ptr, len));
            if (weir_batch_answer_read(weir_str(cut, len), made.type, made.count, &answer, NULL) ==
                WEIR_OK) {
                must(!answer.complete && answer.problem[0]);
                must(answer.answered < made.count + (len + 2 >= made.end));
                check_made(&made, &answer);
                weir_batch_answer_release(&answer);
            }
            free(cut);
        }
        weir_buf_release(&made.body);
    }
}
END_TEST

static void judge_all(const struct weir_batch_answer *answer)
{
    for (size_t i = 0; i < answer->part_count; i++) {
        struct weir_item_answer item;
        struct weir_answer verdict;
        weir_item_answer_init_part(&item, &answer->parts[i], NULL, 0);
        weir_answer_read(&item.http, S, &verdict);
        must(verdict.verdict.http_status == answer->parts[i].status);
        weir_item_answer_release(&item);
    }
}

START_TEST(mutated_answers_are_read_or_refused_and_never_more)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 9, (uint64_t)_i);
    for (int run = 0; run < 3000; run++) {
        struct made made;
        make(&rng, &made);
        static char changed[70000];
        memcpy(changed, made.body.ptr, made.body.len);
        size_t len = mutate(&rng, changed, made.body.len, sizeof(changed));
        char *copy = exact_copy(weir_str(changed, len));
        struct weir_batch_answer answer;
        if (weir_batch_answer_read(weir_str(copy, len), made.type, made.count, &answer, NULL) ==
            WEIR_OK) {
            must(answer.answered <= made.count);
            must(answer.complete == (answer.problem[0] == '\0'));
            judge_all(&answer);
            weir_batch_answer_release(&answer);
        }
        free(copy);
        weir_buf_release(&made.body);
    }
}
END_TEST

/* ---- parts and rows as answers ---- */

static struct weir_verdict judge_part(const struct weir_part_answer *part,
                                      const struct weir_http_header *outer, size_t count)
{
    struct weir_item_answer item;
    struct weir_answer answer;
    weir_item_answer_init_part(&item, part, outer, count);
    weir_answer_read(&item.http, 7 * S, &answer);
    weir_item_answer_release(&item);
    return answer.verdict;
}

#define THROTTLED "{\"error\":{\"code\":\"0x80072322\",\"message\":\"limit of 6000 over\"}}"
#define ANNOTATED                                                                                  \
    "{\"error\":{\"code\":\"0x80072326\",\"message\":\"m\","                                       \
    "\"@Microsoft.PowerApps.CDS.ErrorDetails.Retry-After\":\"00:00:40\"}}"
#define DATE "Sun, 06 Nov 1994 08:49:37 GMT"

START_TEST(a_part_waits_by_its_own_header_then_the_outer_then_the_details)
{
    static const struct weir_http_header own[] = { { "Retry-After", "10" }, { "X", "y" } };
    static const struct weir_http_header own_ms[] = { { "retry-after-ms", "1500" } };
    static const struct weir_http_header own_date[] = { { "Retry-After",
                                                          "Sun, 06 Nov 1994 08:49:57 GMT" } };
    static const struct weir_http_header bad[] = { { "Retry-After", "soon" } };
    static const struct weir_http_header outer[] = { { "retry-after-ms", "30000" },
                                                     { "Date", DATE } };
    static const struct weir_http_header dated[] = {
        { "Date", DATE }, { "Retry-After", "Sun, 06 Nov 1994 08:50:27 GMT" }
    };
    static const struct {
        const struct weir_http_header *own;
        size_t own_count;
        const struct weir_http_header *outer;
        size_t outer_count;
        const char *body;
        int64_t wait_us;
        bool fallback;
    } rows[] = {
        { own, 2, NULL, 0, THROTTLED, 10 * S, false },
        { own, 2, outer, 2, ANNOTATED, 10 * S, false },
        { own_ms, 1, outer, 2, ANNOTATED, 1500000, false },
        { own_date, 1, outer, 2, THROTTLED, 20 * S, false },
        { NULL, 0, outer, 2, ANNOTATED, 30 * S, false },
        { own + 1, 1, dated, 2, ANNOTATED, 50 * S, false },
        { NULL, 0, NULL, 0, ANNOTATED, 40 * S, false },
        { NULL, 0, outer + 1, 1, ANNOTATED, 40 * S, false },
        { NULL, 0, outer + 1, 1, THROTTLED, 7 * S, true },
        { bad, 1, outer, 2, THROTTLED, 7 * S, true }, /* its own header decides, good or bad */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_part_answer part = { .status = 429,
                                         .headers = rows[i].own,
                                         .header_count = rows[i].own_count,
                                         .body = text(rows[i].body) };
        struct weir_verdict verdict = judge_part(&part, rows[i].outer, rows[i].outer_count);
        ck_assert_int_eq(verdict.class_, WEIR_CLASS_THROTTLE);
        ck_assert_msg(verdict.retry_after_us == rows[i].wait_us, "row %zu: %lld", i,
                      (long long)verdict.retry_after_us);
        ck_assert_int_eq(verdict.retry_after_fallback, rows[i].fallback);
    }
}
END_TEST

START_TEST(a_part_is_judged_by_its_code_and_a_missing_one_is_unknown)
{
    struct weir_part_answer part = { .status = 400, .body = text(THROTTLED) };
    struct weir_verdict verdict = judge_part(&part, NULL, 0);
    ck_assert_int_eq(verdict.class_, WEIR_CLASS_THROTTLE);
    ck_assert_int_eq(verdict.throttle, WEIR_THROTTLE_REQUESTS);
    ck_assert_int_eq(verdict.limit.value, 6000);
    part = (struct weir_part_answer){ .status = 0 };
    verdict = judge_part(&part, NULL, 0);
    ck_assert_int_eq(verdict.outcome, WEIR_OUTCOME_UNKNOWN);
    ck_assert_int_eq(verdict.class_, WEIR_CLASS_TRANSIENT);
    /* a row that is read may have columns that look like an error's */
    part = (struct weir_part_answer){
        .status = 200, .body = text("{\"Message\":\"a column\",\"ErrorCode\":\"0x80072322\"}")
    };
    ck_assert_int_eq(judge_part(&part, NULL, 0).class_, WEIR_CLASS_OK);
    part = (struct weir_part_answer){ .status = 400, .body = text("<html>") };
    ck_assert_int_eq(judge_part(&part, NULL, 0).class_, WEIR_CLASS_BAD_ROWS);
}
END_TEST

START_TEST(a_part_with_all_the_headers_there_may_be_fits)
{
    struct weir_http_header own[WEIR_PART_HEADERS_MAX];
    for (size_t i = 0; i < COUNT(own); i++)
        own[i] = (struct weir_http_header){ "X", "y" };
    static const struct weir_http_header outer[] = { { "Retry-After", "3" },
                                                     { "retry-after-ms", "x" },
                                                     { "x-ms-retry-after-ms", "y" },
                                                     { "Date", DATE } };
    struct weir_part_answer part = {
        .status = 429, .headers = own, .header_count = COUNT(own), .body = text(ANNOTATED)
    };
    ck_assert_int_eq(judge_part(&part, outer, COUNT(outer)).retry_after_us, 3 * S);
}
END_TEST

START_TEST(a_row_of_an_elastic_table_is_judged_by_itself)
{
    static const struct weir_http_header outer[] = { { "Retry-After", "9" } };
    static const struct {
        struct weir_fault_row row;
        enum weir_class class_;
        int64_t wait_us;
    } rows[] = {
        { { .status = 429, .code = "0x80072321" }, WEIR_CLASS_THROTTLE, 9 * S },
        { { .status = 429 }, WEIR_CLASS_THROTTLE, 9 * S },
        { { .status = 409 }, WEIR_CLASS_BAD_ROWS, -1 },
        { { .status = 0 }, WEIR_CLASS_TRANSIENT, 9 * S },
        { { .code = "0x80072322" }, WEIR_CLASS_THROTTLE, 9 * S },
        { { .code = "0x80040237" }, WEIR_CLASS_BAD_ROWS, -1 },
        { { .status = 500, .code = "-2147015898" }, WEIR_CLASS_THROTTLE, 9 * S },
    };
    struct weir_fault fault = { .found = true };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_item_answer item;
        struct weir_answer answer;
        weir_item_answer_init_row(&item, &rows[i].row, &fault, outer, 1);
        weir_answer_read(&item.http, 7 * S, &answer);
        ck_assert_int_eq(answer.verdict.class_, rows[i].class_);
        ck_assert_int_eq(answer.verdict.retry_after_us, rows[i].wait_us);
        weir_item_answer_release(&item);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("protocol_batch_answer");
    suite_add(&s, boundaries_are_read_with_and_without_quotes);
    suite_add(&s, answers_are_read_in_the_forms_that_occur);
    suite_add(&s, answers_that_are_cut_or_malformed_are_not_complete);
    suite_add(&s, what_is_no_answer_to_the_batch_is_refused);
    suite_add(&s, headers_of_a_part_have_bounds);
    suite_add_loop(&s, "random_answers_are_read_back_as_they_were_made",
                   random_answers_are_read_back_as_they_were_made, 4);
    suite_add(&s, no_answer_that_is_cut_anywhere_is_complete);
    suite_add_loop(&s, "mutated_answers_are_read_or_refused_and_never_more",
                   mutated_answers_are_read_or_refused_and_never_more, 4);
    suite_add(&s, a_part_waits_by_its_own_header_then_the_outer_then_the_details);
    suite_add(&s, a_part_is_judged_by_its_code_and_a_missing_one_is_unknown);
    suite_add(&s, a_part_with_all_the_headers_there_may_be_fits);
    suite_add(&s, a_row_of_an_elastic_table_is_judged_by_itself);
    return suite_run(&s);
}
