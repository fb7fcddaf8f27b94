/* SPDX-License-Identifier: MIT */
/* The throttle tracker: every member of the design documents' IThrottleTracker, and a naive model.
 */
#include "base/rng.h"
#include "support/rig.h"
#include "support/suite.h"
#include "throttle/tracker.h"

#define T0 SECONDS(5000)

static struct weir_tracker tracker;

static void setup(uint32_t keys)
{
    weir_tracker_init(&tracker, keys, SECONDS(1));
}

START_TEST(record_throttle_blocks_until_expiry_and_no_longer)
{
    setup(3);
    weir_tracker_record(&tracker, 1, SECONDS(30), 0.0, T0);
    ck_assert(weir_tracker_is_throttled(&tracker, 1, T0));
    ck_assert(weir_tracker_is_throttled(&tracker, 1, T0 + SECONDS(30) - 1));
    ck_assert(!weir_tracker_is_throttled(&tracker, 1, T0 + SECONDS(30)));
    ck_assert(!weir_tracker_is_throttled(&tracker, 0, T0));
    weir_tracker_release(&tracker);
}
END_TEST

START_TEST(get_throttle_expiry_is_null_unless_throttled)
{
    setup(2);
    ck_assert(weir_tracker_expiry_us(&tracker, 0, T0) == WEIR_NEVER);
    weir_tracker_record(&tracker, 0, SECONDS(30), 0.0, T0);
    ck_assert(weir_tracker_expiry_us(&tracker, 0, T0 + 1) == T0 + SECONDS(30));
    ck_assert(weir_tracker_expiry_us(&tracker, 0, T0 + SECONDS(30)) == WEIR_NEVER);
    weir_tracker_release(&tracker);
}
END_TEST

START_TEST(a_later_shorter_retry_after_never_shortens_a_block)
{
    setup(1);
    weir_tracker_record(&tracker, 0, SECONDS(60), 0.5, T0);
    int64_t reopening = weir_tracker_reopening_us(&tracker, 0);
    weir_tracker_record(&tracker, 0, SECONDS(5), 0.5, T0 + SECONDS(1));
    ck_assert(weir_tracker_expiry_us(&tracker, 0, T0 + SECONDS(2)) == T0 + SECONDS(60));
    ck_assert(weir_tracker_reopening_us(&tracker, 0) == reopening);
    weir_tracker_record(&tracker, 0, SECONDS(90), 0.5, T0 + SECONDS(1));
    ck_assert(weir_tracker_expiry_us(&tracker, 0, T0 + SECONDS(2)) == T0 + SECONDS(91));
    weir_tracker_release(&tracker);
}
END_TEST

