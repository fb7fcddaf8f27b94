/* SPDX-License-Identifier: MIT */
/* The table of numbers against an array that is searched by index. */
#include "base/rng.h"
#include "base/table64.h"
#include "support/suite.h"

#define KEYS 512

/* Keys that crowd each other: in a row, far apart, and at random. */
static uint64_t key_of(int way, uint32_t i)
{
    struct weir_rng rng;
    if (way == 0)
        return i + 1;
    if (way == 1)
        return (uint64_t)(i + 1) << 54;
    if (way == 2)
        return UINT64_MAX - (uint64_t)i * 4096;
    weir_rng_init(&rng, i, 1);
    return weir_rng_u64(&rng) | 1;
}

struct model {
    bool in[KEYS];
    uint64_t values[KEYS];
    size_t count;
};

static void expect_equal(const struct weir_table64 *table, const struct model *model, int way)
{
    must(table->count == model->count);
    for (uint32_t i = 0; i < KEYS; i++) {
        uint64_t value = 77;
        bool found = weir_table64_find(table, key_of(way, i), &value);
        must(found == model->in[i]);
        must(value == (found ? model->values[i] : 77));
    }
}

/* Every entry is met once. */
static void expect_iteration(const struct weir_table64 *table, const struct model *model, int way)
{
    size_t met = 0;
    uint64_t sum = 0, expected = 0, key, value;
    for (size_t at = 0; weir_table64_next(table, &at, &key, &value); met++)
        sum += key ^ value;
    for (uint32_t i = 0; i < KEYS; i++)
        expected += model->in[i] ? key_of(way, i) ^ model->values[i] : 0;
    must(met == model->count && sum == expected);
}

static void step(struct weir_table64 *table, struct model *model, int way, struct weir_rng *rng,
                 bool growing)
{
    uint32_t i = (uint32_t)weir_rng_below(rng, KEYS);
    if (weir_rng_below(rng, 10) < (growing ? 7 : 3)) {
        model->count += !model->in[i];
        model->in[i] = true;
        model->values[i] = weir_rng_u64(rng);
        weir_table64_set(table, key_of(way, i), model->values[i]);
    } else {
        must(weir_table64_remove(table, key_of(way, i)) == model->in[i]);
        model->count -= model->in[i];
        model->in[i] = false;
    }
}

START_TEST(it_equals_an_array_on_random_traffic)
{
    struct weir_rng rng;
    int way = _i % 4;
    struct model model = { 0 };
    struct weir_table64 table;
    weir_rng_init(&rng, (uint64_t)_i, 0);
    weir_table64_init(&table);
    for (int i = 0; i < 6000; i++) {
        step(&table, &model, way, &rng, i / 1500 % 2 == 0);
        if (i % 50 == 0) {
            expect_equal(&table, &model, way);
            expect_iteration(&table, &model, way);
        }
    }
    expect_equal(&table, &model, way);
    weir_table64_release(&table);
}
END_TEST

/* A window of keys goes past: what was taken out leaves nothing behind, in memory or in time. */
START_TEST(what_was_taken_out_leaves_nothing_behind)
{
    struct weir_table64 table;
    weir_table64_init(&table);
    for (uint64_t key = 1; key <= 2000000; key++) {
        weir_table64_set(&table, key * 0x10001, key);
        if (key > 100)
            must(weir_table64_remove(&table, (key - 100) * 0x10001));
        must(table.slot_count <= 512);
    }
    ck_assert_uint_eq(table.count, 100);
    weir_table64_release(&table);
}
END_TEST

START_TEST(at_most_half_is_used_and_what_is_not_needed_goes_back)
{
    struct weir_table64 table;
    weir_table64_init(&table);
    for (uint64_t key = 1; key <= 100000; key++) {
        weir_table64_set(&table, key, 0);
        must(table.count * 2 <= table.slot_count && table.slot_count <= 4 * table.count + 16);
    }
    for (uint64_t key = 1; key <= 100000; key++) {
        must(weir_table64_remove(&table, key));
        must(table.slot_count <= 8 * table.count + 16);
    }
    ck_assert_uint_eq(table.slot_count, 16);
    weir_table64_release(&table);
}
END_TEST

START_TEST(zero_is_never_there)
{
    struct weir_table64 table;
    uint64_t value = 5;
    weir_table64_init(&table);
    ck_assert(!weir_table64_find(&table, 0, &value));
    ck_assert(!weir_table64_find(&table, 7, &value));
    ck_assert(!weir_table64_remove(&table, 0));
    weir_table64_set(&table, 7, 0);
    ck_assert(!weir_table64_find(&table, 0, &value));
    ck_assert(!weir_table64_remove(&table, 0));
    ck_assert_uint_eq(value, 5);
    ck_assert(weir_table64_find(&table, 7, NULL));
    weir_table64_release(&table);
    ck_assert(!weir_table64_find(&table, 7, NULL));
}
END_TEST

int main(void)
{
    struct suite s = suite_new("table64");
    suite_add_loop(&s, "it_equals_an_array_on_random_traffic", it_equals_an_array_on_random_traffic,
                   24);
    suite_add(&s, what_was_taken_out_leaves_nothing_behind);
    suite_add(&s, at_most_half_is_used_and_what_is_not_needed_goes_back);
    suite_add(&s, zero_is_never_there);
    return suite_run(&s);
}
