/* SPDX-License-Identifier: MIT */
/*
 * Rows and their indexes; see store.h.
 *
 * A packed value is its column (2 bytes), kind and target (1 byte each), then: a text's length (4
 * bytes) and bytes, a number's or a real's 8 bytes, a decimal's or an id's 16. Nothing is aligned;
 * everything is copied out.
 *
 * The indexes are open-addressing tables of places with linear probing, at most two thirds full.
 * Hashes stand beside the places, so that a row is only looked at when it is very likely the one.
 * Removing moves later entries of the same run up: there are no tombstones.
 */
#include "sim/service/store.h"

#include <assert.h>

#include "base/mem.h"

#define FIRST_SLOTS 64u

/* Rows. */

static size_t payload_bytes(const struct sim_value *value)
{
    switch (value->kind) {
    case SIM_TEXT:
        return sizeof(uint32_t) + value->text.len;
    case SIM_NUMBER:
    case SIM_REAL:
        return sizeof(int64_t);
    case SIM_DECIMAL:
        return sizeof(value->decimal);
    case SIM_ID:
        return sizeof(value->id.bytes);
    case SIM_NULL:
        break;
    }
    return 0;
}

static uint8_t *pack(uint8_t *at, uint32_t column, const struct sim_value *value)
{
    uint16_t short_column = (uint16_t)column;
    memcpy(at, &short_column, sizeof(short_column));
    at[2] = (uint8_t)value->kind;
    at[3] = value->target;
    at += 4;
    size_t bytes = payload_bytes(value);
    if (value->kind == SIM_TEXT) {
        uint32_t len = (uint32_t)value->text.len;
        memcpy(at, &len, sizeof(len));
        if (len)
            memcpy(at + sizeof(len), value->text.ptr, len);
    } else {
        memcpy(at, &value->number, bytes); /* the members of the union begin together */
    }
    return at + bytes;
}

static const uint8_t *unpack(const uint8_t *at, uint32_t *ret_column, struct sim_value *ret)
{
    uint16_t column;
    memcpy(&column, at, sizeof(column));
    *ret_column = column;
    *ret = (struct sim_value){ .kind = (enum sim_value_kind)at[2], .target = at[3] };
    at += 4;
    if (ret->kind == SIM_TEXT) {
        uint32_t len;
        memcpy(&len, at, sizeof(len));
        ret->text = weir_str((const char *)at + sizeof(len), len);
    } else {
        memcpy(&ret->id, at, payload_bytes(ret));
    }
    return at + payload_bytes(ret);
}

struct sim_row *sim_row_new(const struct sim_table *table, uint64_t version,
                            const struct sim_value *values)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < table->column_count; i++)
        bytes += values[i].kind == SIM_NULL ? 0 : 4 + payload_bytes(&values[i]);
    assert(bytes <= UINT32_MAX);
    struct sim_row *row = weir_realloc(NULL, sizeof(*row) + bytes, 1);
    row->id = values[table->id].id;
    row->version = version;
    row->bytes = (uint32_t)bytes;
    uint8_t *at = row->packed;
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (values[i].kind != SIM_NULL)
            at = pack(at, i, &values[i]);
    }
    return row;
}

struct sim_value sim_row_get(const struct sim_row *row, uint32_t column)
{
    const uint8_t *at = row->packed;
    const uint8_t *end = at + row->bytes;
    while (at < end) {
        uint32_t found;
        struct sim_value value;
        at = unpack(at, &found, &value);
        if (found == column)
            return value;
        if (found > column)
            break;
    }
    return (struct sim_value){ .kind = SIM_NULL };
}

void sim_row_read(const struct sim_row *row, const struct sim_table *table,
                  struct sim_value *values)
{
    for (uint32_t i = 0; i < table->column_count; i++)
        values[i] = (struct sim_value){ .kind = SIM_NULL };
    const uint8_t *at = row->packed;
    const uint8_t *end = at + row->bytes;
    while (at < end) {
        uint32_t column;
        struct sim_value value;
        at = unpack(at, &column, &value);
        values[column] = value;
    }
}

