/* SPDX-License-Identifier: MIT */
/* Durations, drift, contention, and the arithmetic below them. */
#include <math.h>

#include "base/clock.h"
#include "sim/law/number.h"
#include "sim/law/service_time.h"
#include "support/suite.h"

#define S WEIR_US_PER_S

START_TEST(exponential_logarithm_and_cosine_agree_with_the_library)
{
    for (double x = -30; x <= 30; x += 0.037)
        ck_assert_double_lt(fabs(sim_exp(x) / exp(x) - 1), 1e-13);
    for (double x = 1e-16; x < 1e6; x *= 1.037)
        ck_assert_double_lt(fabs(sim_log(x) - log(x)), 1e-13 * (1 + fabs(log(x))));
    for (double x = 0; x < 10; x += 0.0137)
        ck_assert_double_lt(fabs(sim_cos_turns(x) - cos(x * 2 * M_PI)), 1e-12);
    ck_assert_double_eq(sim_exp(0), 1);
    ck_assert_double_eq(sim_log(1), 0);
    ck_assert_double_gt(sim_exp(1000), 1e300);
    ck_assert_double_lt(sim_exp(-1000), 1e-300);
}
END_TEST

START_TEST(rounding_goes_to_the_nearest_and_stays_in_its_bounds)
{
    ck_assert_int_eq(sim_round(2.4999, 10), 2);
    ck_assert_int_eq(sim_round(2.5, 10), 3);
    ck_assert_int_eq(sim_round(-7, 10), 0);
    ck_assert_int_eq(sim_round(1e300, 10), 10);
    ck_assert_int_eq(sim_round((double)NAN, 10), 0);
}
END_TEST

START_TEST(a_draw_depends_on_seed_connection_and_number_and_nothing_else)
{
    uint64_t key = sim_draw_key(7, 3, SIM_DRAWER_CLIENT);
    struct sim_draw first = sim_draw(key, 42);
    for (uint64_t number = 0; number < 100; number++)
        sim_draw(key, number);
    struct sim_draw again = sim_draw(sim_draw_key(7, 3, SIM_DRAWER_CLIENT), 42);
    ck_assert_double_eq(first.normal, again.normal);
    ck_assert_double_eq(first.pick, again.pick);
    ck_assert_double_eq(first.fail, again.fail);
    ck_assert_double_ne(first.normal, sim_draw(key, 43).normal);
    ck_assert_double_ne(first.normal, sim_draw(sim_draw_key(8, 3, SIM_DRAWER_CLIENT), 42).normal);
    ck_assert_double_ne(first.normal, sim_draw(sim_draw_key(7, 4, SIM_DRAWER_CLIENT), 42).normal);
    ck_assert_double_ne(first.normal, sim_draw(sim_draw_key(7, 3, SIM_DRAWER_FOREIGN), 42).normal);
}
END_TEST

START_TEST(normal_draws_have_mean_zero_and_deviation_one)
{
    const int count = 200000;
    double sum = 0, squares = 0;
    int beyond_two = 0;
    uint64_t key = sim_draw_key(1, 0, SIM_DRAWER_CLIENT);
    for (int i = 0; i < count; i++) {
        double x = sim_draw(key, (uint64_t)i).normal;
        sum += x;
        squares += x * x;
        beyond_two += x > 2;
    }
    ck_assert_double_lt(fabs(sum / count), 0.01);
    ck_assert_double_lt(fabs(squares / count - 1), 0.02);
    ck_assert_double_lt(fabs((double)beyond_two / count - 0.02275), 0.002);
}
END_TEST

START_TEST(durations_are_log_normal_around_their_median)
{
    const int count = 100001;
    struct sim_service service = sim_service_default();
    uint64_t key = sim_draw_key(2, 0, SIM_DRAWER_CLIENT);
    int below = 0;
    double sum = 0;
    for (int i = 0; i < count; i++) {
        int64_t time_us = sim_service_time_us(&service, sim_draw(key, (uint64_t)i).normal, 0, 1);
        below += time_us < 2 * S;
        sum += (double)time_us / 1e6;
    }
    ck_assert_double_lt(fabs((double)below / count - 0.5), 0.01);
    double mean = sim_service_mean_s(&service, 1);
    ck_assert_double_lt(fabs(mean - 2 * exp(0.045)), 1e-12);
    ck_assert_double_lt(fabs(sum / count / mean - 1), 0.01);
}
END_TEST

START_TEST(a_duration_is_in_proportion_to_rows_and_factor)
{
    struct sim_service service = sim_service_default();
    ck_assert_int_eq(sim_service_time_us(&service, 0, 0, 1), 2 * S);
    ck_assert_int_eq(sim_service_time_us(&service, 0, 100, 1), 2 * S);
    ck_assert_int_eq(sim_service_time_us(&service, 0, 50, 1), 1 * S);
    ck_assert_int_eq(sim_service_time_us(&service, 0, 1, 3), 60000);
    service.fixed_s = 0.5;
    ck_assert_int_eq(sim_service_time_us(&service, 0, 50, 1), 1500000);
    ck_assert_int_eq(sim_service_time_us(&service, 0, 0, 2), 5 * S);
    ck_assert_double_lt(fabs(sim_service_mean_s(&service, 1) - 2.5 * exp(0.045)), 1e-12);
    service.fixed_s = 0;
    service.median_s = 0;
    ck_assert_int_eq(sim_service_time_us(&service, 5, 0, 1), 0);
    service.median_s = 3600;
    ck_assert_int_eq(sim_service_time_us(&service, 20, 0, 100), SIM_SERVICE_TIME_MAX_US);
}
END_TEST

