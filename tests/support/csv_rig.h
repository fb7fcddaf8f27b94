/* SPDX-License-Identifier: MIT */
/*
 * Reading CSV in tests: a text cut into pieces of any size, read into a list of records. Two lists
 * can be compared field by field.
 */
#ifndef WEIR_TESTS_CSV_RIG_H
#define WEIR_TESTS_CSV_RIG_H

#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "records/csv.h"
#include "support/suite.h"

struct csv_list {
    struct weir_arena *arena;
    struct weir_record *records;
    size_t count;
    size_t capacity;
    enum weir_step ended; /* END or BROKEN */
    struct weir_error err;
};

static inline void csv_list_add(struct csv_list *list, const struct weir_record *record)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 64;
        list->records = weir_realloc(list->records, list->capacity, sizeof(*list->records));
    }
    list->records[list->count++] = *record;
}

static inline void csv_list_release(struct csv_list *list)
{
    weir_arena_unref(list->arena);
    free(list->records);
}

/*
 * Hand over the next piece of `text` from *at on: `piece` bytes, 0: all, -1: a random number.
 * A copy of just that size, so that a sanitizer sees a step too far.
 */
static inline void csv_feed_piece(struct weir_csv *csv, struct weir_str text, size_t *at, int piece,
                                  struct weir_rng *rng)
{
    size_t left = text.len - *at;
    size_t len = piece > 0 ? (size_t)piece : left;
    if (piece < 0)
        len = weir_rng_below(rng, 20);
    if (len > left)
        len = left;
    char *copy = weir_calloc(len + 1, 1);
    copy = weir_realloc(copy, len, 1);
    if (len)
        memcpy(copy, text.ptr + *at, len);
    weir_csv_feed(csv, *at, copy, len, *at + len == text.len);
    free(copy);
    *at += len;
}

/* Read on from offset `at` to the end. */
static inline void csv_drain(struct weir_csv *csv, struct weir_str text, size_t at, int piece,
                             struct weir_rng *rng, struct csv_list *list)
{
    for (;;) {
        struct weir_record record;
        enum weir_step step = weir_csv_next(csv, list->arena, &record, &list->err);
        must(step != WEIR_STEP_FULL && step != WEIR_STEP_READY);
        if (step == WEIR_STEP_RECORD) {
            csv_list_add(list, &record);
        } else if (step == WEIR_STEP_MORE) {
            csv_feed_piece(csv, text, &at, piece, rng);
        } else {
            list->ended = step;
            return;
        }
    }
}

static inline struct csv_list csv_read(struct weir_str text,
                                       const struct weir_format_options *options, int piece,
                                       struct weir_rng *rng)
{
    struct csv_list list = { .arena = weir_arena_new((size_t)256 << 20) };
    struct weir_csv *csv = weir_csv_new(options);
    csv_drain(csv, text, 0, piece, rng, &list);
    weir_csv_free(csv);
    return list;
}

/* The header from the beginning, then the records from `from` on; `jump`: without what lies
 * between. */
static inline struct csv_list csv_read_from(struct weir_str text,
                                            const struct weir_format_options *options,
                                            const struct weir_record *from, bool jump, int piece,
                                            struct weir_rng *rng)
{
    struct csv_list list = { .arena = weir_arena_new((size_t)256 << 20) };
    struct weir_csv *csv = weir_csv_new(options);
    size_t at = 0;
    while (weir_csv_head(csv, NULL) == WEIR_STEP_MORE)
        csv_feed_piece(csv, text, &at, piece, rng);
    weir_csv_enter(csv, from->place.offset, from->place.line, from->number);
    if (jump && at < from->place.offset)
        at = from->place.offset - weir_rng_below(rng, from->place.offset - at + 1);
    csv_drain(csv, text, at, piece, rng, &list);
    weir_csv_free(csv);
    return list;
}

static inline bool csv_same_record(const struct weir_record *a, const struct weir_record *b)
{
    if (a->number != b->number || a->place.offset != b->place.offset ||
        a->place.end != b->place.end || a->place.line != b->place.line ||
        a->raw_cut != b->raw_cut || a->problem != b->problem || a->column != b->column ||
        a->bad_at != b->bad_at || a->bound != b->bound || a->cell_count != b->cell_count ||
        !weir_str_equal(a->raw, b->raw))
        return false;
    for (uint32_t i = 0; i < a->cell_count; i++) {
        if (!weir_str_equal(a->cells[i], b->cells[i]))
            return false;
    }
    return true;
}

/* The records of `rest` are those of `all` from number `from` (an index) on. */
static inline void csv_must_match(const struct csv_list *all, size_t from,
                                  const struct csv_list *rest)
{
    must(rest->ended == all->ended);
    must(rest->ended != WEIR_STEP_BROKEN || !strcmp(rest->err.message, all->err.message));
    must(rest->count == all->count - from);
    for (size_t i = 0; i < rest->count; i++)
        must(csv_same_record(&all->records[from + i], &rest->records[i]));
}

/* Raw bytes are what stands there, and nothing lies between records but line ends. */
static inline void csv_must_tile(struct weir_str text, const struct csv_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct weir_record *record = &list->records[i];
        size_t at = i ? list->records[i - 1].place.end : record->place.offset;
        for (; at < record->place.offset; at++)
            must(text.ptr[at] == '\n' || text.ptr[at] == '\r');
        must(at == record->place.offset);
        must(record->place.end > record->place.offset && record->place.end <= text.len);
        must(record->raw_cut || record->raw.len == record->place.end - record->place.offset);
        must(!memcmp(record->raw.ptr, text.ptr + record->place.offset, record->raw.len));
        must(record->number == list->records[0].number + i);
    }
}

#endif
