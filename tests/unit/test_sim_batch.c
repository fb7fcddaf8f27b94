/* SPDX-License-Identifier: MIT */
/* $batch of the simulated service: its form byte by byte, its order, its change sets. */
#include <stdio.h>

#include "base/mem.h"
#include "base/rng.h"
#include "sim/service/api.h"
#include "sim/service/batch.h"
#include "sim/service/multipart.h"
#include "support/suite.h"

#define ROOT "/api/data/v9.2/"

static struct sim_api *api;
static struct sim_answer answer;

static void setup_with(struct sim_switches switches)
{
    struct sim_api_options options = {
        .users = 1, .base_url = "http://sim", .switches = switches, .seed = 1
    };
    ck_assert_int_eq(sim_api_new(&options, &api, NULL), WEIR_OK);
    sim_answer_init(&answer);
}

static void setup(void)
{
    setup_with((struct sim_switches){ .duplicate_status = 412 });
}

static void teardown(void)
{
    sim_answer_release(&answer);
    sim_api_free(api);
}

static const char *send_call(const struct sim_call *call, sim_part_gate *gate, void *ctx)
{
    sim_answer_reset(&answer);
    sim_api_execute(api, call, gate, ctx, &answer);
    return weir_buf_text(&answer.body);
}

static uint32_t count_rows(const char *set)
{
    char target[100];
    snprintf(target, sizeof(target), ROOT "%s/$count", set);
    struct sim_call call = { .method = weir_str_from("GET"), .target = weir_str_from(target) };
    const char *text = send_call(&call, NULL, NULL);
    must(answer.status == 200);
    return (uint32_t)strtoul(text, NULL, 10);
}

/* A $batch with boundary "b"; the body of the answer. */
static const char *post_to(struct weir_str body, const char *type, const char *prefer,
                           sim_part_gate *gate, void *ctx)
{
    struct sim_header headers[] = {
        { weir_str_from("Content-Type"), weir_str_from(type) },
        { weir_str_from("Prefer"), weir_str_from(prefer) },
    };
    struct sim_call call = { .method = weir_str_from("POST"),
                             .target = weir_str_from(ROOT "$batch"),
                             .headers = headers,
                             .header_count = prefer ? 2 : 1,
                             .body = body };
    return send_call(&call, gate, ctx);
}

static const char *post(const char *body)
{
    return post_to(weir_str_from(body), "multipart/mixed;boundary=b", NULL, NULL, NULL);
}

static const char *post_on(const char *body)
{
    return post_to(weir_str_from(body), "multipart/mixed; boundary=\"b\"",
                   "odata.continue-on-error", NULL, NULL);
}

static uint32_t occurrences(const char *text, const char *needle)
{
    uint32_t count = 0;
    for (const char *at = text; (at = strstr(at, needle)); at++)
        count++;
    return count;
}

#define PART      "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
#define END       "--b--\r\n"
#define JSON      "Content-Type: application/json\r\n\r\n"
#define CREATE(n) PART "POST " ROOT "accounts HTTP/1.1\r\n" JSON "{\"name\":\"" n "\"}\r\n"
#define BAD       PART "POST " ROOT "accounts HTTP/1.1\r\n" JSON "{\"nosuch\":1}\r\n"
#define READ      PART "GET " ROOT "accounts?$select=name HTTP/1.1\r\nAccept: application/json\r\n\r\n"

#define SET_BEGIN "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n"
#define SET_PART(id)                                                                               \
    "--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n"               \
    "Content-ID: " id "\r\n\r\n"
#define SET_CREATE(id, n)                                                                          \
    SET_PART(id) "POST " ROOT "accounts HTTP/1.1\r\n" JSON "{\"name\":\"" n "\"}\r\n"
#define SET_BAD(id) SET_PART(id) "POST " ROOT "accounts HTTP/1.1\r\n" JSON "{\"nosuch\":1}\r\n"
#define SET_END     "--c--\r\n"

