/* SPDX-License-Identifier: MIT */
/*
 * The CSV reader, rows copied into arenas, beside memcpy and libcsv on the same bytes in the same
 * run: a table of short cells without quotes, one with every cell quoted, one of long texts with
 * doubled quotes and newlines. Prints MB/s of each; with an
 * argument, fails if the reader is not that many times as fast as libcsv on each of them.
 *
 *     build/release/bench/bench_csv [2.0]
 */
#include <csv.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "records/csv.h"
#include "records/hash.h"

#define BYTES  ((size_t)64 * 1024 * 1024)
#define ROUNDS 5
#define PIECE  WEIR_INPUT_READ_BYTES

/* Of an arena, as a batch of rows has it. */
#define BATCH_BYTES ((size_t)512 * 1024)

enum table {
    SHORT,
    QUOTED,
    LONG,
    TABLES
};

static const char *const names[] = { "short cells", "quoted cells", "long texts" };

static void add_row(struct weir_buf *text, enum table table, int i)
{
    if (table == SHORT)
        weir_buf_printf(text, "%d,Account %d,A-%06d,+49 30 %07d,%d.50,%d,true,2024-01-%02d\n", i, i,
                        i % 1000000, i * 37 % 9999999, i % 5000, i % 100, 1 + i % 28);
    else if (table == QUOTED)
        weir_buf_printf(text,
                        "\"%d\",\"Account %d\",\"A-%06d\",\"+49 30 %07d\",\"%d.50\",\"%d\","
                        "\"true\",\"2024-01-%02d\"\n",
                        i, i, i % 1000000, i * 37 % 9999999, i % 5000, i % 100, 1 + i % 28);
    else
        weir_buf_printf(text,
                        "%d,\"A note on \"\"%d\"\",\nof several lines, with commas, and some more "
                        "text that goes on and on until the end of it is reached, which takes a "
                        "while because it is long\",x,y,z,1,2,3\n",
                        i, i);
}

static struct weir_buf make_table(enum table table)
{
    struct weir_buf text;
    weir_buf_init(&text, 2 * BYTES);
    weir_buf_add_text(&text, "a,b,c,d,e,f,g,h\n");
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

static double hash_s(const struct weir_buf *text)
{
    int64_t begun_us = weir_clock_now_us();
    uint64_t sum = 0;
    for (size_t at = 0; at + WEIR_INPUT_BLOCK_BYTES <= text->len; at += WEIR_INPUT_BLOCK_BYTES)
        sum += weir_hash64(text->ptr + at, WEIR_INPUT_BLOCK_BYTES);
    __asm__ volatile("" : : "r"(sum));
    return seconds_since(begun_us);
}

static double ours_s(const struct weir_buf *text, uint64_t *rows, uint64_t *cells)
{
    int64_t begun_us = weir_clock_now_us();
    struct weir_csv *csv = weir_csv_new(NULL);
    struct weir_arena *arena = weir_arena_new(BATCH_BYTES);
    size_t at = 0;
    struct weir_record record;
    enum weir_step step;
    *rows = *cells = 0;
    while ((step = weir_csv_next(csv, arena, &record, NULL)) != WEIR_STEP_END) {
        if (step == WEIR_STEP_MORE) {
            size_t len = text->len - at < PIECE ? text->len - at : PIECE;
            weir_csv_feed(csv, at, text->ptr + at, len, at + len == text->len);
            at += len;
        } else if (step == WEIR_STEP_FULL) {
            weir_arena_reset(arena);
        } else {
            ++*rows;
            *cells += record.cell_count;
        }
    }
    weir_arena_unref(arena);
    weir_csv_free(csv);
    return seconds_since(begun_us);
}

static void on_cell(void *cell, size_t len, void *count)
{
    (void)cell;
    (void)len;
    ++*(uint64_t *)count;
}

static void on_row(int end, void *count)
{
    (void)end;
    (void)count;
}

static double libcsv_s(const struct weir_buf *text, uint64_t *cells)
{
    int64_t begun_us = weir_clock_now_us();
    struct csv_parser parser;
    csv_init(&parser, 0);
    *cells = 0;
    for (size_t at = 0; at < text->len; at += PIECE)
        csv_parse(&parser, text->ptr + at, text->len - at < PIECE ? text->len - at : PIECE, on_cell,
                  on_row, cells);
    csv_fini(&parser, on_cell, on_row, cells);
    csv_free(&parser);
    return seconds_since(begun_us);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Side by side, so that noise hits all. Returns the median of ours by libcsv. */
static double run(enum table table)
{
    struct weir_buf text = make_table(table);
    double megabytes = (double)text.len / 1e6;
    double ratios[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t rows;
        uint64_t cells;
        uint64_t their_cells;
        double ours = ours_s(&text, &rows, &cells);
        double theirs = libcsv_s(&text, &their_cells);
        ratios[i] = theirs / ours;
        printf("%-12s  weir %7.0f MB/s (%5.1f M rows/s)   libcsv %5.0f MB/s   memcpy %6.0f MB/s   "
               "hash %6.0f MB/s\n",
               names[table], megabytes / ours, (double)rows / 1e6 / ours, megabytes / theirs,
               megabytes / memcpy_s(&text), megabytes / hash_s(&text));
        if (cells + 8 != their_cells) {
            fprintf(stderr, "libcsv found %llu cells and weir %llu\n",
                    (unsigned long long)their_cells, (unsigned long long)cells + 8);
            exit(1);
        }
    }
    weir_buf_release(&text);
    qsort(ratios, ROUNDS, sizeof(ratios[0]), by_value);
    printf("%-12s  median %.1f times libcsv\n", names[table], ratios[ROUNDS / 2]);
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
