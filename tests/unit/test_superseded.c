/* SPDX-License-Identifier: MIT */
/* Which rejected rows' keys come again, against a model that knows the whole input. */
#include "base/mem.h"
#include "base/rng.h"
#include "bulk/superseded.h"
#include "support/suite.h"

/* --- a stream of batches, as a packer would make it ------------------------------------------- */

#define ROWS       3000
#define BATCH_ROWS 10
#define BATCHES    (ROWS / BATCH_ROWS)
#define LIVE_MAX   6

enum stage {
    UNSEEN = 0,
    OFFERED,
    OVER,
};

struct world {
    struct weir_rng rng;
    struct weir_superseded superseded;
    struct weir_row rows[ROWS]; /* row i has the number i + 1 */
    struct weir_batch batches[BATCHES];
    uint64_t after[BATCHES][BATCHES];
    enum stage stages[BATCHES];
    bool rejected[ROWS];
    bool marked[ROWS];
    uint32_t offered; /* batches */
    uint64_t row_keys;
    uint64_t refused_percent;
    uint32_t recorded; /* batches whose refused rows were */
};

/* Rows that are refused wait for nobody, and nobody waits for them. */
static bool shares_a_key(const struct weir_batch *a, const struct weir_batch *b)
{
    for (uint32_t i = 0; i < a->row_count; i++) {
        for (uint32_t j = 0; j < b->row_count; j++) {
            if (!a->rows[i].refusal.len && !b->rows[j].refusal.len && a->rows[i].key_hash &&
                a->rows[i].key_hash == b->rows[j].key_hash)
                return true;
        }
    }
    return false;
}

/* No key twice in a batch, refused rows apart; some rows have none. */
static void draw_key(struct world *world, uint32_t at)
{
    bool taken = true;
    if (weir_rng_below(&world->rng, 100) < world->refused_percent)
        world->rows[at].refusal = weir_str_from("no");
    while (taken) {
        uint64_t key = weir_rng_below(&world->rng, world->row_keys);
        world->rows[at].key_hash = key * 0x9e3779b97f4a7c15;
        taken = false;
        for (uint32_t i = at - at % BATCH_ROWS; i < at; i++)
            taken |= key && world->rows[i].key_hash == world->rows[at].key_hash &&
                     !world->rows[i].refusal.len && !world->rows[at].refusal.len;
    }
}

static struct world *make_world(uint64_t seed)
{
    struct world *world = weir_calloc(1, sizeof(*world));
    weir_rng_init(&world->rng, seed, 0);
    weir_superseded_init(&world->superseded);
    world->refused_percent = seed % 2 ? 20 : 0;
    world->row_keys = 20 + weir_rng_below(&world->rng, 400);
    for (uint32_t i = 0; i < ROWS; i++) {
        world->rows[i].number = i + 1;
        draw_key(world, i);
    }
    for (uint32_t i = 0; i < BATCHES; i++)
        world->batches[i] = (struct weir_batch){
            .serial = i + 1,
            .rows = &world->rows[i * BATCH_ROWS],
            .row_count = BATCH_ROWS,
            .after = world->after[i],
        };
    return world;
}

static void mark(struct world *world, uint64_t number)
{
    must(number >= 1 && number <= ROWS);
    must(world->rejected[number - 1] && !world->marked[number - 1]);
    world->marked[number - 1] = true;
}

static void reject(struct world *world, uint32_t at)
{
    world->rejected[at] = true;
    if (weir_superseded_reject(&world->superseded, world->rows[at].key_hash, at + 1))
        mark(world, at + 1);
}

/* Rows that are refused are recorded a little later than they are offered, in their order. */
static void record_refused(struct world *world, uint32_t before)
{
    for (; world->recorded < before; world->recorded++) {
        for (uint32_t i = 0; i < BATCH_ROWS; i++) {
            if (world->batches[world->recorded].rows[i].refusal.len)
                reject(world, world->recorded * BATCH_ROWS + i);
        }
    }
}

