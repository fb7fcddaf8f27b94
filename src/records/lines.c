/* SPDX-License-Identifier: MIT */
/*
 * Physical lines; see lines.h for the rules and the drawing.
 *
 *     seek ── found ──▶ the line ── pass ──▶ the next begins behind it
 *        └─── not found, and longer than a line may be ──▶ drop what was looked at, and seek on
 *
 * Line ends are looked for a stride at a time; the same look tells whether all bytes of the line
 * are plain, so that nobody need look for text that is none. Whether an LF belongs to a CR needs
 * the next byte: if the window ends there, the search stops before the CR and meets it again.
 */
#include "records/lines.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/mem.h"

#define FIRST_CAPACITY 4096

/* Enough to tell one byte order mark from another. */
#define MARK_BYTES 4

/* ---- a stride ---- */

/* A bit for each byte: those that end a line, and those that are not plain. */
struct stride {
    uint64_t ends;
    uint64_t odd;
};

#if defined(__SSE2__) && !defined(WEIR_PORTABLE)
#include <emmintrin.h>

static inline struct stride look(const char *bytes)
{
    const __m128i lf = _mm_set1_epi8('\n');
    const __m128i cr = _mm_set1_epi8('\r');
    struct stride stride = { 0, 0 };
    for (int i = 0; i < WEIR_LINES_STRIDE / 16; i++) {
        __m128i part = _mm_loadu_si128((const __m128i *)(const void *)(bytes + 16 * i));
        __m128i ends = _mm_or_si128(_mm_cmpeq_epi8(part, lf), _mm_cmpeq_epi8(part, cr));
        __m128i plain = _mm_cmpgt_epi8(part, _mm_setzero_si128()); /* signed: 1 to 127 */
        stride.ends |= (uint64_t)(uint32_t)_mm_movemask_epi8(ends) << (16 * i);
        stride.odd |= (uint64_t)(uint32_t)_mm_movemask_epi8(plain) << (16 * i);
    }
    stride.odd = ~stride.odd;
    return stride;
}
#else
static inline struct stride look(const char *bytes)
{
    struct stride stride = { 0, 0 };
    for (int i = 0; i < WEIR_LINES_STRIDE; i++) {
        unsigned char c = (unsigned char)bytes[i];
        stride.ends |= (uint64_t)(c == '\n' || c == '\r') << i;
        stride.odd |= (uint64_t)(c == 0 || c > 127) << i;
    }
    return stride;
}
#endif

/* ---- the window ---- */

void weir_lines_init(struct weir_lines *lines, size_t line_bytes_max)
{
    *lines = (struct weir_lines){ .line_bytes_max = line_bytes_max, .capacity = FIRST_CAPACITY };
    lines->window = weir_calloc(lines->capacity, 1);
    weir_lines_begin(lines);
}

void weir_lines_release(struct weir_lines *lines)
{
    free(lines->window);
    lines->window = NULL;
}

/* A line begins at lines->begin. */
static void restart(struct weir_lines *lines)
{
    lines->at = lines->begin;
    lines->found = false;
    lines->odd = false;
    lines->too_long = false;
    lines->dropped = 0;
}

static void empty_window(struct weir_lines *lines, uint64_t offset)
{
    lines->base = offset;
    lines->begin = 0;
    lines->len = 0;
    restart(lines);
}

void weir_lines_begin(struct weir_lines *lines)
{
    empty_window(lines, 0);
    lines->last = false;
    lines->begun = false;
    lines->enter_at = 0;
    lines->line = 1;
}

static void make_room(struct weir_lines *lines, size_t len)
{
    memmove(lines->window, lines->window + lines->begin, lines->len - lines->begin);
    lines->base += lines->begin;
    lines->at -= lines->begin;
    lines->len -= lines->begin;
    lines->begin = 0;
    size_t wanted = lines->len + len + WEIR_LINES_STRIDE;
    if (wanted <= lines->capacity)
        return;
    size_t capacity = lines->capacity;
    while (capacity < wanted)
        capacity *= 2;
    lines->window = weir_realloc(lines->window, capacity, 1);
    lines->capacity = capacity;
}

void weir_lines_feed(struct weir_lines *lines, uint64_t offset, const char *bytes, size_t len,
                     bool last)
{
    if (offset != lines->base + lines->len)
        empty_window(lines, offset);
    if (lines->begin || lines->len + len + WEIR_LINES_STRIDE > lines->capacity)
        make_room(lines, len);
    if (len)
        memcpy(lines->window + lines->len, bytes, len);
    lines->len += len;
    lines->last = last;
    memset(lines->window + lines->len, 0, WEIR_LINES_STRIDE);
}

/* ---- the head of a file ---- */

static enum weir_step broken(const struct weir_lines *lines, struct weir_error *err)
{
    if (err)
        *err = lines->why;
    return WEIR_STEP_BROKEN;
}

/* Bytes of a UTF-8 mark; a mark of another encoding breaks the reader. */
static size_t read_mark(struct weir_lines *lines)
{
    const char *at = lines->window;
    size_t len = lines->len;
    if (len >= 3 && !memcmp(at, "\xEF\xBB\xBF", 3))
        return 3;
    const char *name = NULL;
    if (len >= 4 && (!memcmp(at, "\xFF\xFE\0\0", 4) || !memcmp(at, "\0\0\xFE\xFF", 4)))
        name = "UTF-32";
    else if (len >= 2 && (!memcmp(at, "\xFF\xFE", 2) || !memcmp(at, "\xFE\xFF", 2)))
        name = "UTF-16";
    if (name)
        lines->broken =
            weir_fail(&lines->why, WEIR_E_INVALID, "is encoded as \"%s\"; it must be UTF-8", name);
    return 0;
}

