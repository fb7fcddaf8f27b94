/* SPDX-License-Identifier: MIT */
/* The files that a job leaves; see export.h. */
#include "journal/export.h"

#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "journal/outfile.h"
#include "journal/place.h"
#include "journal/reject_json.h"
#include "journal/rejects.h"

#define LINE_BYTES_MAX (64 * WEIR_JOURNAL_TEXT_MAX) /* six texts, six bytes for each at worst */

#define SUMMARY "summary.json"

/* What is being written, and from where. */
struct export
{
    struct weir_journal *journal;
    struct weir_journal_view source;
    struct weir_outfile file;
    struct weir_buf line;
    uint64_t row; /* the last that was written, plus one */
};

typedef enum weir_status fill_fn(struct export *export, struct weir_error *err);

/* Fill a file and put it into its place, or leave the old one. */
static enum weir_status write_file(struct weir_journal *journal, enum weir_export what,
                                   const char *name, fill_fn *fill, struct weir_error *err)
{
    struct export export = { .journal = journal, .source = weir_journal_view_now(journal) };
    enum weir_point point = (enum weir_point)(WEIR_POINT_REJECTS_BEFORE_RENAME + 2 * (int)what);
    enum weir_status status = weir_outfile_init(&export.file, weir_journal_directory(journal), name,
                                                weir_journal_hooks(journal), err);
    if (status)
        return status;
    weir_buf_init(&export.line, LINE_BYTES_MAX);
    status = fill(&export, err);
    if (status == WEIR_OK)
        status = weir_outfile_commit(&export.file, point, (enum weir_point)(point + 1), err);
    weir_buf_release(&export.line);
    weir_outfile_release(&export.file);
    return status;
}

/* --- rejects ---------------------------------------------------------------------------------- */

typedef void reject_fn(struct export *export, const struct weir_reject *reject);

static enum weir_status each_reject(struct export *export, reject_fn *fn, struct weir_error *err)
{
    struct weir_rejects rejects;
    const struct weir_reject *reject;
    enum weir_status status = weir_rejects_init(&rejects, &export->source, err);
    if (status)
        return status;
    while ((status = weir_rejects_next(&rejects, &reject, err)) == WEIR_OK && reject)
        fn(export, reject);
    weir_rejects_release(&rejects);
    return status;
}

/* The last line of a file may have had no end; here another may follow. */
static void end_line(struct weir_outfile *file, const char *line_end)
{
    if (file->last != '\n' && file->last != '\r')
        weir_outfile_add(file, weir_str_from(line_end));
}

static void write_row(struct export *export, const struct weir_reject *reject)
{
    if (reject->superseded || !reject->bytes.len || reject->row + 1 == export->row)
        return; /* a row may be rejected in two passes, and is fed in again once */
    export->row = reject->row + 1;
    end_line(&export->file, weir_job_facts_line_end(weir_journal_facts(export->journal)));
    weir_outfile_add(&export->file, reject->bytes);
}

static enum weir_status fill_rejects(struct export *export, struct weir_error *err)
{
    weir_outfile_add(&export->file, weir_journal_facts(export->journal)->header);
    return each_reject(export, write_row, err);
}

enum weir_status weir_export_rejects(struct weir_journal *journal, struct weir_error *err)
{
    char name[32];
    snprintf(name, sizeof(name), "rejects.%s", weir_journal_facts(journal)->suffix);
    return write_file(journal, WEIR_EXPORT_REJECTS, name, fill_rejects, err);
}

/* --- errors ----------------------------------------------------------------------------------- */

/* As it was given; empty if the rows came from memory. */
static struct weir_str path_of(struct export *export, uint32_t file)
{
    const struct weir_job_facts *facts = weir_journal_facts(export->journal);
    return weir_str_from(file < facts->input_count ? facts->inputs[file].path : NULL);
}

static void write_error(struct export *export, const struct weir_reject *reject)
{
    struct weir_buf *line = &export->line;
    weir_buf_reset(line);
    weir_buf_printf(line, "{\"row\":%llu", (unsigned long long)reject->row);
    weir_reject_json_text(line, "file", path_of(export, reject->file));
    weir_buf_printf(line, ",\"byte_offset\":%llu", (unsigned long long)reject->offset);
    weir_reject_json_reason(line, reject);
    weir_reject_json_text(line, "connection", reject->connection);
    weir_buf_printf(line, ",\"attempts\":%u,\"superseded\":%s}\n", reject->attempts,
                    reject->superseded ? "true" : "false");
    weir_outfile_add(&export->file, weir_str(weir_buf_text(line), line->len));
}

