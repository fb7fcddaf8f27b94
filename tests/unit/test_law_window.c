/* SPDX-License-Identifier: MIT */
/* The sliding window: its edges, and a naive recount on random traffic. */
#include "base/clock.h"
#include "base/rng.h"
#include "sim/law/window.h"
#include "support/suite.h"

#define W INT64_C(1000) /* of the edge tests, in microseconds */

START_TEST(a_lump_counts_at_once_and_leaves_after_exactly_one_window)
{
    struct sim_window window;
    sim_window_init(&window, W, 0, 0, 0);
    sim_window_add(&window, 50, 7, 0);
    ck_assert_int_eq(sim_window_sum(&window, 50), 7);
    ck_assert_int_eq(sim_window_sum(&window, 50 + W - 1), 7);
    ck_assert_int_eq(sim_window_sum(&window, 50 + W), 0);
    ck_assert_int_eq(sim_window_sum(&window, 50 + W + 1), 0);
    sim_window_release(&window);
}
END_TEST

START_TEST(a_rate_counts_by_its_overlap_with_the_window)
{
    struct sim_window window;
    sim_window_init(&window, W, 0, 0, 0);
    sim_window_add(&window, 100, 0, 3);
    ck_assert_int_eq(sim_window_sum(&window, 100), 0);
    ck_assert_int_eq(sim_window_sum(&window, 101), 3);
    sim_window_add(&window, 150, 0, -3);
    ck_assert_int_eq(sim_window_sum(&window, 150), 150);
    ck_assert_int_eq(sim_window_sum(&window, 99 + W), 150);
    ck_assert_int_eq(sim_window_sum(&window, 100 + W), 150);
    ck_assert_int_eq(sim_window_sum(&window, 101 + W), 147);
    ck_assert_int_eq(sim_window_sum(&window, 149 + W), 3);
    ck_assert_int_eq(sim_window_sum(&window, 150 + W), 0);
    ck_assert_int_eq(sim_window_sum(&window, 151 + W), 0);
    sim_window_release(&window);
}
END_TEST

START_TEST(a_rate_longer_than_the_window_fills_it_and_no_more)
{
    struct sim_window window;
    sim_window_init(&window, W, 0, 0, 0);
    sim_window_add(&window, 0, 0, 2);
    ck_assert_int_eq(sim_window_sum(&window, W), 2 * W);
    ck_assert_int_eq(sim_window_sum(&window, 10 * W), 2 * W);
    sim_window_release(&window);
}
END_TEST

START_TEST(buckets_round_up_to_their_end)
{
    struct sim_window window;
    sim_window_init(&window, W, 100, 0, 0);
    sim_window_add(&window, 100, 1, 0);
    sim_window_add(&window, 101, 2, 0);
    sim_window_add(&window, 200, 4, 0);
    ck_assert_int_eq(sim_window_sum(&window, 200), 7);
    ck_assert_int_eq(sim_window_sum(&window, 100 + W - 1), 7);
    ck_assert_int_eq(sim_window_sum(&window, 100 + W), 6);
    ck_assert_int_eq(sim_window_sum(&window, 101 + W), 6);
    ck_assert_int_eq(sim_window_sum(&window, 200 + W - 1), 6);
    ck_assert_int_eq(sim_window_sum(&window, 200 + W), 0);
    sim_window_release(&window);
}
END_TEST

START_TEST(a_bucket_lets_its_part_of_a_rate_go_at_once)
{
    struct sim_window window;
    sim_window_init(&window, W, 100, 0, 0);
    sim_window_add(&window, 150, 0, 1);
    sim_window_add(&window, 350, 0, -1);
    ck_assert_int_eq(sim_window_sum(&window, 199 + W), 200);
    ck_assert_int_eq(sim_window_sum(&window, 200 + W), 150);
    ck_assert_int_eq(sim_window_sum(&window, 299 + W), 150);
    ck_assert_int_eq(sim_window_sum(&window, 300 + W), 50);
    ck_assert_int_eq(sim_window_sum(&window, 399 + W), 50);
    ck_assert_int_eq(sim_window_sum(&window, 400 + W), 0);
    sim_window_release(&window);
}
END_TEST

START_TEST(buckets_are_aligned_before_the_start_as_well)
{
    struct sim_window window;
    sim_window_init(&window, W, 100, 0, -W);
    sim_window_add(&window, -150, 5, 0);
    ck_assert_int_eq(sim_window_sum(&window, W - 101), 5);
    ck_assert_int_eq(sim_window_sum(&window, W - 100), 0);
    sim_window_release(&window);
}
END_TEST