static void offer(struct world *world)
{
    struct weir_batch *batch = &world->batches[world->offered];
    uint64_t numbers[BATCH_ROWS];
    for (uint32_t i = 0; i < world->offered; i++) {
        if (world->stages[i] != OVER && shares_a_key(&world->batches[i], batch))
            world->after[world->offered][batch->after_count++] = i + 1;
    }
    uint32_t count = weir_superseded_offer(&world->superseded, batch, numbers);
    for (uint32_t i = 0; i < count; i++)
        mark(world, numbers[i]);
    world->stages[world->offered++] = OFFERED;
}

/* Only when those that it names are over. */
static bool may_end(const struct world *world, uint32_t at)
{
    for (uint32_t i = 0; i < world->batches[at].after_count; i++) {
        if (world->stages[world->after[at][i] - 1] != OVER)
            return false;
    }
    return world->stages[at] == OFFERED;
}

static void end(struct world *world, uint32_t at)
{
    record_refused(world, at + 1);
    for (uint32_t i = at * BATCH_ROWS; i < (at + 1) * BATCH_ROWS; i++) {
        if (!world->rows[i].refusal.len && !weir_rng_below(&world->rng, 3))
            reject(world, i);
    }
    weir_superseded_over(&world->superseded, &world->batches[at]);
    world->stages[at] = OVER;
}

/* A row is marked exactly if it is rejected and its key has been offered again. */
static void check(const struct world *world)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        bool again = false;
        for (uint32_t j = i + 1; j < world->offered * BATCH_ROWS && world->rows[i].key_hash; j++)
            again |= world->rows[j].key_hash == world->rows[i].key_hash;
        must(world->marked[i] == (world->rejected[i] && again));
    }
}

static void run(struct world *world)
{
    uint32_t live = 0, over = 0;
    while (over < BATCHES) {
        if (live < LIVE_MAX && world->offered < BATCHES && weir_rng_below(&world->rng, 2)) {
            offer(world);
            live++;
        }
        if (weir_rng_below(&world->rng, 3) == 0)
            record_refused(world, world->offered);
        uint32_t at = (uint32_t)weir_rng_below(&world->rng, world->offered + 1);
        if (at < world->offered && may_end(world, at)) {
            end(world, at);
            live--;
            over++;
        }
        must(world->superseded.offered.count <= LIVE_MAX * BATCH_ROWS);
    }
}

START_TEST(exactly_the_rejected_rows_whose_key_comes_again_are_marked)
{
    struct world *world = make_world((uint64_t)_i);
    run(world);
    check(world);
    ck_assert_uint_eq(world->superseded.offered.count, 0);
    ck_assert_uint_eq(world->superseded.refused.count, 0);
    weir_superseded_release(&world->superseded);
    free(world);
}
END_TEST

/* --- single cases ----------------------------------------------------------------------------- */

static struct weir_superseded superseded;
static uint64_t found[8];

static uint32_t offer_one(uint64_t key, uint64_t number, bool names_others)
{
    struct weir_row row = { .number = number, .key_hash = key };
    struct weir_batch batch = { .rows = &row, .row_count = 1, .after_count = names_others };
    return weir_superseded_offer(&superseded, &batch, found);
}

START_TEST(rows_without_a_key_play_no_part)
{
    weir_superseded_init(&superseded);
    ck_assert(!weir_superseded_reject(&superseded, 0, 1));
    ck_assert(!weir_superseded_reject(&superseded, 5, 2));
    ck_assert_uint_eq(offer_one(0, 3, true), 0);
    ck_assert(!weir_superseded_reject(&superseded, 0, 1));
    ck_assert_uint_eq(superseded.rejected.count, 1);
    ck_assert_uint_eq(superseded.offered.count, 0);
    weir_superseded_release(&superseded);
}
END_TEST

