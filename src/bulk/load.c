/* SPDX-License-Identifier: MIT */
/* Loads, and the lines in which they wait; see load.h. */
#include "bulk/load.h"

#include <string.h>

#include "base/mem.h"

#define FIRST_CAPACITY 64

/* The order in line fits into one number: sent before or not, batch, row. */
#define ROW_BITS 20
#define FRESH    (INT64_C(1) << 62)

void weir_loads_init(struct weir_loads *loads)
{
    *loads = (struct weir_loads){ 0 };
    weir_heap_init(&loads->line, FIRST_CAPACITY);
    weir_heap_init(&loads->rest, FIRST_CAPACITY);
}

void weir_loads_release(struct weir_loads *loads)
{
    for (uint32_t i = 0; i < loads->capacity; i++)
        free(loads->table[i]);
    free(loads->table);
    free(loads->free_places);
    weir_heap_release(&loads->line);
    weir_heap_release(&loads->rest);
    *loads = (struct weir_loads){ 0 };
}

uint64_t weir_loads_flying_rows(const struct weir_loads *loads)
{
    uint64_t rows = 0;
    uint32_t left = loads->counts[WEIR_LOAD_FLYING];
    for (uint32_t i = 0; left > 0 && i < loads->capacity; i++) {
        const struct weir_load *load = loads->table[i];
        if (!load || load->stage != WEIR_LOAD_FLYING)
            continue;
        rows += load->row_count;
        left--;
    }
    return rows;
}

static void grow(struct weir_loads *loads)
{
    uint32_t capacity = loads->capacity ? 2 * loads->capacity : FIRST_CAPACITY;
    loads->table = weir_realloc(loads->table, capacity, sizeof(struct weir_load *));
    loads->free_places = weir_realloc(loads->free_places, capacity, sizeof(uint32_t));
    for (uint32_t place = capacity; place > loads->capacity; place--) {
        loads->table[place - 1] = NULL;
        loads->free_places[loads->free_count++] = place - 1;
    }
    loads->capacity = capacity;
    weir_heap_reserve(&loads->line, capacity);
    weir_heap_reserve(&loads->rest, capacity);
}

struct weir_load *weir_loads_add(struct weir_loads *loads, struct weir_batch *batch,
                                 uint32_t row_count)
{
    if (!loads->free_count)
        grow(loads);
    struct weir_load *load =
        weir_calloc(1, sizeof(*load) + (size_t)row_count * sizeof(load->rows[0]));
    load->place = loads->free_places[--loads->free_count];
    load->batch = batch;
    load->row_count = row_count;
    load->denied_by = WEIR_NOBODY;
    load->avoid = WEIR_NOBODY;
    load->failing = weir_failing_none();
    loads->table[load->place] = load;
    loads->counts[WEIR_LOAD_BLOCKED]++;
    return load;
}

struct weir_load *weir_loads_cut(struct weir_loads *loads, const struct weir_load *from,
                                 uint32_t first, uint32_t count)
{
    struct weir_load *load = weir_loads_add(loads, from->batch, count);
    memcpy(load->rows, from->rows + first, count * sizeof(load->rows[0]));
    load->mode = from->mode;
    load->fresh = from->fresh;
    load->denied_by = from->denied_by;
    load->avoid = from->avoid;
    load->transients = from->transients;
    load->unsent = from->unsent;
    load->races = from->races;
    load->refusals = from->refusals;
    load->failing = from->failing;
    return load;
}

static void leave(struct weir_loads *loads, struct weir_load *load)
{
    loads->counts[load->stage]--;
    if (load->stage == WEIR_LOAD_LINED)
        weir_heap_remove(&loads->line, load->place);
    if (load->stage == WEIR_LOAD_RESTING)
        weir_heap_remove(&loads->rest, load->place);
}

void weir_loads_remove(struct weir_loads *loads, struct weir_load *load)
{
    leave(loads, load);
    loads->table[load->place] = NULL;
    loads->free_places[loads->free_count++] = load->place;
    free(load);
}

static int64_t order_of(const struct weir_load *load)
{
    int64_t order = (int64_t)(load->batch->serial << ROW_BITS) + load->rows[0];
    return load->fresh ? order | FRESH : order;
}

void weir_loads_move(struct weir_loads *loads, struct weir_load *load, enum weir_load_stage stage)
{
    leave(loads, load);
    load->stage = stage;
    loads->counts[stage]++;
    if (stage == WEIR_LOAD_LINED)
        weir_heap_set(&loads->line, load->place, order_of(load));
    if (stage == WEIR_LOAD_RESTING)
        weir_heap_set(&loads->rest, load->place, load->due_us);
}

void weir_loads_wake(struct weir_loads *loads, int64_t now_us)
{
    while (weir_heap_min(&loads->rest) <= now_us)
        weir_loads_move(loads, loads->table[weir_heap_top(&loads->rest)], WEIR_LOAD_LINED);
}

void weir_load_forgive(struct weir_load *load)
{
    load->transients = 0;
    load->races = 0;
    load->refusals = 0;
    load->unsent = 0;
    load->failing = weir_failing_none();
}