/* Indexes. `key` is an alternate key, or one of two that are none. */

#define PRIMARY SIM_KEYS_MAX
#define ALIKE   (SIM_KEYS_MAX + 1)

static struct sim_index *index_of(struct sim_store *store, uint32_t key)
{
    return key == PRIMARY ? &store->ids : key == ALIKE ? &store->alike : &store->keys[key];
}

static const struct sim_key *definition_of(const struct sim_store *store, uint32_t key)
{
    return key == ALIKE ? &store->table->rule : &store->table->keys[key];
}

static uint32_t hash_parts(const struct sim_value *parts, uint32_t count)
{
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++)
        hash = (hash ^ sim_value_hash(&parts[i])) * 0x9fb21c651e98df25ULL;
    return (uint32_t)(hash ^ hash >> 32);
}

/* The key's values of a row; false: one is null, so the row is not in that index. */
static bool read_parts(const struct sim_store *store, const struct sim_row *row, uint32_t key,
                       struct sim_value *parts)
{
    const struct sim_key *definition = definition_of(store, key);
    for (uint32_t i = 0; i < definition->column_count; i++) {
        parts[i] = sim_row_get(row, definition->columns[i]);
        if (parts[i].kind == SIM_NULL)
            return false;
    }
    return true;
}

/* The hash of a row under a key; false: it is not in that index. */
static bool row_hash(const struct sim_store *store, const struct sim_row *row, uint32_t key,
                     uint32_t *ret)
{
    if (key == PRIMARY) {
        *ret = (uint32_t)sim_guid_hash(row->id);
        return true;
    }
    struct sim_value parts[SIM_KEY_COLUMNS_MAX];
    if (!read_parts(store, row, key, parts))
        return false;
    *ret = hash_parts(parts, definition_of(store, key)->column_count);
    return true;
}

static void put(struct sim_index *index, struct sim_slot slot)
{
    uint32_t mask = index->slot_count - 1;
    uint32_t at = slot.hash & mask;
    while (index->slots[at].place)
        at = (at + 1) & mask;
    index->slots[at] = slot;
    index->count++;
}

static void grow_index(struct sim_index *index)
{
    struct sim_index old = *index;
    uint32_t slot_count = old.slot_count ? old.slot_count * 2 : FIRST_SLOTS;
    *index = (struct sim_index){ weir_calloc(slot_count, sizeof(*index->slots)), slot_count, 0 };
    for (uint32_t i = 0; i < old.slot_count; i++) {
        if (old.slots[i].place)
            put(index, old.slots[i]);
    }
    free(old.slots);
}

static void index_add(struct sim_store *store, uint32_t key, uint32_t place)
{
    struct sim_index *index = index_of(store, key);
    uint32_t hash;
    if (!row_hash(store, store->places[place], key, &hash))
        return;
    if (index->count + 1 > index->slot_count / 3 * 2)
        grow_index(index);
    put(index, (struct sim_slot){ place + 1, hash });
}

/* Close the gap at `hole`: an entry further on may move up if its own place is not behind the gap.
 */
static void close_gap(struct sim_index *index, uint32_t hole)
{
    uint32_t mask = index->slot_count - 1;
    for (uint32_t at = (hole + 1) & mask; index->slots[at].place; at = (at + 1) & mask) {
        uint32_t home = index->slots[at].hash & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            index->slots[hole] = index->slots[at];
            hole = at;
        }
    }
    index->slots[hole] = (struct sim_slot){ 0, 0 };
    index->count--;
}

static void index_remove(struct sim_store *store, uint32_t key, uint32_t place)
{
    struct sim_index *index = index_of(store, key);
    uint32_t hash;
    if (!row_hash(store, store->places[place], key, &hash))
        return;
    uint32_t mask = index->slot_count - 1;
    uint32_t at = hash & mask;
    while (index->slots[at].place != place + 1) {
        assert(index->slots[at].place);
        at = (at + 1) & mask;
    }
    close_gap(index, at);
}