enum weir_step weir_lines_head(struct weir_lines *lines, struct weir_error *err)
{
    if (!lines->begun && !lines->broken) {
        if (lines->len < MARK_BYTES && !lines->last)
            return WEIR_STEP_MORE;
        lines->begin = read_mark(lines);
        lines->begun = true;
        restart(lines);
    }
    return lines->broken ? broken(lines, err) : WEIR_STEP_READY;
}

/* ---- entering ---- */

void weir_lines_enter(struct weir_lines *lines, uint64_t offset, uint64_t line)
{
    uint64_t here = lines->base + lines->begin;
    if (offset < here)
        lines->broken = weir_fail(
            &lines->why, WEIR_E_INVALID,
            "has no row at byte %" PRIu64 "; its first line begins at byte %" PRIu64, offset, here);
    lines->enter_at = offset;
    lines->line = line;
    restart(lines);
}

/* False: the place has not been reached. */
static bool reach_entry(struct weir_lines *lines)
{
    uint64_t here = lines->base + lines->begin;
    if (here >= lines->enter_at)
        return true;
    size_t left = lines->len - lines->begin;
    lines->begin += lines->enter_at - here < left ? (size_t)(lines->enter_at - here) : left;
    restart(lines);
    return lines->base + lines->begin == lines->enter_at;
}

static enum weir_step too_short(struct weir_lines *lines, struct weir_error *err)
{
    lines->broken = weir_fail(&lines->why, WEIR_E_INVALID,
                              "ends at byte %" PRIu64 ", before byte %" PRIu64
                              ", where the next row should begin",
                              lines->base + lines->len, lines->enter_at);
    return broken(lines, err);
}

/* ---- lines ---- */

/* Go on to the byte that ends the line; lines->len: it is not there. */
static void seek(struct weir_lines *lines)
{
    while (lines->at < lines->len) {
        struct stride stride = look(lines->window + lines->at);
        size_t left = lines->len - lines->at;
        unsigned count = left < WEIR_LINES_STRIDE ? (unsigned)left : WEIR_LINES_STRIDE;
        if (stride.ends)
            count = (unsigned)__builtin_ctzll(stride.ends);
        if (count)
            lines->odd |= stride.odd << (WEIR_LINES_STRIDE - count) != 0;
        lines->at += count;
        if (stride.ends)
            return;
    }
}

/* Where the line is over. False: it cannot be told yet, for one whether an LF belongs to the CR. */
static bool find_end(struct weir_lines *lines)
{
    const char *at = lines->window + lines->at;
    size_t left = lines->len - lines->at;
    size_t bytes = left > 0;
    if (left > 1 && at[0] == '\r' && at[1] == '\n')
        bytes = 2;
    lines->end = lines->at + bytes;
    return lines->last || left > 1 || (left && at[0] == '\n');
}

static size_t kept_bytes(const struct weir_lines *lines)
{
    size_t max = lines->line_bytes_max;
    return max < sizeof(lines->kept) ? max : sizeof(lines->kept);
}

/* The line may be too long by now: then its beginning is kept and the rest is forgotten. */
static void bound(struct weir_lines *lines)
{
    if (!lines->too_long && lines->at - lines->begin > lines->line_bytes_max) {
        lines->too_long = true;
        memcpy(lines->kept, lines->window + lines->begin, kept_bytes(lines));
    }
    if (!lines->too_long)
        return;
    lines->dropped += lines->at - lines->begin;
    lines->begin = lines->at;
}

static struct weir_line line_at_hand(const struct weir_lines *lines)
{
    struct weir_line line = {
        .text = weir_str(lines->window + lines->begin, lines->at - lines->begin),
        .too_long = lines->too_long,
        .plain = !lines->odd,
        .offset = lines->base + lines->begin - lines->dropped,
        .end = lines->base + lines->end,
        .number = lines->line,
    };
    if (lines->too_long)
        line.text = weir_str(lines->kept, kept_bytes(lines));
    return line;
}

enum weir_step weir_lines_peek(struct weir_lines *lines, struct weir_line *ret,
                               struct weir_error *err)
{
    if (lines->broken || !lines->begun) {
        enum weir_step head = weir_lines_head(lines, err);
        if (head != WEIR_STEP_READY)
            return head;
    }
    if (!reach_entry(lines))
        return lines->last ? too_short(lines, err) : WEIR_STEP_MORE;
    if (!lines->found) {
        if (lines->begin == lines->len && lines->last && !lines->dropped)
            return WEIR_STEP_END;
        seek(lines);
        bound(lines);
        lines->found = find_end(lines);
    }
    if (!lines->found)
        return WEIR_STEP_MORE;
    *ret = line_at_hand(lines);
    return WEIR_STEP_RECORD;
}

void weir_lines_pass(struct weir_lines *lines)
{
    lines->begin = lines->end;
    if (lines->line)
        lines->line++;
    restart(lines);
}
