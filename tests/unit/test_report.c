/* SPDX-License-Identifier: MIT */
/* What bytes mean for a load: whole or not, by rows or not, there or not. */
#include "bulk/report.h"
#include "support/suite.h"

#define TYPE      "multipart/mixed; boundary=b"
#define PART(...) "--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 " __VA_ARGS__ "\r\n"
#define NONE      "204 No Content\r\n\r\n"
#define FAULT(status, code)                                                                        \
    status "\r\nContent-Type: application/json\r\n\r\n{\"error\":{\"code\":\"" code                \
           "\",\"message\":\"words\"}}"

static const struct weir_table_names account = {
    .logical_name = { "account", 7 },
    .set_name = { "accounts", 8 },
    .primary_id = { "accountid", 9 },
};
static struct weir_report report;

static void read_bytes(int status, const char *type, const char *body, enum weir_load_mode mode,
                       bool is_create, uint32_t rows)
{
    struct weir_http_header headers[] = { { "Content-Type", type },
                                          { "x-ms-service-request-id", "r-1" } };
    struct weir_report_exchange exchange = {
        .status = status,
        .sent = true,
        .headers = headers,
        .header_count = 2,
        .body = weir_str_from(body),
    };
    weir_report_release(&report);
    weir_report_read(&exchange, mode, &account, is_create, rows, &report);
}

static void must_be(uint32_t row, enum weir_class class_, enum weir_outcome outcome)
{
    ck_assert_uint_lt(row, report.item_count);
    ck_assert_int_eq(report.items[row].verdict.class_, class_);
    ck_assert_int_eq(report.items[row].verdict.outcome, outcome);
}

static void all_must_be(enum weir_class class_, enum weir_outcome outcome)
{
    ck_assert_ptr_null(report.items);
    ck_assert_int_eq(report.answer.verdict.class_, class_);
    ck_assert_int_eq(report.answer.verdict.outcome, outcome);
}

#define IDS                                                                                        \
    "{\"Ids\":[\"00000000-0000-4000-8000-000000000001\",\"00000000-0000-4000-8000-000000000002\"]" \
    "}"

START_TEST(created_rows_are_done_only_if_all_their_ids_are_there)
{
    char cut[sizeof(IDS)];
    read_bytes(200, "application/json", IDS, WEIR_LOAD_BULK, true, 2);
    all_must_be(WEIR_CLASS_OK, WEIR_OUTCOME_EXECUTED);
    ck_assert(report.ids && report.ids[0].bytes[15] == 1 && report.ids[1].bytes[15] == 2);
    read_bytes(200, "application/json", IDS, WEIR_LOAD_BULK, true, 3);
    all_must_be(WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN);
    ck_assert_ptr_null(report.ids);
    for (size_t len = 0; len < sizeof(IDS) - 1; len++) {
        memcpy(cut, IDS, len);
        cut[len] = '\0';
        read_bytes(200, "application/json", cut, WEIR_LOAD_BULK, true, 2);
        all_must_be(WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN);
        ck_assert_ptr_null(report.ids);
    }
}
END_TEST

START_TEST(parts_that_are_missing_are_unknown)
{
    static const char all[] = PART(NONE) PART(NONE) PART(NONE) "--b--\r\n";
    char cut[sizeof(all)];
    for (size_t len = 0; len < sizeof(all); len++) {
        memcpy(cut, all, len);
        cut[len] = '\0';
        read_bytes(200, TYPE, cut, WEIR_LOAD_SINGLES, false, 3);
        uint32_t whole = 0;
        for (const char *at = cut; (at = strstr(at, NONE)); at++)
            whole++;
        must(!report.items || report.item_count == 3);
        for (uint32_t i = 0; i < report.item_count; i++) {
            bool ok = report.items[i].verdict.class_ == WEIR_CLASS_OK;
            must(!ok || i < whole);
            must(ok || report.items[i].verdict.outcome == WEIR_OUTCOME_UNKNOWN);
        }
        must(report.items || report.answer.verdict.outcome == WEIR_OUTCOME_UNKNOWN);
    }
    must_be(2, WEIR_CLASS_OK, WEIR_OUTCOME_EXECUTED);
}
END_TEST

