/* SPDX-License-Identifier: MIT */
/*
 * Finding the rows of a query. Without $orderby rows come by place and the search ends with the
 * page; with it the whole table is looked at, but never more than two pages are held:
 *
 *     page[0 … max]            the best so far, sorted when the buffer was cut last
 *     page[max + 1 … 2max+1]   come since; when it is full it is sorted and cut again
 */
#include "sim/service/query_rows.h"

#include "base/mem.h"

/* ---- paths of the filter ---- */

/*
 * A slot is a column; for "parentaccountid/name" the lookup, the place of the navigation among its
 * targets, and the column there plus one.
 */
#define SLOT(column, target, related) ((column) | (target) << 10 | (related) << 16)

static uint32_t slot_column(uint32_t slot)
{
    return slot & 0x3ff;
}

static uint32_t slot_target(uint32_t slot)
{
    return slot >> 10 & 0x3f;
}

static uint32_t slot_related(uint32_t slot)
{
    return slot >> 16;
}

static const struct sim_property *find_plain(const struct sim_table *table, struct weir_str name)
{
    const struct sim_property *property = sim_table_property(table, name);
    return property && property->kind != SIM_PROPERTY_NAVIGATION ? property : NULL;
}

static const struct sim_column *find_related(const struct sim_query_rows *rows,
                                             struct weir_str first, struct weir_str second,
                                             uint32_t *ret_slot)
{
    const struct sim_property *nav = sim_table_property(rows->table, first);
    if (!nav || nav->kind != SIM_PROPERTY_NAVIGATION)
        return NULL;
    const struct sim_target *target = &rows->table->columns[nav->column].targets[nav->target];
    const struct sim_table *table = rows->api->schema.tables[target->place];
    const struct sim_property *property = find_plain(table, second);
    if (!property)
        return NULL;
    *ret_slot = SLOT(nav->column, nav->target, property->column + 1);
    return &table->columns[property->column];
}

static const struct sim_column *find_path(const void *ctx, struct weir_str path, uint32_t *ret_slot)
{
    const struct sim_query_rows *rows = ctx;
    const char *slash = path.len ? memchr(path.ptr, '/', path.len) : NULL;
    if (slash) {
        size_t len = (size_t)(slash - path.ptr);
        return find_related(rows, weir_str(path.ptr, len), weir_str(slash + 1, path.len - len - 1),
                            ret_slot);
    }
    const struct sim_property *property = find_plain(rows->table, path);
    if (!property)
        return NULL;
    *ret_slot = SLOT(property->column, 0, 0);
    return &rows->table->columns[property->column];
}

static struct sim_value get_value(const void *ctx, const void *row, uint32_t slot)
{
    const struct sim_query_rows *rows = ctx;
    uint32_t column = slot_column(slot);
    struct sim_value value = sim_row_get(row, column);
    if (!slot_related(slot) || value.kind != SIM_ID)
        return value;
    struct sim_value none = { .kind = SIM_NULL };
    if (value.target != slot_target(slot))
        return none;
    uint32_t table = rows->table->columns[column].targets[value.target].place;
    const struct sim_store *store = &rows->api->stores[table];
    uint32_t place = sim_store_find(store, value.id, weir_str("", 0));
    if (place == SIM_NO_PLACE)
        return none;
    return sim_row_get(sim_store_at(store, place), slot_related(slot) - 1);
}

/* ---- order ---- */

static bool read_order(struct sim_query_rows *rows, struct weir_str item, struct sim_order *ret)
{
    item = weir_str_trim(item);
    const char *blank = item.len ? memchr(item.ptr, ' ', item.len) : NULL;
    size_t len = blank ? (size_t)(blank - item.ptr) : item.len;
    struct weir_str direction = weir_str_trim(weir_str(item.ptr + len, item.len - len));
    const struct sim_property *property = find_plain(rows->table, weir_str(item.ptr, len));
    ret->descending = weir_str_equal(direction, weir_str_from("desc"));
    if (!property ||
        (direction.len && !ret->descending && !weir_str_equal(direction, weir_str_from("asc"))))
        return false;
    ret->column = property->column;
    return true;
}