START_TEST(time_does_not_run_backwards)
{
    struct sim_window window;
    sim_window_init(&window, W, 0, 0, 0);
    sim_window_add(&window, 500, 1, 0);
    sim_window_add(&window, 400, 1, 0);
    ck_assert_int_eq(sim_window_sum(&window, 0), 2);
    ck_assert_int_eq(sim_window_sum(&window, 400 + W), 2);
    ck_assert_int_eq(sim_window_sum(&window, 500 + W), 0);
    sim_window_release(&window);
}
END_TEST

START_TEST(memory_is_bounded_by_the_traffic_of_one_window)
{
    struct sim_window window;
    sim_window_init(&window, W, 0, 50, 0);
    for (int64_t t = 0; t < 1000 * W; t += 10)
        sim_window_add(&window, t, 1, 0);
    ck_assert_int_eq(sim_window_sum(&window, 1000 * W - 10), 100);
    ck_assert_uint_le(window.capacity, 128);
    sim_window_release(&window);
}
END_TEST

START_TEST(falling_is_found_to_the_microsecond)
{
    struct sim_window window;
    sim_window_init(&window, W, 0, 0, 0);
    sim_window_add(&window, 0, 0, 2);
    sim_window_add(&window, 100, 10, -2);
    ck_assert_int_eq(sim_window_sum(&window, 200), 210);
    /* It begins to fall at W, two a microsecond; the lump leaves at 100 + W. */
    ck_assert_int_eq(sim_window_falls_us(&window, 210, NULL, 0), 200);
    ck_assert_int_eq(sim_window_falls_us(&window, 209, NULL, 0), W + 1);
    ck_assert_int_eq(sim_window_falls_us(&window, 208, NULL, 0), W + 1);
    ck_assert_int_eq(sim_window_falls_us(&window, 207, NULL, 0), W + 2);
    ck_assert_int_eq(sim_window_falls_us(&window, 9, NULL, 0), W + 100);
    ck_assert_int_eq(sim_window_falls_us(&window, 0, NULL, 0), W + 100);
    ck_assert(sim_window_falls_us(&window, -1, NULL, 0) == WEIR_FOREVER);
    sim_window_release(&window);
}
END_TEST

START_TEST(falling_waits_for_what_is_known_to_come)
{
    struct sim_window window;
    sim_window_init(&window, W, 0, 0, 0);
    sim_window_add(&window, 0, 100, 0);
    sim_window_add(&window, 10, 0, 1);
    ck_assert_int_eq(sim_window_sum(&window, 10), 100);
    /* A rate that nobody takes back never clears; one that ends at 500 holds 490 until 10 + W. */
    ck_assert(sim_window_falls_us(&window, 50, NULL, 0) == WEIR_FOREVER);
    const struct sim_entry ends[] = { { 500, 0, -1 } };
    ck_assert_int_eq(sim_window_falls_us(&window, 99, ends, 1), 10 + W + 391);
    ck_assert_int_eq(sim_window_falls_us(&window, 50, ends, 1), 10 + W + 440);
    const struct sim_entry lump[] = { { 500, 7, -1 } };
    ck_assert_int_eq(sim_window_falls_us(&window, 7, lump, 1), 500 + W);
    sim_window_release(&window);
}
END_TEST

/* All entries for ever, and every sum made anew. */
#define HISTORY_MAX 200

struct history {
    struct sim_entry entries[HISTORY_MAX];
    int count;
    int64_t window_us;
    int64_t bucket_us;
};

/* What the bucket's rounding makes of a moment. */
static int64_t rounded_up(const struct history *history, int64_t at_us)
{
    int64_t b = history->bucket_us;
    if (!b)
        return at_us;
    int64_t k = at_us / b - 1;
    while (k * b < at_us)
        k++;
    return k * b;
}

/* The part of (from, to] that is inside the window at t, cell by cell of the buckets. */
static int64_t overlap(const struct history *history, int64_t from_us, int64_t to_us, int64_t t_us)
{
    int64_t begin_us = t_us - history->window_us;
    if (!history->bucket_us) {
        int64_t a = from_us > begin_us ? from_us : begin_us;
        return to_us > a ? to_us - a : 0;
    }
    int64_t inside = 0;
    int64_t first_us = begin_us - 2 * history->bucket_us; /* what is earlier is out in any case */
    from_us = from_us > first_us ? from_us : first_us;
    while (from_us < to_us) {
        int64_t cell_end_us = rounded_up(history, from_us + 1);
        int64_t end_us = cell_end_us < to_us ? cell_end_us : to_us;
        if (cell_end_us > begin_us)
            inside += end_us - from_us;
        from_us = end_us;
    }
    return inside;
}

