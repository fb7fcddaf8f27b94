/* SPDX-License-Identifier: MIT */
/* From the reader's thread to the loop's; run under ThreadSanitizer too. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"
#include "bulk/intake.h"
#include "support/suite.h"

static const struct weir_table_names table = {
    { "account", 7 }, { "accounts", 8 }, { "accountid", 9 }, false
};

/* --- the rig ---------------------------------------------------------------------------------- */

/* What the reader adds, and how he ends. */
struct reading {
    struct weir_intake *intake;
    uint64_t seed;
    uint64_t rows;
    uint64_t keys; /* how many; 0: none */
    uint64_t shapes;
    uint64_t added;           /* rows that were taken from him */
    enum weir_status refused; /* what add said last */
    atomic_bool returned;     /* he is done */
};

static struct weir_intake *intake;
static sem_t news;           /* one for each call of ready() */
static atomic_ulong readies; /* how many there were */

static void ready(void *ctx)
{
    (void)ctx;
    atomic_fetch_add(&readies, 1);
    sem_post(&news);
}

static void make_intake(uint32_t rows_max, size_t queue_bytes_max)
{
    struct weir_intake_options options = {
        .packer = { &table, rows_max, 100000 },
        .queue_bytes_max = queue_bytes_max,
        .ready = ready,
    };
    sem_init(&news, 0, 0);
    atomic_store(&readies, 0);
    intake = weir_intake_new(&options);
}

/* A hang guard, not a measurement. */
static void wait_for_news(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 120;
    must(sem_timedwait(&news, &until) == 0);
}

static struct weir_draft draft(uint64_t number, uint64_t key, uint64_t shape)
{
    return (struct weir_draft){
        .number = number,
        .raw = weir_str_from("a row"),
        .target = { .members = weir_str_from("\"name\":\"A\"") },
        .key_hash = key,
        .shape = shape,
    };
}

static enum weir_status add(uint64_t number, uint64_t key, uint64_t shape)
{
    struct weir_draft it = draft(number, key, shape);
    return weir_intake_add(intake, &it);
}

/* Rows, now and then a block or a flush, and the end. */
static void *read_rows(void *argument)
{
    struct reading *reading = argument;
    struct weir_rng rng;
    weir_rng_init(&rng, reading->seed, 1);
    for (uint64_t number = 1; number <= reading->rows && !reading->refused; number++) {
        uint64_t key = reading->keys ? weir_rng_below(&rng, reading->keys + 1) : 0;
        struct weir_block block = { .index = number };
        if (weir_rng_below(&rng, 50) == 0)
            weir_intake_add_block(reading->intake, &block);
        reading->refused = add(number, key, weir_rng_below(&rng, reading->shapes));
        reading->added += !reading->refused;
        if (!reading->refused && weir_rng_below(&rng, 200) == 0)
            reading->refused = weir_intake_flush(reading->intake);
    }
    weir_intake_end(reading->intake, WEIR_OK, NULL);
    atomic_store(&reading->returned, true);
    return NULL;
}

static pthread_t start_reading(struct reading *reading)
{
    pthread_t thread;
    reading->intake = intake;
    must(pthread_create(&thread, NULL, read_rows, reading) == 0);
    return thread;
}

/* --- a loop that has room for a few batches --------------------------------------------------- */

#define LIVE_MAX 4
#define KEYS_MAX 200

struct taking {
    struct weir_rng rng;
    struct weir_batch *live[LIVE_MAX];
    uint32_t live_count;
    uint32_t live_max;
    uint64_t rows;
    uint64_t last_block;
    uint64_t last_of_key[KEYS_MAX + 1]; /* number of the row that was over last */
    int64_t now_us;
};

static bool is_live(const struct taking *taking, uint64_t serial)
{
    for (uint32_t i = 0; i < taking->live_count; i++) {
        if (taking->live[i]->serial == serial)
            return true;
    }
    return false;
}