static bool read_orders(struct sim_query_rows *rows, struct weir_str text,
                        struct sim_answer *answer)
{
    while (text.len) {
        const char *comma = memchr(text.ptr, ',', text.len);
        size_t len = comma ? (size_t)(comma - text.ptr) : text.len;
        if (rows->order_count == SIM_ORDER_COLUMNS_MAX ||
            !read_order(rows, weir_str(text.ptr, len), &rows->orders[rows->order_count])) {
            sim_answer_error(answer, 400, "0x80060888",
                             "Invalid $orderby: at most %d properties of '%s' with asc or desc.",
                             SIM_ORDER_COLUMNS_MAX, rows->table->name);
            return false;
        }
        rows->order_count++;
        len += comma != NULL;
        text = weir_str(text.ptr + len, text.len - len);
    }
    return true;
}

static int compare(const struct sim_query_rows *rows, const struct sim_query_row *a,
                   const struct sim_query_row *b)
{
    for (uint32_t i = 0; i < rows->order_count; i++) {
        int order = sim_value_compare(&a->values[i], &b->values[i]);
        if (order)
            return rows->orders[i].descending ? -order : order;
    }
    return (a->place > b->place) - (a->place < b->place);
}

static int compare_for_sort(const void *a, const void *b, void *rows)
{
    return compare(rows, a, b);
}

static struct sim_query_row row_of(const struct sim_query_rows *rows, uint32_t place)
{
    struct sim_query_row row = { .place = place };
    for (uint32_t i = 0; i < rows->order_count; i++)
        row.values[i] = sim_row_get(sim_store_at(rows->store, place), rows->orders[i].column);
    return row;
}

/* ---- candidates ---- */

static int compare_places(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The alternate key that is this column alone; key_count: none. */
static uint32_t find_key(const struct sim_table *table, uint32_t column)
{
    uint32_t key = 0;
    while (key < table->key_count &&
           (table->keys[key].column_count != 1 || table->keys[key].columns[0] != column ||
            table->keys[key].status != SIM_KEY_ACTIVE))
        key++;
    return key;
}

static bool has_null(const struct sim_value *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (values[i].kind == SIM_NULL)
            return true;
    }
    return false;
}

/* The places of the rows with these values; false: no index knows them. */
static bool ask_index(struct sim_query_rows *rows, uint32_t slot, const struct sim_value *values,
                      uint32_t count)
{
    const struct sim_table *table = rows->table;
    bool by_id = slot == table->id;
    uint32_t key = find_key(table, slot);
    /* Ids of an elastic table are unique only within a partition; a key does not know nulls. */
    if (table->elastic || has_null(values, count) || (!by_id && key == table->key_count))
        return false;
    rows->candidates = weir_calloc(count + 1, sizeof(*rows->candidates));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place = by_id ? sim_store_find(rows->store, values[i].id, weir_str("", 0))
                               : sim_store_find_key(rows->store, key, &values[i]);
        if (place != SIM_NO_PLACE)
            rows->candidates[rows->candidate_count++] = place;
    }
    qsort(rows->candidates, rows->candidate_count, sizeof(*rows->candidates), compare_places);
    return true;
}

static void find_candidates(struct sim_query_rows *rows)
{
    uint32_t slot, count;
    const struct sim_value *values;
    for (uint32_t nth = 0; sim_filter_values(rows->filter, &slot, &values, &count, nth); nth++) {
        if (ask_index(rows, slot, values, count))
            return;
    }
    rows->candidate_count = rows->store->place_count;
}

static uint32_t candidate(const struct sim_query_rows *rows, uint32_t index)
{
    return rows->candidates ? rows->candidates[index] : index;
}

/* The first candidate that is not before `place`. */
static uint32_t first_candidate(const struct sim_query_rows *rows, uint32_t place)
{
    if (!rows->candidates)
        return place < rows->candidate_count ? place : rows->candidate_count;
    uint32_t index = 0;
    while (index < rows->candidate_count && rows->candidates[index] < place)
        index++;
    return index;
}

static bool is_repeated(const struct sim_query_rows *rows, uint32_t index)
{
    return rows->candidates && index && rows->candidates[index] == rows->candidates[index - 1];
}

static bool in_partition(const struct sim_query_rows *rows, const struct sim_row *row)
{
    if (!rows->partition.ptr || rows->table->partition == SIM_NO_COLUMN)
        return true;
    struct sim_value value = sim_row_get(row, rows->table->partition);
    struct weir_str text = value.kind == SIM_TEXT ? value.text : weir_str("", 0);
    return weir_str_equal(text, rows->partition);
}

