/* SPDX-License-Identifier: MIT */
/*
 * Rows, indexes, transactions and the ledger, against a plain list that is searched from end to
 * end.
 */
#include <stdio.h>

#include "base/mem.h"
#include "sim/service/store.h"
#include "sim/service/txn.h"
#include "support/suite.h"

#define STEPS   4000
#define IDS     60
#define NUMBERS 40

enum {
    ID,
    NAME,
    NUMBER,
    CODE,
    COUNT,
    COLUMNS,
};

static struct sim_column columns[COLUMNS] = {
    [ID] = { .name = "id", .type = SIM_TYPE_UNIQUEIDENTIFIER },
    [NAME] = { .name = "name", .type = SIM_TYPE_STRING },
    [NUMBER] = { .name = "number", .type = SIM_TYPE_STRING },
    [CODE] = { .name = "code", .type = SIM_TYPE_STRING },
    [COUNT] = { .name = "count", .type = SIM_TYPE_INTEGER },
};

/* Key 0 is (number), key 1 is (code, count), key 2 is not active and never counts. Rows of the same
 * code are alike. */
static struct sim_table table = {
    .name = "thing",
    .columns = columns,
    .column_count = COLUMNS,
    .id = ID,
    .partition = SIM_NO_COLUMN,
    .keys = { { .name = "a", .columns = { NUMBER }, .column_count = 1 },
              { .name = "b", .columns = { CODE, COUNT }, .column_count = 2 },
              { .name = "c", .columns = { NAME }, .column_count = 1, .status = SIM_KEY_PENDING } },
    .key_count = 3,
    .rule = { .name = "alike", .columns = { CODE }, .column_count = 1 },
};

/* A row of the plain list. */
struct plain {
    bool live;
    uint32_t id;
    int number; /* -1: null */
    int code;
    int count;
};

struct world {
    struct sim_store store;
    struct sim_ledger ledger;
    struct sim_txn txn;
    struct plain rows[STEPS];
    uint32_t row_count;
    uint64_t writes;
};

static struct sim_guid guid_of(uint32_t id)
{
    return sim_guid_of("thing", id);
}

static struct weir_str text_of(char *text, size_t bytes, int value, bool upper)
{
    snprintf(text, bytes, "%s-%d%s", upper ? "KEY" : "key", value, upper ? "  " : "");
    return weir_str_from(text);
}

static struct sim_value text_value(struct weir_str text)
{
    return (struct sim_value){ .kind = SIM_TEXT, .text = text };
}

/* The row as the store gets it; half of the keys are written another way that means the same. */
static struct sim_row *make_row(const struct plain *plain, uint64_t version)
{
    struct sim_value values[COLUMNS] = { 0 };
    char number[32];
    char code[32];
    bool upper = version & 1;
    values[ID] = (struct sim_value){ .kind = SIM_ID, .id = guid_of(plain->id) };
    values[NAME] = text_value(weir_str_from("same"));
    if (plain->number >= 0)
        values[NUMBER] = text_value(text_of(number, sizeof(number), plain->number, upper));
    if (plain->code >= 0)
        values[CODE] = text_value(text_of(code, sizeof(code), plain->code, upper));
    if (plain->count >= 0)
        values[COUNT] = (struct sim_value){ .kind = SIM_NUMBER, .number = plain->count };
    return sim_row_new(&table, version, values);
}

static uint32_t plain_by_id(const struct world *world, uint32_t id)
{
    for (uint32_t i = 0; i < world->row_count; i++) {
        if (world->rows[i].live && world->rows[i].id == id)
            return i;
    }
    return SIM_NO_PLACE;
}

static uint32_t plain_by_number(const struct world *world, int number)
{
    for (uint32_t i = 0; i < world->row_count; i++) {
        if (world->rows[i].live && world->rows[i].number == number && number >= 0)
            return i;
    }
    return SIM_NO_PLACE;
}

static uint32_t plain_by_pair(const struct world *world, int code, int count)
{
    for (uint32_t i = 0; i < world->row_count; i++) {
        const struct plain *row = &world->rows[i];
        if (row->live && row->code == code && row->count == count && code >= 0 && count >= 0)
            return i;
    }
    return SIM_NO_PLACE;
}