static enum weir_status fill_errors(struct export *export, struct weir_error *err)
{
    return each_reject(export, write_error, err);
}

enum weir_status weir_export_errors(struct weir_journal *journal, struct weir_error *err)
{
    return write_file(journal, WEIR_EXPORT_ERRORS, "errors.jsonl", fill_errors, err);
}

/* --- ids -------------------------------------------------------------------------------------- */

/* By hand: a printf for each of ten million rows is seconds. */
static void write_id(struct export *export, uint64_t row, const struct weir_guid *guid)
{
    char line[64];
    char *id = line + 24; /* behind the longest number and its comma */
    char *at = id;
    weir_guid_print(guid, id);
    id[WEIR_GUID_CHARS] = '\n';
    *--at = ',';
    do {
        *--at = (char)('0' + row % 10);
    } while (row /= 10);
    weir_outfile_add(&export->file, weir_str(at, (size_t)(id + WEIR_GUID_CHARS + 1 - at)));
}

static struct weir_guid id_of(const struct weir_row_ids *ids, const struct weir_range *range,
                              uint64_t row)
{
    struct weir_guid guid;
    if (range->ids_made)
        return weir_row_ids_make(ids, row);
    memcpy(guid.bytes, range->ids.ptr + sizeof(guid) * (row - range->first), sizeof(guid));
    return guid;
}

/* Rows before *next have their ids already. */
static void write_range(struct export *export, const struct weir_row_ids *ids,
                        const struct weir_range *range, uint64_t *next)
{
    uint64_t row = range->first > *next ? range->first : *next;
    for (; row <= range->last; row++) {
        struct weir_guid guid = id_of(ids, range, row);
        write_id(export, row, &guid);
    }
    if (range->last >= *next)
        *next = range->last + 1;
}

static enum weir_status fill_ids(struct export *export, struct weir_error *err)
{
    struct weir_cursor cursor;
    const struct weir_entry *record;
    struct weir_row_ids ids = weir_job_facts_row_ids(weir_journal_facts(export->journal));
    uint64_t next = 0;
    weir_outfile_add(&export->file, weir_str_from("row,id\n"));
    enum weir_status status =
        weir_cursor_init(&cursor, &export->source, WEIR_CURSOR_RANGES_WITH_IDS, 0, err);
    if (status)
        return status;
    while ((status = weir_cursor_next(&cursor, &record, err)) == WEIR_OK && record)
        write_range(export, &ids, &record->range, &next);
    weir_cursor_release(&cursor);
    return status;
}

enum weir_status weir_export_ids(struct weir_journal *journal, struct weir_error *err)
{
    return write_file(journal, WEIR_EXPORT_IDS, "ids.csv", fill_ids, err);
}

/* --- summary, and all ------------------------------------------------------------------------- */

void weir_export_read_summary(const struct weir_journal *journal, struct weir_buf *text)
{
    char part[4096];
    size_t got;
    FILE *file = fopen(weir_path_join(weir_journal_directory(journal), SUMMARY).text, "re");
    while (file && !text->overflow && (got = fread(part, 1, sizeof(part), file)) > 0)
        weir_buf_add(text, part, got);
    if (file)
        fclose(file);
}

void weir_export_revoke(const struct weir_journal *journal)
{
    unlink(weir_path_join(weir_journal_directory(journal), SUMMARY).text);
}

enum weir_status weir_export_summary(struct weir_journal *journal, struct weir_str text,
                                     struct weir_error *err)
{
    struct weir_outfile file;
    enum weir_status status = weir_outfile_init(&file, weir_journal_directory(journal), SUMMARY,
                                                weir_journal_hooks(journal), err);
    if (status)
        return status;
    weir_outfile_add(&file, text);
    end_line(&file, "\n");
    status = weir_outfile_commit(&file, WEIR_POINT_SUMMARY_BEFORE_RENAME,
                                 WEIR_POINT_SUMMARY_AFTER_RENAME, err);
    weir_outfile_release(&file);
    return status;
}

enum weir_status weir_export_all(struct weir_journal *journal, struct weir_error *err)
{
    enum weir_status first = weir_export_rejects(journal, err);
    enum weir_status status = weir_export_errors(journal, first ? NULL : err);
    first = first ? first : status;
    status = weir_export_ids(journal, first ? NULL : err);
    return first ? first : status;
}
