/* SPDX-License-Identifier: MIT */
/*
 * The JSON Lines reader, rows copied into arenas, beside memcpy and json-c on the same bytes in the
 * same run: rows of short members, flat and raw; long texts with escapes; texts that are not ASCII;
 * rows as Dataverse writes them when they are read. Prints MB/s of each; with an argument, fails if
 * the reader is not that many times as fast as json-c on each of them.
 *
 *     build/release/bench/bench_jsonl [5.0]
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "records/jsonl.h"

#define BYTES  ((size_t)64 * 1024 * 1024)
#define ROUNDS 5
#define PIECE  WEIR_INPUT_READ_BYTES

/* json-c is slow enough to be measured on less. */
#define THEIR_BYTES (BYTES / 8)

/* Of an arena, as a batch of rows has it. */
#define BATCH_BYTES ((size_t)512 * 1024)

enum table {
    SHORT,
    RAW,
    LONG,
    GREEK,
    READ,
    TABLES
};

static const char *const names[] = { "short", "short, raw", "escapes", "not ASCII", "as read" };

static void add_row(struct weir_buf *text, enum table table, int i)
{
    if (table == SHORT || table == RAW)
        weir_buf_printf(text,
                        "{\"id\":%d,\"name\":\"Account %d\",\"accountnumber\":\"A-%06d\","
                        "\"telephone1\":\"+49 30 %07d\",\"revenue\":%d.50,\"employees\":%d,"
                        "\"donotphone\":true,\"since\":\"2024-01-%02d\"}\n",
                        i, i, i % 1000000, i * 37 % 9999999, i % 5000, i % 100, 1 + i % 28);
    else if (table == LONG)
        weir_buf_printf(text,
                        "{\"id\":%d,\"note\":\"A note on \\\"%d\\\",\\nof several lines, and some "
                        "more text that goes on and on until the end of it is reached, which "
                        "takes a while because it is long\",\"a\":\"x\",\"b\":1}\n",
                        i, i);
    else if (table == GREEK)
        weir_buf_printf(text,
                        "{\"id\":%d,\"name\":\"Ελληνικά και %d\",\"note\":\"größer, schöner, "
                        "weiter und überhaupt\",\"city\":\"Αθήνα\"}\n",
                        i, i);
    else
        weir_buf_printf(text,
                        "{\"@odata.etag\":\"W/\\\"%d\\\"\",\"name\":\"Account %d\",\"statecode\":0,"
                        "\"statecode@OData.Community.Display.V1.FormattedValue\":\"Active\","
                        "\"_ownerid_value\":\"00000000-0000-0000-0000-%012d\","
                        "\"_ownerid_value@Microsoft.Dynamics.CRM.lookuplogicalname\":"
                        "\"systemuser\",\"fax\":null}\n",
                        i, i, i);
}

static struct weir_buf make_table(enum table table)
{
    struct weir_buf text;
    weir_buf_init(&text, 2 * BYTES);
    for (int i = 0; text.len < BYTES; i++)
        add_row(&text, table, i);
    return text;
}

static double seconds_since(int64_t begun_us)
{
    return (double)(weir_clock_now_us() - begun_us) / 1e6;
}

static double memcpy_s(const struct weir_buf *text)
{
    static char to[PIECE];
    int64_t begun_us = weir_clock_now_us();
    for (size_t at = 0; at < text->len; at += PIECE) {
        memcpy(to, text->ptr + at, text->len - at < PIECE ? text->len - at : PIECE);
        __asm__ volatile("" : : "r"(to) : "memory");
    }
    return seconds_since(begun_us);
}

/* The time, and how many rows and members there were. */
static double ours_s(const struct weir_buf *text, bool raw, uint64_t *rows, uint64_t *members)
{
    struct weir_format_options options = { .raw = raw };
    int64_t begun_us = weir_clock_now_us();
    struct weir_jsonl *jsonl = weir_jsonl_new(&options);
    struct weir_arena *arena = weir_arena_new(BATCH_BYTES);
    size_t at = 0;
    struct weir_record record;
    enum weir_step step;
    *rows = *members = 0;
    while ((step = weir_jsonl_next(jsonl, arena, &record, NULL)) != WEIR_STEP_END) {
        if (step == WEIR_STEP_MORE) {
            size_t len = text->len - at < PIECE ? text->len - at : PIECE;
            weir_jsonl_feed(jsonl, at, text->ptr + at, len, at + len == text->len);
            at += len;
        } else if (step == WEIR_STEP_FULL) {
            weir_arena_reset(arena);
        } else {
            *rows += record.problem == WEIR_RECORD_FINE;
            *members += record.cell_count;
        }
    }
    weir_arena_unref(arena);
    weir_jsonl_free(jsonl);
    return seconds_since(begun_us);
}

/* Line by line, as far as THEIR_BYTES. */
static double json_c_s(const struct weir_buf *text, size_t *bytes, uint64_t *rows)
{
    int64_t begun_us = weir_clock_now_us();
    struct json_tokener *tokener = json_tokener_new();
    const char *at = text->ptr;
    *rows = 0;
    while (at < text->ptr + THEIR_BYTES) {
        const char *end = memchr(at, '\n', (size_t)(text->ptr + text->len - at));
        json_tokener_reset(tokener);
        struct json_object *object = json_tokener_parse_ex(tokener, at, (int)(end - at));
        *rows += object != NULL;
        json_object_put(object);
        at = end + 1;
    }
    json_tokener_free(tokener);
    *bytes = (size_t)(at - text->ptr);
    return seconds_since(begun_us);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void must_have_read(uint64_t rows, uint64_t wanted, const char *who)
{
    if (rows >= wanted)
        return;
    fprintf(stderr, "%s read %llu rows of %llu\n", who, (unsigned long long)rows,
            (unsigned long long)wanted);
    exit(1);
}

/* Side by side, so that noise hits all. Returns the median of ours by json-c. */
static double run(enum table table)
{
    struct weir_buf text = make_table(table);
    double ratios[ROUNDS];
    uint64_t lines = 0;
    for (size_t i = 0; i < text.len; i++)
        lines += text.ptr[i] == '\n';
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t rows, members, their_rows;
        size_t their_bytes;
        double ours = ours_s(&text, table == RAW, &rows, &members);
        double theirs = json_c_s(&text, &their_bytes, &their_rows);
        double our_mbs = (double)text.len / 1e6 / ours;
        double their_mbs = (double)their_bytes / 1e6 / theirs;
        ratios[i] = our_mbs / their_mbs;
        printf("%-10s  weir %6.0f MB/s (%4.1f M rows/s, %5.1f M members/s)   json-c %4.0f MB/s   "
               "memcpy %6.0f MB/s\n",
               names[table], our_mbs, (double)rows / 1e6 / ours, (double)members / 1e6 / ours,
               their_mbs, (double)text.len / 1e6 / memcpy_s(&text));
        must_have_read(rows, lines, "weir");
        must_have_read(their_rows, lines / 9, "json-c");
    }
    weir_buf_release(&text);
    qsort(ratios, ROUNDS, sizeof(ratios[0]), by_value);
    printf("%-10s  median %.1f times json-c\n", names[table], ratios[ROUNDS / 2]);
    return ratios[ROUNDS / 2];
}

int main(int argc, char **argv)
{
    double wanted = argc > 1 ? strtod(argv[1], NULL) : 0;
    int failed = 0;
    for (int table = 0; table < TABLES; table++)
        failed |= run((enum table)table) < wanted;
    return failed;
}