static int64_t naive_sum(const struct history *history, int64_t t_us)
{
    int64_t sum = 0;
    for (int i = 0; i < history->count; i++) {
        const struct sim_entry *entry = &history->entries[i];
        if (entry->at_us > t_us)
            break;
        if (rounded_up(history, entry->at_us) > t_us - history->window_us)
            sum += entry->amount;
        sum += entry->rate * overlap(history, entry->at_us, t_us, t_us);
    }
    return sum;
}

static const int64_t buckets[] = { 0, 0, 7, 10, 60 };

START_TEST(window_equals_a_naive_recount_on_random_traffic)
{
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 1);
    static struct history history;
    history = (struct history){ .window_us = 300, .bucket_us = buckets[_i % 5] };
    struct sim_window window;
    const int64_t lag_us = 37;
    sim_window_init(&window, history.window_us, history.bucket_us, lag_us, 0);
    int64_t now_us = 0, rate = 0;

    for (int step = 0; step < HISTORY_MAX; step++) {
        now_us += (int64_t)weir_rng_below(&rng, weir_rng_below(&rng, 20) ? 12 : 500);
        int64_t amount = (int64_t)weir_rng_below(&rng, 9);
        int64_t change = (int64_t)weir_rng_below(&rng, 5) - 2;
        change = rate + change < 0 ? 0 : change;
        rate += change;
        history.entries[history.count++] = (struct sim_entry){ now_us, amount, change };
        sim_window_add(&window, now_us, amount, change);
        ck_assert_int_eq(sim_window_sum(&window, now_us), naive_sum(&history, now_us));
        now_us += (int64_t)weir_rng_below(&rng, 12);
        ck_assert_int_eq(sim_window_sum(&window, now_us), naive_sum(&history, now_us));
        ck_assert_int_eq(sim_window_past_sum(&window, now_us),
                         naive_sum(&history, now_us - lag_us));
    }
    sim_window_release(&window);
}
END_TEST

START_TEST(falling_equals_a_search_microsecond_by_microsecond)
{
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 2);
    static struct history history;
    history = (struct history){ .window_us = 60, .bucket_us = (int64_t[]){ 0, 0, 5, 7 }[_i % 4] };
    struct sim_window window;
    sim_window_init(&window, history.window_us, history.bucket_us, 0, 0);
    int64_t now_us = 0, rate = 0;

    for (int step = 0; step < 40; step++) {
        now_us += (int64_t)weir_rng_below(&rng, 6);
        int64_t amount = (int64_t)weir_rng_below(&rng, 9);
        int64_t change = weir_rng_below(&rng, 3) ? 1 : -rate;
        rate += change;
        history.entries[history.count++] = (struct sim_entry){ now_us, amount, change };
        sim_window_add(&window, now_us, amount, change);

        /* All rates end, one by one, some with a lump. */
        int past = history.count;
        int64_t at_us = now_us;
        for (int64_t i = 0; i < rate; i++) {
            at_us += (int64_t)weir_rng_below(&rng, 40);
            int64_t lump = (int64_t)weir_rng_below(&rng, 2) * 5;
            history.entries[history.count++] = (struct sim_entry){ at_us, lump, -1 };
        }
        int64_t target = (int64_t)weir_rng_below(&rng, 100);
        int64_t t_us = now_us;
        if (sim_window_sum(&window, now_us) > target) {
            while (naive_sum(&history, t_us) > target)
                t_us++;
        }
        ck_assert_int_eq(sim_window_falls_us(&window, target, &history.entries[past],
                                             (size_t)(history.count - past)),
                         t_us);
        history.count = past;
    }
    sim_window_release(&window);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("law_window");
    suite_add(&s, a_lump_counts_at_once_and_leaves_after_exactly_one_window);
    suite_add(&s, a_rate_counts_by_its_overlap_with_the_window);
    suite_add(&s, a_rate_longer_than_the_window_fills_it_and_no_more);
    suite_add(&s, buckets_round_up_to_their_end);
    suite_add(&s, a_bucket_lets_its_part_of_a_rate_go_at_once);
    suite_add(&s, buckets_are_aligned_before_the_start_as_well);
    suite_add(&s, time_does_not_run_backwards);
    suite_add(&s, memory_is_bounded_by_the_traffic_of_one_window);
    suite_add(&s, falling_is_found_to_the_microsecond);
    suite_add(&s, falling_waits_for_what_is_known_to_come);
    suite_add_loop(&s, "window_equals_a_naive_recount_on_random_traffic",
                   window_equals_a_naive_recount_on_random_traffic, 200);
    suite_add_loop(&s, "falling_equals_a_search_microsecond_by_microsecond",
                   falling_equals_a_search_microsecond_by_microsecond, 200);
    return suite_run(&s);
}
