/* SPDX-License-Identifier: MIT */
/*
 * All rows of a table, page by page, of a weir-sim that throttles and breaks off, and of a server
 * that says what no service should: it is all rows, each once, or an error.
 */
#include "client/listing.h"

#include "base/error.h"
#include "base/limits.h"
#include "client/describe.h"
#include "support/client_rig.h"
#include "support/origin.h"

#define COLUMNS 3

static const char *const columns[COLUMNS] = { "accountid", "name", "numberofemployees" };

/* ---- what comes ---- */

#define SEEN_MAX 1000

static struct {
    uint32_t rows;
    uint32_t seen[SEEN_MAX]; /* by the number in the name */
    uint32_t nulls;
    uint32_t stop_at;   /* 0: never */
    const char *faults; /* from the tenth row on; NULL: none */
} got;

static void set_faults(const char *faults)
{
    char body[1024];
    snprintf(body, sizeof(body), "{\"faults\":[%s]}", faults);
    ck_assert_int_eq(ask("POST", "/sim/faults", body), 200);
}

static enum weir_status take_row(void *ctx, const struct weir_str *values, struct weir_error *err)
{
    unsigned number;
    char name[64];
    ck_assert_ptr_eq(ctx, &got);
    snprintf(name, sizeof(name), "%.*s", (int)values[1].len, values[1].ptr);
    ck_assert_int_eq(sscanf(name, "\"Zo\xc3\xab\" %u", &number), 1);
    ck_assert_uint_lt(number, SEEN_MAX);
    ck_assert_uint_eq(values[0].len, 36);
    got.seen[number]++;
    if (number % 2) {
        char count[16];
        snprintf(count, sizeof(count), "%u", number);
        ck_assert(weir_str_equal(values[2], weir_str_from(count)));
    } else {
        ck_assert_ptr_null(values[2].ptr);
        ck_assert_uint_eq(values[2].len, 0);
        got.nulls++;
    }
    got.rows++;
    if (got.rows == 10 && got.faults)
        set_faults(got.faults);
    if (got.rows == got.stop_at)
        return weir_fail(err, WEIR_E_NOT_FOUND, "enough");
    return WEIR_OK;
}

static struct weir_listing listing(uint32_t page_rows)
{
    memset(&got, 0, sizeof(got));
    return (struct weir_listing){ .set = "accounts",
                                  .columns = columns,
                                  .column_count = COLUMNS,
                                  .rows_max = 100000,
                                  .page_rows = page_rows,
                                  .patience = { WEIR_FIRST_CONTACT_US, WEIR_FOREVER },
                                  .on_row = take_row,
                                  .ctx = &got };
}

static enum weir_status list(const struct weir_listing *it)
{
    rig.err = (struct weir_error){ 0 };
    return weir_client_list(rig.client, it, &rig.err);
}

static void list_well(const struct weir_listing *it, uint32_t rows)
{
    enum weir_status status = list(it);
    ck_assert_msg(status == WEIR_OK, "%s", rig.err.message);
    ck_assert_uint_eq(got.rows, rows);
    for (uint32_t i = 0; i < rows; i++)
        ck_assert_uint_eq(got.seen[i], 1);
}

/* ---- a simulator with rows ---- */

static void add_rows(uint32_t count)
{
    struct weir_buf body;
    struct weir_response response;
    weir_buf_init(&body, BYTES_MAX);
    weir_buf_add_text(&body, "{\"Targets\":[");
    for (uint32_t i = 0; i < count; i++) {
        weir_buf_printf(&body,
                        "%s{\"@odata.type\":\"Microsoft.Dynamics.CRM.account\","
                        "\"name\":\"\\\"Zo\\u00eb\\\" %u\"",
                        i ? "," : "", i);
        if (i % 2)
            weir_buf_printf(&body, ",\"numberofemployees\":%u", i);
        weir_buf_add_text(&body, "}");
    }
    weir_buf_add_text(&body, "]}");
    enum weir_status status = rig_try("POST", "accounts/Microsoft.Dynamics.CRM.CreateMultiple",
                                      weir_buf_text(&body), false, &response);
    ck_assert_msg(status == WEIR_OK, "%s", rig.err.message);
    weir_response_release(&response);
    weir_buf_release(&body);
}