/* ---- form ---- */

START_TEST(the_boundary_is_read_from_the_content_type)
{
    static const struct {
        const char *type;
        const char *boundary; /* NULL: refused */
    } types[] = {
        { "multipart/mixed; boundary=abc", "abc" },
        { "multipart/mixed;boundary=\"a b;c\"", "a b;c" },
        { "Multipart/Mixed; charset=utf-8; Boundary=abc; x=y", "abc" },
        { "multipart/mixed; boundary = abc", "abc" },
        { "multipart/mixed", NULL },
        { "multipart/mixed; boundary=", NULL },
        { "multipart/mixed; boundary=\"\"", NULL },
        { "multipart/mixed; boundary=\"abc", NULL },
        { "multipart/related; boundary=abc", NULL },
        { "application/json", NULL },
        { "", NULL },
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        struct weir_str boundary;
        bool ok = sim_multipart_boundary(weir_str_from(types[i].type), &boundary);
        ck_assert_msg(ok == (types[i].boundary != NULL), "%s", types[i].type);
        ck_assert(!ok || weir_str_equal(boundary, weir_str_from(types[i].boundary)));
    }
}
END_TEST

START_TEST(answers_come_in_the_order_of_the_requests_with_a_boundary_of_the_service)
{
    const char *text = post(CREATE("one") READ PART "GET WhoAmI() HTTP/1.1\r\n\r\n" END);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&answer.headers),
                                 "Content-Type: multipart/mixed; boundary=batchresponse_"));
    ck_assert_uint_eq(occurrences(text, "--batchresponse_"), 4);
    ck_assert_uint_eq(occurrences(text, "Content-Type: application/http\r\n"), 3);
    ck_assert_uint_eq(occurrences(text, "Content-Transfer-Encoding: binary\r\n\r\nHTTP/1.1 "), 3);
    const char *created = strstr(text, "HTTP/1.1 204 No Content\r\n");
    const char *read = strstr(text, "\"name\":\"one\"");
    const char *who = strstr(text, "\"UserId\"");
    ck_assert(created && read && who && created < read && read < who);
    ck_assert_ptr_nonnull(strstr(created, "OData-EntityId: http://sim/api/data/v9.2/accounts("));
    ck_assert_str_eq(text + strlen(text) - 4, "--\r\n");
    ck_assert_uint_eq(count_rows("accounts"), 1);
}
END_TEST

START_TEST(addresses_may_be_absolute_rooted_or_relative)
{
    post(PART "POST http://sim" ROOT "accounts HTTP/1.1\r\n" JSON "{}\r\n" PART "POST " ROOT
              "accounts HTTP/1.1\r\n" JSON "{}\r\n" PART "POST accounts HTTP/1.1\r\n" JSON
              "{}\r\n" PART "POST /accounts HTTP/1.1\r\n" JSON "{}\r\n" END);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_uint_eq(count_rows("accounts"), 4);
}
END_TEST

START_TEST(a_wrong_boundary_executes_nothing_and_answers_200)
{
    const char *text = post_to(weir_str_from(CREATE("x") CREATE("y") END),
                               "multipart/mixed; boundary=other", NULL, NULL, NULL);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_uint_eq(occurrences(text, "HTTP/1.1"), 0);
    ck_assert_uint_eq(occurrences(text, "--batchresponse_"), 1);
    ck_assert_uint_eq(count_rows("accounts"), 0);
    /* One that only begins like the right one is a wrong one too. */
    text = post("--bb\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n"
                "\r\nPOST accounts HTTP/1.1\r\n" JSON "{}\r\n--bb--\r\n");
    ck_assert_int_eq(answer.status, 200);
    ck_assert_uint_eq(occurrences(text, "HTTP/1.1"), 0);
    ck_assert_uint_eq(count_rows("accounts"), 0);
}
END_TEST

