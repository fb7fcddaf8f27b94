/* SPDX-License-Identifier: MIT */
/* Packing drafts: its bounds one by one, and the cases that a campaign meets too seldom. */
#include "base/mem.h"
#include "base/rng.h"
#include "bulk/packer.h"
#include "support/suite.h"

static const struct weir_table_names table = {
    { "new_sensor", 10 }, { "new_sensors", 11 }, { "new_sensorid", 12 }, false
};

static struct weir_packer *packer;
static uint64_t numbers;

static void start(uint32_t rows_max, size_t body_bytes_max)
{
    struct weir_packer_options options = { &table, rows_max, body_bytes_max, 0, WEIR_BULK_CREATE };
    packer = weir_packer_new(&options);
    numbers = 0;
}

static void add(uint64_t shape, uint64_t key, size_t members, const char *refusal)
{
    char *text = weir_calloc(1, members + 1);
    memset(text, 'm', members);
    struct weir_draft draft = { .number = ++numbers, .shape = shape, .key_hash = key };
    draft.raw = weir_str_from("raw");
    draft.target.members = weir_str(text, members);
    draft.refusal = weir_str_from(refusal);
    weir_packer_add(packer, &draft);
    free(text);
}

/* The next batch must have so many rows; it is freed. Returns its serial; 0: there is none. */
static uint64_t taken(uint32_t rows)
{
    struct weir_batch *batch = weir_packer_take(packer);
    uint64_t serial = batch ? batch->serial : 0;
    must(!batch || batch->row_count == rows);
    weir_packer_batch_free(batch);
    return serial;
}

START_TEST(without_keys_all_batches_but_the_last_are_full)
{
    start(100, 1 << 20);
    for (int i = 0; i < 1050; i++)
        add(7, 0, 10, NULL);
    for (uint64_t serial = 1; serial <= 10; serial++)
        ck_assert_uint_eq(taken(100), serial);
    ck_assert_uint_eq(taken(0), 0);
    weir_packer_flush(packer);
    ck_assert_uint_eq(taken(50), 11);
    weir_packer_flush(packer);
    ck_assert_uint_eq(taken(0), 0);
    weir_packer_free(packer);
}
END_TEST

START_TEST(one_batch_more_than_may_be_open_closes_the_oldest)
{
    start(100, 1 << 20);
    for (uint64_t shape = 0; shape < WEIR_PACKER_OPEN_MAX; shape++)
        add(shape, 0, 10, NULL);
    ck_assert_uint_eq(taken(0), 0);
    add(0, 0, 10, NULL);
    ck_assert_uint_eq(taken(0), 0);
    add(WEIR_PACKER_OPEN_MAX, 0, 10, NULL);
    ck_assert_uint_eq(taken(2), 1);
    ck_assert_uint_eq(taken(0), 0);
    weir_packer_free(packer);
}
END_TEST

START_TEST(a_row_that_no_request_can_hold_travels_alone)
{
    start(100, 2000);
    add(1, 0, 10, NULL);
    add(1, 0, 10000, NULL);
    ck_assert_uint_eq(taken(1), 1);
    add(1, 0, 10000, NULL);
    ck_assert_uint_eq(taken(1), 2);
    add(1, 0, 10, NULL);
    ck_assert_uint_eq(taken(1), 3);
    weir_packer_flush(packer);
    ck_assert_uint_eq(taken(1), 4);
    add(1, 0, 0, "no");
    add(1, 0, 10000, NULL); /* what is not sent weighs nothing */
    weir_packer_flush(packer);
    ck_assert_uint_eq(taken(2), 5);
    weir_packer_free(packer);
}
END_TEST

/* Whatever the rows are made of: large ones of many shapes, or large refused ones in one batch. */
START_TEST(open_batches_are_bounded_in_bytes)
{
    const size_t large = 300000;
    size_t most = 0;
    char *reason = weir_calloc(1, large + 1);
    memset(reason, 'r', large);
    start(1000, 4 << 20);
    for (uint64_t i = 0; i < 200; i++) {
        if (i < 100)
            add(i % 5, 0, large, NULL);
        else
            add(i % 5, 0, 0, reason);
        struct weir_batch *batch;
        while ((batch = weir_packer_take(packer)))
            weir_packer_batch_free(batch);
        size_t bytes = weir_packer_bytes(packer);
        ck_assert_uint_le(bytes, WEIR_PACKER_OPEN_BYTES_MAX);
        most = bytes > most ? bytes : most;
    }
    ck_assert_uint_ge(most, WEIR_PACKER_OPEN_BYTES_MAX - 2 * large);
    weir_packer_free(packer);
    free(reason);
}
END_TEST