/* A key that contains the primary id adds nothing to it; one that is not active does not exist yet.
 */
static bool is_indexed(const struct sim_table *table, uint32_t key)
{
    const struct sim_key *definition = &table->keys[key];
    for (uint32_t i = 0; i < definition->column_count; i++) {
        if (definition->columns[i] == table->id)
            return false;
    }
    return definition->status == SIM_KEY_ACTIVE;
}

static void add_everywhere(struct sim_store *store, uint32_t place)
{
    index_add(store, PRIMARY, place);
    for (uint32_t key = 0; key < store->table->key_count; key++) {
        if (is_indexed(store->table, key))
            index_add(store, key, place);
    }
    if (store->table->rule.column_count)
        index_add(store, ALIKE, place);
}

static void remove_everywhere(struct sim_store *store, uint32_t place)
{
    index_remove(store, PRIMARY, place);
    for (uint32_t key = 0; key < store->table->key_count; key++) {
        if (is_indexed(store->table, key))
            index_remove(store, key, place);
    }
    if (store->table->rule.column_count)
        index_remove(store, ALIKE, place);
}

/* The store. */

void sim_store_init(struct sim_store *store, const struct sim_table *table)
{
    *store = (struct sim_store){ .table = table };
}

void sim_store_release(struct sim_store *store)
{
    for (uint32_t i = 0; i < store->place_count; i++)
        free(store->places[i]);
    free(store->places);
    free(store->ids.slots);
    free(store->alike.slots);
    for (uint32_t i = 0; i < SIM_KEYS_MAX; i++)
        free(store->keys[i].slots);
    *store = (struct sim_store){ .table = store->table };
}

static bool same_partition(const struct sim_store *store, const struct sim_row *row,
                           struct weir_str partition)
{
    if (store->table->partition == SIM_NO_COLUMN)
        return true;
    struct sim_value value = sim_row_get(row, store->table->partition);
    struct weir_str own = value.kind == SIM_TEXT ? value.text : weir_str("", 0);
    return weir_str_equal(own, partition);
}

uint32_t sim_store_find(const struct sim_store *store, struct sim_guid id,
                        struct weir_str partition)
{
    if (!store->ids.count)
        return SIM_NO_PLACE;
    uint32_t mask = store->ids.slot_count - 1;
    uint32_t hash = (uint32_t)sim_guid_hash(id);
    for (uint32_t at = hash & mask; store->ids.slots[at].place; at = (at + 1) & mask) {
        if (store->ids.slots[at].hash != hash)
            continue;
        uint32_t place = store->ids.slots[at].place - 1;
        const struct sim_row *row = store->places[place];
        if (sim_guid_equal(row->id, id) && same_partition(store, row, partition))
            return place;
    }
    return SIM_NO_PLACE;
}

static bool equal_parts(const struct sim_value *a, const struct sim_value *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!sim_value_equal(&a[i], &b[i]))
            return false;
    }
    return true;
}

/* The first row of an index with these values that is not at `except`. */
static uint32_t find_parts(const struct sim_store *store, const struct sim_index *index,
                           uint32_t key, const struct sim_value *parts, uint32_t except)
{
    uint32_t part_count = definition_of(store, key)->column_count;
    if (!index->count)
        return SIM_NO_PLACE;
    for (uint32_t i = 0; i < part_count; i++) {
        if (parts[i].kind == SIM_NULL)
            return SIM_NO_PLACE;
    }
    uint32_t mask = index->slot_count - 1;
    uint32_t hash = hash_parts(parts, part_count);
    for (uint32_t at = hash & mask; index->slots[at].place; at = (at + 1) & mask) {
        if (index->slots[at].hash != hash)
            continue;
        struct sim_value own[SIM_KEY_COLUMNS_MAX];
        uint32_t place = index->slots[at].place - 1;
        if (place != except && read_parts(store, store->places[place], key, own) &&
            equal_parts(own, parts, part_count))
            return place;
    }
    return SIM_NO_PLACE;
}