START_TEST(a_part_with_a_foreign_boundary_is_silently_not_executed)
{
    const char *text =
        post(CREATE("one") "--x\r\nContent-Type: application/http\r\n\r\n"
                           "POST " ROOT "accounts HTTP/1.1\r\n" JSON "{}\r\n" CREATE("two") END);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_uint_eq(occurrences(text, "HTTP/1.1 204"), 2);
    ck_assert_uint_eq(count_rows("accounts"), 2);
}
END_TEST

START_TEST(a_missing_final_line_end_is_400_and_executes_nothing)
{
    static const char *const bodies[] = {
        CREATE("x") "--b--",
        CREATE("x") "--b--\n",
        CREATE("x") "--b--\r",
        CREATE("x") "--b\r\n",
        CREATE("x"),
        CREATE("x") "--b",
        "--b\nContent-Type: application/http\nContent-Transfer-Encoding: binary\n\n"
        "GET WhoAmI HTTP/1.1\n\n--b--\n",
        "--b\r\nContent-Type: application/http\nContent-Transfer-Encoding: binary\r\n\r\n"
        "GET WhoAmI HTTP/1.1\r\n\r\n" END,
        CREATE("x") "{\n--b--\r\n",
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
        const char *text = post(bodies[i]);
        ck_assert_msg(answer.status == 400, "%zu: %d", i, answer.status);
        ck_assert_ptr_nonnull(strstr(text, "0x80048d19"));
        ck_assert_ptr_nonnull(strstr(text, "Stream was not readable"));
        ck_assert_ptr_nonnull(strstr(text, "REQ_ID: "));
        ck_assert_uint_eq(count_rows("accounts"), 0);
    }
}
END_TEST

START_TEST(what_stands_before_and_after_the_parts_is_ignored)
{
    post("\r\n" CREATE("one") END);
    ck_assert_int_eq(answer.status, 200);
    post("This is a preamble\r\nof two lines.\r\n" CREATE("two") END "and an epilogue");
    ck_assert_int_eq(answer.status, 200);
    /* Blanks behind a boundary are none of it. */
    post("--b \t\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
         "POST accounts HTTP/1.1\r\n" JSON "{}\r\n--b-- \r\n");
    ck_assert_int_eq(answer.status, 200);
    ck_assert_uint_eq(count_rows("accounts"), 3);
}
END_TEST

START_TEST(malformed_parts_are_400_and_execute_nothing)
{
    static const char *const parts[] = {
        "--b\r\nContent-Type: application/http\r\n\r\nGET WhoAmI HTTP/1.1\r\n\r\n",
        "--b\r\nContent-Transfer-Encoding: binary\r\n\r\nGET WhoAmI HTTP/1.1\r\n\r\n",
        "--b\r\nContent-Type: application/json\r\nContent-Transfer-Encoding: binary\r\n\r\n{}\r\n",
        "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
        "GET WhoAmI HTTP/1.1\r\n\r\n",
        "--b\r\nContent-Type: multipart/mixed\r\n\r\n",
        PART "\r\n",
        PART "GET\r\n\r\n",
        PART "GET WhoAmI\r\n\r\n",
        PART "GET  HTTP/1.1\r\n\r\n",
        PART "GET Who AmI HTTP/1.1\r\n\r\n",
        PART "GET WhoAmI HTTP/2\r\n\r\n",
        PART "BREW WhoAmI HTTP/1.1\r\n\r\n",
        PART "get WhoAmI HTTP/1.1\r\n\r\n",
        PART "GET WhoAmI HTTP/1.1\r\nno colon\r\n\r\n",
        PART "GET WhoAmI HTTP/1.1\r\nA: b\r\n folded\r\n\r\n",
        SET_BEGIN "--c\r\nContent-Type: multipart/mixed; boundary=d\r\n\r\n--d--\r\n" SET_END,
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        char body[2000];
        snprintf(body, sizeof(body), "%s%s%s", CREATE("x"), parts[i], END);
        post_on(body);
        ck_assert_msg(answer.status == 400, "%zu: %d", i, answer.status);
        ck_assert_uint_eq(count_rows("accounts"), 0);
    }
}
END_TEST

