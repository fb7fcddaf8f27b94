/* SPDX-License-Identifier: MIT */
/* Scenario files: defaults, every key, and what is refused with which message. */
#include <stdio.h>

#include "base/buf.h"
#include "base/clock.h"
#include "sim/law/scenario.h"
#include "support/suite.h"

#define S WEIR_US_PER_S

static struct sim_scenario scenario;
static struct weir_error err;

static enum weir_status read_text(const char *text)
{
    return sim_scenario_read(&scenario, weir_str_from(text), "world.json", &err);
}

static void must_read(const char *text)
{
    enum weir_status status = read_text(text);
    ck_assert_msg(status == WEIR_OK, "%s", err.message);
}

static void must_refuse(const char *text, const char *message)
{
    struct sim_scenario before = scenario;
    ck_assert_int_eq(read_text(text), WEIR_E_INVALID);
    ck_assert_str_eq(err.message, message);
    ck_assert_int_eq(err.status, WEIR_E_INVALID);
    ck_assert_mem_eq(&scenario, &before, sizeof(scenario));
}

START_TEST(an_empty_object_is_all_defaults)
{
    must_read("{}");
    ck_assert_str_eq(scenario.name, "slow-8s");
    ck_assert_int_eq(scenario.duration_us, 1800 * S);
    ck_assert_int_eq(scenario.work_items, SIM_NO_WORK_ITEMS);
    ck_assert_uint_eq(scenario.connections, 2);
    ck_assert_uint_eq(scenario.servers, 1);
    ck_assert_int_eq(scenario.affinity, SIM_AFFINITY_NONE);
    ck_assert_int_eq(scenario.limits.requests, 6000);
    ck_assert_int_eq(scenario.limits.execution_us, 1200 * S);
    ck_assert_int_eq(scenario.limits.concurrent, 52);
    ck_assert_int_eq(scenario.limits.window_us, 300 * S);
    ck_assert_int_eq(scenario.limits.bucket_us, 0);
    ck_assert(!scenario.limits.shared);
    ck_assert_int_eq(scenario.limits.charge, SIM_CHARGE_ACCRUAL);
    ck_assert(!scenario.limits.count_throttled);
    ck_assert_uint_eq(scenario.change_count, 0);
    ck_assert_int_eq(scenario.retry_after.base_us, S);
    ck_assert_double_eq(scenario.retry_after.growth, 1.5);
    ck_assert_int_eq(scenario.retry_after.forget_us, 360 * S);
    ck_assert_int_eq(scenario.retry_after.cap_us, 480 * S);
    ck_assert_int_eq(scenario.retry_after.per_offence_us, S);
    ck_assert_int_eq(scenario.retry_after.form, SIM_RETRY_SECONDS);
    ck_assert_int_eq(scenario.headers, SIM_HEADERS_EXACT);
    ck_assert_int_eq(scenario.dop_hint, 4);
    ck_assert_uint_eq(scenario.service_count, 1);
    ck_assert_double_eq(scenario.contention.knee, 0);
    ck_assert_double_eq(scenario.contention.kappa, 0);
    ck_assert_double_eq(scenario.foreign.share, 0);
    ck_assert_int_eq(scenario.foreign.pattern, SIM_PATTERN_CONSTANT);
    ck_assert_double_eq(scenario.prefill, 0);
    ck_assert_double_eq(scenario.failures, 0);
}
END_TEST

START_TEST(a_service_entry_has_its_defaults)
{
    must_read("{ \"service\": [ {} ] }");
    const struct sim_service *service = &scenario.services[0];
    ck_assert_uint_eq(scenario.service_count, 1);
    ck_assert_double_eq(service->weight, 1);
    ck_assert_str_eq(service->operation, "");
    ck_assert_uint_eq(service->rows, 100);
    ck_assert_double_eq(service->median_s, 2);
    ck_assert_double_eq(service->fixed_s, 0);
    ck_assert_double_eq(service->sigma, 0.3);
    ck_assert_int_eq(service->overhead_us, 50000);
    ck_assert_int_eq(service->exec_share, SIM_WHOLE_SHARE);
    ck_assert_int_eq(service->drift.kind, SIM_DRIFT_NONE);
    ck_assert_double_eq(service->drift.to, 1);
}
END_TEST

