/* SPDX-License-Identifier: MIT */
/* Faults in the service as a whole, in virtual time: what is executed, answered, delivered and
 * counted. */
#include "support/world.h"

START_TEST(heads_are_reset_before_or_within_and_only_those_that_match)
{
    begin(boundless());
    fault("{\"kind\":\"reset_before\",\"operation\":\"POST\",\"connection\":\"app2\",\"count\":1},"
          "{\"kind\":\"reset_within\",\"operation\":\"$batch\"}");
    struct sim_http_request request = make(0, "POST", API "accounts", "");
    ck_assert(!sim_world_head(world, &request, now, &delivery));
    request = make(1, "POST", API "accounts", "");
    ck_assert(sim_world_head(world, &request, now, &delivery));
    ck_assert_int_eq(delivery.kind, SIM_RESET_BEFORE);
    ck_assert(!sim_world_head(world, &request, now, &delivery));
    request = make(0, "POST", API "$batch", "");
    ck_assert(sim_world_head(world, &request, now, &delivery));
    ck_assert_int_eq(delivery.kind, SIM_RESET_WITHIN);
    ck_assert(number("/sim/stats", "\"name\":\"app2\",\"requests\":") == 1);
    ck_assert(number("/sim/stats", "\"reset_before\":") == 1);
    end();
}
END_TEST

struct delivery_case {
    const char *fault;
    enum sim_delivery_kind kind;
    int status;
    int rows;
};

#define CREATE ",\"operation\":\"Create\"}"

static const struct delivery_case delivery_cases[] = {
    { "{\"kind\":\"reset_after\"" CREATE, SIM_RESET_AFTER, 204, 1 },
    { "{\"kind\":\"cut\",\"byte\":9" CREATE, SIM_CUT, 204, 1 },
    { "{\"kind\":\"stall\",\"seconds\":7" CREATE, SIM_STALL, 204, 1 },
    { "{\"kind\":\"commit_then_silence\",\"seconds\":7" CREATE, SIM_SILENCE, 204, 1 },
    { "{\"kind\":\"latency_collapse\",\"seconds\":7" CREATE, SIM_STALL, 204, 1 },
    { "{\"kind\":\"unauthorized\"" CREATE, SIM_DELIVER, 401, 0 },
    { "{\"kind\":\"server_error\",\"status\":502" CREATE, SIM_DELIVER, 502, 0 },
    { "{\"kind\":\"html_error\"" CREATE, SIM_DELIVER, 502, 0 },
    { "{\"kind\":\"throttle\"" CREATE, SIM_DELIVER, 429, 0 },
    { "{\"kind\":\"deadlock\"" CREATE, SIM_DELIVER, 400, 0 },
    { "{\"kind\":\"plugin_error\",\"code\":\"0x80048d0b\"" CREATE, SIM_DELIVER, 400, 0 },
    { "{\"kind\":\"bad_row\",\"column\":\"name\",\"value\":\"a\"" CREATE, SIM_DELIVER, 400, 0 },
    { "{\"kind\":\"bad_row\",\"column\":\"name\",\"value\":\"b\"" CREATE, SIM_DELIVER, 204, 1 },
    { "{\"kind\":\"tvp_race\"}", SIM_DELIVER, 204, 1 },        /* no bulk message */
    { "{\"kind\":\"partial_failure\"}", SIM_DELIVER, 204, 1 }, /* no elastic table */
};

START_TEST(a_fault_does_what_it_says_and_is_counted)
{
    const struct delivery_case *c = &delivery_cases[_i];
    begin(boundless());
    fault(c->fault);
    ask(0, "POST", API "accounts", "{\"name\":\"a\"}");
    ck_assert_msg(answer.status == c->status, "%s: %d %s", c->fault, answer.status,
                  weir_buf_text(&answer.body));
    ck_assert_int_eq(delivery.kind, c->kind);
    if (c->kind == SIM_CUT)
        ck_assert_uint_eq(delivery.byte, 9);
    if (c->kind == SIM_STALL || c->kind == SIM_SILENCE)
        ck_assert_int_eq(delivery.stall_us, 7 * S);
    ck_assert(rows("account") == c->rows);
    fault("");
    ck_assert_int_eq(status_of(0, "POST", API "accounts", "{\"name\":\"a\"}"), 204);
    ck_assert_int_eq(delivery.kind, SIM_DELIVER);
    end();
}
END_TEST