static bool is_wanted(const struct sim_query_rows *rows, uint32_t index)
{
    const struct sim_row *row = sim_store_at(rows->store, candidate(rows, index));
    return row && !is_repeated(rows, index) && in_partition(rows, row) &&
           sim_api_sees(rows->api, rows->call, rows->table, row) &&
           sim_filter_match(rows->filter, row);
}

/* ---- pages ---- */

static bool pick_by_place(struct sim_query_rows *rows, uint32_t max)
{
    uint32_t index = rows->has_cookie ? first_candidate(rows, rows->cookie.place + 1) : 0;
    for (; index < rows->candidate_count; index++) {
        if (!is_wanted(rows, index))
            continue;
        if (rows->page_count == max)
            return true;
        rows->page[rows->page_count++].place = candidate(rows, index);
    }
    return false;
}

static void cut(struct sim_query_rows *rows, uint32_t max)
{
    qsort_r(rows->page, rows->page_count, sizeof(*rows->page), compare_for_sort, rows);
    if (rows->page_count > max)
        rows->page_count = max;
}

static bool pick_by_order(struct sim_query_rows *rows, uint32_t max)
{
    struct sim_query_row last = { .place = rows->cookie.place };
    memcpy(last.values, rows->cookie.values, sizeof(last.values));
    for (uint32_t index = 0; index < rows->candidate_count; index++) {
        if (!is_wanted(rows, index))
            continue;
        struct sim_query_row row = row_of(rows, candidate(rows, index));
        if (rows->has_cookie && compare(rows, &row, &last) <= 0)
            continue;
        if (rows->page_count == 2 * (max + 1))
            cut(rows, max + 1);
        rows->page[rows->page_count++] = row;
    }
    cut(rows, max + 1);
    bool more = rows->page_count > max;
    if (more)
        rows->page_count = max;
    return more;
}

bool sim_query_rows_pick(struct sim_query_rows *rows, uint32_t max)
{
    size_t held = rows->order_count ? 2 * ((size_t)max + 1) : (size_t)max + 1;
    rows->page = weir_calloc(held, sizeof(*rows->page));
    return rows->order_count ? pick_by_order(rows, max) : pick_by_place(rows, max);
}

uint32_t sim_query_rows_count(const struct sim_query_rows *rows, uint32_t max)
{
    uint32_t count = 0;
    for (uint32_t index = 0; index < rows->candidate_count && count < max; index++)
        count += is_wanted(rows, index);
    return count;
}

const struct sim_row *sim_query_rows_at(const struct sim_query_rows *rows, uint32_t index)
{
    return sim_store_at(rows->store, rows->page[index].place);
}

void sim_query_rows_last(const struct sim_query_rows *rows, struct sim_cookie *ret)
{
    const struct sim_query_row *last = &rows->page[rows->page_count - 1];
    *ret = (struct sim_cookie){ .page = rows->has_cookie ? rows->cookie.page + 1 : 2,
                                .place = last->place,
                                .value_count = rows->order_count };
    memcpy(ret->values, last->values, sizeof(ret->values));
}

bool sim_query_rows_cookie(const struct sim_query_rows *rows)
{
    return rows->cookie.value_count == rows->order_count;
}

/* ---- life ---- */

bool sim_query_rows_open(struct sim_query_rows *rows, const struct sim_api *api,
                         const struct sim_call *call, const struct sim_table *table,
                         const struct sim_url *url, struct sim_answer *answer)
{
    *rows = (struct sim_query_rows){ .api = api,
                                     .call = call,
                                     .table = table,
                                     .store = &api->stores[table->place],
                                     .partition = url->options[SIM_OPTION_PARTITION_ID] };
    rows->names = (struct sim_filter_names){ find_path, get_value, rows, table->name };
    if (!read_orders(rows, url->options[SIM_OPTION_ORDERBY], answer) ||
        !sim_filter_parse(url->options[SIM_OPTION_FILTER], &rows->names, url, &rows->filter,
                          answer))
        return false;
    find_candidates(rows);
    return true;
}

void sim_query_rows_close(struct sim_query_rows *rows)
{
    sim_filter_free(rows->filter);
    free(rows->candidates);
    free(rows->page);
    *rows = (struct sim_query_rows){ 0 };
}