START_TEST(a_batch_that_names_nobody_is_not_remembered)
{
    weir_superseded_init(&superseded);
    for (uint64_t key = 1; key < 1000; key++)
        ck_assert_uint_eq(offer_one(key, key, false), 0);
    ck_assert_uint_eq(superseded.offered.slot_count, 0);
    weir_superseded_release(&superseded);
}
END_TEST

START_TEST(what_an_earlier_run_rejected_is_marked_once)
{
    weir_superseded_init(&superseded);
    ck_assert(!weir_superseded_reject(&superseded, 5, 10)); /* from the journal, in any order */
    ck_assert(!weir_superseded_reject(&superseded, 6, 11));
    ck_assert_uint_eq(offer_one(5, 10, false), 0); /* not by itself, should it come again */
    ck_assert_uint_eq(offer_one(5, 12, false), 1);
    ck_assert_uint_eq(found[0], 10);
    ck_assert_uint_eq(offer_one(5, 13, false), 0);
    weir_superseded_release(&superseded);
}
END_TEST

START_TEST(a_refused_row_is_marked_when_it_is_recorded_if_its_key_came_again)
{
    struct weir_row rows[] = {
        { .number = 1, .key_hash = 5, .refusal = weir_str_from("no") },
        { .number = 2, .key_hash = 5 }, /* in the same batch */
        { .number = 3, .key_hash = 6, .refusal = weir_str_from("no") },
    };
    struct weir_batch batch = { .rows = rows, .row_count = 3 };
    weir_superseded_init(&superseded);
    ck_assert_uint_eq(weir_superseded_offer(&superseded, &batch, found), 0);
    ck_assert(weir_superseded_reject(&superseded, 5, 1));
    ck_assert(!weir_superseded_reject(&superseded, 6, 3));
    weir_superseded_over(&superseded, &batch);
    ck_assert_uint_eq(superseded.offered.count + superseded.refused.count, 0);
    ck_assert_uint_eq(offer_one(6, 4, false), 1); /* in a later one */
    ck_assert_uint_eq(found[0], 3);
    weir_superseded_release(&superseded);
}
END_TEST

/* Row n has key n; beyond the bound marks are missing, and there are no others. */
START_TEST(beyond_the_bound_marks_are_missing_and_none_is_wrong)
{
    const uint64_t keys = WEIR_SUPERSEDED_MAX + 1000;
    uint64_t marks = 0;
    weir_superseded_init(&superseded);
    for (uint64_t key = 1; key <= keys; key++)
        must(!weir_superseded_reject(&superseded, key, key));
    must(superseded.rejected.count == WEIR_SUPERSEDED_MAX);
    for (uint64_t key = 1; key <= keys; key++) {
        uint32_t count = offer_one(key, keys + key, true);
        must(!count || found[0] == key);
        marks += count;
    }
    ck_assert_uint_eq(marks, WEIR_SUPERSEDED_MAX);
    ck_assert_uint_eq(superseded.offered.count, WEIR_SUPERSEDED_MAX);
    marks = 0;
    for (uint64_t key = 1; key <= keys; key++)
        marks += weir_superseded_reject(&superseded, key, keys);
    ck_assert_uint_eq(marks, WEIR_SUPERSEDED_MAX);
    weir_superseded_release(&superseded);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("superseded");
    suite_add_loop(&s, "exactly_the_rejected_rows_whose_key_comes_again_are_marked",
                   exactly_the_rejected_rows_whose_key_comes_again_are_marked, 20);
    suite_add(&s, rows_without_a_key_play_no_part);
    suite_add(&s, a_batch_that_names_nobody_is_not_remembered);
    suite_add(&s, what_an_earlier_run_rejected_is_marked_once);
    suite_add(&s, a_refused_row_is_marked_when_it_is_recorded_if_its_key_came_again);
    suite_add(&s, beyond_the_bound_marks_are_missing_and_none_is_wrong);
    return suite_run(&s);
}