static bool may_end(const struct taking *taking, const struct weir_batch *batch)
{
    for (uint32_t i = 0; i < batch->after_count; i++) {
        if (is_live(taking, batch->after[i]))
            return false;
    }
    return true;
}

/* A batch is carried out: rows of one key in the order of the input. */
static void end_batch(struct taking *taking, uint32_t at)
{
    struct weir_batch *batch = taking->live[at];
    taking->live[at] = taking->live[--taking->live_count];
    for (uint32_t i = 0; i < batch->row_count; i++) {
        uint64_t key = batch->rows[i].key_hash;
        must(!key || batch->rows[i].number > taking->last_of_key[key]);
        taking->last_of_key[key] = batch->rows[i].number;
    }
    uint64_t way = weir_rng_below(&taking->rng, 10);
    batch->lapsed = way == 0;
    batch->clear_us = way == 1 ? taking->now_us + (int64_t)weir_rng_below(&taking->rng, 30) : 0;
    weir_intake_give_back(intake, batch, taking->now_us++);
}

static bool take_one(struct taking *taking)
{
    struct weir_batch *batch =
        taking->live_count < taking->live_max ? weir_intake_take(intake) : NULL;
    if (!batch)
        return false;
    taking->rows += batch->row_count;
    taking->live[taking->live_count++] = batch;
    return true;
}

static void take_blocks(struct taking *taking)
{
    struct weir_block block;
    while (weir_intake_take_block(intake, &block)) {
        must(block.index > taking->last_block);
        taking->last_block = block.index;
    }
}

/*
 * One step of the loop. False: nothing could be done. Of those that are live one can always end:
 * whom it waits for was taken before it.
 */
static bool step(struct taking *taking)
{
    take_blocks(taking);
    if (weir_rng_below(&taking->rng, 2) && take_one(taking))
        return true;
    uint32_t start = (uint32_t)weir_rng_below(&taking->rng, LIVE_MAX);
    for (uint32_t i = 0; i < taking->live_count; i++) {
        uint32_t at = (start + i) % taking->live_count;
        if (may_end(taking, taking->live[at])) {
            end_batch(taking, at);
            return true;
        }
    }
    must(taking->live_count == 0);
    return take_one(taking);
}

START_TEST(nobody_waits_for_ever_and_every_row_comes_through)
{
    struct reading reading = { .seed = (uint64_t)_i, .rows = 4000 };
    struct taking taking = { .live_max = 1 + (uint32_t)_i % LIVE_MAX };
    enum weir_status status = WEIR_E_IO;
    weir_rng_init(&taking.rng, (uint64_t)_i, 0);
    reading.keys = weir_rng_below(&taking.rng, 3) ? weir_rng_below(&taking.rng, KEYS_MAX) : 0;
    reading.shapes = 1 + weir_rng_below(&taking.rng, 10);
    make_intake(1 + (uint32_t)weir_rng_below(&taking.rng, 12), weir_rng_below(&taking.rng, 4000));
    pthread_t thread = start_reading(&reading);
    while (!weir_intake_ended(intake, &status, NULL) || taking.live_count) {
        if (!step(&taking) && !weir_intake_ended(intake, &status, NULL))
            wait_for_news();
    }
    pthread_join(thread, NULL);
    ck_assert_int_eq(status, WEIR_OK);
    ck_assert_int_eq(reading.refused, WEIR_OK);
    ck_assert_uint_eq(reading.added, reading.rows);
    ck_assert_uint_eq(taking.rows, reading.rows);
    ck_assert_uint_eq(weir_intake_rows(intake), reading.rows);
    ck_assert_uint_eq(weir_intake_close(intake).rows, 0);
    weir_intake_free(intake);
}
END_TEST

/* --- a full queue ----------------------------------------------------------------------------- */

/* Until nothing moves: the reader sleeps, or is done. */
static uint64_t settled_rows(const struct reading *reading)
{
    uint64_t before = UINT64_MAX;
    for (int quiet = 0; quiet < 2000; quiet++) {
        uint64_t now = weir_intake_rows(intake);
        if (now != before || (now == 0 && !atomic_load(&reading->returned)))
            quiet = 0;
        before = now;
        sched_yield();
    }
    return before;
}

