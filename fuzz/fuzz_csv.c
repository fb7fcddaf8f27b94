/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as CSV. The first byte chooses separator and bounds, the second how the rest is cut
 * into pieces. It must not crash, and:
 * - records and line ends tile the file, raw bytes are what stands there, cells lie in the record's
 *   memory or are shorter than it;
 * - in one piece or in many, from the beginning or entered at any record, the records are the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "records/csv.h"

#define ARENA_BYTES ((size_t)1 << 28)

/* Records that are entered at, at most. */
#define ENTRIES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct reading {
    struct weir_csv *csv;
    struct weir_arena *arena;
    struct weir_str text;
    size_t at;
    size_t piece; /* 0: all at once */
};

static struct weir_format_options options_of(uint8_t choice)
{
    struct weir_format_options options = { .separator = ",\t;x"[choice & 3] };
    if (choice & 4)
        options.field_bytes_max = 1 + (choice >> 4);
    if (choice & 8) {
        options.record_bytes_max = 2 + (choice >> 3);
        options.fields_max = 1 + (choice >> 5);
    }
    return options;
}

static void begin(struct reading *r, struct weir_str text, uint8_t choice, size_t piece)
{
    struct weir_format_options options = options_of(choice);
    *r = (struct reading){ .csv = weir_csv_new(&options),
                           .arena = weir_arena_new(ARENA_BYTES),
                           .text = text,
                           .piece = piece };
}

static void end(struct reading *r)
{
    weir_csv_free(r->csv);
    weir_arena_unref(r->arena);
}

/* A copy of just the size, so that reading beyond its end is noticed. */
static void feed(struct reading *r)
{
    size_t left = r->text.len - r->at;
    size_t len = r->piece && r->piece < left ? r->piece : left;
    char *copy = weir_realloc(NULL, len, 1);
    memcpy(copy, r->text.ptr + r->at, len);
    weir_csv_feed(r->csv, r->at, copy, len, len == left);
    free(copy);
    r->at += len;
}

static enum weir_step next(struct reading *r, struct weir_record *record)
{
    enum weir_step step;
    while ((step = weir_csv_next(r->csv, r->arena, record, NULL)) == WEIR_STEP_MORE)
        feed(r);
    return step;
}

static void check_record(const struct weir_record *record, struct weir_str text, uint64_t at)
{
    uint64_t begun = record->place.offset;
    if (begun < at || record->place.end <= begun || record->place.end > text.len)
        abort();
    for (; record->number > 1 && at < begun; at++) {
        if (text.ptr[at] != '\n' && text.ptr[at] != '\r')
            abort();
    }
    if (!record->raw_cut && record->raw.len != record->place.end - begun)
        abort();
    if (memcmp(record->raw.ptr, text.ptr + begun, record->raw.len) != 0)
        abort();
    for (uint32_t i = 0; i < record->cell_count; i++) {
        if (record->cells[i].len > record->raw.len)
            abort();
    }
    char sentence[512];
    weir_record_explain(record, weir_str(NULL, 0), sentence, sizeof(sentence));
    if ((record->problem == WEIR_RECORD_FINE) != (sentence[0] == '\0'))
        abort();
}

static void must_equal(const struct weir_record *a, const struct weir_record *b)
{
    if (a->number != b->number || a->place.offset != b->place.offset ||
        a->place.end != b->place.end || a->place.line != b->place.line ||
        a->raw_cut != b->raw_cut || a->problem != b->problem || a->column != b->column ||
        a->bad_at != b->bad_at || a->bound != b->bound || a->cell_count != b->cell_count ||
        !weir_str_equal(a->raw, b->raw))
        abort();
    for (uint32_t i = 0; i < a->cell_count; i++) {
        if (!weir_str_equal(a->cells[i], b->cells[i]))
            abort();
    }
}

/* From `from` on, entered there, the records are the same. */
static void check_entry(struct weir_str text, uint8_t choice, const struct weir_record *from)
{
    struct reading whole;
    struct reading entered;
    struct weir_record a;
    struct weir_record b;
    begin(&whole, text, choice, 0);
    begin(&entered, text, choice, 5);
    while (weir_csv_head(entered.csv, NULL) == WEIR_STEP_MORE)
        feed(&entered);
    weir_csv_enter(entered.csv, from->place.offset, from->place.line, from->number);
    if (entered.at < from->place.offset)
        entered.at = from->place.offset;
    while (next(&whole, &a) == WEIR_STEP_RECORD) {
        if (a.number < from->number)
            continue;
        if (next(&entered, &b) != WEIR_STEP_RECORD)
            abort();
        must_equal(&a, &b);
    }
    if (next(&entered, &b) != WEIR_STEP_END)
        abort();
    end(&whole);
    end(&entered);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    uint8_t choice = data[0];
    struct weir_str text = weir_str((const char *)data + 2, size - 2);
    struct reading whole;
    struct reading pieces;
    begin(&whole, text, choice, 0);
    begin(&pieces, text, choice, 1 + data[1] % 70);
    uint64_t at = 0;
    for (;;) {
        struct weir_record a = { 0 };
        struct weir_record b = { 0 };
        enum weir_step step = next(&whole, &a);
        if (next(&pieces, &b) != step)
            abort();
        if (step != WEIR_STEP_RECORD)
            break;
        check_record(&a, text, at);
        must_equal(&a, &b);
        at = a.place.end;
        if (a.number <= ENTRIES_MAX && (a.number & 7) == (data[1] & 7))
            check_entry(text, choice, &a);
    }
    end(&whole);
    end(&pieces);
    return 0;
}