START_TEST(every_key_is_read_with_comments_and_trailing_commas)
{
    must_read("{ \"name\": \"held out\", \"duration_s\": 90.5, \"work_items\": 77, // items\n"
              "  \"connections\": 3, \"servers\": 4, \"affinity\": \"soft\",\n"
              "  \"limits\": { \"requests\": 60, \"execution_s\": 12.5, \"concurrent\": 7,\n"
              "    \"window_s\": 5, \"bucket_s\": 0.5, \"shared\": true, \"charge\": \"arrival\",\n"
              "    \"count_throttled\": true, \"change\": [\n"
              "      { \"at_s\": 900, \"requests\": 30, \"execution_s\": 6, \"dop_hint\": 8 },\n"
              "      { \"at_s\": 100, \"dop_hint\": 9 }, ] },\n"
              "  \"retry_after\": { \"base_s\": 30, \"growth\": 2, \"forget_s\": 60,\n"
              "    \"cap_s\": 100, \"per_offence_s\": 0.25, \"form\": \"date\" },\n"
              "  \"headers\": \"stale\", \"dop_hint\": 5, /* two kinds */\n"
              "  \"service\": [ { \"weight\": 9, \"operation\": \"CreateMultiple\",\n"
              "    \"rows\": 10, \"median_s\": 0.1, \"fixed_s\": 0.3, \"sigma\": 0.5, "
              "\"overhead_s\": 0.02,\n"
              "    \"exec_share\": 0.72, \"drift\": { \"kind\": \"sine\", \"to\": 6 } },\n"
              "    { \"operation\": null, \"median_s\": 6, }, ],\n"
              "  \"contention\": { \"knee\": 12, \"kappa\": 0.96 },\n"
              "  \"foreign\": { \"share\": 0.3, \"pattern\": \"bursty\" },\n"
              "  \"prefill\": 0.8, \"failures\": 0.05, \"tables\": [ 1 ], \"rows\": { },"
              " \"faults\": { }, }");
    ck_assert_str_eq(scenario.name, "held out");
    ck_assert_int_eq(scenario.duration_us, 90500000);
    ck_assert_int_eq(scenario.work_items, 77);
    ck_assert_uint_eq(scenario.connections, 3);
    ck_assert_uint_eq(scenario.servers, 4);
    ck_assert_int_eq(scenario.affinity, SIM_AFFINITY_SOFT);
    ck_assert_int_eq(scenario.limits.requests, 60);
    ck_assert_int_eq(scenario.limits.execution_us, 12500000);
    ck_assert_int_eq(scenario.limits.concurrent, 7);
    ck_assert_int_eq(scenario.limits.window_us, 5 * S);
    ck_assert_int_eq(scenario.limits.bucket_us, S / 2);
    ck_assert(scenario.limits.shared);
    ck_assert_int_eq(scenario.limits.charge, SIM_CHARGE_ARRIVAL);
    ck_assert(scenario.limits.count_throttled);
    ck_assert_int_eq(scenario.retry_after.base_us, 30 * S);
    ck_assert_double_eq(scenario.retry_after.growth, 2);
    ck_assert_int_eq(scenario.retry_after.forget_us, 60 * S);
    ck_assert_int_eq(scenario.retry_after.cap_us, 100 * S);
    ck_assert_int_eq(scenario.retry_after.per_offence_us, S / 4);
    ck_assert_int_eq(scenario.retry_after.form, SIM_RETRY_DATE);
    ck_assert_int_eq(scenario.headers, SIM_HEADERS_STALE);
    ck_assert_int_eq(scenario.dop_hint, 5);
    ck_assert_uint_eq(scenario.service_count, 2);
    const struct sim_service *service = &scenario.services[0];
    ck_assert_double_eq(service->weight, 9);
    ck_assert_str_eq(service->operation, "CreateMultiple");
    ck_assert_uint_eq(service->rows, 10);
    ck_assert_double_eq(service->median_s, 0.1);
    ck_assert_double_eq(service->fixed_s, 0.3);
    ck_assert_double_eq(service->sigma, 0.5);
    ck_assert_int_eq(service->overhead_us, 20000);
    ck_assert_int_eq(service->exec_share, 7200);
    ck_assert_int_eq(service->drift.kind, SIM_DRIFT_SINE);
    ck_assert_double_eq(service->drift.to, 6);
    ck_assert_double_eq(scenario.services[1].median_s, 6);
    ck_assert_double_eq(scenario.services[1].weight, 1);
    ck_assert_double_eq(scenario.contention.knee, 12);
    ck_assert_double_eq(scenario.contention.kappa, 0.96);
    ck_assert_double_eq(scenario.foreign.share, 0.3);
    ck_assert_int_eq(scenario.foreign.pattern, SIM_PATTERN_BURSTY);
    ck_assert_double_eq(scenario.prefill, 0.8);
    ck_assert_double_eq(scenario.failures, 0.05);
}
END_TEST