START_TEST(a_full_queue_blocks_the_reader)
{
    struct reading reading = { .rows = 10000, .shapes = 1 };
    make_intake(10, 1); /* whatever waits is enough */
    pthread_t thread = start_reading(&reading);
    wait_for_news();
    /* However slow he is: one batch waits, and the next one is not begun. */
    ck_assert_uint_le(settled_rows(&reading), 10);
    for (int i = 0; i < 20; i++) {
        struct weir_batch *batch;
        while (!(batch = weir_intake_take(intake)))
            sched_yield();
        ck_assert_uint_le(weir_intake_rows(intake), 10 * (uint64_t)(i + 2));
        weir_intake_give_back(intake, batch, 0);
    }
    ck_assert(!atomic_load(&reading.returned));
    weir_intake_close(intake);
    pthread_join(thread, NULL);
    ck_assert_int_eq(reading.refused, WEIR_E_CANCELLED);
    ck_assert_uint_le(reading.added, 10 * 21);
    weir_intake_free(intake);
}
END_TEST

START_TEST(a_batch_larger_than_the_queue_fits)
{
    make_intake(1, 0);
    ck_assert_int_eq(add(1, 0, 0), WEIR_OK);
    struct weir_batch *batch = weir_intake_take(intake);
    ck_assert_ptr_nonnull(batch);
    weir_intake_give_back(intake, batch, 0);
    ck_assert_int_eq(add(2, 0, 0), WEIR_OK);
    ck_assert_uint_eq(weir_intake_close(intake).rows, 1);
    weir_intake_free(intake);
}
END_TEST

/* What was taken no longer counts: otherwise this would wait for somebody who is not there. */
START_TEST(several_batches_wait_if_there_is_room)
{
    make_intake(1, 10000);
    uint64_t number = 0;
    for (int round = 0; round < 1000; round++) {
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(add(++number, 0, 0), WEIR_OK);
        for (int i = 0; i < 3; i++) {
            struct weir_batch *batch = weir_intake_take(intake);
            ck_assert_ptr_nonnull(batch);
            ck_assert_uint_eq(batch->rows[0].number, number - 2 + (uint64_t)i);
            weir_intake_give_back(intake, batch, 0);
        }
    }
    weir_intake_free(intake);
}
END_TEST

static void *read_blocks(void *argument)
{
    atomic_ulong *count = argument;
    for (uint64_t i = 0; i < WEIR_INTAKE_BLOCKS_MAX + 10; i++) {
        struct weir_block block = { .index = i, .hash = ~i };
        weir_intake_add_block(intake, &block);
        atomic_fetch_add(count, 1);
    }
    return NULL;
}

START_TEST(blocks_are_bounded_and_come_in_order)
{
    atomic_ulong count = 0;
    pthread_t thread;
    make_intake(1, 1);
    must(pthread_create(&thread, NULL, read_blocks, &count) == 0);
    while (atomic_load(&count) < WEIR_INTAKE_BLOCKS_MAX)
        sched_yield();
    for (int i = 0; i < 1000; i++)
        sched_yield();
    ck_assert_uint_eq(atomic_load(&count), WEIR_INTAKE_BLOCKS_MAX);
    for (uint64_t i = 0; i < WEIR_INTAKE_BLOCKS_MAX + 10; i++) {
        struct weir_block block;
        while (!weir_intake_take_block(intake, &block))
            sched_yield();
        must(block.index == i && block.hash == ~i);
    }
    pthread_join(thread, NULL);
    weir_intake_free(intake);
}
END_TEST

/* --- closing ---------------------------------------------------------------------------------- */

