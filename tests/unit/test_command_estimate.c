/* SPDX-License-Identifier: MIT */
/* How long a job will take. Linked with estimate.c of apps/weir. */
#include "base/rng.h"
#include "estimate.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

START_TEST(each_limit_binds_where_it_is_the_slowest)
{
    static const struct {
        struct estimate_world world;
        uint64_t requests;
        uint64_t rows;
        double seconds;
        enum estimate_bound bound;
    } cases[] = {
        { { 1, 5, 0, 0, false }, 0, 0, 0, ESTIMATE_BOUND_NONE },
        { { 1, 5, 0, 0, false }, 1, 100, 2.5, ESTIMATE_BOUND_ANSWER },
        { { 1, 5, 0, 0, false }, 5, 500, 2.5, ESTIMATE_BOUND_ANSWER },
        { { 1, 5, 0, 0, false }, 100, 10000, 50, ESTIMATE_BOUND_PARALLELISM },
        /* 25,000 s of execution: 1,200 at once, the rest at 4 a second */
        { { 1, 5, 0, 0, false }, 10000, 1000000, 5950, ESTIMATE_BOUND_EXECUTION },
        { { 3, 15, 0, 0, false },
          10000,
          1000000,
          (25000.0 / 3 - 1200) / 4,
          ESTIMATE_BOUND_EXECUTION },
        /* one row a request: 25 ms each, 40 of them are one second of execution */
        { { 1, 52, 0, 0, false }, 20000, 20000, 700, ESTIMATE_BOUND_REQUESTS },
        { { 1, 5, 1, 0, false }, 100, 10000, 250, ESTIMATE_BOUND_USER_PARALLELISM },
        { { 1, 5, 0, 10, false }, 100, 10000, 1000, ESTIMATE_BOUND_USER_RATE },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct estimate it = { 0 };
        estimate_add(&it, &cases[i].world, cases[i].requests, cases[i].rows);
        ck_assert_double_eq_tol(it.seconds, cases[i].seconds, 1e-6);
        ck_assert_int_eq(it.bound, cases[i].bound);
    }
}
END_TEST

START_TEST(passes_add_up_and_the_longest_names_the_bound)
{
    struct estimate_world world = { .connections = 1, .in_flight = 5 };
    struct estimate it = { 0 };
    estimate_add(&it, &world, 1, 100);
    estimate_add(&it, &world, 100, 10000);
    estimate_add(&it, &world, 0, 0);
    estimate_add(&it, &world, 2, 200);
    ck_assert_double_eq_tol(it.seconds, 55, 1e-6);
    ck_assert_int_eq(it.bound, ESTIMATE_BOUND_PARALLELISM);
}
END_TEST

/* More work never takes less time; more connections, or more in flight, never more. */
START_TEST(work_and_help_only_count_one_way)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 3, 0);
    for (int i = 0; i < 20000; i++) {
        struct estimate_world world = {
            .connections = 1 + weir_rng_below(&rng, 20),
            .in_flight = 1 + weir_rng_below(&rng, 200),
            .in_flight_max = weir_rng_below(&rng, 3) ? 0 : 1 + weir_rng_below(&rng, 50),
            .rows_per_second_max = weir_rng_below(&rng, 3) ? 0 : 1 + weir_rng_unit(&rng) * 1000,
        };
        struct estimate_world more = world;
        uint64_t requests = 1 + weir_rng_below(&rng, 100000);
        uint64_t rows = requests * (1 + weir_rng_below(&rng, 100));
        struct estimate it = { 0 }, longer = { 0 }, faster = { 0 };
        more.connections++;
        more.in_flight += 5;
        estimate_add(&it, &world, requests, rows);
        estimate_add(&longer, &world, requests * 2, rows * 2);
        estimate_add(&faster, &more, requests, rows);
        ck_assert_double_ge(longer.seconds, it.seconds);
        ck_assert_double_le(faster.seconds, it.seconds);
        ck_assert_double_gt(it.seconds, 0);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("command_estimate");
    suite_add(&s, each_limit_binds_where_it_is_the_slowest);
    suite_add(&s, passes_add_up_and_the_longest_names_the_bound);
    suite_add(&s, work_and_help_only_count_one_way);
    return suite_run(&s);
}
