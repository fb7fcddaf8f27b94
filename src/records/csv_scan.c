/* SPDX-License-Identifier: MIT */
/*
 * Where cells and records end; see csv.h.
 *
 * Only four bytes mean anything: separator, quote, CR, LF. They are looked for 64 bytes at a time
 * and become bits of a word; the state machine steps from bit to bit and never sees the bytes
 * between. Inside of quotes it steps over the bits that are quotes.
 *
 *     FIELD  separator   → the cell ends, the next begins
 *            line end    → the record ends
 *            quote       → QUOTED if it is the cell's first byte, else nothing
 *     QUOTED quote quote → nothing, one more that is doubled
 *            quote, then separator or line end → the cell ends
 *            quote, then anything else         → a problem
 *
 * Two decisions need the next byte (a quote, a CR). If the window ends there, the scan stops before
 * the byte and meets it again; so where the input was cut into pieces makes no difference.
 */
#include "records/csv_parts.h"

#if defined(__SSE2__) && !defined(WEIR_PORTABLE)
#include <emmintrin.h>

static inline __m128i part_of(const char *bytes, int i)
{
    return _mm_loadu_si128((const __m128i *)(const void *)(bytes + 16 * i));
}

static inline uint64_t bits_of(__m128i part, int i)
{
    return (uint64_t)(uint32_t)_mm_movemask_epi8(part) << (16 * i);
}

static uint64_t line_end_mask(const char *bytes)
{
    uint64_t mask = 0;
    for (int i = 0; i < WEIR_CSV_STRIDE / 16; i++) {
        __m128i part = part_of(bytes, i);
        mask |= bits_of(_mm_or_si128(_mm_cmpeq_epi8(part, _mm_set1_epi8('\n')),
                                     _mm_cmpeq_epi8(part, _mm_set1_epi8('\r'))),
                        i);
    }
    return mask;
}

static inline void set_masks(struct weir_csv *csv, const char *bytes)
{
    uint64_t quotes = 0;
    uint64_t specials = 0;
    for (int i = 0; i < WEIR_CSV_STRIDE / 16; i++) {
        __m128i part = part_of(bytes, i);
        __m128i quote = _mm_cmpeq_epi8(part, _mm_set1_epi8('"'));
        __m128i separator = _mm_cmpeq_epi8(part, _mm_set1_epi8(csv->options.separator));
        __m128i end = _mm_or_si128(_mm_cmpeq_epi8(part, _mm_set1_epi8('\n')),
                                   _mm_cmpeq_epi8(part, _mm_set1_epi8('\r')));
        quotes |= bits_of(quote, i);
        specials |= bits_of(_mm_or_si128(_mm_or_si128(quote, separator), end), i);
    }
    csv->quotes = quotes;
    csv->specials = specials;
}
#else
static uint64_t line_end_mask(const char *bytes)
{
    uint64_t mask = 0;
    for (int i = 0; i < WEIR_CSV_STRIDE; i++)
        mask |= (uint64_t)(bytes[i] == '\n' || bytes[i] == '\r') << i;
    return mask;
}

static inline void set_masks(struct weir_csv *csv, const char *bytes)
{
    csv->quotes = 0;
    csv->specials = line_end_mask(bytes);
    for (int i = 0; i < WEIR_CSV_STRIDE; i++) {
        csv->quotes |= (uint64_t)(bytes[i] == '"') << i;
        csv->specials |= (uint64_t)(bytes[i] == csv->options.separator) << i;
    }
    csv->specials |= csv->quotes;
}
#endif

/* Look at the stride that begins at `at`. The window has zeros behind its end: nothing is there. */
static void load(struct weir_csv *csv, size_t at)
{
    csv->block = at;
    set_masks(csv, csv->window + at);
}

/* The next byte that means something, from csv->at on; csv->len: there is none. */
static inline size_t find(struct weir_csv *csv, bool quoted)
{
    size_t at = csv->at;
    while (at < csv->len) {
        if (at - csv->block >= WEIR_CSV_STRIDE)
            load(csv, at);
        uint64_t mask = (quoted ? csv->quotes : csv->specials) >> (at - csv->block);
        if (mask)
            return at + (size_t)__builtin_ctzll(mask);
        at = csv->block + WEIR_CSV_STRIDE;
    }
    return csv->len;
}

static enum weir_csv_outcome fail(struct weir_csv *csv, enum weir_record_problem problem, size_t at,
                                  uint64_t bound)
{
    csv->problem = problem;
    csv->column = csv->cell_count + 1;
    csv->bad_at = csv->base + at;
    csv->bound = bound;
    csv->at = csv->begin; /* from where its physical line is looked for */
    return WEIR_CSV_PROBLEM;
}

/*
 * Whether cell or record are too long if they reach up to `at`. Whichever bound comes first in the
 * file is the one that is reported, so that it does not depend on where `at` happens to be.
 */