START_TEST(an_outer_request_without_type_body_or_post_is_refused)
{
    post_to(weir_str_from(CREATE("x") END), "application/json", NULL, NULL, NULL);
    ck_assert_int_eq(answer.status, 400);
    post("");
    ck_assert_int_eq(answer.status, 400);
    struct sim_call call = { .method = weir_str_from("GET"),
                             .target = weir_str_from(ROOT "$batch") };
    send_call(&call, NULL, NULL);
    ck_assert_int_eq(answer.status, 405);
}
END_TEST

/* ---- failures ---- */

START_TEST(without_continue_on_error_the_rest_is_not_executed)
{
    const char *text = post(CREATE("one") BAD CREATE("two") END);
    ck_assert_int_eq(answer.status, 400);
    ck_assert_uint_eq(occurrences(text, "HTTP/1.1 204"), 1);
    ck_assert_uint_eq(occurrences(text, "HTTP/1.1 400 Bad Request\r\nREQ_ID: "), 1);
    ck_assert_uint_eq(occurrences(text, "HTTP/1.1 "), 2);
    ck_assert_uint_eq(occurrences(text, "--batchresponse_"), 3);
    ck_assert_uint_eq(count_rows("accounts"), 1);

    text = post(PART "GET " ROOT
                     "accounts(00000000-0000-0000-0000-000000000001) HTTP/1.1\r\n\r\n" CREATE("two")
                         END);
    ck_assert_int_eq(answer.status, 404);
    ck_assert_uint_eq(occurrences(text, "HTTP/1.1 "), 1);
}
END_TEST

START_TEST(with_continue_on_error_everything_is_executed_and_the_outer_status_is_200)
{
    const char *text = post_on(BAD CREATE("one") BAD CREATE("two") END);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_uint_eq(occurrences(text, "HTTP/1.1 204"), 2);
    ck_assert_uint_eq(occurrences(text, "HTTP/1.1 400"), 2);
    ck_assert_uint_eq(occurrences(text, "REQ_ID: "), 2);
    ck_assert_uint_eq(count_rows("accounts"), 2);
}
END_TEST

START_TEST(headers_of_the_outer_request_do_not_apply_to_parts)
{
    const char *text = post_to(weir_str_from(CREATE("one") END), "multipart/mixed;boundary=b",
                               "return=representation", NULL, NULL);
    ck_assert_uint_eq(occurrences(text, "HTTP/1.1 204"), 1);
    text = post(PART "POST " ROOT "accounts HTTP/1.1\r\nPrefer: return=representation\r\n" JSON
                     "{\"name\":\"x\"}\r\n" END);
    ck_assert_uint_eq(occurrences(text, "HTTP/1.1 201"), 1);
}
END_TEST

static void add_parts(struct weir_buf *body, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        weir_buf_add_text(body, PART "GET WhoAmI HTTP/1.1\r\n\r\n");
    weir_buf_add_text(body, END);
}

START_TEST(a_thousand_requests_are_allowed_and_one_more_is_not)
{
    for (uint32_t extra = 0; extra < 2; extra++) {
        struct weir_buf body;
        weir_buf_init(&body, 1 << 20);
        add_parts(&body, SIM_BATCH_REQUESTS_MAX + extra);
        const char *text = post(weir_buf_text(&body));
        ck_assert_int_eq(answer.status, extra ? 400 : 200);
        ck_assert_uint_eq(occurrences(text, "HTTP/1.1 200"), extra ? 0 : SIM_BATCH_REQUESTS_MAX);
        weir_buf_release(&body);
    }
}
END_TEST

