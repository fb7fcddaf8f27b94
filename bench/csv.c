/* SPDX-License-Identifier: MIT */
/*
 * The CSV reader, rows copied into arenas, beside libcsv and memcpy on the same bytes in the same
 * run: short cells without quotes, the same with tabs, every cell quoted, long texts with doubled
 * quotes and newlines, and short cells out of gzip, for both by zlib. Prints MB/s of processor time
 * for each (of gzip: of what was inflated); with an argument, fails if the reader is not that many
 * times as fast as libcsv on each of them but the gzip.
 *
 *     build/release/bench/bench_csv [2.0]
 */
#include <csv.h>
#include <zlib.h>

#include "base/mem.h"
#include "measure.h"
#include "records/csv.h"
#include "records/gzip.h"
#include "records/hash.h"

#define COLUMNS 8

enum table {
    SHORT,
    TABS,
    QUOTED,
    LONG,
    TABLES
};

static const char *const names[] = { "short cells", "with tabs", "quoted cells", "long texts" };

static void add_row(struct weir_buf *text, enum table table, int i)
{
    if (table == SHORT)
        weir_buf_printf(text, "%d,Account %d,A-%06d,+49 30 %07d,%d.50,%d,true,2024-01-%02d\n", i, i,
                        i % 1000000, i * 37 % 9999999, i % 5000, i % 100, 1 + i % 28);
    else if (table == TABS)
        weir_buf_printf(text,
                        "%d\tAccount %d\tA-%06d\t+49 30 %07d\t%d.50\t%d\ttrue\t2024-01-%02d\n", i,
                        i, i % 1000000, i * 37 % 9999999, i % 5000, i % 100, 1 + i % 28);
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

static struct matter make_table(enum table table)
{
    struct matter matter = { .name = names[table] };
    matter.format = table == TABS ? &weir_format_tsv : &weir_format_csv;
    weir_buf_init(&matter.text, 2 * BYTES);
    weir_buf_add_text(&matter.text,
                      table == TABS ? "a\tb\tc\td\te\tf\tg\th\n" : "a,b,c,d,e,f,g,h\n");
    for (int i = 0; matter.text.len < BYTES; i++)
        add_row(&matter.text, table, i);
    return matter;
}

/* ---- contestants ---- */

static struct haul hash_all(const struct matter *matter)
{
    struct haul haul = { .bytes = matter->text.len };
    double begun_s = processor_s();
    uint64_t sum = 0;
    for (size_t at = 0; at + WEIR_INPUT_BLOCK_BYTES <= haul.bytes; at += WEIR_INPUT_BLOCK_BYTES)
        sum += weir_hash64(matter->text.ptr + at, WEIR_INPUT_BLOCK_BYTES);
    __asm__ volatile("" : : "r"(sum));
    haul.seconds = processor_s() - begun_s;
    return haul;
}

static void on_cell(void *cell, size_t len, void *ctx)
{
    struct haul *haul = ctx;
    (void)cell;
    (void)len;
    haul->cells++;
}

static void on_row(int end, void *ctx)
{
    struct haul *haul = ctx;
    (void)end;
    haul->rows++;
}

static struct haul libcsv(const struct matter *matter)
{
    const struct weir_buf *text = &matter->text;
    struct haul haul = { .bytes = text->len };
    double begun_s = processor_s();
    struct csv_parser parser;
    csv_init(&parser, 0);
    csv_set_delim(&parser, matter->format == &weir_format_tsv ? '\t' : ',');
    for (size_t at = 0; at < text->len; at += PIECE)
        csv_parse(&parser, text->ptr + at, text->len - at < PIECE ? text->len - at : PIECE, on_cell,
                  on_row, &haul);
    csv_fini(&parser, on_cell, on_row, &haul);
    csv_free(&parser);
    haul.seconds = processor_s() - begun_s;
    return haul;
}

/* ---- gzip ---- */

static struct matter make_gzip(void)
{
    struct matter plain = make_table(SHORT);
    struct matter matter = { .name = "gzip", .format = plain.format };
    z_stream z = { .next_in = (Bytef *)(void *)plain.text.ptr, .avail_in = (uInt)plain.text.len };
    size_t room = plain.text.len;
    weir_buf_init(&matter.text, room);
    matter.text.ptr = weir_calloc(room, 1);
    z.next_out = (Bytef *)(void *)matter.text.ptr;
    z.avail_out = (uInt)room;
    int made = deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    if (made != Z_OK || deflate(&z, Z_FINISH) != Z_STREAM_END)
        exit(EXIT_FAILURE);
    matter.text.len = z.total_out;
    deflateEnd(&z);
    weir_buf_release(&plain.text);
    return matter;
}

/* What was inflated goes to `take`, in pieces; empty: that was the last. */
static void inflate_all(const struct weir_buf *text, void (*take)(void *, struct weir_str),
                        void *ctx)
{
    static char out[PIECE];
    struct weir_gunzip *gunzip = weir_gunzip_new();
    struct weir_str in = weir_str(text->ptr, text->len);
    size_t len;
    do {
        if (weir_gunzip_step(gunzip, &in, true, out, sizeof(out), &len, NULL))
            exit(EXIT_FAILURE);
        take(ctx, weir_str(out, len));
    } while (len);
    weir_gunzip_free(gunzip);
}

struct unpacking {
    struct haul haul;
    struct weir_csv *csv;
    struct weir_arena *arena;
    struct csv_parser parser;
};

static void take_ours(void *ctx, struct weir_str piece)
{
    struct unpacking *it = ctx;
    struct weir_record record;
    weir_csv_feed(it->csv, it->haul.bytes, piece.ptr, piece.len, piece.len == 0);
    it->haul.bytes += piece.len;
    while (weir_csv_next(it->csv, it->arena, &record, NULL) == WEIR_STEP_RECORD) {
        it->haul.rows += record.problem == WEIR_RECORD_FINE;
        it->haul.cells += record.cell_count;
        weir_arena_reset(it->arena);
    }
}

static struct haul gzip_ours(const struct matter *matter)
{
    double begun_s = processor_s();
    struct unpacking it = { .csv = weir_csv_new(NULL), .arena = weir_arena_new(ARENA_BYTES) };
    inflate_all(&matter->text, take_ours, &it);
    weir_arena_unref(it.arena);
    weir_csv_free(it.csv);
    it.haul.seconds = processor_s() - begun_s;
    return it.haul;
}

static void take_theirs(void *ctx, struct weir_str piece)
{
    struct unpacking *it = ctx;
    it->haul.bytes += piece.len;
    csv_parse(&it->parser, piece.ptr, piece.len, on_cell, on_row, &it->haul);
}

static struct haul gzip_theirs(const struct matter *matter)
{
    double begun_s = processor_s();
    struct unpacking it = { .csv = NULL };
    csv_init(&it.parser, 0);
    inflate_all(&matter->text, take_theirs, &it);
    csv_fini(&it.parser, on_cell, on_row, &it.haul);
    csv_free(&it.parser);
    it.haul.seconds = processor_s() - begun_s;
    return it.haul;
}

static void take_nothing(void *ctx, struct weir_str piece)
{
    struct haul *haul = ctx;
    haul->bytes += piece.len;
}

static struct haul gzip_alone(const struct matter *matter)
{
    double begun_s = processor_s();
    struct haul haul = { 0 };
    inflate_all(&matter->text, take_nothing, &haul);
    haul.seconds = processor_s() - begun_s;
    return haul;
}

/* ---- the run ---- */

static double run(struct matter *matter, const struct contestant *contestants, size_t count)
{
    struct haul ours;
    struct haul theirs;
    double ratio = compete(matter, contestants, count, &ours, &theirs);
    must_have("weir, cells,", ours.cells + COLUMNS, theirs.cells); /* and the header's */
    weir_buf_release(&matter->text);
    return ratio;
}

int main(int argc, char **argv)
{
    static const struct contestant plain[] = {
        { "weir", read_matter }, { "libcsv", libcsv }, { "memcpy", copy_all }, { "hash", hash_all }
    };
    static const struct contestant packed[] = { { "weir", gzip_ours },
                                                { "libcsv", gzip_theirs },
                                                { "zlib", gzip_alone } };
    double wanted = argc > 1 ? strtod(argv[1], NULL) : 0;
    int failed = 0;
    for (int table = 0; table < TABLES; table++) {
        struct matter matter = make_table((enum table)table);
        failed |= run(&matter, plain, 4) < wanted;
    }
    struct matter gzip = make_gzip();
    run(&gzip, packed, 3);
    return failed;
}