static void check_find(const struct world *world, struct weir_rng *rng)
{
    char text[32];
    uint32_t id = (uint32_t)weir_rng_below(rng, IDS);
    int number = (int)weir_rng_below(rng, NUMBERS);
    int count = (int)weir_rng_below(rng, 4);
    must(sim_store_find(&world->store, guid_of(id), weir_str("", 0)) == plain_by_id(world, id));
    struct sim_value parts[2] = { text_value(text_of(text, sizeof(text), number, number & 1)) };
    must(sim_store_find_key(&world->store, 0, parts) == plain_by_number(world, number));
    parts[1] = (struct sim_value){ .kind = SIM_NUMBER, .number = count };
    must(sim_store_find_key(&world->store, 1, parts) == plain_by_pair(world, number, count));
    parts[0].kind = SIM_NULL;
    must(sim_store_find_key(&world->store, 1, parts) == SIM_NO_PLACE);
    parts[0] = text_value(weir_str_from("same"));
    must(sim_store_find_key(&world->store, 2, parts) == SIM_NO_PLACE);
}

/* Some other row of the same code, if the list has one. */
static void check_alike(const struct world *world, struct weir_rng *rng)
{
    char text[32];
    int code = (int)weir_rng_below(rng, NUMBERS);
    uint32_t except = (uint32_t)weir_rng_below(rng, world->row_count + 1);
    struct sim_value values[COLUMNS] = { 0 };
    must(sim_store_alike(&world->store, values, except) == SIM_NO_PLACE);
    values[CODE] = text_value(text_of(text, sizeof(text), code, code & 1));
    uint32_t found = sim_store_alike(&world->store, values, except);
    bool expected = false;
    for (uint32_t i = 0; i < world->row_count; i++)
        expected |= i != except && world->rows[i].live && world->rows[i].code == code;
    must((found != SIM_NO_PLACE) == expected);
    must(!expected ||
         (found != except && world->rows[found].live && world->rows[found].code == code));
}

/* Every place holds what the list holds. */
static void check_all(const struct world *world)
{
    uint32_t live = 0;
    must(world->store.place_count == world->row_count);
    for (uint32_t i = 0; i < world->row_count; i++) {
        const struct sim_row *row = sim_store_at(&world->store, i);
        must((row != NULL) == world->rows[i].live);
        live += row != NULL;
        if (row)
            must(sim_guid_equal(row->id, guid_of(world->rows[i].id)));
    }
    must(world->store.row_count == live);
}

static struct plain random_row(struct weir_rng *rng, uint32_t id)
{
    return (struct plain){ .live = true,
                           .id = id,
                           .number = (int)weir_rng_below(rng, NUMBERS + 10) - 10,
                           .code = (int)weir_rng_below(rng, NUMBERS + 5) - 5,
                           .count = (int)weir_rng_below(rng, 5) - 1 };
}

/* Null is any negative number in the list. */
static bool is_free(const struct world *world, const struct plain *row, uint32_t except)
{
    uint32_t a = plain_by_number(world, row->number);
    uint32_t b = plain_by_pair(world, row->code, row->count);
    return (a == SIM_NO_PLACE || a == except) && (b == SIM_NO_PLACE || b == except);
}

static void check_conflict(const struct world *world, const struct plain *plain, uint32_t except)
{
    struct sim_row *row = make_row(plain, 1);
    struct sim_value values[COLUMNS];
    uint32_t other;
    sim_row_read(row, &table, values);
    int key = sim_store_conflict(&world->store, values, except, &other);
    must((key < 0) == is_free(world, plain, except));
    free(row);
}

static void write_once(struct world *world, struct weir_rng *rng, uint64_t version)
{
    uint32_t id = (uint32_t)weir_rng_below(rng, IDS);
    uint32_t place = plain_by_id(world, id);
    struct plain row = random_row(rng, id);
    check_conflict(world, &row, place);
    if (place != SIM_NO_PLACE && weir_rng_below(rng, 3) == 0) {
        sim_txn_delete(&world->txn, 0, place);
        world->rows[place].live = false;
    } else if (!is_free(world, &row, place)) {
        return;
    } else if (place != SIM_NO_PLACE) {
        sim_txn_replace(&world->txn, 0, place, make_row(&row, version), SIM_EVENT_UPDATE);
        world->rows[place] = row;
    } else {
        must(sim_txn_insert(&world->txn, 0, make_row(&row, version), SIM_EVENT_CREATE) ==
             world->row_count);
        world->rows[world->row_count++] = row;
    }
    world->writes++;
}

