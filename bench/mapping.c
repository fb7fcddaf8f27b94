/* SPDX-License-Identifier: MIT */
/*
 * From records to members: cells checked and converted by the types of their columns and written
 * as JSON, beside json-c that builds the same object of the same cells and prints it, and memcpy of
 * the raw record. A batch of records is in memory, as it is behind the reader, and is mapped again
 * and again; then reading and mapping together, beside json-c that of JSON Lines reads and prints,
 * of CSV only prints. Prints MB/s of processor time, counting the bytes of the input. With an
 * argument, fails if the mapping is not that many times as fast as json-c.
 *
 *     build/release/bench/bench_mapping [2.0]
 */
#include <json-c/json.h>

#include "measure.h"
#include "records/mapping.h"
#include "support/ledger.h"

#define TEXT_BYTES ((size_t)16 * 1024 * 1024)
#define BATCH_ROWS 1000
#define REPEATS    200

/* In which all of its records fit. */
#define BATCH_BYTES ((size_t)4 * 1024 * 1024)

static const struct weir_table *account;
static const struct weir_table *contact; /* borrowed by the mapping, like its place here */
static struct weir_mapping *mapping;
static struct weir_record records[BATCH_ROWS];
static struct weir_str header[LEDGER_COLUMNS]; /* of the records that have no names */
static size_t written;                         /* bytes of members, of the last row */

/* Of the input, that the batch was made of. */
static size_t batch_bytes(void)
{
    return (size_t)(records[BATCH_ROWS - 1].place.end - records[0].place.offset);
}

static struct weir_table *parse_table(const char *text)
{
    struct weir_table *table;
    struct weir_error err;
    if (weir_table_parse(weir_str_from(text), &table, &err)) {
        fprintf(stderr, "%s\n", err.message);
        exit(EXIT_FAILURE);
    }
    return table;
}

/* ---- contestants ---- */

static bool map(const struct weir_record *record, struct weir_arena *arena, struct weir_draft *ret)
{
    weir_arena_reset(arena);
    return weir_mapping_record(mapping, WEIR_PASS_ROWS, record, arena, ret) &&
           ret->refusal.len == 0;
}

static struct haul map_all(const struct matter *matter)
{
    (void)matter;
    struct haul haul = { .bytes = batch_bytes() * REPEATS };
    double begun_s = processor_s();
    struct weir_arena *arena = weir_arena_new(ARENA_BYTES);
    for (size_t i = 0; i < (size_t)BATCH_ROWS * REPEATS; i++) {
        struct weir_draft draft;
        haul.rows += map(&records[i % BATCH_ROWS], arena, &draft);
        written = draft.target.members.len;
    }
    weir_arena_unref(arena);
    haul.seconds = processor_s() - begun_s;
    return haul;
}

/* By what the columns are, as a program would do that has json-c to print for it. */
static struct json_object *convert(size_t column, struct weir_str cell)
{
    char text[64];
    if (column == 3 || column == 4 || column == 7) {
        memcpy(text, cell.ptr, cell.len);
        text[cell.len] = '\0';
    }
    switch (column) {
    case 3:
        return json_object_new_double_s(strtod(text, NULL), text);
    case 4:
        return json_object_new_int((int32_t)strtol(text, NULL, 10));
    case 5:
        return json_object_new_boolean(cell.ptr[0] == 't');
    case 7:
        for (int i = 0; i < 4; i++) {
            if (!strcmp(ledger_industries[i], text))
                return json_object_new_int(i);
        }
        return NULL;
    default:
        return json_object_new_string_len(cell.ptr, (int)cell.len);
    }
}

static struct haul json_c(const struct matter *matter)
{
    static const char *const keys[LEDGER_COLUMNS] = {
        "name",    "accountnumber",     "telephone1",
        "revenue", "numberofemployees", "donotphone",
        "founded", "industrycode",      "primarycontactid@odata.bind"
    };
    (void)matter;
    struct haul haul = { .bytes = batch_bytes() * (REPEATS / 10) };
    double begun_s = processor_s();
    for (size_t i = 0; i < (size_t)BATCH_ROWS * (REPEATS / 10); i++) {
        const struct weir_record *record = &records[i % BATCH_ROWS];
        struct json_object *object = json_object_new_object();
        for (size_t k = 0; k < LEDGER_COLUMNS; k++)
            json_object_object_add_ex(object, keys[k], convert(k, record->cells[k]),
                                      JSON_C_OBJECT_ADD_KEY_IS_NEW | JSON_C_OBJECT_KEY_IS_CONSTANT);
        haul.rows += json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN) != NULL;
        json_object_put(object);
    }
    haul.seconds = processor_s() - begun_s;
    return haul;
}

/* Reads and prints them, and converts nothing. */
static struct haul json_c_lines(const struct matter *matter)
{
    struct haul haul = { 0 };
    double begun_s = processor_s();
    struct json_tokener *tokener = json_tokener_new();
    while (haul.bytes < matter->text.len / 10) {
        const char *at = matter->text.ptr + haul.bytes;
        const char *end = memchr(at, '\n', matter->text.len - haul.bytes);
        json_tokener_reset(tokener);
        struct json_object *object = json_tokener_parse_ex(tokener, at, (int)(end - at));
        haul.rows += json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN) != NULL;
        json_object_put(object);
        haul.bytes += (size_t)(end + 1 - at);
    }
    json_tokener_free(tokener);
    haul.seconds = processor_s() - begun_s;
    return haul;
}