START_TEST(a_throttled_part_is_a_throttle_for_the_pool)
{
    read_bytes(200, TYPE, PART(NONE) PART(FAULT("429 Too Many Requests", "0x80072322")) "--b--\r\n",
               WEIR_LOAD_SINGLES, false, 2);
    must_be(0, WEIR_CLASS_OK, WEIR_OUTCOME_EXECUTED);
    must_be(1, WEIR_CLASS_THROTTLE, WEIR_OUTCOME_NOT_EXECUTED);
    ck_assert_int_eq(report.answer.verdict.class_, WEIR_CLASS_THROTTLE);
}
END_TEST

START_TEST(a_bad_part_has_its_own_words_and_the_pool_sees_an_answer)
{
    read_bytes(200, TYPE, PART(FAULT("400 Bad Request", "0x80044331")) PART(NONE) "--b--\r\n",
               WEIR_LOAD_SINGLES, false, 2);
    must_be(0, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED);
    ck_assert_int_eq(report.items[0].fault, WEIR_FAULT_VALIDATION);
    ck_assert_str_eq(report.items[0].message, "words");
    ck_assert_int_eq(report.answer.verdict.class_, WEIR_CLASS_OK);
    ck_assert_str_eq(report.request_id, "r-1");
}
END_TEST

#define DETAILS(list)                                                                              \
    "{\"error\":{\"code\":\"0x80040216\",\"message\":\"some\","                                    \
    "\"@x.BulkApiErrorDetails\":\"[" list "]\"}}"

START_TEST(an_elastic_table_says_which_rows_failed)
{
    read_bytes(500, "application/json",
               DETAILS("{\\\"RequestIndex\\\":1,\\\"StatusCode\\\":429,"
                       "\\\"ErrorCode\\\":\\\"0x80072322\\\"}"),
               WEIR_LOAD_BULK, true, 3);
    must_be(0, WEIR_CLASS_OK, WEIR_OUTCOME_EXECUTED);
    must_be(1, WEIR_CLASS_THROTTLE, WEIR_OUTCOME_NOT_EXECUTED);
    must_be(2, WEIR_CLASS_OK, WEIR_OUTCOME_EXECUTED);
    ck_assert_int_eq(report.answer.verdict.class_, WEIR_CLASS_THROTTLE);
    /* a row that was not sent: nothing of it is believed */
    read_bytes(500, "application/json", DETAILS("{\\\"RequestIndex\\\":3,\\\"StatusCode\\\":400}"),
               WEIR_LOAD_BULK, true, 3);
    ck_assert_ptr_null(report.items);
    ck_assert_int_eq(report.answer.verdict.outcome, WEIR_OUTCOME_UNKNOWN);
}
END_TEST

/* A page from somewhere else that happens to be JSON does not show that a row is there. */
/* What the answer says is of one of them, nobody knows which. */
START_TEST(rows_of_an_elastic_table_that_fail_together_are_not_given_one_message)
{
    read_bytes(400, "application/json",
               DETAILS("{\\\"RequestIndex\\\":0,\\\"StatusCode\\\":400},"
                       "{\\\"RequestIndex\\\":2,\\\"StatusCode\\\":413,"
                       "\\\"ErrorCode\\\":\\\"0x80044331\\\"}"),
               WEIR_LOAD_BULK, true, 3);
    ck_assert_str_eq(report.items[0].message,
                     "status 400: an elastic table says no more of a single row; of one of the 2 "
                     "that failed with it: some");
    ck_assert_uint_eq(report.items[0].verdict.code, 0);
    ck_assert_ptr_nonnull(strstr(report.items[2].message, "status 413"));
    ck_assert_uint_eq(report.items[2].verdict.code, 0x80044331);
}
END_TEST