START_TEST(errors_of_the_database_carry_their_numbers)
{
    begin(boundless());
    fault("{\"kind\":\"deadlock\",\"count\":1},{\"kind\":\"tvp_race\"}");
    ask(0, "POST", BULK("accounts"), "{\"Targets\":[]}");
    ck_assert(body_has("\"code\":\"0x80044150\"") && body_has("Sql Number: 1205"));
    ask(0, "POST", BULK("accounts"), "{\"Targets\":[]}");
    ck_assert(body_has("\"code\":\"0x80044150\"") && body_has("Sql Number: 3732"));
    end();
}
END_TEST

struct retry_case {
    const char *retry_after;
    const char *header; /* NULL: none */
};

static const struct retry_case retry_cases[] = {
    { "12", "12" },
    { "1.5", "1.5" },
    { "0", "0" },
    { "\"date\"", "Fri, 15 Jan 2027 08:00:05 GMT" },
    { "\"missing\"", NULL },
    { "\"garbage\"", "garbage" },
    { "\"Wed, 21 Oct 2015 07:28:00 GMT\"", "Wed, 21 Oct 2015 07:28:00 GMT" },
};

START_TEST(a_throttle_by_fault_has_the_retry_after_that_was_asked_for)
{
    const struct retry_case *c = &retry_cases[_i];
    char list[256];
    begin(small());
    snprintf(list, sizeof(list),
             "{\"kind\":\"throttle\",\"code\":\"0x80072321\",\"retry_after\":%s}", c->retry_after);
    fault(list);
    ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 429);
    ck_assert(body_has("\"code\":\"0x80072321\"") && body_has("limit of 100,000 milliseconds"));
    if (c->header)
        ck_assert(header_is("Retry-After", c->header));
    else
        ck_assert_ptr_null(find_header("Retry-After", 0).ptr);
    /* The law knows nothing of it. */
    ck_assert(number("/sim/stats", "\"requests\":") == 1);
    ck_assert(number("/sim/stats", "\"accepted\":") == 0);
    end();
}
END_TEST

#define PART(body)                                                                                 \
    "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"           \
    "POST " API "accounts HTTP/1.1\r\nContent-Type: application/json\r\n\r\n" body "\r\n"

static void ask_batch(void)
{
    struct sim_header headers[] = {
        { weir_str_from("Authorization"), weir_str_from(tokens[0]) },
        { weir_str_from("Content-Type"), weir_str_from("multipart/mixed; boundary=b") },
        { weir_str_from("Prefer"), weir_str_from("odata.continue-on-error") },
    };
    struct sim_http_request request = {
        weir_str_from("POST"),
        weir_str_from(API "$batch"),
        headers,
        3,
        weir_str_from(PART("{\"name\":\"a\"}") PART("{\"name\":\"b\"}")
                          PART("{\"name\":\"c\"}") "--b--\r\n"),
    };
    arrive_and_finish(&request);
}

START_TEST(a_throttle_in_a_world_without_limits_names_the_published_ones)
{
    struct sim_world_options options = small();
    options.no_limits = true;
    begin(options);
    fault("{\"kind\":\"throttle\",\"code\":\"0x80072322\",\"nth\":1},"
          "{\"kind\":\"throttle\",\"code\":\"0x80072326\",\"nth\":2}");
    ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 429);
    ck_assert(body_has("limit of 6000 over time window of 300 seconds"));
    ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 429);
    ck_assert(body_has("limit of 52."));
    end();
}
END_TEST

START_TEST(a_part_of_a_batch_is_throttled_by_a_fault)
{
    begin(boundless());
    fault("{\"kind\":\"throttle\",\"where\":\"part\",\"index\":1,\"code\":\"0x80072326\","
          "\"retry_after\":9}");
    ask_batch();
    ck_assert_int_eq(answer.status, 200);
    ck_assert(body_has("HTTP/1.1 429 Too Many Requests") && body_has("0x80072326"));
    ck_assert(body_has("Retry-After: 9"));
    ck_assert(rows("account") == 2);
    end();
}
END_TEST