START_TEST(every_row_comes_once_whatever_the_page)
{
    static const uint32_t pages[] = { 1, 7, 46, 47, 48, 0 };
    rig_start(2);
    add_rows(47);
    for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
        struct weir_listing it = listing(pages[i]);
        long before = rig_count("requests");
        list_well(&it, 47);
        ck_assert_uint_eq(got.nulls, 24);
        long sent = rig_count("requests") - before;
        long wanted = pages[i] ? (47 + (long)pages[i] - 1) / pages[i] : 1;
        ck_assert_msg(sent == wanted, "%ld requests for pages of %u", sent, pages[i]);
    }
    rig_close();
}
END_TEST

START_TEST(an_empty_table_has_no_rows)
{
    rig_start(1);
    struct weir_listing it = listing(0);
    list_well(&it, 0);
    rig_close();
}
END_TEST

START_TEST(throttles_and_failures_between_pages_lose_no_row)
{
    rig_start(2);
    add_rows(60);
    set_faults("{\"kind\":\"throttle\",\"code\":\"0x80072322\",\"retry_after\":1,"
               "\"operation\":\"GET\",\"every\":7},"
               "{\"kind\":\"cut\",\"operation\":\"GET\",\"every\":5},"
               "{\"kind\":\"server_error\",\"status\":503,\"operation\":\"GET\",\"every\":6}");
    struct weir_listing it = listing(4);
    list_well(&it, 60);
    ck_assert_int_ge(rig_count("requests"), 1 + 15 + 5);
    rig_close();
}
END_TEST

START_TEST(an_outage_in_the_middle_is_sat_out)
{
    rig_start(1);
    add_rows(20);
    struct weir_listing it = listing(4);
    got.faults = "{\"kind\":\"server_error\",\"status\":503,\"operation\":\"GET\",\"count\":4}";
    it.patience.span_us = 60 * WEIR_US_PER_S;
    list_well(&it, 20);
    rig_close();
}
END_TEST

START_TEST(who_never_answers_is_given_up)
{
    rig_start(1);
    set_faults("{\"kind\":\"stall\",\"seconds\":600,\"operation\":\"GET\",\"probability\":1}");
    struct weir_listing it = listing(0);
    it.patience.span_us = WEIR_US_PER_S;
    ck_assert_int_eq(list(&it), WEIR_E_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(rig.err.message, "did not answer within 1 s"));
    rig_close();
}
END_TEST

START_TEST(more_rows_than_are_wanted_are_an_error)
{
    rig_start(1);
    add_rows(21);
    struct weir_listing it = listing(4);
    it.rows_max = 21;
    list_well(&it, 21);
    it = listing(4);
    it.rows_max = 20;
    ck_assert_int_eq(list(&it), WEIR_E_TOO_BIG);
    ck_assert_uint_eq(got.rows, 20);
    ck_assert_ptr_nonnull(strstr(rig.err.message, "\"accounts\" has more than 20 rows"));
    ck_assert_ptr_nonnull(strstr(rig.err.message, "alternate key"));
    rig_close();
}
END_TEST

START_TEST(who_takes_the_rows_may_end_it)
{
    rig_start(1);
    add_rows(20);
    struct weir_listing it = listing(4);
    got.stop_at = 6;
    ck_assert_int_eq(list(&it), WEIR_E_NOT_FOUND);
    ck_assert_str_eq(rig.err.message, "enough");
    ck_assert_uint_eq(got.rows, 6);
    rig_close();
}
END_TEST

