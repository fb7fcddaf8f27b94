/* SPDX-License-Identifier: MIT */
/*
 * Reads the files named on the command line with weir's reader and prints what it found, for judges
 * that are not written in C: a line for each record,
 *
 *     {"number":1,"file":0,"offset":4,"end":8,"line":2,"problem":"fine","cells":["1","2"]}
 *
 * and "problem":"…" with no cells where one has a problem; at the end {"end":true}, or
 * {"broken":"…"} if a file cannot be read. The first argument is the format, csv or tsv.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "records/reader.h"

#define LINE_BYTES_MAX ((size_t)64 * 1024 * 1024)

static void print_line(struct weir_buf *line)
{
    puts(weir_buf_text(line));
    weir_buf_reset(line);
}

static void print_record(struct weir_buf *line, const struct weir_record *record)
{
    weir_buf_printf(line,
                    "{\"number\":%llu,\"file\":%u,\"offset\":%llu,\"end\":%llu,\"line\":%llu,"
                    "\"problem\":\"%s\",\"cells\":[",
                    (unsigned long long)record->number, record->place.file,
                    (unsigned long long)record->place.offset, (unsigned long long)record->place.end,
                    (unsigned long long)record->place.line,
                    weir_record_problem_name(record->problem));
    for (uint32_t i = 0; !record->problem && i < record->cell_count; i++) {
        weir_buf_add_text(line, i ? "," : "");
        weir_buf_add_json_string(line, record->cells[i]);
    }
    weir_buf_add_text(line, "]}");
    print_line(line);
}

static void print_end(struct weir_buf *line, enum weir_status status, const struct weir_error *err)
{
    if (!status) {
        puts("{\"end\":true}");
        return;
    }
    weir_buf_add_text(line, "{\"broken\":");
    weir_buf_add_json_string(line, weir_str_from(err->message));
    weir_buf_add_text(line, "}");
    print_line(line);
}

static enum weir_status print_all(const struct weir_reader_options *options, struct weir_buf *line,
                                  struct weir_error *err)
{
    struct weir_reader *reader;
    enum weir_status status = weir_reader_new(options, &reader, err);
    if (status)
        return status;
    struct weir_arena *arena = weir_arena_new(WEIR_BATCH_BYTES_ENOUGH);
    struct weir_record record;
    enum weir_step step;
    while ((step = weir_reader_next(reader, arena, &record, err)) != WEIR_STEP_END) {
        if (step == WEIR_STEP_BROKEN) {
            status = err->status;
            break;
        }
        if (step == WEIR_STEP_RECORD)
            print_record(line, &record);
        weir_arena_reset(arena);
    }
    weir_arena_unref(arena);
    weir_reader_free(reader);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s csv|tsv FILE...\n", argv[0]);
        return 2;
    }
    struct weir_reader_options options = {
        .paths = (const char *const *)(argv + 2),
        .path_count = (size_t)argc - 2,
        .format = strcmp(argv[1], "tsv") ? &weir_format_csv : &weir_format_tsv,
    };
    struct weir_buf line;
    struct weir_error err;
    weir_buf_init(&line, LINE_BYTES_MAX);
    print_end(&line, print_all(&options, &line, &err), &err);
    weir_buf_release(&line);
    return 0;
}