START_TEST(limits_are_checked_for_every_part_if_the_switch_says_so)
{
    for (int on = 0; on < 2; on++) {
        struct sim_world_options options = small();
        options.switches.throttle_inside_batch = on;
        now = 0;
        begin(options);
        ask_batch(); /* itself and two parts are three requests */
        ck_assert_int_eq(answer.status, 200);
        ck_assert_int_eq(body_has("0x80072322"), on);
        ck_assert(rows("account") == (on ? 2 : 3));
        end();
    }
}
END_TEST

#define READING(n)                                                                                 \
    "{\"@odata.type\":\"Microsoft.Dynamics.CRM.sensorreading\",\"sensorreadingid\":"               \
    "\"00000000-0000-0000-0000-00000000000" #n "\"}"
#define READINGS "{\"Targets\":[" READING(1) "," READING(2) "," READING(3) "]}"

START_TEST(rows_of_an_elastic_table_fail_one_by_one)
{
    begin(boundless());
    fault("{\"kind\":\"partial_failure\",\"rows\":[0,2],\"status\":409,\"code\":\"0x80040237\"}");
    extra_name = "Prefer";
    extra_value = "odata.include-annotations=\"*\"";
    ck_assert_int_eq(status_of(0, "POST", BULK("sensorreadings"), READINGS), 409);
    ck_assert(body_has("\"code\":\"0x80040237\""));
    ck_assert(body_has("BulkApiErrorDetails\":\"[{\\\"RequestIndex\\\":0,\\\"Id\\\":"
                       "\\\"00000000-0000-0000-0000-000000000001\\\",\\\"StatusCode\\\":409},"
                       "{\\\"RequestIndex\\\":2,"));
    ck_assert(rows("sensorreading") == 1);
    ck_assert_int_eq(status_of(0, "POST", BULK("sensorreadings"), READINGS), 409);
    ck_assert(!body_has("BulkApiErrorDetails")); /* nobody asked */
    end();
}
END_TEST

START_TEST(a_row_of_an_elastic_table_is_throttled)
{
    begin(boundless());
    fault("{\"kind\":\"throttle\",\"where\":\"detail\",\"index\":1,\"retry_after\":3}");
    extra_name = "Prefer";
    extra_value = "odata.include-annotations=\"*\"";
    ck_assert_int_eq(status_of(0, "POST", BULK("sensorreadings"), READINGS), 500);
    ck_assert(body_has("\\\"RequestIndex\\\":1") && body_has("\\\"StatusCode\\\":429") &&
              body_has("0x80072322"));
    ck_assert(!body_has("\"code\":\"0x80072322\"")); /* the call as a whole was executed */
    ck_assert(header_is("Retry-After", "3"));
    ck_assert(rows("sensorreading") == 2);
    end();
}
END_TEST

START_TEST(commit_then_silence_executes_at_the_end_of_the_service_time)
{
    begin(small());
    fault("{\"kind\":\"commit_then_silence\"}");
    struct sim_visit *visit = arrive(0, "POST", API "accounts", "{\"name\":\"a\"}");
    ck_assert(rows("account") == 0);
    now = sim_visit_due_us(visit);
    ck_assert_int_eq(now, S);
    finish(visit);
    ck_assert_int_eq(delivery.kind, SIM_SILENCE);
    ck_assert_int_eq(delivery.stall_us, 0);
    ck_assert(rows("account") == 1);
    end();
}
END_TEST

START_TEST(a_late_commit_breaks_now_and_comes_later)
{
    begin(small());
    fault("{\"kind\":\"late_commit\",\"seconds\":20}");
    struct sim_visit *visit = arrive(0, "POST", API "accounts", "{\"name\":\"a\"}");
    ck_assert_int_eq(sim_visit_due_us(visit), 0);
    finish(visit);
    ck_assert_int_eq(delivery.kind, SIM_RESET_AFTER);
    now = 19 * S;
    ck_assert_int_eq(sim_world_turn(world, now, WALL + now), 20 * S);
    ck_assert(rows("account") == 0);
    now = 20 * S;
    ck_assert_int_eq(sim_world_turn(world, now, WALL + now), INT64_MAX);
    ck_assert(rows("account") == 1);
    ck_assert(number("/sim/stats", "\"late_commit\":") == 1);
    ck_assert(number("/sim/stats", "\"execution_s\":") == 1);
    end();
}
END_TEST