START_TEST(a_batch_inside_a_batch_is_refused)
{
    post(PART "POST " ROOT "$batch HTTP/1.1\r\n\r\n" CREATE("x") END);
    ck_assert_int_eq(answer.status, 400);
    post(PART "POST $batch HTTP/1.1\r\n\r\n" END);
    ck_assert_int_eq(answer.status, 400);
    ck_assert_uint_eq(count_rows("accounts"), 0);
}
END_TEST

START_TEST(an_address_inside_a_batch_may_have_64_kb)
{
    for (uint32_t extra = 0; extra < 2; extra++) {
        static const char start[] = ROOT "accounts?x=";
        struct weir_buf body;
        weir_buf_init(&body, 1 << 20);
        weir_buf_printf(&body, PART "GET %s", start);
        for (size_t i = sizeof(start) - 1; i < 65536 + extra; i++)
            weir_buf_add_char(&body, 'a');
        weir_buf_add_text(&body, " HTTP/1.1\r\n\r\n" END);
        const char *text = post(weir_buf_text(&body));
        ck_assert_int_eq(answer.status, extra ? 400 : 200);
        ck_assert_uint_eq(occurrences(text, "0x80060888"), extra);
        weir_buf_release(&body);
    }
}
END_TEST

/* ---- change sets ---- */

START_TEST(a_change_set_is_answered_by_a_nested_multipart)
{
    const char *text =
        post(SET_BEGIN SET_CREATE("1", "one") SET_CREATE("2", "two") SET_END READ END);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_uint_eq(
        occurrences(text, "Content-Type: multipart/mixed; boundary=changesetresponse_"), 1);
    ck_assert_uint_eq(occurrences(text, "--changesetresponse_"), 3);
    ck_assert_uint_eq(occurrences(text, "Content-ID: 1\r\n"), 1);
    ck_assert_uint_eq(occurrences(text, "Content-ID: 2\r\n"), 1);
    ck_assert_uint_eq(occurrences(text, "\"name\":"), 2);
    ck_assert_uint_eq(count_rows("accounts"), 2);
}
END_TEST

START_TEST(a_change_set_that_fails_leaves_nothing_behind)
{
    const char *body = CREATE("before") SET_BEGIN SET_CREATE("1", "one") SET_BAD("2")
        SET_CREATE("3", "three") SET_END CREATE("after") END;
    const char *text = post(body);
    ck_assert_int_eq(answer.status, 400);
    ck_assert_uint_eq(occurrences(text, "HTTP/1.1 "), 2);
    ck_assert_uint_eq(occurrences(text, "Content-ID: 2\r\n"), 1);
    ck_assert_uint_eq(occurrences(text, "Content-ID: 1\r\n"), 0);
    ck_assert_uint_eq(count_rows("accounts"), 1);
    text = post_on(body);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_uint_eq(occurrences(text, "HTTP/1.1 204"), 2);
    ck_assert_uint_eq(count_rows("accounts"), 3);
}
END_TEST

START_TEST(updates_and_deletes_of_a_failed_change_set_are_undone)
{
    post(PART "PATCH accounts(00000000-0000-0000-0000-00000000000a) HTTP/1.1\r\n" JSON
              "{\"name\":\"old\"}\r\n" PART
              "PATCH accounts(00000000-0000-0000-0000-00000000000b) HTTP/1.1\r\n" JSON
              "{\"name\":\"kept\"}\r\n" END);
    ck_assert_uint_eq(count_rows("accounts"), 2);
    post(SET_BEGIN SET_PART(
        "1") "PATCH accounts(00000000-0000-0000-0000-00000000000a) HTTP/1.1\r\n" JSON
             "{\"name\":\"new\"}\r\n" SET_PART(
                 "2") "DELETE accounts(00000000-0000-0000-0000-00000000000b) "
                      "HTTP/1.1\r\n\r\n\r\n" SET_BAD("3") SET_END END);
    ck_assert_int_eq(answer.status, 400);
    ck_assert_uint_eq(count_rows("accounts"), 2);
    const char *text = post(READ END);
    ck_assert_ptr_nonnull(strstr(text, "\"name\":\"old\""));
    ck_assert_ptr_nonnull(strstr(text, "\"name\":\"kept\""));
}
END_TEST