/* At any moment: what was added was taken, or is counted as not taken. */
START_TEST(closing_frees_a_reader_that_waits_and_counts_what_was_not_taken)
{
    struct reading reading = { .seed = (uint64_t)_i, .rows = 100000, .keys = 50, .shapes = 3 };
    struct taking taking = { .live_max = 2 };
    weir_rng_init(&taking.rng, (uint64_t)_i, 0);
    /* Every other time there is always room: the reader is in the middle of something then. */
    make_intake(1 + (uint32_t)_i % 10, _i % 2 ? 1000 : SIZE_MAX);
    pthread_t thread = start_reading(&reading);
    for (uint64_t i = weir_rng_below(&taking.rng, 60); i > 0; i--) {
        if (!step(&taking))
            wait_for_news();
    }
    for (uint64_t i = weir_rng_below(&taking.rng, 200); i > 0; i--)
        sched_yield();
    uint64_t left = weir_intake_close(intake).rows;
    ck_assert_uint_eq(left, weir_intake_rows(intake) - taking.rows);
    ck_assert_ptr_null(weir_intake_take(intake));
    pthread_join(thread, NULL);
    enum weir_status status = WEIR_E_IO;
    ck_assert(weir_intake_ended(intake, &status, NULL));
    ck_assert_int_eq(status, WEIR_OK);
    ck_assert(reading.refused == WEIR_E_CANCELLED || reading.added == reading.rows);
    ck_assert_uint_eq(reading.added, taking.rows + left);
    ck_assert_uint_eq(reading.added, weir_intake_rows(intake));
    ck_assert_uint_eq(weir_intake_close(intake).rows, left);
    while (taking.live_count)
        weir_intake_give_back(intake, taking.live[--taking.live_count], 0);
    weir_intake_free(intake);
}
END_TEST

/* Rows of a rare shape stay open while later ones have long been taken. */
START_TEST(of_what_was_not_taken_those_are_told_apart_that_an_earlier_run_may_have_sent)
{
    struct weir_intake_options options = {
        .packer = { &table, 2, 100000 },
        .queue_bytes_max = 100000,
        .tainted_through = 3,
        .ready = ready,
    };
    sem_init(&news, 0, 0);
    intake = weir_intake_new(&options);
    ck_assert_int_eq(add(1, 0, 7), WEIR_OK); /* a shape of its own */
    for (uint64_t row = 2; row <= 6; row++)
        ck_assert_int_eq(add(row, 0, 1), WEIR_OK);
    struct weir_batch *batch = weir_intake_take(intake);
    ck_assert_uint_eq(batch->rows[1].number, 3);
    struct weir_intake_rows left = weir_intake_close(intake);
    ck_assert_uint_eq(left.rows, 4);
    ck_assert_uint_eq(left.tainted, 1);
    weir_intake_give_back(intake, batch, 0);
    weir_intake_free(intake);
}
END_TEST

START_TEST(an_earlier_run_cannot_have_sent_what_is_refused_or_has_nothing_to_do)
{
    struct weir_intake_options options = {
        .packer = { &table, 10, 100000 },
        .queue_bytes_max = 100000,
        .tainted_through = 3,
        .ready = ready,
    };
    sem_init(&news, 0, 0);
    intake = weir_intake_new(&options);
    struct weir_draft refused = draft(1, 0, 1), idle = draft(2, 0, 1);
    refused.refusal = weir_str_from("no");
    idle.idle = true;
    ck_assert_int_eq(weir_intake_add(intake, &refused), WEIR_OK);
    ck_assert_int_eq(weir_intake_add(intake, &idle), WEIR_OK);
    ck_assert_int_eq(add(3, 0, 1), WEIR_OK);
    struct weir_intake_rows left = weir_intake_close(intake);
    ck_assert_uint_eq(left.rows, 3);
    ck_assert_uint_eq(left.tainted, 1);
    weir_intake_free(intake);
}
END_TEST