START_TEST(changes_are_put_in_the_order_of_time)
{
    must_read("{ \"limits\": { \"change\": [ { \"at_s\": 9, \"requests\": 1 }, { \"at_s\": 3, "
              "\"execution_s\": 2 }, { \"at_s\": 3, \"dop_hint\": 7 } ] } }");
    ck_assert_uint_eq(scenario.change_count, 3);
    ck_assert_int_eq(scenario.changes[0].at_us, 3 * S);
    ck_assert_int_eq(scenario.changes[0].execution_us, 2 * S);
    ck_assert_int_eq(scenario.changes[0].requests, SIM_UNCHANGED);
    ck_assert_int_eq(scenario.changes[1].dop_hint, 7);
    ck_assert_int_eq(scenario.changes[2].requests, 1);
    struct sim_budget budget = sim_scenario_budget(&scenario, 3 * S);
    ck_assert_int_eq(budget.requests, 6000);
    ck_assert_int_eq(budget.execution_us, 2 * S);
    ck_assert_int_eq(budget.dop_hint, 7);
    ck_assert_int_eq(sim_scenario_budget(&scenario, 3 * S - 1).dop_hint, 4);
}
END_TEST

START_TEST(null_stands_for_no_work_items_and_any_operation_only)
{
    must_read("{ \"work_items\": null, \"service\": [ { \"operation\": null } ] }");
    ck_assert_int_eq(scenario.work_items, SIM_NO_WORK_ITEMS);
    must_refuse("{ \"servers\": null }", "world.json: line 1: servers is \"null\", must be an "
                                         "integer from 1 to 64");
}
END_TEST

START_TEST(an_unknown_key_is_named_with_those_that_are_known)
{
    must_refuse("{ \"contention\": {\n \"knees\": 4 } }",
                "world.json: line 2: unknown key \"contention.knees\", known are knee, kappa");
    must_refuse("{ \"service\": [ {}, { \"drift\": { \"by\": 4 } } ] }",
                "world.json: line 1: unknown key \"service[1].drift.by\", known are kind, to");
    ck_assert_int_eq(read_text("{ \"Name\": \"x\" }"), WEIR_E_INVALID);
}
END_TEST

START_TEST(a_value_of_the_wrong_type_is_named_with_what_it_must_be)
{
    must_refuse("{ \"limits\": { \"shared\": 1 } }",
                "world.json: line 1: limits.shared is \"1\", must be true or false");
    must_refuse("{ \"limits\": { \"requests\": \"6000\" } }",
                "world.json: line 1: limits.requests is \"6000\", must be an integer from 0 to "
                "1000000000");
    must_refuse("{ \"limits\": { \"requests\": 60.5 } }",
                "world.json: line 1: limits.requests is \"60.5\", must be an integer from 0 to "
                "1000000000");
    must_refuse("{ \"limits\": [ ] }", "world.json: line 1: limits is \"[ ]\", must be an object");
    must_refuse("{ \"name\": 4 }",
                "world.json: line 1: name is \"4\", must be a text of at most 128 bytes");
    must_refuse("{ \"headers\": \"none\" }", "world.json: line 1: headers is \"none\", must be "
                                             "\"exact\", \"stale\", \"absent\" or \"wrong\"");
    must_refuse("{ \"service\": [ 5 ] }",
                "world.json: line 1: service[0] is \"5\", must be an object");
    must_refuse("[ ]", "world.json: a scenario must be an object, not an array");
}
END_TEST