static inline bool too_long(const struct weir_csv *csv, size_t at)
{
    size_t len = at - csv->begin;
    return len > csv->options.record_bytes_max ||
           len - csv->field - csv->doubled > csv->options.field_bytes_max;
}

static enum weir_csv_outcome fail_too_long(struct weir_csv *csv)
{
    size_t field_max = csv->options.field_bytes_max;
    size_t record_max = csv->options.record_bytes_max;
    size_t field_end = csv->field + csv->doubled + field_max;
    if (field_end > record_max)
        return fail(csv, WEIR_RECORD_TOO_BIG, csv->begin + record_max, record_max);
    return fail(csv, csv->quoted ? WEIR_RECORD_UNCLOSED : WEIR_RECORD_CELL_TOO_BIG,
                csv->begin + field_end, field_max);
}

/* The cell at hand ends at `at`. False: there are too many. */
static inline bool close_cell(struct weir_csv *csv, size_t at)
{
    if (csv->cell_count == csv->options.fields_max)
        return false;
    csv->cells[csv->cell_count++] =
        (struct weir_csv_cell){ (uint32_t)csv->field, (uint32_t)(at - csv->begin),
                                (uint32_t)csv->doubled };
    csv->doubled = 0;
    csv->quoted = false;
    return true;
}

/* Behind the line end at `at`, or 0 if it cannot be told yet whether an LF belongs to the CR. */
static inline size_t behind_line_end(const struct weir_csv *csv, size_t at)
{
    if (csv->window[at] == '\n')
        return at + 1;
    if (at + 1 < csv->len)
        return csv->window[at + 1] == '\n' ? at + 2 : at + 1;
    return csv->last ? at + 1 : 0;
}

static enum weir_csv_outcome end_record(struct weir_csv *csv, size_t cell_end, size_t end)
{
    if (!close_cell(csv, cell_end))
        return fail(csv, WEIR_RECORD_TOO_MANY_CELLS, cell_end, csv->options.fields_max);
    csv->end = end - csv->begin;
    csv->at = end;
    return WEIR_CSV_WHOLE;
}

/* The window has nothing more that means anything. */
static enum weir_csv_outcome run_out(struct weir_csv *csv)
{
    if (too_long(csv, csv->len))
        return fail_too_long(csv);
    if (!csv->last) {
        csv->at = csv->len;
        return WEIR_CSV_MORE;
    }
    if (csv->quoted)
        return fail(csv, WEIR_RECORD_UNCLOSED, csv->begin + csv->field - 1, 0);
    return end_record(csv, csv->len, csv->len);
}

/*
 * The quote at `at` inside of quotes. WHOLE: it closes the cell, and what ends the cell stands
 * behind it.
 */
static inline enum weir_csv_outcome meet_quote(struct weir_csv *csv, size_t at)
{
    if (at + 1 == csv->len)
        return csv->last ? WEIR_CSV_WHOLE : WEIR_CSV_MORE;
    char next = csv->window[at + 1];
    if (next == csv->options.separator || next == '\n' || next == '\r')
        return WEIR_CSV_WHOLE;
    return fail(csv, WEIR_RECORD_BEHIND_QUOTE, at + 1, 0);
}

/* What ends a cell stands at `at`; its contents end at `cell_end`. True: the record goes on. */
static inline bool meet_end(struct weir_csv *csv, size_t cell_end, size_t at,
                            enum weir_csv_outcome *ret)
{
    if (at < csv->len && csv->window[at] == csv->options.separator) {
        if (!close_cell(csv, cell_end)) {
            *ret = fail(csv, WEIR_RECORD_TOO_MANY_CELLS, cell_end, csv->options.fields_max);
            return false;
        }
        csv->at = at + 1;
        csv->field = csv->at - csv->begin;
        return true;
    }
    size_t end = at < csv->len ? behind_line_end(csv, at) : at;
    if (end)
        *ret = end_record(csv, cell_end, end);
    else
        *ret = WEIR_CSV_MORE;
    return false;
}

/* One step inside of quotes. True: the record goes on. */
static bool step_quoted(struct weir_csv *csv, enum weir_csv_outcome *ret)
{
    size_t at = find(csv, true);
    if (at == csv->len) {
        *ret = run_out(csv);
        return false;
    }
    csv->at = at;
    if (too_long(csv, at)) {
        *ret = fail_too_long(csv);
        return false;
    }
    if (at + 1 < csv->len && csv->window[at + 1] == '"') {
        csv->doubled++;
        csv->at = at + 2;
        return true;
    }
    *ret = meet_quote(csv, at);
    return *ret == WEIR_CSV_WHOLE && meet_end(csv, at, at + 1, ret);
}

/* One step outside of quotes. True: the record goes on. */
static inline bool step(struct weir_csv *csv, enum weir_csv_outcome *ret)
{
    size_t at = find(csv, false);
    if (at == csv->len) {
        *ret = run_out(csv);
        return false;
    }
    csv->at = at;
    if (too_long(csv, at)) {
        *ret = fail_too_long(csv);
        return false;
    }
    if (csv->window[at] != '"')
        return meet_end(csv, at, at, ret);
    csv->at = at + 1;
    if (at - csv->begin == csv->field) {
        csv->field++;
        csv->quoted = true;
        csv->any_quoted = true;
    }
    return true;
}

