/* SPDX-License-Identifier: MIT */
/* Throttle episodes: what counts as one, and when there are too many. */
#include "support/rig.h"
#include "support/suite.h"
#include "throttle/episodes.h"

#define T0 SECONDS(5000)

START_TEST(throttles_less_than_thirty_seconds_apart_are_one_episode)
{
    struct weir_episodes episodes;
    weir_episodes_init(&episodes, 10);
    weir_episodes_record(&episodes, WEIR_NEVER, T0);
    weir_episodes_record(&episodes, T0, T0 + SECONDS(30) - 1);
    ck_assert_uint_eq(episodes.count, 1);
    weir_episodes_record(&episodes, T0 + SECONDS(30) - 1, T0 + SECONDS(60) - 1);
    ck_assert_uint_eq(episodes.count, 2);
    weir_episodes_release(&episodes);
}
END_TEST

START_TEST(more_than_the_maximum_within_five_minutes_is_too_many)
{
    struct weir_episodes episodes;
    weir_episodes_init(&episodes, 3);
    for (int i = 0; i < 3; i++) {
        weir_episodes_record(&episodes, WEIR_NEVER, T0 + MINUTES(i));
        ck_assert(!weir_episodes_exceeded(&episodes, T0 + MINUTES(i)));
    }
    weir_episodes_record(&episodes, WEIR_NEVER, T0 + MINUTES(4));
    ck_assert(weir_episodes_exceeded(&episodes, T0 + MINUTES(5) - 1));
    ck_assert(!weir_episodes_exceeded(&episodes, T0 + MINUTES(5))); /* the first has left */
    weir_episodes_record(&episodes, WEIR_NEVER, T0 + MINUTES(5));
    ck_assert(weir_episodes_exceeded(&episodes, T0 + MINUTES(5)));
    weir_episodes_release(&episodes);
}
END_TEST

START_TEST(without_a_maximum_there_are_never_too_many)
{
    struct weir_episodes episodes;
    weir_episodes_init(&episodes, 0);
    for (int i = 0; i < 1000; i++)
        weir_episodes_record(&episodes, WEIR_NEVER, T0 + i);
    ck_assert(!weir_episodes_exceeded(&episodes, T0 + 1000));
    weir_episodes_release(&episodes);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("episodes");
    suite_add(&s, throttles_less_than_thirty_seconds_apart_are_one_episode);
    suite_add(&s, more_than_the_maximum_within_five_minutes_is_too_many);
    suite_add(&s, without_a_maximum_there_are_never_too_many);
    return suite_run(&s);
}