static struct world *world_new(void)
{
    struct world *world = weir_calloc(1, sizeof(*world));
    sim_store_init(&world->store, &table);
    sim_ledger_init(&world->ledger);
    sim_txn_init(&world->txn, &world->store, &world->ledger);
    return world;
}

static void world_free(struct world *world)
{
    sim_txn_release(&world->txn);
    sim_store_release(&world->store);
    sim_ledger_release(&world->ledger);
    free(world);
}

START_TEST(store_equals_a_plain_list_on_random_traffic)
{
    struct world *world = world_new();
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 3);
    for (uint64_t step = 1; step < STEPS; step++) {
        write_once(world, &rng, step);
        check_find(world, &rng);
        check_alike(world, &rng);
        if (step % 100 == 0)
            check_all(world);
    }
    must(world->ledger.writes == world->writes);
    world_free(world);
}
END_TEST

/* A few writes, sometimes nested, then commit or rollback of each level. */
static void transact(struct world *world, struct weir_rng *rng, uint64_t *version, int depth)
{
    struct world *before = weir_calloc(1, sizeof(*before));
    *before = *world;
    struct sim_savepoint savepoint = sim_txn_begin(&world->txn);
    uint64_t count = weir_rng_below(rng, 8);
    for (uint64_t i = 0; i < count; i++) {
        if (depth < 3 && weir_rng_below(rng, 5) == 0)
            transact(world, rng, version, depth + 1);
        else
            write_once(world, rng, ++*version);
    }
    if (weir_rng_below(rng, 2)) {
        sim_txn_commit(&world->txn, savepoint);
    } else {
        sim_txn_rollback(&world->txn, savepoint);
        memcpy(world->rows, before->rows, sizeof(world->rows));
        world->row_count = before->row_count;
        world->writes = before->writes;
    }
    free(before);
}

START_TEST(a_rollback_leaves_everything_as_it_was)
{
    struct world *world = world_new();
    struct weir_rng rng;
    uint64_t version = 0;
    weir_rng_init(&rng, (uint64_t)_i, 4);
    for (int step = 0; step < 150; step++) {
        transact(world, &rng, &version, 0);
        check_all(world);
        for (int i = 0; i < 20; i++) {
            check_find(world, &rng);
            check_alike(world, &rng);
        }
        must(world->txn.depth == 0 && world->txn.count == 0);
        must(world->ledger.writes == world->writes);
    }
    world_free(world);
}
END_TEST

START_TEST(a_row_gives_back_what_was_put_in)
{
    struct sim_value values[COLUMNS] = { 0 };
    char big[5000];
    memset(big, 'x', sizeof(big));
    values[ID] = (struct sim_value){ .kind = SIM_ID, .target = 3, .id = guid_of(1) };
    values[NAME] = text_value(weir_str(big, sizeof(big)));
    values[NUMBER] = (struct sim_value){ .kind = SIM_DECIMAL, .decimal = -SIM_WIDE_MAX };
    values[CODE] = text_value(weir_str("", 0));
    values[COUNT] = (struct sim_value){ .kind = SIM_REAL, .real = -1.5 };
    struct sim_row *row = sim_row_new(&table, 9, values);
    struct sim_value read[COLUMNS];
    sim_row_read(row, &table, read);
    for (uint32_t i = 0; i < COLUMNS; i++) {
        struct sim_value one = sim_row_get(row, i);
        ck_assert(sim_value_same(&one, &values[i]) && sim_value_same(&read[i], &values[i]));
    }
    ck_assert_uint_eq(row->version, 9);
    ck_assert(sim_guid_equal(row->id, guid_of(1)));
    free(row);
}
END_TEST

START_TEST(distinct_values_are_counted_and_nulls_are_one_each)
{
    struct world *world = world_new();
    static const int numbers[] = { 5, 6, 5, -1, -1, 7, 5 };
    for (uint32_t i = 0; i < 7; i++) {
        struct plain row = { .id = i, .number = -1, .code = numbers[i], .count = (int)i };
        sim_store_insert(&world->store, make_row(&row, 2));
    }
    ck_assert_uint_eq(sim_store_distinct(&world->store, CODE), 5);
    ck_assert_uint_eq(sim_store_distinct(&world->store, ID), 7);
    ck_assert_uint_eq(sim_store_distinct(&world->store, NAME), 1);
    free(sim_store_replace(&world->store, 1, NULL));
    ck_assert_uint_eq(sim_store_distinct(&world->store, CODE), 4);
    world_free(world);
}
END_TEST