START_TEST(what_cannot_be_asked_for_is_not_sent)
{
    static const char *const odd[] = { "name", "na me" };
    static const char *const many[WEIR_LISTING_COLUMNS_MAX + 1] = { "name" };
    rig_start(1);
    struct weir_listing it = listing(0);
    it.set = "accounts/x";
    ck_assert_int_eq(list(&it), WEIR_E_INVALID);
    ck_assert_str_eq(rig.err.message, "\"accounts/x\" is no name of an entity set");
    it = listing(0);
    it.columns = odd;
    it.column_count = 2;
    ck_assert_int_eq(list(&it), WEIR_E_INVALID);
    ck_assert_str_eq(rig.err.message, "\"na me\" is no name of a column");
    it.columns = many;
    it.column_count = WEIR_LISTING_COLUMNS_MAX + 1;
    ck_assert_int_eq(list(&it), WEIR_E_INVALID);
    it.column_count = 0;
    ck_assert_int_eq(list(&it), WEIR_E_INVALID);
    ck_assert_int_eq(rig_count("requests"), 0);
    it.columns = columns;
    it.column_count = COLUMNS;
    it.set = "nosuchset";
    ck_assert_int_eq(list(&it), WEIR_E_REFUSED);
    rig_close();
}
END_TEST

/* ---- a server that says anything ---- */

#define PATH  "/api/data/v9.2/accounts"
#define ID    "\"accountid\":\"00000000-0000-0000-0000-000000000001\""
#define ROW   "{" ID ",\"name\":\"\\\"Zo\xc3\xab\\\" 0\",\"numberofemployees\":null}"
#define VALUE "\"value\":[" ROW "]"

struct story {
    const char *first; /* the body of the first page; "~" stands for the server's own address */
    const char *later; /* of those that follow, with "^" for their number; NULL: there are none */
};

static struct origin *origin;

static void add_body(struct weir_buf *buf, const char *text, uint64_t index)
{
    for (; *text; text++) {
        if (*text == '~')
            weir_buf_add_text(buf, origin_url(origin));
        else if (*text == '^')
            weir_buf_printf(buf, "%" PRIu64, index);
        else
            weir_buf_add_char(buf, *text);
    }
}

static void tell(void *ctx, const struct origin_request *request, struct origin_answer *answer)
{
    const struct story *story = ctx;
    struct weir_buf body;
    weir_buf_init(&body, BYTES_MAX);
    add_body(&body, request->index == 0 || !story->later ? story->first : story->later,
             request->index);
    weir_buf_printf(&answer->bytes,
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                    "Content-Length: %zu\r\n\r\n%s",
                    body.len, weir_buf_text(&body));
    weir_buf_release(&body);
}

/* How a listing of it ends, with patience for so long, and how many requests that took. */
/* No policy stands in the way: there are more pages than the service lets anybody ask for in its
 * window. */
static enum weir_status hear_for(int64_t span_us, const struct story *story, uint64_t *ret_requests)
{
    struct story copy = *story;
    start("--users", "1", "--no-limits", NULL);
    origin = origin_new(&(struct origin_options){ .script = tell, .ctx = &copy, .record_max = 8 });
    rig_users(1);
    rig.options.adaptive_rate.policy = "Fixed";
    rig.options.adaptive_rate.fixed_parallelism = 1;
    rig.options.url = origin_url(origin);
    rig.options.scope = "http://127.0.0.1/.default";
    rig.connections[0].client_secret = NULL;
    rig.connections[0].access_token = "a.static.token";
    rig_open();
    struct weir_listing it = listing(3);
    it.patience.span_us = span_us;
    enum weir_status status = list(&it);
    *ret_requests = origin_counts(origin).requests;
    return status;
}

static enum weir_status hear(const struct story *story, uint64_t *ret_requests)
{
    return hear_for(WEIR_US_PER_S, story, ret_requests);
}

static void hear_no_more(void)
{
    rig_close();
    origin_free(origin);
}

START_TEST(the_page_and_its_size_are_asked_for)
{
    static const struct story story = { "{" VALUE ",\"@odata.nextLink\":\"" PATH
                                        "?$select=x&$skiptoken=%3Ca%3E\"}",
                                        "{" VALUE "}" };
    uint64_t requests;
    struct origin_record record;
    ck_assert_int_eq(hear(&story, &requests), WEIR_OK);
    ck_assert_uint_eq(requests, 2);
    ck_assert_uint_eq(got.rows, 2);
    ck_assert(origin_record(origin, 0, &record));
    ck_assert_ptr_nonnull(
        strstr(record.head, "GET " PATH "?$select=accountid,name,numberofemployees HTTP/1.1"));
    ck_assert_ptr_nonnull(strstr(record.head, "Prefer: odata.maxpagesize=3\r\n"));
    ck_assert(origin_record(origin, 1, &record));
    ck_assert_ptr_nonnull(strstr(record.head, "GET " PATH "?$select=x&$skiptoken=%3Ca%3E HTTP"));
    ck_assert_ptr_nonnull(strstr(record.head, "Prefer: odata.maxpagesize=3\r\n"));
    hear_no_more();
}
END_TEST