START_TEST(reopening_is_expiry_plus_buffer_plus_jitter_of_at_most_a_second_or_five_percent)
{
    const struct {
        int64_t retry_after_us;
        double chance;
        int64_t jitter_us;
    } rows[] = {
        { SECONDS(1), 0.0, 0 },
        { SECONDS(1), 0.5, MS(25) },
        { SECONDS(10), 0.5, MS(250) },
        { SECONDS(20), 0.999999, 999999 },
        { SECONDS(3600), 0.999999, 999999 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        setup(1);
        weir_tracker_record(&tracker, 0, rows[i].retry_after_us, rows[i].chance, T0);
        ck_assert_int_eq(weir_tracker_reopening_us(&tracker, 0) - T0 - rows[i].retry_after_us,
                         SECONDS(1) + rows[i].jitter_us);
        ck_assert_int_eq(weir_tracker_clears_us(&tracker, 0) - T0 - rows[i].retry_after_us,
                         SECONDS(1));
        weir_tracker_release(&tracker);
    }
}
END_TEST

START_TEST(count_names_and_shortest_expiry_follow_the_raw_expiry)
{
    setup(5);
    ck_assert(weir_tracker_shortest_expiry_us(&tracker, T0) == 0);
    weir_tracker_record(&tracker, 4, SECONDS(30), 0.9, T0);
    weir_tracker_record(&tracker, 2, SECONDS(10), 0.9, T0);
    uint32_t keys[5];
    ck_assert_uint_eq(weir_tracker_count(&tracker, T0 + SECONDS(4)), 2);
    ck_assert_uint_eq(weir_tracker_list(&tracker, T0, keys, 5), 2);
    ck_assert_uint_eq(weir_tracker_list(&tracker, T0, keys, 1), 1);
    ck_assert(weir_tracker_shortest_expiry_us(&tracker, T0 + SECONDS(4)) == SECONDS(6));
    /* At its expiry it is no longer throttled, though still closed for buffer and jitter. */
    ck_assert_uint_eq(weir_tracker_count(&tracker, T0 + SECONDS(10)), 1);
    ck_assert(weir_tracker_reopening_us(&tracker, 2) > T0 + SECONDS(11));
    ck_assert_uint_eq(weir_tracker_list(&tracker, T0 + SECONDS(10), keys, 5), 1);
    ck_assert_uint_eq(keys[0], 4);
    ck_assert_uint_eq(weir_tracker_count(&tracker, T0 + SECONDS(30)), 0);
    ck_assert(weir_tracker_shortest_expiry_us(&tracker, T0 + SECONDS(30)) == 0);
    ck_assert(weir_tracker_reopening_us(&tracker, 0) == WEIR_NEVER);
    ck_assert(weir_tracker_clears_us(&tracker, 0) == WEIR_NEVER);
    weir_tracker_release(&tracker);
}
END_TEST

START_TEST(clear_opens_at_once_and_does_not_count_what_did_not_take_place)
{
    setup(1);
    weir_tracker_record(&tracker, 0, SECONDS(60), 0.5, T0);
    weir_tracker_clear(&tracker, 0, T0 + SECONDS(20));
    ck_assert(!weir_tracker_is_throttled(&tracker, 0, T0 + SECONDS(20)));
    ck_assert(weir_tracker_reopening_us(&tracker, 0) == WEIR_NEVER);
    ck_assert_uint_eq(weir_tracker_count(&tracker, T0 + SECONDS(20)), 0);
    ck_assert(tracker.total_backoff_us == SECONDS(20));
    ck_assert_uint_eq(tracker.total_events, 1);
    weir_tracker_clear(&tracker, 0, T0 + SECONDS(21));
    ck_assert(tracker.total_backoff_us == SECONDS(20));
    weir_tracker_release(&tracker);
}
END_TEST

START_TEST(total_events_count_throttles_and_total_backoff_counts_overlaps_once)
{
    setup(2);
    weir_tracker_record(&tracker, 0, SECONDS(10), 0.0, T0);
    weir_tracker_record(&tracker, 0, SECONDS(10), 0.0, T0 + SECONDS(4)); /* 4 s more */
    weir_tracker_record(&tracker, 1, SECONDS(7), 0.0, T0);
    weir_tracker_block(&tracker, 1, SECONDS(9), 0.0, T0); /* a 503: 2 s more, no event */
    ck_assert_uint_eq(tracker.total_events, 3);
    ck_assert(tracker.total_backoff_us == SECONDS(10 + 4 + 7 + 2));
    weir_tracker_release(&tracker);
}
END_TEST

START_TEST(nothing_grows_over_ten_virtual_hours_of_throttling)
{
    setup(3);
    for (int64_t now = T0; now < T0 + 10 * WEIR_US_PER_HOUR; now += SECONDS(3))
        weir_tracker_record(&tracker, (uint32_t)(now / SECONDS(3) % 3), SECONDS(5), 0.5, now);
    ck_assert_uint_le(tracker.expiries.count, 3);
    ck_assert_uint_eq(tracker.expiries.capacity, 3);
    ck_assert_uint_eq(weir_tracker_count(&tracker, T0 + 11 * WEIR_US_PER_HOUR), 0);
    ck_assert_uint_eq(tracker.expiries.count, 0);
    weir_tracker_release(&tracker);
}
END_TEST

#define KEYS 12

START_TEST(the_tracker_equals_a_naive_recount_on_random_traffic)
{
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 0);
    setup(KEYS);
    int64_t expiry[KEYS];
    int64_t backoff = 0;
    uint64_t events = 0;
    int64_t now = T0;
    for (int i = 0; i < KEYS; i++)
        expiry[i] = WEIR_NEVER;

    for (int step = 0; step < 3000; step++) {
        now += (int64_t)weir_rng_below(&rng, SECONDS(4));
        uint32_t key = (uint32_t)weir_rng_below(&rng, KEYS);
        int64_t retry_after = (int64_t)weir_rng_below(&rng, SECONDS(20)) + 1;
        if (weir_rng_below(&rng, 5) == 0) {
            weir_tracker_clear(&tracker, key, now);
            backoff -= expiry[key] > now ? expiry[key] - now : 0;
            expiry[key] = WEIR_NEVER;
        } else {
            weir_tracker_record(&tracker, key, retry_after, weir_rng_unit(&rng), now);
            events++;
            int64_t from = expiry[key] > now ? expiry[key] : now;
            if (now + retry_after > expiry[key]) {
                backoff += now + retry_after - from;
                expiry[key] = now + retry_after;
            }
        }
        uint32_t count = 0;
        int64_t shortest = WEIR_FOREVER;
        for (uint32_t i = 0; i < KEYS; i++) {
            bool throttled = expiry[i] > now;
            must(weir_tracker_is_throttled(&tracker, i, now) == throttled);
            count += throttled;
            if (throttled && expiry[i] - now < shortest)
                shortest = expiry[i] - now;
        }
        must(weir_tracker_count(&tracker, now) == count);
        must(weir_tracker_shortest_expiry_us(&tracker, now) == (count ? shortest : 0));
        must(tracker.total_backoff_us == backoff);
        must(tracker.total_events == events);
    }
    weir_tracker_release(&tracker);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("tracker");
    suite_add(&s, record_throttle_blocks_until_expiry_and_no_longer);
    suite_add(&s, get_throttle_expiry_is_null_unless_throttled);
    suite_add(&s, a_later_shorter_retry_after_never_shortens_a_block);
    suite_add(&s, reopening_is_expiry_plus_buffer_plus_jitter_of_at_most_a_second_or_five_percent);
    suite_add(&s, count_names_and_shortest_expiry_follow_the_raw_expiry);
    suite_add(&s, clear_opens_at_once_and_does_not_count_what_did_not_take_place);
    suite_add(&s, total_events_count_throttles_and_total_backoff_counts_overlaps_once);
    suite_add(&s, nothing_grows_over_ten_virtual_hours_of_throttling);
    suite_add_loop(&s, "the_tracker_equals_a_naive_recount_on_random_traffic",
                   the_tracker_equals_a_naive_recount_on_random_traffic, 20);
    return suite_run(&s);
}