static struct haul copy_records(const struct matter *matter)
{
    (void)matter;
    static char to[PIECE];
    struct haul haul = { .bytes = batch_bytes() * REPEATS };
    double begun_s = processor_s();
    for (size_t i = 0; i < (size_t)BATCH_ROWS * REPEATS; i++) {
        const struct weir_record *record = &records[i % BATCH_ROWS];
        memcpy(to, record->raw.ptr, record->raw.len);
        __asm__ volatile("" : : "r"(to) : "memory");
    }
    haul.seconds = processor_s() - begun_s;
    return haul;
}

/* Reading and mapping together, which is what the thread of the input does. */
static struct haul read_and_map(const struct matter *matter)
{
    double begun_s = processor_s();
    const struct weir_format *format = matter->format;
    struct haul haul = { .bytes = matter->text.len };
    struct feeder feeder = { format, format->open(&matter->options), &matter->text, 0 };
    struct weir_arena *rows = weir_arena_new(ARENA_BYTES);
    struct weir_arena *drafts = weir_arena_new(ARENA_BYTES);
    struct weir_record record;
    struct weir_draft draft;
    format->begin(feeder.state);
    feed_head(&feeder);
    while (feed_next(&feeder, rows, &record)) {
        haul.rows += map(&record, drafts, &draft);
        weir_arena_reset(rows);
    }
    format->free(feeder.state);
    weir_arena_unref(drafts);
    weir_arena_unref(rows);
    haul.seconds = processor_s() - begun_s;
    return haul;
}

/* ---- the run ---- */

static struct matter make_matter(const struct weir_format *format)
{
    bool named = format == &weir_format_jsonl;
    struct matter matter = { .name = named ? "JSON Lines" : "CSV", .format = format };
    weir_buf_init(&matter.text, BYTES);
    if (!named)
        ledger_add_header(&matter.text, ',');
    for (unsigned i = 0; matter.text.len < TEXT_BYTES; i++) {
        if (named)
            ledger_add_object(&matter.text, i + 1);
        else
            ledger_add_cells(&matter.text, ',', i + 1);
    }
    return matter;
}

/* The records of the batch, and the mapping that fits them. */
static void prepare(const struct matter *matter, struct weir_arena *arena)
{
    struct feeder feeder = { matter->format, matter->format->open(&matter->options), &matter->text,
                             0 };
    matter->format->begin(feeder.state);
    feed_head(&feeder);
    for (size_t i = 0; i < BATCH_ROWS; i++) {
        if (!feed_next(&feeder, arena, &records[i]))
            exit(EXIT_FAILURE);
    }
    struct weir_columns columns = matter->format->columns(feeder.state);
    for (uint32_t i = 0; i < columns.count; i++) {
        char *name = weir_arena_take(arena, columns.names[i].len);
        memcpy(name, columns.names[i].ptr, columns.names[i].len);
        header[i] = weir_str(name, columns.names[i].len);
    }
    struct weir_mapping_options options = {
        .table = account,
        .others = &contact,
        .other_count = 1,
        .operation = WEIR_OPERATION_CREATE,
        .connections = 1,
        .named = columns.count == 0,
        .columns = { header, columns.count },
    };
    struct weir_error err;
    if (weir_mapping_new(&options, &mapping, &err)) {
        fprintf(stderr, "%s\n", err.message);
        exit(EXIT_FAILURE);
    }
    matter->format->free(feeder.state);
}

static double run(const struct weir_format *format)
{
    static const struct contestant alone[] = { { "weir", map_all },
                                               { "json-c", json_c },
                                               { "memcpy", copy_records } };
    const struct contestant together[] = {
        { "weir", read_and_map },
        { "json-c", format == &weir_format_jsonl ? json_c_lines : json_c },
    };
    struct matter matter = make_matter(format);
    struct weir_arena *arena = weir_arena_new(BATCH_BYTES);
    struct haul ours;
    struct haul theirs;
    prepare(&matter, arena);
    double ratio = compete(&matter, alone, 3, &ours, &theirs);
    must_have("weir, rows,", ours.rows, (uint64_t)BATCH_ROWS * REPEATS);
    must_have("json-c, rows,", theirs.rows, (uint64_t)BATCH_ROWS * (REPEATS / 10));
    printf("%-14s  %zu bytes of members for %zu of input\n", "", written,
           records[BATCH_ROWS - 1].raw.len);
    matter.name = "with reading";
    compete(&matter, together, 2, &ours, &theirs);
    weir_mapping_free(mapping);
    weir_arena_unref(arena);
    weir_buf_release(&matter.text);
    return ratio;
}

int main(int argc, char **argv)
{
    double wanted = argc > 1 ? strtod(argv[1], NULL) : 0;
    struct weir_table *tables[] = { parse_table(ledger_account), parse_table(ledger_contact) };
    account = tables[0];
    contact = tables[1];
    int failed = run(&weir_format_csv) < wanted;
    failed |= run(&weir_format_jsonl) < wanted;
    weir_table_free(tables[0]);
    weir_table_free(tables[1]);
    return failed;
}