uint32_t sim_store_find_key(const struct sim_store *store, uint32_t key,
                            const struct sim_value *parts)
{
    return find_parts(store, &store->keys[key], key, parts, SIM_NO_PLACE);
}

uint32_t sim_store_alike(const struct sim_store *store, const struct sim_value *values,
                         uint32_t except)
{
    const struct sim_key *rule = &store->table->rule;
    struct sim_value parts[SIM_KEY_COLUMNS_MAX];
    for (uint32_t i = 0; i < rule->column_count; i++)
        parts[i] = values[rule->columns[i]];
    return find_parts(store, &store->alike, ALIKE, parts, except);
}

int sim_store_conflict(const struct sim_store *store, const struct sim_value *values,
                       uint32_t except, uint32_t *ret_place)
{
    for (uint32_t key = 0; key < store->table->key_count; key++) {
        const struct sim_key *definition = &store->table->keys[key];
        struct sim_value parts[SIM_KEY_COLUMNS_MAX];
        for (uint32_t i = 0; i < definition->column_count; i++)
            parts[i] = values[definition->columns[i]];
        uint32_t place = sim_store_find_key(store, key, parts);
        if (place != SIM_NO_PLACE && place != except) {
            *ret_place = place;
            return (int)key;
        }
    }
    return -1;
}

uint32_t sim_store_insert(struct sim_store *store, struct sim_row *row)
{
    if (store->place_count == store->place_capacity) {
        store->place_capacity = store->place_capacity ? store->place_capacity * 2 : FIRST_SLOTS;
        store->places = weir_realloc(store->places, store->place_capacity, sizeof(*store->places));
    }
    uint32_t place = store->place_count++;
    store->places[place] = row;
    store->row_count++;
    add_everywhere(store, place);
    return place;
}

struct sim_row *sim_store_replace(struct sim_store *store, uint32_t place, struct sim_row *row)
{
    struct sim_row *old = store->places[place];
    if (old) {
        remove_everywhere(store, place);
        store->row_count--;
    }
    store->places[place] = row;
    if (row) {
        add_everywhere(store, place);
        store->row_count++;
    }
    return old;
}

void sim_store_uninsert(struct sim_store *store, uint32_t place)
{
    assert(place + 1 == store->place_count);
    free(sim_store_replace(store, place, NULL));
    store->place_count--;
}

/* Whether the value of the row at `place` is in the set already; afterwards it is. */
static bool seen(const struct sim_store *store, uint32_t column, struct sim_index *set,
                 uint32_t place)
{
    struct sim_value value = sim_row_get(store->places[place], column);
    if (value.kind == SIM_NULL)
        return false;
    uint32_t mask = set->slot_count - 1;
    uint32_t hash = (uint32_t)sim_value_hash(&value);
    uint32_t at = hash & mask;
    for (; set->slots[at].place; at = (at + 1) & mask) {
        struct sim_value other = sim_row_get(store->places[set->slots[at].place - 1], column);
        if (set->slots[at].hash == hash && sim_value_same(&value, &other))
            return true;
    }
    set->slots[at] = (struct sim_slot){ place + 1, hash };
    return false;
}

uint32_t sim_store_distinct(const struct sim_store *store, uint32_t column)
{
    struct sim_index set = { .slot_count = FIRST_SLOTS };
    while (set.slot_count / 2 <= store->row_count)
        set.slot_count *= 2;
    set.slots = weir_calloc(set.slot_count, sizeof(*set.slots));
    uint32_t distinct = 0;
    for (uint32_t place = 0; place < store->place_count; place++)
        distinct += store->places[place] && !seen(store, column, &set, place);
    free(set.slots);
    return distinct;
}