#define LINK(text) "{" VALUE ",\"@odata.nextLink\":" text "}"

/* None of them is followed. */
static const char *const elsewhere[] = {
    LINK("\"http://~@127.0.0.2" PATH "?a\""),
    LINK("\"http://127.0.0.2" PATH "?a\""),
    LINK("\"https://127.0.0.1" PATH "?a\""),
    LINK("\"http://127.0.0.1:1" PATH "?a\""),
    LINK("\"https://attacker.example" PATH "?a\""),
    LINK("\"//attacker.example" PATH "?a\""),
    LINK("\"~.attacker.example" PATH "?a\""),
    LINK("\"~/api/data/v9.2/contacts?a\""),
    LINK("\"~/api/data/v9.2/accountss?a\""),
    LINK("\"~/api/data/v9.1/accounts?a\""),
    LINK("\"~" PATH "/../contacts?a\""),
    LINK("\"~" PATH "(1)?a\""),
    LINK("\"~" PATH "\""),
    LINK("\"~/sim/stats?a\""),
    LINK("\"~/?" PATH "?a\""),
    LINK("\"accounts?a\""),
    LINK("\"" PATH "?a b\""),
    LINK("\"" PATH "?a\\nHost: x\""),
    LINK("\"" PATH "?a#b\""),
    LINK("7"),
    LINK("null"),
    LINK("[]"),
};

START_TEST(a_link_elsewhere_is_not_followed)
{
    struct story story = { elsewhere[_i], NULL };
    uint64_t requests;
    enum weir_status status = hear(&story, &requests);
    ck_assert_msg(status == WEIR_E_INVALID, "%s: %s", story.first, rig.err.message);
    ck_assert_uint_eq(requests, 1);
    ck_assert_uint_eq(got.rows, 0);
    hear_no_more();
}
END_TEST

static const char *const senseless[] = {
    "",
    "[]",
    "7",
    "{}",
    "{\"Value\":[]}",
    "{\"value\":null}",
    "{\"value\":{}}",
    "{\"value\":[7]}",
    "{\"value\":[null]}",
    "{\"value\":[" ROW ",{" ID "}]}",
    "{\"value\":[{" ID ",\"name\":{},\"numberofemployees\":1}]}",
    "{\"value\":[{" ID ",\"name\":[\"a\"],\"numberofemployees\":1}]}",
    "{\"error\":{\"code\":\"0x0\",\"message\":\"no\"}}",
};

START_TEST(an_answer_that_makes_no_sense_is_an_error)
{
    struct story story = { senseless[_i], NULL };
    uint64_t requests;
    enum weir_status status = hear(&story, &requests);
    ck_assert_msg(status == WEIR_E_INVALID, "%s: %s", story.first, rig.err.message);
    ck_assert_ptr_nonnull(strstr(rig.err.message, "\"accounts\""));
    hear_no_more();
}
END_TEST

/* What is cut may be whole the next time. */
static const char *const half[] = {
    "<html>", "{", "{" VALUE, "{\"value\":[" ROW ",", "{" VALUE "}}",
};

START_TEST(an_answer_that_is_cut_is_asked_for_again_and_never_taken)
{
    struct story story = { half[_i], "{" VALUE "}" };
    uint64_t requests;
    ck_assert_int_eq(hear_for(10 * WEIR_US_PER_MINUTE, &story, &requests), WEIR_OK);
    ck_assert_uint_eq(requests, 2);
    ck_assert_uint_eq(got.rows, 1);
    hear_no_more();
}
END_TEST