START_TEST(the_ledger_counts_each_row_for_itself)
{
    struct sim_ledger ledger;
    sim_ledger_init(&ledger);
    for (uint32_t i = 0; i < 1000; i++)
        sim_ledger_write(&ledger, SIM_EVENT_CREATE, guid_of(i));
    for (int i = 0; i < 3; i++)
        sim_ledger_write(&ledger, SIM_EVENT_UPDATE, guid_of(17));
    sim_ledger_write(&ledger, SIM_EVENT_DELETE, guid_of(18));
    sim_ledger_write(&ledger, SIM_EVENT_CREATE, guid_of(18));
    for (int i = 0; i < 9; i++)
        sim_ledger_plugin(&ledger, guid_of(5000));
    ck_assert_uint_eq(ledger.writes, 1005);
    ck_assert_uint_eq(ledger.entry_count, 1001);
    ck_assert_uint_eq(ledger.writes_max, 4);
    ck_assert_uint_eq(ledger.creates_max, 2);
    ck_assert_uint_eq(ledger.plugin_runs, 9);
    ck_assert_uint_eq(ledger.plugin_runs_max, 9);
    ck_assert_uint_eq(sim_ledger_entry(&ledger, guid_of(17)).writes, 4);
    ck_assert_uint_eq(sim_ledger_entry(&ledger, guid_of(18)).creates, 2);
    ck_assert_uint_eq(sim_ledger_entry(&ledger, guid_of(9999)).writes, 0);
    ck_assert(!sim_guid_equal(sim_ledger_id(guid_of(1), weir_str_from("p")), guid_of(1)));
    ck_assert(sim_guid_equal(sim_ledger_id(guid_of(1), weir_str("", 0)), guid_of(1)));
    sim_ledger_release(&ledger);
}
END_TEST

START_TEST(elastic_rows_are_told_apart_by_their_partition_and_never_rolled_back)
{
    struct sim_table elastic = table;
    elastic.elastic = true;
    elastic.partition = NAME;
    elastic.key_count = 0;
    struct sim_store store;
    struct sim_ledger ledger;
    struct sim_txn txn;
    sim_store_init(&store, &elastic);
    sim_ledger_init(&ledger);
    sim_txn_init(&txn, &store, &ledger);
    struct sim_savepoint savepoint = sim_txn_begin(&txn);
    struct sim_value values[COLUMNS] = { 0 };
    values[ID] = (struct sim_value){ .kind = SIM_ID, .id = guid_of(1) };
    sim_txn_insert(&txn, 0, sim_row_new(&elastic, 1, values), SIM_EVENT_CREATE);
    values[NAME] = text_value(weir_str_from("p"));
    sim_txn_insert(&txn, 0, sim_row_new(&elastic, 2, values), SIM_EVENT_CREATE);
    sim_txn_rollback(&txn, savepoint);
    ck_assert_uint_eq(sim_store_find(&store, guid_of(1), weir_str("", 0)), 0);
    ck_assert_uint_eq(sim_store_find(&store, guid_of(1), weir_str_from("p")), 1);
    ck_assert_uint_eq(sim_store_find(&store, guid_of(1), weir_str_from("q")), SIM_NO_PLACE);
    ck_assert_uint_eq(ledger.writes, 2);
    ck_assert_uint_eq(ledger.writes_max, 1);
    sim_txn_release(&txn);
    sim_store_release(&store);
    sim_ledger_release(&ledger);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("sim_store");
    suite_add_loop(&s, "store_equals_a_plain_list_on_random_traffic",
                   store_equals_a_plain_list_on_random_traffic, 10);
    suite_add_loop(&s, "a_rollback_leaves_everything_as_it_was",
                   a_rollback_leaves_everything_as_it_was, 10);
    suite_add(&s, a_row_gives_back_what_was_put_in);
    suite_add(&s, distinct_values_are_counted_and_nulls_are_one_each);
    suite_add(&s, the_ledger_counts_each_row_for_itself);
    suite_add(&s, elastic_rows_are_told_apart_by_their_partition_and_never_rolled_back);
    return suite_run(&s);
}