START_TEST(requests_of_a_change_set_refer_to_rows_made_before)
{
    const char *text = post(SET_BEGIN SET_CREATE("1", "one") SET_PART(
        "2") "POST " ROOT "contacts HTTP/1.1\r\n" JSON
             "{\"lastname\":\"$1\",\"parentcustomerid_account@odata.bind\":\"$1\"}\r\n" SET_PART(
                 "3") "PATCH $1 HTTP/1.1\r\n" JSON
                      "{\"primarycontactid@odata.bind\" : \"/$2\",\"name\":\"$2\"}\r\n" SET_END PART
                      "GET accounts?$select=name,_primarycontactid_value HTTP/1.1\r\n\r\n" PART
                      "GET contacts?$select=lastname,_parentcustomerid_value HTTP/1.1\r\n\r\n" END);
    ck_assert_msg(answer.status == 200, "%s", text);
    ck_assert_uint_eq(occurrences(text, "\"_primarycontactid_value\":\""), 1);
    ck_assert_uint_eq(occurrences(text, "\"_parentcustomerid_value\":\""), 1);
    /* Values that are no addresses stay as they are. */
    ck_assert_ptr_nonnull(strstr(text, "\"lastname\":\"$1\""));
    ck_assert_ptr_nonnull(strstr(text, "\"name\":\"$2\""));
}
END_TEST

START_TEST(a_reference_to_nothing_is_400_and_undoes_the_change_set)
{
    static const char *const bodies[] = {
        SET_BEGIN SET_CREATE("2", "one") SET_PART("1") "PATCH $3 HTTP/1.1\r\n" JSON
                                                       "{}\r\n" SET_END END,
        SET_BEGIN SET_CREATE("7", "one") SET_PART(
            "2") "POST contacts HTTP/1.1\r\n" JSON
                 "{\"parentcustomerid_account@odata.bind\":\"$1\"}\r\n" SET_CREATE("1", "late")
                     SET_END END,
        /* Not beyond the change set. */
        SET_BEGIN SET_CREATE("1", "x") SET_BAD("3")
            SET_END SET_BEGIN SET_PART("2") "PATCH $1 HTTP/1.1\r\n" JSON "{}\r\n" SET_END END,
        PART "PATCH $1 HTTP/1.1\r\n" JSON "{}\r\n" END,
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
        const char *text = post_on(bodies[i]);
        ck_assert_ptr_nonnull(strstr(text, "does not exist in the batch context"));
        ck_assert_ptr_nonnull(strstr(text, "HTTP/1.1 400"));
        ck_assert_uint_eq(count_rows("accounts"), 0);
        ck_assert_uint_eq(count_rows("contacts"), 0);
    }
}
END_TEST

START_TEST(a_change_set_has_no_get_and_every_request_an_id_of_its_own)
{
    static const char *const bodies[] = {
        SET_BEGIN SET_CREATE("1", "x") SET_PART("2") "GET accounts HTTP/1.1\r\n\r\n" SET_END END,
        SET_BEGIN SET_CREATE("1", "x") SET_CREATE("1", "y") SET_END END,
        SET_BEGIN "--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n"
                  "\r\nPOST accounts HTTP/1.1\r\n" JSON "{}\r\n" SET_END END,
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
        post_on(bodies[i]);
        ck_assert_int_eq(answer.status, 400);
        ck_assert_uint_eq(count_rows("accounts"), 0);
    }
}
END_TEST