START_TEST(a_late_commit_is_not_before_the_service_time_is_over)
{
    begin(small());
    fault("{\"kind\":\"late_commit\",\"seconds\":0}");
    finish(arrive(0, "POST", API "accounts", "{\"name\":\"a\"}"));
    ck_assert_int_eq(sim_world_turn(world, 0, WALL), S);
    end();
}
END_TEST

START_TEST(late_commits_come_in_their_order)
{
    begin(boundless());
    for (int i = 0; i < 40; i++) {
        char list[64];
        snprintf(list, sizeof(list), "{\"kind\":\"late_commit\",\"seconds\":%d}", 1 + i * 7 % 40);
        fault(list);
        finish(arrive(0, "POST", API "accounts", "{\"name\":\"a\"}"));
    }
    for (int i = 1; i <= 40; i++) {
        sim_world_turn(world, i * S, WALL + i * S);
        ck_assert(rows("account") == i);
    }
    end();
}
END_TEST

START_TEST(a_latency_collapse_multiplies_the_time_and_charges_nothing)
{
    begin(small());
    fault("{\"kind\":\"latency_collapse\",\"factor\":30}");
    ask(0, "GET", API "WhoAmI", "");
    ck_assert_int_eq(delivery.kind, SIM_STALL);
    ck_assert_int_eq(delivery.stall_us, 29 * S);
    ck_assert(number("/sim/stats", "\"execution_s\":") == 1);
    end();
}
END_TEST

START_TEST(faults_on_tokens_answer_as_the_login_service_does)
{
    begin(boundless());
    struct sim_http_request request = make(NO_TOKEN, "POST", "/contoso/oauth2/v2.0/token", "x=y");
    fault("{\"kind\":\"throttle\",\"operation\":\"token\",\"retry_after\":4,\"count\":1},"
          "{\"kind\":\"unauthorized\",\"operation\":\"token\",\"count\":1},"
          "{\"kind\":\"server_error\",\"operation\":\"token\",\"count\":1},"
          "{\"kind\":\"cut\",\"operation\":\"token\",\"byte\":3}");
    request = make(NO_TOKEN, "POST", "/contoso/oauth2/v2.0/token", "x=y");
    arrive_and_finish(&request);
    ck_assert_int_eq(answer.status, 429);
    ck_assert(header_is("Retry-After", "4"));
    arrive_and_finish(&request);
    ck_assert_int_eq(answer.status, 401);
    ck_assert(body_has("\"error\":\"invalid_client\""));
    arrive_and_finish(&request);
    ck_assert_int_eq(answer.status, 500);
    arrive_and_finish(&request);
    ck_assert_int_eq(delivery.kind, SIM_CUT);
    ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 200);
    end();
}
END_TEST

#define LOOP(s, table, test)                                                                       \
    suite_add_loop((s), #test, test, (int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
    struct suite s = suite_new("sim_service_faults");
    suite_add(&s, heads_are_reset_before_or_within_and_only_those_that_match);
    LOOP(&s, delivery_cases, a_fault_does_what_it_says_and_is_counted);
    suite_add(&s, errors_of_the_database_carry_their_numbers);
    LOOP(&s, retry_cases, a_throttle_by_fault_has_the_retry_after_that_was_asked_for);
    suite_add(&s, a_throttle_in_a_world_without_limits_names_the_published_ones);
    suite_add(&s, a_part_of_a_batch_is_throttled_by_a_fault);
    suite_add(&s, limits_are_checked_for_every_part_if_the_switch_says_so);
    suite_add(&s, rows_of_an_elastic_table_fail_one_by_one);
    suite_add(&s, a_row_of_an_elastic_table_is_throttled);
    suite_add(&s, commit_then_silence_executes_at_the_end_of_the_service_time);
    suite_add(&s, a_late_commit_breaks_now_and_comes_later);
    suite_add(&s, a_late_commit_is_not_before_the_service_time_is_over);
    suite_add(&s, late_commits_come_in_their_order);
    suite_add(&s, a_latency_collapse_multiplies_the_time_and_charges_nothing);
    suite_add(&s, faults_on_tokens_answer_as_the_login_service_does);
    return suite_run(&s);
}