START_TEST(the_one_row_of_an_elastic_table_that_fails_has_the_answers_code_and_message)
{
    read_bytes(400, "application/json", DETAILS("{\\\"RequestIndex\\\":1,\\\"StatusCode\\\":400}"),
               WEIR_LOAD_BULK, true, 3);
    ck_assert_str_eq(report.items[1].message, "some");
    ck_assert_uint_eq(report.items[1].verdict.code, 0x80040216);
}
END_TEST

START_TEST(what_does_not_name_the_row_does_not_show_it)
{
    read_bytes(200, TYPE,
               PART("200 OK\r\nContent-Type: application/json\r\n\r\n{}")
                   PART("200 OK\r\nContent-Type: application/json\r\n\r\n"
                        "{\"accountid\":\"00000000-0000-4000-8000-000000000001\"") "--b--\r\n",
               WEIR_LOAD_READ_BACK, true, 2);
    for (uint32_t i = 0; i < 2; i++) {
        ck_assert_int_eq(report.items[i].presence, WEIR_PRESENCE_NOT_SAID);
        must_be(i, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN);
    }
}
END_TEST

START_TEST(a_row_that_is_read_back_is_there_or_not_or_may_not_be_seen)
{
    read_bytes(200, TYPE,
               PART("200 OK\r\nContent-Type: application/json\r\n\r\n"
                    "{\"accountid\":\"00000000-0000-4000-8000-000000000001\","
                    "\"createdon\":\"2026-01-31T12:34:56Z\"}")
                   PART(FAULT("404 Not Found", "0x80040217"))
                       PART(FAULT("403 Forbidden", "0x80040220"))
                           PART(FAULT("404 Not Found", "0x8006088A")) "--b--\r\n",
               WEIR_LOAD_READ_BACK, true, 5);
    ck_assert_int_eq(report.items[0].presence, WEIR_PRESENCE_PRESENT);
    ck_assert(report.items[0].created_wall_us == INT64_C(1769862896) * WEIR_US_PER_S);
    ck_assert_int_eq(report.items[1].presence, WEIR_PRESENCE_ABSENT);
    ck_assert_int_eq(report.items[2].presence, WEIR_PRESENCE_FORBIDDEN);
    ck_assert_int_eq(report.items[3].presence, WEIR_PRESENCE_NOT_SAID); /* no such table */
    ck_assert_int_eq(report.items[4].presence, WEIR_PRESENCE_NOT_SAID); /* no answer */
}
END_TEST

/* A log-in page in place of the answer. */
START_TEST(a_page_is_no_success_of_a_bulk_message)
{
    static const int statuses[] = { 200, 201, 202, 203 };
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        read_bytes(statuses[i], "text/html", "<html>log in</html>", WEIR_LOAD_BULK, false, 3);
        all_must_be(WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN);
        ck_assert_int_eq(report.answer.verdict.http_status, statuses[i]);
    }
    read_bytes(200, "application/json", "{}", WEIR_LOAD_BULK, false, 3);
    all_must_be(WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN);
}
END_TEST

START_TEST(a_bulk_message_without_ids_is_done_when_the_service_says_so)
{
    struct weir_http_header version = { "OData-Version", "4.0" };
    struct weir_report_exchange exchange = { .status = 200, .sent = true, .headers = &version };
    exchange.header_count = 1;
    weir_report_release(&report);
    weir_report_read(&exchange, WEIR_LOAD_BULK, &account, false, 2, &report);
    all_must_be(WEIR_CLASS_OK, WEIR_OUTCOME_EXECUTED);
    read_bytes(204, "", "", WEIR_LOAD_BULK, false, 3);
    all_must_be(WEIR_CLASS_OK, WEIR_OUTCOME_EXECUTED);
}
END_TEST