START_TEST(after_closing_everything_is_refused)
{
    make_intake(1, 1000);
    ck_assert_uint_eq(weir_intake_close(intake).rows, 0);
    struct weir_block block = { 0 };
    ck_assert_int_eq(add(1, 0, 0), WEIR_E_CANCELLED);
    ck_assert_int_eq(weir_intake_flush(intake), WEIR_E_CANCELLED);
    weir_intake_add_block(intake, &block);
    ck_assert(!weir_intake_take_block(intake, &block));
    ck_assert_ptr_null(weir_intake_take(intake));
    ck_assert_uint_eq(weir_intake_rows(intake), 0);
    ck_assert_uint_eq(atomic_load(&readies), 0);
    weir_intake_end(intake, WEIR_OK, NULL); /* whoever waits for the reader is woken */
    ck_assert_uint_eq(atomic_load(&readies), 1);
    weir_intake_free(intake);
    weir_intake_free(NULL);
}
END_TEST

/* --- the end ---------------------------------------------------------------------------------- */

START_TEST(the_end_comes_last_and_brings_what_is_open)
{
    enum weir_status status = WEIR_E_IO;
    struct weir_block block = { .index = 1 };
    make_intake(10, 1000);
    ck_assert_int_eq(add(1, 0, 0), WEIR_OK);
    weir_intake_add_block(intake, &block);
    weir_intake_end(intake, WEIR_OK, NULL);
    ck_assert(!weir_intake_ended(intake, &status, NULL));
    struct weir_batch *batch = weir_intake_take(intake);
    ck_assert_ptr_nonnull(batch);
    ck_assert(!weir_intake_ended(intake, &status, NULL));
    ck_assert(weir_intake_take_block(intake, &block));
    ck_assert(weir_intake_ended(intake, &status, NULL));
    ck_assert_int_eq(status, WEIR_OK);
    weir_intake_give_back(intake, batch, 0);
    weir_intake_free(intake);
}
END_TEST

START_TEST(an_input_that_failed_says_why_and_sends_nothing_more)
{
    enum weir_status status = WEIR_OK;
    struct weir_error err = { 0 }, told = { 0 };
    make_intake(10, 1000);
    ck_assert_int_eq(add(1, 0, 0), WEIR_OK);
    weir_intake_end(intake, weir_fail(&err, WEIR_E_IO, "the disk \"sda\" is gone"), &err);
    ck_assert(weir_intake_ended(intake, &status, &told));
    ck_assert_int_eq(status, WEIR_E_IO);
    ck_assert_str_eq(told.message, err.message);
    ck_assert_uint_eq(weir_intake_close(intake).rows, 1);
    weir_intake_free(intake);
}
END_TEST

/* ready() is called where nothing of the kind was waiting, so nobody who looks after it sleeps. */
START_TEST(the_loop_is_woken_when_something_comes_where_nothing_was)
{
    struct weir_block block = { 0 };
    make_intake(1, 100000);
    ck_assert_int_eq(add(1, 0, 0), WEIR_OK);
    ck_assert_uint_eq(atomic_load(&readies), 1);
    ck_assert_int_eq(add(2, 0, 0), WEIR_OK);
    ck_assert_uint_eq(atomic_load(&readies), 1);
    weir_intake_add_block(intake, &block);
    weir_intake_add_block(intake, &block);
    ck_assert_uint_eq(atomic_load(&readies), 2);
    for (int i = 0; i < 2; i++)
        weir_intake_give_back(intake, weir_intake_take(intake), 0);
    ck_assert_int_eq(weir_intake_flush(intake), WEIR_OK); /* of nothing */
    ck_assert_uint_eq(atomic_load(&readies), 2);
    ck_assert_int_eq(add(3, 0, 0), WEIR_OK);
    ck_assert_uint_eq(atomic_load(&readies), 3);
    weir_intake_end(intake, WEIR_OK, NULL);
    ck_assert_uint_eq(atomic_load(&readies), 4);
    weir_intake_free(intake);
}
END_TEST

/* --- what a batch leaves behind --------------------------------------------------------------- */

/* A row of that key in a batch of its own. */
static struct weir_batch *batch_of(uint64_t key)
{
    static uint64_t number;
    ck_assert_int_eq(add(++number, key, 0), WEIR_OK);
    struct weir_batch *batch = weir_intake_take(intake);
    ck_assert_ptr_nonnull(batch);
    return batch;
}