START_TEST(the_end_of_a_change_set_may_or_may_not_have_an_empty_line)
{
    post(SET_BEGIN SET_CREATE("1", "one") "--c--\r\n\r\n" CREATE("two") END);
    ck_assert_int_eq(answer.status, 200);
    post(SET_BEGIN "\r\n" SET_CREATE("1", "one") "--c--\r\n" END);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_uint_eq(count_rows("accounts"), 3);
    /* Its end is missing. */
    post(SET_BEGIN SET_CREATE("1", "one") END);
    ck_assert_int_eq(answer.status, 400);
    /* Its boundary is a wrong one: nothing to do. */
    post("--b\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n" SET_CREATE("1", "y")
             SET_END END);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_uint_eq(count_rows("accounts"), 3);
}
END_TEST

START_TEST(a_change_set_on_an_elastic_table_is_not_atomic)
{
    post(SET_BEGIN SET_PART("1") "POST sensorreadings HTTP/1.1\r\n" JSON
                                 "{}\r\n" SET_CREATE("2", "x") SET_BAD("3") SET_END END);
    ck_assert_int_eq(answer.status, 400);
    ck_assert_uint_eq(count_rows("sensorreadings"), 1);
    ck_assert_uint_eq(count_rows("accounts"), 0);
}
END_TEST

/* ---- the gate ---- */

struct gate {
    uint32_t asked;
    uint32_t refuse; /* the nth, from 1 */
};

static bool gate(void *ctx, const struct sim_call *part, struct sim_answer *refusal)
{
    struct gate *g = ctx;
    ck_assert_uint_gt(part->target.len, 0);
    if (++g->asked != g->refuse)
        return true;
    sim_answer_header(refusal, "Retry-After", "5");
    sim_answer_error(refusal, 429, "0x80072322", "Number of requests exceeded the limit.");
    return false;
}

START_TEST(the_gate_is_asked_before_each_request_if_it_is_switched_on)
{
    struct weir_str body =
        weir_str_from(CREATE("1") SET_BEGIN SET_CREATE("1", "2") SET_END CREATE("3") END);
    struct gate off = { 0, 1 };
    post_to(body, "multipart/mixed;boundary=b", NULL, gate, &off);
    ck_assert_uint_eq(off.asked, 0);
    ck_assert_uint_eq(count_rows("accounts"), 3);
    teardown();

    setup_with((struct sim_switches){ .duplicate_status = 412, .throttle_inside_batch = true });
    struct gate third = { 0, 3 };
    const char *text = post_to(body, "multipart/mixed;boundary=b", NULL, gate, &third);
    ck_assert_uint_eq(third.asked, 3);
    ck_assert_int_eq(answer.status, 429);
    ck_assert_ptr_nonnull(strstr(text, "HTTP/1.1 429 Too Many Requests\r\nREQ_ID: "));
    ck_assert_ptr_nonnull(strstr(text, "Retry-After: 5\r\n"));
    ck_assert_uint_eq(count_rows("accounts"), 2);

    struct gate second = { 0, 2 };
    post_to(body, "multipart/mixed;boundary=b", "odata.continue-on-error", gate, &second);
    ck_assert_uint_eq(second.asked, 3);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_uint_eq(count_rows("accounts"), 4);
}
END_TEST

/* ---- hostile ---- */

static const char whole[] = "\r\n" CREATE("one") READ SET_BEGIN SET_CREATE("1", "two")
    SET_CREATE("2", "three") SET_END "\r\n" CREATE("four") END;

/* A copy that ends where it ends, so that reading beyond is noticed. */
static struct weir_str copy(const char *bytes, size_t len)
{
    return weir_str(weir_strndup(bytes, len), len);
}

START_TEST(a_body_that_is_cut_anywhere_executes_nothing)
{
    for (size_t len = 0; len < sizeof(whole) - 1; len++) {
        struct weir_str body = copy(whole, len);
        post_to(body, "multipart/mixed;boundary=b", "odata.continue-on-error", NULL, NULL);
        must(answer.status == 400 || answer.status == 200);
        must(count_rows("accounts") == 0);
        free((char *)body.ptr);
    }
    post(whole);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_uint_eq(count_rows("accounts"), 4);
}
END_TEST