START_TEST(answers_that_are_all_cut_are_given_up)
{
    struct story story = { half[2], NULL };
    uint64_t requests;
    ck_assert_int_eq(hear(&story, &requests), WEIR_E_UNAVAILABLE);
    ck_assert_uint_eq(got.rows, 0);
    hear_no_more();
}
END_TEST

START_TEST(pages_that_go_round_in_a_circle_are_an_error)
{
    static const struct {
        struct story story;
        uint64_t requests;
    } rows[] = {
        { { "{" VALUE ",\"@odata.nextLink\":\"~" PATH "?a\"}", NULL }, 2 },
        { { "{\"value\":[],\"@odata.nextLink\":\"~" PATH
            "?$select=accountid,name,numberofemployees\"}",
            NULL },
          1 },
        { { "{" VALUE ",\"@odata.nextLink\":\"" PATH "?a\"}",
            "{" VALUE ",\"@odata.nextLink\":\"~" PATH "?a\"}" },
          2 },
    };
    uint64_t requests;
    ck_assert_int_eq(hear(&rows[_i].story, &requests), WEIR_E_INVALID);
    ck_assert_ptr_nonnull(strstr(rig.err.message, "leads to one that came before"));
    ck_assert_uint_eq(requests, rows[_i].requests);
    hear_no_more();
}
END_TEST

/* Empty ones, so that the number of rows is none. */
START_TEST(pages_have_a_bound)
{
    static const struct story story = {
        "{\"value\":[],\"@odata.nextLink\":\"" PATH "?first\"}",
        "{\"value\":[],\"@odata.nextLink\":\"" PATH "?^\"}",
    };
    uint64_t requests;
    ck_assert_int_eq(hear(&story, &requests), WEIR_E_TOO_BIG);
    ck_assert_str_eq(rig.err.message, "\"accounts\" has more than 10000 pages");
    ck_assert_uint_eq(requests, WEIR_LISTING_PAGES_MAX);
    hear_no_more();
}
END_TEST

START_TEST(a_link_that_is_too_long_is_an_error)
{
    struct weir_buf body;
    weir_buf_init(&body, BYTES_MAX);
    weir_buf_add_text(&body, "{\"value\":[],\"@odata.nextLink\":\"" PATH "?");
    for (size_t i = 0; i < WEIR_URL_BYTES_MAX; i++)
        weir_buf_add_char(&body, 'a');
    weir_buf_add_text(&body, "\"}");
    struct story story = { weir_buf_text(&body), NULL };
    uint64_t requests;
    ck_assert_int_eq(hear(&story, &requests), WEIR_E_TOO_BIG);
    ck_assert_uint_eq(requests, 1);
    hear_no_more();
    weir_buf_release(&body);
}
END_TEST

#define LOOP(s, test, count) suite_add_loop((s), #test, test, (int)(count))
#define COUNT(array)         (sizeof(array) / sizeof((array)[0]))

int main(void)
{
    struct suite s = suite_new("listing");
    suite_add(&s, every_row_comes_once_whatever_the_page);
    suite_add(&s, an_empty_table_has_no_rows);
    suite_add(&s, throttles_and_failures_between_pages_lose_no_row);
    suite_add(&s, an_outage_in_the_middle_is_sat_out);
    suite_add(&s, who_never_answers_is_given_up);
    suite_add(&s, more_rows_than_are_wanted_are_an_error);
    suite_add(&s, who_takes_the_rows_may_end_it);
    suite_add(&s, what_cannot_be_asked_for_is_not_sent);
    suite_add(&s, the_page_and_its_size_are_asked_for);
    LOOP(&s, a_link_elsewhere_is_not_followed, COUNT(elsewhere));
    LOOP(&s, an_answer_that_makes_no_sense_is_an_error, COUNT(senseless));
    LOOP(&s, an_answer_that_is_cut_is_asked_for_again_and_never_taken, COUNT(half));
    suite_add(&s, answers_that_are_all_cut_are_given_up);
    LOOP(&s, pages_that_go_round_in_a_circle_are_an_error, 3);
    suite_add(&s, pages_have_a_bound);
    suite_add(&s, a_link_that_is_too_long_is_an_error);
    return suite_run(&s);
}