/* Whether a row of that key has to know of that batch; nobody else does it. */
static bool is_named(uint64_t key, uint64_t serial)
{
    struct weir_batch *batch = batch_of(key);
    bool named = batch->after_count == 1 && batch->after[0] == serial;
    ck_assert(named || batch->after_count == 0);
    weir_intake_give_back(intake, batch, 0);
    return named;
}

START_TEST(a_batch_is_named_until_it_is_given_back)
{
    make_intake(1, 100000);
    struct weir_batch *first = batch_of(5);
    struct weir_batch *second = batch_of(5);
    ck_assert_uint_eq(second->after_count, 1);
    ck_assert_uint_eq(second->after[0], first->serial);
    weir_intake_give_back(intake, first, 0);
    uint64_t serial = second->serial;
    weir_intake_give_back(intake, second, 0);
    ck_assert(!is_named(5, serial));
    weir_intake_free(intake);
}
END_TEST

/* Requests of three batches may still be executed, until 300, 400 and 500: rows with their keys
 * have to know as long as that is so. */
START_TEST(a_batch_that_may_still_be_executed_is_named_until_it_cannot)
{
    static const int64_t clear_us[3] = { 400, 300, 500 };
    for (int64_t now_us = 250; now_us <= 550; now_us += 50) {
        uint64_t serials[3];
        make_intake(1, 100000);
        for (uint64_t i = 0; i < 3; i++) {
            struct weir_batch *batch = batch_of(i + 1);
            batch->clear_us = clear_us[i];
            serials[i] = batch->serial;
            weir_intake_give_back(intake, batch, 100);
        }
        for (int64_t at_us = 250; at_us <= now_us; at_us += 50)
            weir_intake_give_back(intake, batch_of(99), at_us);
        for (uint64_t i = 0; i < 3; i++)
            ck_assert_int_eq(is_named(i + 1, serials[i]), now_us < clear_us[i]);
        weir_intake_free(intake);
    }
}
END_TEST

START_TEST(a_batch_with_rows_that_were_given_up_is_named_for_good)
{
    make_intake(1, 100000);
    struct weir_batch *batch = batch_of(5);
    uint64_t serial = batch->serial;
    batch->lapsed = true;
    weir_intake_give_back(intake, batch, 100);
    weir_intake_give_back(intake, batch_of(99), WEIR_FOREVER - 1);
    ck_assert(is_named(5, serial));
    weir_intake_free(intake);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("intake");
    suite_add_loop(&s, "nobody_waits_for_ever_and_every_row_comes_through",
                   nobody_waits_for_ever_and_every_row_comes_through, 40);
    suite_add(&s, a_full_queue_blocks_the_reader);
    suite_add(&s, a_batch_larger_than_the_queue_fits);
    suite_add(&s, several_batches_wait_if_there_is_room);
    suite_add(&s, blocks_are_bounded_and_come_in_order);
    suite_add_loop(&s, "closing_frees_a_reader_that_waits_and_counts_what_was_not_taken",
                   closing_frees_a_reader_that_waits_and_counts_what_was_not_taken, 40);
    suite_add(&s, of_what_was_not_taken_those_are_told_apart_that_an_earlier_run_may_have_sent);
    suite_add(&s, an_earlier_run_cannot_have_sent_what_is_refused_or_has_nothing_to_do);
    suite_add(&s, after_closing_everything_is_refused);
    suite_add(&s, the_end_comes_last_and_brings_what_is_open);
    suite_add(&s, an_input_that_failed_says_why_and_sends_nothing_more);
    suite_add(&s, the_loop_is_woken_when_something_comes_where_nothing_was);
    suite_add(&s, a_batch_is_named_until_it_is_given_back);
    suite_add(&s, a_batch_that_may_still_be_executed_is_named_until_it_cannot);
    suite_add(&s, a_batch_with_rows_that_were_given_up_is_named_for_good);
    return suite_run(&s);
}