START_TEST(a_body_with_any_byte_replaced_or_dropped_never_breaks_it)
{
    static const char replacements[] = "\r\n-b:\"\0x";
    for (size_t at = 0; at < sizeof(whole) - 1; at++) {
        for (size_t i = 0; i < sizeof(replacements); i++) {
            struct weir_str body = copy(whole, sizeof(whole) - 1);
            ((char *)body.ptr)[at] = replacements[i];
            post_to(body, "multipart/mixed;boundary=b", "odata.continue-on-error", NULL, NULL);
            must(answer.status == 400 || answer.status == 200);
            free((char *)body.ptr);
        }
    }
}
END_TEST

START_TEST(the_number_of_requests_is_counted_without_executing)
{
    struct sim_header type = { weir_str_from("Content-Type"),
                               weir_str_from("multipart/mixed; boundary=b") };
    struct sim_call call = { .headers = &type, .header_count = 1, .body = weir_str_from(whole) };
    ck_assert_uint_eq(sim_batch_count(&call), 5);
    call.body.len--;
    ck_assert_uint_eq(sim_batch_count(&call), 1);
    call.body = weir_str("", 0);
    ck_assert_uint_eq(sim_batch_count(&call), 1);
    call.header_count = 0;
    ck_assert_uint_eq(sim_batch_count(&call), 1);
    ck_assert_uint_eq(count_rows("accounts"), 0);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("sim_batch");
    suite_add(&s, the_boundary_is_read_from_the_content_type);
    static const struct {
        const char *name;
        const TTest *const *test;
    } tests[] = {
#define T(function) { #function, &function }
        T(answers_come_in_the_order_of_the_requests_with_a_boundary_of_the_service),
        T(addresses_may_be_absolute_rooted_or_relative),
        T(a_wrong_boundary_executes_nothing_and_answers_200),
        T(a_part_with_a_foreign_boundary_is_silently_not_executed),
        T(a_missing_final_line_end_is_400_and_executes_nothing),
        T(what_stands_before_and_after_the_parts_is_ignored),
        T(malformed_parts_are_400_and_execute_nothing),
        T(an_outer_request_without_type_body_or_post_is_refused),
        T(without_continue_on_error_the_rest_is_not_executed),
        T(with_continue_on_error_everything_is_executed_and_the_outer_status_is_200),
        T(headers_of_the_outer_request_do_not_apply_to_parts),
        T(a_thousand_requests_are_allowed_and_one_more_is_not),
        T(a_batch_inside_a_batch_is_refused),
        T(an_address_inside_a_batch_may_have_64_kb),
        T(a_change_set_is_answered_by_a_nested_multipart),
        T(a_change_set_that_fails_leaves_nothing_behind),
        T(updates_and_deletes_of_a_failed_change_set_are_undone),
        T(requests_of_a_change_set_refer_to_rows_made_before),
        T(a_reference_to_nothing_is_400_and_undoes_the_change_set),
        T(a_change_set_has_no_get_and_every_request_an_id_of_its_own),
        T(the_end_of_a_change_set_may_or_may_not_have_an_empty_line),
        T(a_change_set_on_an_elastic_table_is_not_atomic),
        T(the_gate_is_asked_before_each_request_if_it_is_switched_on),
        T(a_body_that_is_cut_anywhere_executes_nothing),
        T(a_body_with_any_byte_replaced_or_dropped_never_breaks_it),
        T(the_number_of_requests_is_counted_without_executing),
    };
    for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
        TCase *tcase = tcase_create(tests[i].name);
        tcase_set_timeout(tcase, 0);
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, *tests[i].test);
        suite_add_tcase(s.suite, tcase);
    }
    return suite_run(&s);
}