/* A gateway may frame anew what has come to it in part: its length is right, and its end is
 * missing. */
START_TEST(an_answer_that_breaks_off_is_no_success_of_a_bulk_message)
{
    static const char whole[] = "{\"@odata.context\":\"x\",\"value\":[]}";
    struct weir_http_header version = { "OData-Version", "4.0" };
    for (size_t len = 1; len < sizeof(whole); len++) {
        struct weir_report_exchange exchange = {
            .status = 200, .sent = true, .headers = &version, .header_count = 1
        };
        exchange.body = weir_str(whole, len);
        bool complete = len == sizeof(whole) - 1;
        weir_report_release(&report);
        weir_report_read(&exchange, WEIR_LOAD_BULK, &account, false, 2, &report);
        all_must_be(complete ? WEIR_CLASS_OK : WEIR_CLASS_TRANSIENT,
                    complete ? WEIR_OUTCOME_EXECUTED : WEIR_OUTCOME_UNKNOWN);
    }
}
END_TEST

/* An empty 404 is a gateway's that does not know the way; no row is missing. */
START_TEST(a_404_without_a_code_says_something_only_in_a_part)
{
    static const char *const bodies[] = { "", "<html></html>", "{\"error\":{\"message\":\"no\"}}" };
    static const enum weir_load_mode modes[] = { WEIR_LOAD_BULK, WEIR_LOAD_SINGLES,
                                                 WEIR_LOAD_READ_BACK };
    for (int i = 0; i < 9; i++) {
        read_bytes(404, "text/html", bodies[i / 3], modes[i % 3], false, 1);
        ck_assert_ptr_null(report.items);
        ck_assert_int_eq(report.fault, WEIR_FAULT_NONE);
        ck_assert_int_eq(report.answer.verdict.class_, WEIR_CLASS_OTHER);
    }
    read_bytes(200, TYPE, PART("404 Not Found\r\n\r\n") "--b--\r\n", WEIR_LOAD_SINGLES, false, 1);
    ck_assert_int_eq(report.items[0].fault, WEIR_FAULT_NOT_FOUND);
    read_bytes(200, TYPE, PART("404 Not Found\r\n\r\n") "--b--\r\n", WEIR_LOAD_READ_BACK, false, 1);
    ck_assert_int_eq(report.items[0].presence, WEIR_PRESENCE_ABSENT);
    read_bytes(404, "application/json",
               "{\"error\":{\"code\":\"0x80040217\",\"message\":\"gone\"}}", WEIR_LOAD_BULK, false,
               2);
    ck_assert_int_eq(report.fault, WEIR_FAULT_NOT_FOUND);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("report");
    suite_add(&s, created_rows_are_done_only_if_all_their_ids_are_there);
    suite_add(&s, parts_that_are_missing_are_unknown);
    suite_add(&s, a_throttled_part_is_a_throttle_for_the_pool);
    suite_add(&s, a_bad_part_has_its_own_words_and_the_pool_sees_an_answer);
    suite_add(&s, an_elastic_table_says_which_rows_failed);
    suite_add(&s, rows_of_an_elastic_table_that_fail_together_are_not_given_one_message);
    suite_add(&s, the_one_row_of_an_elastic_table_that_fails_has_the_answers_code_and_message);
    suite_add(&s, what_does_not_name_the_row_does_not_show_it);
    suite_add(&s, a_row_that_is_read_back_is_there_or_not_or_may_not_be_seen);
    suite_add(&s, a_page_is_no_success_of_a_bulk_message);
    suite_add(&s, a_bulk_message_without_ids_is_done_when_the_service_says_so);
    suite_add(&s, an_answer_that_breaks_off_is_no_success_of_a_bulk_message);
    suite_add(&s, a_404_without_a_code_says_something_only_in_a_part);
    return suite_run(&s);
}
