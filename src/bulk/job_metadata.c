/* SPDX-License-Identifier: MIT */
/*
 * What a job has to be told before its rows can be mapped; see job_parts.h.
 *
 *     own table ─▶ columns, spec ─▶ other tables ─▶ mapping ─▶ rows of tables that lookups refer to
 *     └ one request, or the journal    └ one each, or the journal    └ read at every start
 *
 * A later run is told by the journal, so that it means by each column what the first one meant.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "bulk/job_parts.h"
#include "client/describe.h"
#include "client/listing.h"
#include "protocol/metadata_text.h"
#include "records/source.h"

/* --- notes ------------------------------------------------------------------------------------ */

/* "table account" */
#define NOTE_MAX (WEIR_NAME_BYTES_MAX + 16)

static void note_name(const char *table, char name[NOTE_MAX])
{
    snprintf(name, NOTE_MAX, "table %s", table);
}

/* False: the journal has nothing of it. */
static bool recall(struct weir_job *job, const char *name, struct weir_table **ret)
{
    char note[NOTE_MAX];
    char *text = NULL;
    if (!job->resumed)
        return false;
    note_name(name, note);
    bool found = weir_journal_note(job->journal, note, &text, NULL) == WEIR_OK &&
                 weir_table_parse(weir_str_from(text), ret, NULL) == WEIR_OK;
    free(text);
    return found;
}

/* A table that is too big for a note is asked for again. */
static void add_table(struct weir_job_notes *notes, const struct weir_table *table)
{
    char name[NOTE_MAX];
    char *text = weir_table_print(table);
    note_name(table->name, name);
    if (text && strlen(text) <= WEIR_JOURNAL_RECORD_MAX)
        weir_job_notes_add(notes, name, text);
    free(text);
}

void weir_job_notes_add_tables(struct weir_job_notes *notes, const struct weir_job *job)
{
    if (!job->tables_told)
        return;
    add_table(notes, job->table);
    for (size_t i = 0; i < job->other_count; i++)
        add_table(notes, job->others[i]);
}

/* --- tables ----------------------------------------------------------------------------------- */

/* How much of a column's name goes into a message. */
#define COLUMN_QUOTED_MAX 80

static struct weir_patience patience(const struct weir_job *job)
{
    return (struct weir_patience){ WEIR_FIRST_CONTACT_US, job->deadline_us };
}

static enum weir_status ask(struct weir_job *job, const char *name, struct weir_description *ret,
                            struct weir_error *err)
{
    job->tables_told = true;
    return weir_client_describe(job->client, name, patience(job), ret, err);
}

/* Another organisation has other rows, whatever its address is. */
static enum weir_status meet(struct weir_job *job, const struct weir_description *description,
                             struct weir_error *err)
{
    char organisation[WEIR_GUID_TEXT];
    weir_guid_print(&description->who.organization_id, organisation);
    if (job->resumed && strcmp(job->organisation, organisation) != 0)
        return weir_fail(err, WEIR_E_INVALID,
                         "the job belongs to organisation %s, and \"%s\" is organisation %s now",
                         job->organisation, job->settings.url, organisation);
    memcpy(job->organisation, organisation, sizeof(organisation));
    if (!job->resumed)
        job->service_began_us = description->service_wall_us;
    return WEIR_OK;
}

enum weir_status weir_job_describe(struct weir_job *job, struct weir_error *err)
{
    struct weir_description description;
    enum weir_status status = WEIR_OK;
    if (!recall(job, job->options.table, &job->table)) {
        status = ask(job, job->options.table, &description, err);
        if (status)
            return status;
        job->table = description.table;
        status = meet(job, &description, err);
    }
    job->names = weir_table_names_of(job->table);
    if (!status && job->table->type == WEIR_TABLE_VIRTUAL)
        status = weir_fail(err, WEIR_E_INVALID,
                           "table \"%s\" is virtual: its rows live in another system",
                           job->options.table);
    return status;
}

/* A table that is not there, with the column of the input that leads to it; NULL: none does. */
static enum weir_status fail_other(const struct weir_job *job, const char *column,
                                   const struct weir_error *why, struct weir_error *err)
{
    struct weir_error whole = *why;
    if (column && why->status == WEIR_E_NOT_FOUND) {
        struct weir_str name = weir_str_cut(weir_str_from(column), COLUMN_QUOTED_MAX);
        weir_fail(&whole, why->status, "%s, column \"%.*s\": %s",
                  weir_source_title(weir_job_input_name(job)).text, (int)name.len, name.ptr,
                  why->message);
        whole.http_status = why->http_status;
    }
    if (err)
        *err = whole;
    return why->status;
}

static enum weir_status describe_other(struct weir_job *job, const char *name, const char *column,
                                       struct weir_error *err)
{
    struct weir_description description;
    struct weir_table *table;
    struct weir_error why;
    if (!recall(job, name, &table)) {
        if (ask(job, name, &description, &why))
            return fail_other(job, column, &why, err);
        table = description.table;
    }
    job->others[job->other_count++] = table;
    return WEIR_OK;
}

enum weir_status weir_job_describe_others(struct weir_job *job, struct weir_error *err)
{
    struct weir_table_list list;
    struct weir_columns columns;
    enum weir_status status = weir_job_columns(job, &columns, err);
    if (!status)
        status = weir_mapping_tables(job->table, columns, weir_job_spec(job), &list, err);
    if (status)
        return status;
    job->others = weir_calloc(list.count ? list.count : 1, sizeof(struct weir_table *));
    for (uint32_t i = 0; !status && i < list.count; i++)
        status = describe_other(job, list.names[i], list.columns[i], err);
    weir_table_list_release(&list);
    return status;
}

/* --- references ------------------------------------------------------------------------------- */

struct list {
    struct weir_references *references;
    uint32_t number;
};

static enum weir_status add_row(void *ctx, const struct weir_str *values, struct weir_error *err)
{
    const struct list *list = ctx;
    struct weir_guid id;
    if (!weir_guid_parse(values[0], &id))
        return weir_fail(err, WEIR_E_INVALID, "the service names a row \"%.*s\", which is no id",
                         (int)weir_str_cut(values[0], 60).len, values[0].ptr);
    if (!values[1].ptr)
        return WEIR_OK;
    return weir_references_add(list->references, list->number, values[1], &id, err);
}

static enum weir_status read_list(struct weir_job *job, uint32_t number,
                                  const struct weir_table *table, const struct weir_column *column,
                                  struct weir_error *err)
{
    const char *columns[] = { table->primary_id, column->key_name };
    struct list list = { job->references, number };
    struct weir_listing listing = {
        .set = table->set_name,
        .columns = columns,
        .column_count = 2,
        .rows_max = WEIR_REFERENCES_MAX,
        .patience = patience(job),
        .on_row = add_row,
        .ctx = &list,
    };
    return weir_client_list(job->client, &listing, err);
}

enum weir_status weir_job_read_references(struct weir_job *job, struct weir_error *err)
{
    const struct weir_table *table;
    const struct weir_column *column;
    enum weir_status status = WEIR_OK;
    job->references = weir_references_new();
    for (uint32_t i = 0; !status && weir_mapping_reference(job->mapping, i, &table, &column); i++)
        status = read_list(job, i, table, column, err);
    weir_mapping_set_references(job->mapping, job->references);
    return status ? status : weir_mapping_check_said(job->mapping, err);
}