/* ---- the usual case ---- */

/* Where skim() is, in registers. Cells are relative to the record, `block` is not. */
struct skim {
    size_t block;
    uint64_t mask; /* special bytes of the block that were not looked at */
    size_t field;
    uint32_t cell_count;
};

static inline void skim_cell(struct weir_csv *csv, struct skim *k, size_t begin, size_t end)
{
    csv->cells[k->cell_count++] = (struct weir_csv_cell){ (uint32_t)begin, (uint32_t)end, 0 };
}

/*
 * The cell opens a quote at `at`. True: it was closed in the same stride and a separator stands
 * behind it, so it is done with.
 */
static inline bool skim_quoted(struct weir_csv *csv, struct skim *k, size_t at)
{
    uint64_t behind = k->mask & csv->quotes;
    if (!behind)
        return false;
    unsigned bit = (unsigned)__builtin_ctzll(behind);
    size_t close = k->block + bit;
    if (bit == WEIR_CSV_STRIDE - 1 || close + 1 >= csv->len ||
        csv->window[close + 1] != csv->options.separator)
        return false;
    csv->field = at + 1 - csv->begin;
    if (too_long(csv, close)) {
        csv->field = k->field;
        return false;
    }
    skim_cell(csv, k, at + 1 - csv->begin, close - csv->begin);
    csv->any_quoted = true;
    k->field = close + 2 - csv->begin;
    k->mask &= ~UINT64_C(1) << bit << 1; /* the separator is done with, too */
    return true;
}

/* The next special byte; csv->len: there is none. */
static inline size_t skim_next(struct weir_csv *csv, struct skim *k)
{
    while (!k->mask) {
        if (csv->len - k->block <= WEIR_CSV_STRIDE)
            return csv->len;
        load(csv, k->block + WEIR_CSV_STRIDE);
        k->block = csv->block;
        k->mask = csv->specials;
    }
    size_t at = k->block + (size_t)__builtin_ctzll(k->mask);
    k->mask &= k->mask - 1;
    return at;
}

/*
 * Pass over cells that end with a separator and need no second look. Whatever else there is stays
 * for step(): line ends, doubled quotes, bounds, the window's end.
 */
static void skim(struct weir_csv *csv)
{
    if (csv->at >= csv->len)
        return;
    if (csv->at - csv->block >= WEIR_CSV_STRIDE)
        load(csv, csv->at);
    struct skim k = { .block = csv->block, .field = csv->field, .cell_count = csv->cell_count };
    k.mask = csv->specials & UINT64_MAX << (csv->at - csv->block);
    const struct weir_format_options *bounds = &csv->options;
    size_t at;
    for (;;) {
        at = skim_next(csv, &k);
        size_t end = at - csv->begin;
        if (at == csv->len || k.cell_count == bounds->fields_max ||
            end > bounds->record_bytes_max || end - k.field > bounds->field_bytes_max)
            break;
        char c = csv->window[at];
        if (c == bounds->separator) {
            skim_cell(csv, &k, k.field, end);
            k.field = end + 1;
        } else if (c != '"' || (end == k.field && !skim_quoted(csv, &k, at))) {
            break;
        }
    }
    csv->field = k.field;
    csv->at = at;
    csv->cell_count = k.cell_count;
}

enum weir_csv_outcome weir_csv_scan(struct weir_csv *csv)
{
    enum weir_csv_outcome outcome = WEIR_CSV_MORE;
    bool goes_on = true;
    while (goes_on) {
        if (!csv->quoted)
            skim(csv);
        goes_on = csv->quoted ? step_quoted(csv, &outcome) : step(csv, &outcome);
    }
    return outcome;
}

bool weir_csv_scan_line(struct weir_csv *csv, size_t *ret)
{
    while ((csv->at = find(csv, false)) < csv->len) {
        char c = csv->window[csv->at];
        if (c == '\n' || c == '\r') {
            *ret = behind_line_end(csv, csv->at);
            return *ret != 0;
        }
        csv->at++;
    }
    *ret = csv->len;
    return csv->last;
}

/* A stride at a time: most have no line end in them. */
uint64_t weir_csv_count_lines(const struct weir_csv *csv)
{
    uint64_t lines = 0;
    const char *end = csv->window + csv->begin + csv->end;
    for (const char *at = csv->window + csv->begin; at < end; at += WEIR_CSV_STRIDE) {
        uint64_t mask = line_end_mask(at);
        for (; mask; mask &= mask - 1) {
            const char *c = at + __builtin_ctzll(mask);
            if (c >= end)
                break;
            lines += *c == '\n' || c + 1 == end || c[1] != '\n'; /* a CR LF counts at its LF */
        }
    }
    return lines;
}
