/* SPDX-License-Identifier: MIT */
/*
 * Reading JSON Lines in tests: a text cut into pieces of any size, read into a list of records. Two
 * lists can be compared field by field.
 */
#ifndef WEIR_TESTS_JSONL_RIG_H
#define WEIR_TESTS_JSONL_RIG_H

#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "records/jsonl.h"
#include "support/suite.h"

struct jsonl_list {
    struct weir_arena *arena;
    struct weir_record *records;
    size_t count;
    size_t capacity;
    enum weir_step ended; /* END or BROKEN */
    struct weir_error err;
};

static inline void jsonl_list_add(struct jsonl_list *list, const struct weir_record *record)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 64;
        list->records = weir_realloc(list->records, list->capacity, sizeof(*list->records));
    }
    list->records[list->count++] = *record;
}

static inline void jsonl_list_release(struct jsonl_list *list)
{
    weir_arena_unref(list->arena);
    free(list->records);
}

/*
 * Hand over the next piece of `text` from *at on: `piece` bytes, 0: all, -1: a random number.
 * A copy of just that size, so that a sanitizer sees a step too far. When all has been handed over,
 * what is asked for is an empty end: `last` comes with the last byte or behind it.
 */
static inline void jsonl_feed_piece(struct weir_jsonl *jsonl, struct weir_str text, size_t *at,
                                    int piece, struct weir_rng *rng)
{
    size_t left = text.len - *at;
    size_t len = piece > 0 ? (size_t)piece : left;
    if (piece < 0)
        len = weir_rng_below(rng, 20);
    if (len > left)
        len = left;
    bool late = piece < 0 && left && weir_rng_below(rng, 2);
    char *copy = weir_calloc(len + 1, 1);
    copy = weir_realloc(copy, len, 1);
    if (len)
        memcpy(copy, text.ptr + *at, len);
    weir_jsonl_feed(jsonl, *at, copy, len, *at + len == text.len && !late);
    free(copy);
    *at += len;
}

/* Read on from offset `at` to the end. */
static inline void jsonl_drain(struct weir_jsonl *jsonl, struct weir_str text, size_t at, int piece,
                               struct weir_rng *rng, struct jsonl_list *list)
{
    for (;;) {
        struct weir_record record;
        enum weir_step step = weir_jsonl_next(jsonl, list->arena, &record, &list->err);
        must(step != WEIR_STEP_FULL && step != WEIR_STEP_READY);
        if (step == WEIR_STEP_RECORD) {
            jsonl_list_add(list, &record);
        } else if (step == WEIR_STEP_MORE) {
            jsonl_feed_piece(jsonl, text, &at, piece, rng);
        } else {
            list->ended = step;
            return;
        }
    }
}

static inline struct jsonl_list jsonl_read(struct weir_str text,
                                           const struct weir_format_options *options, int piece,
                                           struct weir_rng *rng)
{
    struct jsonl_list list = { .arena = weir_arena_new((size_t)256 << 20) };
    struct weir_jsonl *jsonl = weir_jsonl_new(options);
    jsonl_drain(jsonl, text, 0, piece, rng, &list);
    weir_jsonl_free(jsonl);
    return list;
}

/* The head from the beginning, then the records from `from` on; `jump`: without what lies between.
 */
static inline struct jsonl_list jsonl_read_from(struct weir_str text,
                                                const struct weir_format_options *options,
                                                const struct weir_record *from, bool jump,
                                                int piece, struct weir_rng *rng)
{
    struct jsonl_list list = { .arena = weir_arena_new((size_t)256 << 20) };
    struct weir_jsonl *jsonl = weir_jsonl_new(options);
    size_t at = 0;
    while (weir_jsonl_head(jsonl, NULL) == WEIR_STEP_MORE)
        jsonl_feed_piece(jsonl, text, &at, piece, rng);
    weir_jsonl_enter(jsonl, from->place.offset, from->place.line, from->number);
    if (jump && at < from->place.offset)
        at = from->place.offset - weir_rng_below(rng, from->place.offset - at + 1);
    jsonl_drain(jsonl, text, at, piece, rng, &list);
    weir_jsonl_free(jsonl);
    return list;
}

/* Texts, and whether they are there at all. */
static inline bool jsonl_same_text(struct weir_str a, struct weir_str b)
{
    return !a.ptr == !b.ptr && weir_str_equal(a, b);
}

static inline bool jsonl_same_record(const struct weir_record *a, const struct weir_record *b)
{
    if (a->number != b->number || a->place.offset != b->place.offset ||
        a->place.end != b->place.end || a->place.line != b->place.line ||
        a->raw_cut != b->raw_cut || a->problem != b->problem || a->column || b->column ||
        a->bad_at != b->bad_at || a->bound != b->bound || a->cell_count != b->cell_count ||
        !a->names != !b->names || !weir_str_equal(a->raw, b->raw) ||
        !jsonl_same_text(a->member, b->member))
        return false;
    for (uint32_t i = 0; i < a->cell_count; i++) {
        if (!jsonl_same_text(a->cells[i], b->cells[i]) ||
            !jsonl_same_text(a->names[i], b->names[i]))
            return false;
    }
    return true;
}

/* The records of `rest` are those of `all` from number `from` (an index) on. */
static inline void jsonl_must_match(const struct jsonl_list *all, size_t from,
                                    const struct jsonl_list *rest)
{
    must(rest->ended == all->ended);
    must(rest->ended != WEIR_STEP_BROKEN || !strcmp(rest->err.message, all->err.message));
    must(rest->count == all->count - from);
    for (size_t i = 0; i < rest->count; i++)
        must(jsonl_same_record(&all->records[from + i], &rest->records[i]));
}

/* Raw bytes are what stands there, and nothing lies between records but blank lines. */
static inline void jsonl_must_tile(struct weir_str text, const struct jsonl_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct weir_record *record = &list->records[i];
        size_t at = i ? list->records[i - 1].place.end : record->place.offset;
        for (; at < record->place.offset; at++)
            must(strchr("\n\r \t", text.ptr[at]) && text.ptr[at]);
        must(at == record->place.offset);
        must(record->place.end > record->place.offset && record->place.end <= text.len);
        must(record->raw_cut || record->raw.len == record->place.end - record->place.offset);
        must(!memcmp(record->raw.ptr, text.ptr + record->place.offset, record->raw.len));
        must(record->number == list->records[0].number + i);
    }
}

#endif
