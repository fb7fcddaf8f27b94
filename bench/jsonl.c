/* SPDX-License-Identifier: MIT */
/*
 * The JSON Lines reader, rows copied into arenas, beside memcpy and json-c on the same bytes in the
 * same run: rows of short members, flat and raw; long texts with escapes; texts that are not ASCII;
 * rows as Dataverse writes them when they are read. Prints MB/s of processor time for each; with an
 * argument, fails if the reader is not that many times as fast as json-c on each of them.
 *
 *     build/release/bench/bench_jsonl [5.0]
 */
#include <json-c/json.h>

#include "measure.h"

/* json-c is slow enough to be measured on less. */
#define THEIR_BYTES (BYTES / 8)

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

static struct matter make_table(enum table table)
{
    struct matter matter = { .name = names[table],
                             .format = &weir_format_jsonl,
                             .options = { .raw = table == RAW } };
    weir_buf_init(&matter.text, 2 * BYTES);
    for (int i = 0; matter.text.len < BYTES; i++)
        add_row(&matter.text, table, i);
    return matter;
}

/* Line by line, as far as THEIR_BYTES. */
static struct haul json_c(const struct matter *matter)
{
    const struct weir_buf *text = &matter->text;
    struct haul haul = { 0 };
    double begun_s = processor_s();
    struct json_tokener *tokener = json_tokener_new();
    while (haul.bytes < THEIR_BYTES) {
        const char *at = text->ptr + haul.bytes;
        const char *end = memchr(at, '\n', text->len - haul.bytes);
        json_tokener_reset(tokener);
        struct json_object *object = json_tokener_parse_ex(tokener, at, (int)(end - at));
        haul.rows += object != NULL;
        json_object_put(object);
        haul.bytes += (size_t)(end + 1 - at);
    }
    json_tokener_free(tokener);
    haul.seconds = processor_s() - begun_s;
    return haul;
}

static uint64_t count_lines(const struct weir_buf *text, size_t bytes)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < bytes; i++)
        lines += text->ptr[i] == '\n';
    return lines;
}

static double run(enum table table)
{
    static const struct contestant contestants[] = { { "weir", read_matter },
                                                     { "json-c", json_c },
                                                     { "memcpy", copy_all } };
    struct matter matter = make_table(table);
    struct haul ours;
    struct haul theirs;
    double ratio = compete(&matter, contestants, 3, &ours, &theirs);
    must_have("weir, rows,", ours.rows, count_lines(&matter.text, ours.bytes));
    must_have("json-c, rows,", theirs.rows, count_lines(&matter.text, theirs.bytes));
    weir_buf_release(&matter.text);
    return ratio;
}

int main(int argc, char **argv)
{
    double wanted = argc > 1 ? strtod(argv[1], NULL) : 0;
    int failed = 0;
    for (int table = 0; table < TABLES; table++)
        failed |= run((enum table)table) < wanted;
    return failed;
}