static double drift_at(enum sim_drift_kind kind, int64_t t_s)
{
    struct sim_drift drift = { kind, 6 };
    return sim_drift_factor(&drift, 1800 * S, t_s * S);
}

START_TEST(drift_follows_its_curve_between_one_and_to)
{
    ck_assert_double_eq(drift_at(SIM_DRIFT_NONE, 900), 1);

    ck_assert_double_eq(drift_at(SIM_DRIFT_LINEAR, -1), 1);
    ck_assert_double_eq(drift_at(SIM_DRIFT_LINEAR, 0), 1);
    ck_assert_double_eq(drift_at(SIM_DRIFT_LINEAR, 900), 3.5);
    ck_assert_double_eq(drift_at(SIM_DRIFT_LINEAR, 1800), 6);
    ck_assert_double_eq(drift_at(SIM_DRIFT_LINEAR, 9999), 6);

    ck_assert_double_eq(drift_at(SIM_DRIFT_STEP, 899), 1);
    ck_assert_double_eq(drift_at(SIM_DRIFT_STEP, 900), 6);

    ck_assert_double_eq_tol(drift_at(SIM_DRIFT_SINE, 0), 1, 1e-9);
    ck_assert_double_eq_tol(drift_at(SIM_DRIFT_SINE, 150), 3.5, 1e-9);
    ck_assert_double_eq_tol(drift_at(SIM_DRIFT_SINE, 300), 6, 1e-9);
    ck_assert_double_eq_tol(drift_at(SIM_DRIFT_SINE, 600), 1, 1e-9);
    ck_assert_double_eq_tol(drift_at(SIM_DRIFT_SINE, 1500), 6, 1e-9);
}
END_TEST

START_TEST(contention_begins_above_the_knee)
{
    struct sim_contention contention = { 12, 0.96 };
    ck_assert_double_eq(sim_contention_factor(&contention, 1), 1);
    ck_assert_double_eq(sim_contention_factor(&contention, 12), 1);
    ck_assert_double_eq(sim_contention_factor(&contention, 13), 1.08);
    ck_assert_double_eq(sim_contention_factor(&contention, 37), 3);
    contention.knee = 0;
    ck_assert_double_eq(sim_contention_factor(&contention, 1000), 1);
}
END_TEST

static uint32_t pick(const struct sim_scenario *scenario, const char *operation, double draw)
{
    return sim_service_pick(scenario, weir_str_from(operation), draw);
}

START_TEST(entries_are_picked_by_weight_among_those_of_the_operation)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.service_count = 4;
    const char *const names[] = { "", "CreateMultiple", "", "CreateMultiple" };
    const double weights[] = { 1, 2, 3, 2 };
    for (int i = 0; i < 4; i++) {
        scenario.services[i] = sim_service_default();
        strcpy(scenario.services[i].operation, names[i]);
        scenario.services[i].weight = weights[i];
    }
    ck_assert_uint_eq(pick(&scenario, NULL, 0), 0);
    ck_assert_uint_eq(pick(&scenario, NULL, 0.124), 0);
    ck_assert_uint_eq(pick(&scenario, NULL, 0.126), 1);
    ck_assert_uint_eq(pick(&scenario, NULL, 0.74), 2);
    ck_assert_uint_eq(pick(&scenario, NULL, 0.999999), 3);
    ck_assert_uint_eq(pick(&scenario, "CreateMultiple", 0.49), 1);
    ck_assert_uint_eq(pick(&scenario, "CreateMultiple", 0.51), 3);
    ck_assert_uint_eq(pick(&scenario, "WhoAmI", 0.24), 0);
    ck_assert_uint_eq(pick(&scenario, "WhoAmI", 0.26), 2);
}
END_TEST

START_TEST(an_operation_without_an_entry_takes_any_if_all_have_names)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    strcpy(scenario.services[0].operation, "CreateMultiple");
    ck_assert_uint_eq(pick(&scenario, "WhoAmI", 0.5), 0);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("law_service_time");
    suite_add(&s, exponential_logarithm_and_cosine_agree_with_the_library);
    suite_add(&s, rounding_goes_to_the_nearest_and_stays_in_its_bounds);
    suite_add(&s, a_draw_depends_on_seed_connection_and_number_and_nothing_else);
    suite_add(&s, normal_draws_have_mean_zero_and_deviation_one);
    suite_add(&s, durations_are_log_normal_around_their_median);
    suite_add(&s, a_duration_is_in_proportion_to_rows_and_factor);
    suite_add(&s, drift_follows_its_curve_between_one_and_to);
    suite_add(&s, contention_begins_above_the_knee);
    suite_add(&s, entries_are_picked_by_weight_among_those_of_the_operation);
    suite_add(&s, an_operation_without_an_entry_takes_any_if_all_have_names);
    return suite_run(&s);
}