START_TEST(a_value_out_of_range_is_named_with_its_range)
{
    must_refuse("{ \"servers\": 0 }",
                "world.json: line 1: servers is \"0\", must be an integer from 1 to 64");
    must_refuse("{ \"servers\": 65 }",
                "world.json: line 1: servers is \"65\", must be an integer from 1 to 64");
    must_refuse("{ \"prefill\": 1.01 }",
                "world.json: line 1: prefill is \"1.01\", must be a number from 0 to 1");
    must_refuse("{ \"failures\": -0.1 }",
                "world.json: line 1: failures is \"-0.1\", must be a number from 0 to 1");
    must_refuse("{ \"retry_after\": { \"growth\": 1e999 } }",
                "world.json: line 1: retry_after.growth is \"1e999\", must be a number from 1 to "
                "100");
    must_refuse("{ \"work_items\": 0 }", "world.json: line 1: work_items is \"0\", must be an "
                                         "integer from 1 to 1000000000 or null");
    must_refuse("{ \"service\": [ ] }",
                "world.json: line 1: service is \"[ ]\", must be an array of 1 to 64 objects");
    must_refuse("{ \"limits\": { \"bucket_s\": 301 } }",
                "world.json: limits.bucket_s is \"301\", must be 0 or a number from 0.001 to "
                "limits.window_s, which is 300");
    must_refuse("{ \"limits\": { \"change\": [ { \"requests\": 1 } ] } }",
                "world.json: line 1: limits.change is \"{ \"requests\": 1 }\", must be an array of "
                "objects that have an at_s");
}
END_TEST

START_TEST(what_is_not_json_is_refused_with_its_place)
{
    ck_assert_int_eq(read_text("{ \"name\": }"), WEIR_E_INVALID);
    ck_assert_msg(strncmp(err.message, "world.json: line 1, column ", 27) == 0, "%s", err.message);
    ck_assert_int_eq(read_text("{ \"servers\": 1, \"servers\": 2 }"), WEIR_E_INVALID);
}
END_TEST

START_TEST(lists_and_names_are_bounded)
{
    struct weir_buf text;
    weir_buf_init(&text, 100000);
    for (int count = 64; count <= 65; count++) {
        weir_buf_reset(&text);
        weir_buf_add_text(&text, "{ \"service\": [");
        for (int i = 0; i < count; i++)
            weir_buf_add_text(&text, "{},");
        weir_buf_add_text(&text, "], \"limits\": { \"change\": [");
        for (int i = 0; i < count; i++)
            weir_buf_printf(&text, "{ \"at_s\": %d },", i);
        weir_buf_printf(&text, "] }, \"name\": \"%0*d\" }", 2 * count, 0);
        ck_assert_int_eq(read_text(weir_buf_text(&text)), count == 64 ? WEIR_OK : WEIR_E_INVALID);
    }
    weir_buf_reset(&text);
    weir_buf_printf(&text, "{ \"name\": \"%0129d\" }", 0);
    ck_assert_int_eq(read_text(weir_buf_text(&text)), WEIR_E_INVALID);
    weir_buf_release(&text);
}
END_TEST

START_TEST(errors_may_go_unread)
{
    ck_assert_int_eq(sim_scenario_read(&scenario, weir_str_from("{ \"x\": 1 }"), "f", NULL),
                     WEIR_E_INVALID);
    ck_assert_int_eq(sim_scenario_read(&scenario, weir_str_from("{"), "f", NULL), WEIR_E_INVALID);
}
END_TEST

START_TEST(the_calibrated_world_is_as_measured)
{
    sim_scenario_calibrated(&scenario);
    ck_assert_double_eq(scenario.services[0].median_s, 2.5);
    ck_assert_uint_eq(scenario.services[0].rows, 100);
    ck_assert_int_eq(scenario.services[0].exec_share, 7200);
    ck_assert_double_eq(scenario.contention.knee, 12);
    ck_assert_double_eq(scenario.contention.kappa, 0.96);
    ck_assert_int_eq(scenario.dop_hint, 5);
    ck_assert_uint_eq(scenario.servers, 1);
    ck_assert_int_eq(scenario.limits.execution_us, 1200 * S);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("scenario");
    suite_add(&s, an_empty_object_is_all_defaults);
    suite_add(&s, a_service_entry_has_its_defaults);
    suite_add(&s, every_key_is_read_with_comments_and_trailing_commas);
    suite_add(&s, changes_are_put_in_the_order_of_time);
    suite_add(&s, null_stands_for_no_work_items_and_any_operation_only);
    suite_add(&s, an_unknown_key_is_named_with_those_that_are_known);
    suite_add(&s, a_value_of_the_wrong_type_is_named_with_what_it_must_be);
    suite_add(&s, a_value_out_of_range_is_named_with_its_range);
    suite_add(&s, what_is_not_json_is_refused_with_its_place);
    suite_add(&s, lists_and_names_are_bounded);
    suite_add(&s, errors_may_go_unread);
    suite_add(&s, the_calibrated_world_is_as_measured);
    return suite_run(&s);
}