START_TEST(a_row_of_a_rare_shape_does_not_wait_for_the_end_of_the_input)
{
    start(1000, 4 << 20);
    add(99, 0, 10, NULL);
    for (uint64_t i = 1; i < WEIR_PACKER_AGE_ROWS_MAX; i++)
        add(1, 0, 10, NULL);
    uint64_t serial, count = 0;
    while ((serial = taken(1000))) {
        must(serial != 1);
        count++;
    }
    ck_assert_uint_eq(count, WEIR_PACKER_AGE_ROWS_MAX / 1000);
    add(1, 0, 10, NULL);
    ck_assert_uint_eq(taken(1), 1);
    weir_packer_free(packer);
}
END_TEST

START_TEST(refused_rows_go_with_the_oldest_batch_and_wait_for_nobody)
{
    start(4, 1 << 20);
    add(1, 77, 10, "no");
    add(2, 77, 10, NULL);
    add(3, 77, 10, "no"); /* the same key and another shape: nobody cares */
    ck_assert_uint_eq(taken(0), 0);
    ck_assert_uint_eq(weir_packer_keys(packer), 1);
    add(1, 5, 10, NULL);
    add(9, 77, 10, "no");
    ck_assert_uint_eq(taken(4), 1);
    weir_packer_flush(packer);
    ck_assert_uint_eq(taken(1), 2);
    weir_packer_free(packer);
}
END_TEST

/* A long input and a few batches under way: what is over leaves no trace. */
START_TEST(keys_of_finished_batches_are_forgotten)
{
    enum {
        UNDER_WAY = 20,
        BATCH_ROWS = 50
    };
    struct weir_batch *queue[UNDER_WAY] = { NULL };
    struct weir_rng rng;
    uint64_t taken_count = 0;
    weir_rng_init(&rng, 1, 0);
    start(BATCH_ROWS, 1 << 20);
    for (int i = 0; i < 200000; i++) {
        add(1, 1 + weir_rng_below(&rng, 1000000000), 10, NULL);
        struct weir_batch *batch;
        while ((batch = weir_packer_take(packer))) {
            struct weir_batch **place = &queue[taken_count++ % UNDER_WAY];
            if (*place)
                weir_packer_finished(packer, (*place)->serial);
            weir_packer_batch_free(*place);
            *place = batch;
        }
        must(weir_packer_keys(packer) <= (UNDER_WAY + WEIR_PACKER_OPEN_MAX) * BATCH_ROWS);
    }
    for (int i = 0; i < UNDER_WAY; i++)
        weir_packer_batch_free(queue[i]);
    weir_packer_free(packer); /* with keys of batches that are not finished, and open ones */
}
END_TEST

START_TEST(a_batch_that_is_full_takes_those_along_that_it_names)
{
    start(2, 1 << 20);
    add(1, 77, 10, NULL); /* 1 */
    add(2, 77, 10, NULL); /* 2, after 1 */
    add(3, 77, 10, NULL); /* 3, after 2 */
    ck_assert_uint_eq(taken(0), 0);
    add(3, 0, 10, NULL);
    ck_assert_uint_eq(taken(1), 1);
    ck_assert_uint_eq(taken(1), 2);
    ck_assert_uint_eq(taken(2), 3);
    ck_assert_uint_eq(taken(0), 0);
    weir_packer_finished(packer, 3);
    weir_packer_finished(packer, 3);
    weir_packer_finished(packer, 1000);
    ck_assert_uint_eq(weir_packer_keys(packer), 0);
    weir_packer_free(packer);
    weir_packer_free(NULL);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("packer_bounds");
    suite_add(&s, without_keys_all_batches_but_the_last_are_full);
    suite_add(&s, one_batch_more_than_may_be_open_closes_the_oldest);
    suite_add(&s, a_row_that_no_request_can_hold_travels_alone);
    suite_add(&s, open_batches_are_bounded_in_bytes);
    suite_add(&s, a_row_of_a_rare_shape_does_not_wait_for_the_end_of_the_input);
    suite_add(&s, refused_rows_go_with_the_oldest_batch_and_wait_for_nobody);
    suite_add(&s, keys_of_finished_batches_are_forgotten);
    suite_add(&s, a_batch_that_is_full_takes_those_along_that_it_names);
    return suite_run(&s);
}
