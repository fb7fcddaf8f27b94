/* SPDX-License-Identifier: MIT */
/* What a job asks before it begins, of a weir-sim that is slow to answer. */
#include "client/describe.h"
#include "support/client_rig.h"

static struct weir_description description;

static void set_faults(const char *faults)
{
    char body[512];
    snprintf(body, sizeof(body), "{\"faults\":[%s]}", faults);
    ck_assert_int_eq(ask("POST", "/sim/faults", body), 200);
}

static int64_t until_us = WEIR_FOREVER;

static enum weir_status describe(int64_t patience_us)
{
    description = (struct weir_description){ 0 };
    return weir_client_describe(rig.client, "account",
                                (struct weir_patience){ patience_us, until_us }, &description,
                                &rig.err);
}

static void check_description(void)
{
    ck_assert_str_eq(description.table->set_name, "accounts");
    ck_assert_int_gt(description.service_wall_us, 0);
    weir_table_free(description.table);
}

START_TEST(one_request_tells_all)
{
    rig_start(2);
    ck_assert_int_eq(describe(WEIR_FIRST_CONTACT_US), WEIR_OK);
    check_description();
    ck_assert_int_eq(rig_count("requests"), 1);
    rig_close();
}
END_TEST

START_TEST(a_short_outage_is_sat_out)
{
    rig_start(2);
    set_faults("{\"kind\":\"server_error\",\"status\":503,\"operation\":\"$batch\",\"count\":4}");
    ck_assert_int_eq(describe(60 * WEIR_US_PER_S), WEIR_OK);
    check_description();
    ck_assert_int_ge(rig_count("requests"), 5); /* more than one call would send */
    rig_close();
}
END_TEST

START_TEST(who_never_answers_is_given_up)
{
    rig_start(1);
    set_faults("{\"kind\":\"stall\",\"seconds\":600,\"operation\":\"$batch\",\"probability\":1}");
    ck_assert_int_eq(describe(WEIR_US_PER_S), WEIR_E_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(rig.err.message, "did not answer within 1 s"));
    rig_close();
}
END_TEST

/* More than MaxThrottleRetries: a job is not bounded by those. */
START_TEST(throttles_are_waited_for_however_many_there_are)
{
    rig_start(2);
    set_faults("{\"kind\":\"throttle\",\"code\":\"0x80072322\",\"retry_after\":1,"
               "\"operation\":\"$batch\",\"count\":7}");
    ck_assert_int_eq(describe(WEIR_FIRST_CONTACT_US), WEIR_OK);
    check_description();
    ck_assert_int_eq(rig_count("requests"), 8);
    rig_close();
}
END_TEST

START_TEST(a_throttle_beyond_the_deadline_is_not_waited_for)
{
    rig_start(1);
    set_faults("{\"kind\":\"throttle\",\"code\":\"0x80072322\",\"retry_after\":3000,"
               "\"operation\":\"$batch\",\"probability\":1}");
    until_us = weir_clock_now_us() + WEIR_US_PER_S / 2;
    ck_assert_int_eq(describe(WEIR_FIRST_CONTACT_US), WEIR_E_SERVICE_PROTECTION);
    ck_assert_ptr_nonnull(strstr(rig.err.message, "deadline"));
    until_us = WEIR_FOREVER;
    rig_close();
}
END_TEST

START_TEST(a_throttle_is_waited_for_beyond_that)
{
    rig_start(1);
    set_faults("{\"kind\":\"throttle\",\"code\":\"0x80072322\",\"retry_after\":3,"
               "\"operation\":\"$batch\",\"count\":1}");
    ck_assert_int_eq(describe(2 * WEIR_US_PER_S), WEIR_OK);
    check_description();
    ck_assert_int_eq(rig_count("requests"), 2);
    rig_close();
}
END_TEST

START_TEST(a_part_that_is_throttled_is_asked_for_again)
{
    rig_start(1);
    set_faults("{\"kind\":\"throttle\",\"where\":\"part\",\"code\":\"0x80072322\","
               "\"retry_after\":1,\"operation\":\"$batch\",\"count\":1}");
    ck_assert_int_eq(describe(60 * WEIR_US_PER_S), WEIR_OK);
    check_description();
    rig_close();
}
END_TEST

START_TEST(what_another_try_would_not_change_is_said_at_once)
{
    rig_start(1);
    ck_assert_int_eq(
        weir_client_describe(rig.client, "acount",
                             (struct weir_patience){ WEIR_FIRST_CONTACT_US, WEIR_FOREVER },
                             &description, &rig.err),
        WEIR_E_NOT_FOUND);
    ck_assert_int_eq(rig_count("requests"), 2); /* the second asks which name was meant */
    rig_close();
}
END_TEST

int main(void)
{
    struct suite s = suite_new("first_contact");
    suite_add(&s, one_request_tells_all);
    suite_add(&s, a_short_outage_is_sat_out);
    suite_add(&s, who_never_answers_is_given_up);
    suite_add(&s, throttles_are_waited_for_however_many_there_are);
    suite_add(&s, a_throttle_beyond_the_deadline_is_not_waited_for);
    suite_add(&s, a_throttle_is_waited_for_beyond_that);
    suite_add(&s, a_part_that_is_throttled_is_asked_for_again);
    suite_add(&s, what_another_try_would_not_change_is_said_at_once);
    return suite_run(&s);
}
