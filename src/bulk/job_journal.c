/* SPDX-License-Identifier: MIT */
/*
 * The journal of a new job, with all that has to be in it before the first row is sent: its facts,
 * the tables it was told of, and the first reach. So nothing has to be committed before that; see
 * job_parts.h.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "bulk/job_parts.h"

/* --- notes ------------------------------------------------------------------------------------ */

void weir_job_notes_add(struct weir_job_notes *notes, const char *name, const char *text)
{
    notes->notes = weir_realloc(notes->notes, notes->count + 1, sizeof(*notes->notes));
    notes->notes[notes->count++] =
        (struct weir_note){ weir_str_from(weir_strdup(name)), weir_str_from(weir_strdup(text)) };
}

static void release_notes(struct weir_job_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++) {
        free((void *)(uintptr_t)notes->notes[i].name.ptr);
        free((void *)(uintptr_t)notes->notes[i].text.ptr);
    }
    free(notes->notes);
    *notes = (struct weir_job_notes){ 0 };
}

static struct weir_job_notes first_notes(struct weir_job *job)
{
    struct weir_job_notes notes = { 0 };
    char name[WEIR_REACH_NAME_MAX], text[24];
    job->reach = WEIR_REACH_STRIDE;
    weir_reach_name(job->pass, name);
    snprintf(text, sizeof(text), "%llu", (unsigned long long)job->reach);
    weir_job_notes_add(&notes, name, text);
    weir_job_notes_add_tables(&notes, job);
    return notes;
}

/* What a later run had to ask for after all. */
void weir_job_note_tables(struct weir_job *job)
{
    struct weir_job_notes notes = { 0 };
    weir_job_notes_add_tables(&notes, job);
    for (size_t i = 0; i < notes.count; i++)
        weir_journal_add_note(job->journal, &notes.notes[i], NULL, NULL);
    release_notes(&notes);
}

/* --- the journal ------------------------------------------------------------------------------ */

static struct weir_job_input *copy_inputs(const struct weir_job *job)
{
    struct weir_job_input *inputs =
        weir_calloc(job->path_count ? job->path_count : 1, sizeof(*inputs));
    for (size_t i = 0; i < job->path_count; i++) {
        const struct weir_file_identity *it = &weir_reader_identities(job->reader)[i];
        inputs[i] = (struct weir_job_input){
            .path = job->paths[i],
            .on_disk = it->on_disk,
            .size_bytes = it->bytes,
            .hash_first = it->head,
            .hash_last = it->tail,
        };
    }
    return inputs;
}

enum weir_status weir_job_make_journal(struct weir_job *job, struct weir_error *err)
{
    char *header;
    char *options;
    if (!job->options.directory || !job->options.directory[0])
        return weir_fail(err, WEIR_E_INVALID, "a job needs a directory");
    enum weir_status status = weir_job_header(job, &header, err);
    if (status)
        return status;
    status = weir_job_facts_print(job, &options, err);
    if (status) {
        free(header);
        return status;
    }
    struct weir_job_input *inputs = copy_inputs(job);
    struct weir_job_notes notes = first_notes(job);
    struct weir_job_facts facts = {
        .job = job->options.name,
        .operation = weir_operation_name(job->options.operation),
        .table = job->options.table,
        .url = job->settings.url,
        .organisation = job->organisation,
        .options = options,
        .suffix = job->reader ? weir_reader_format(job->reader)->name : "jsonl",
        .started_us = job->started_us,
        .header = weir_str_from(header),
        .inputs = inputs,
        .input_count = job->path_count,
        .notes = notes.notes,
        .note_count = notes.count,
    };
    memcpy(facts.id_bytes, job->ids.job, sizeof(facts.id_bytes));
    struct weir_journal_watch watch = weir_job_watch(job);
    status =
        weir_journal_new(job->options.directory, &facts, &watch, &job->hooks, &job->journal, err);
    free(header);
    free(options);
    free(inputs);
    release_notes(&notes);
    if (!status)
        job->tables_told = false;
    return status;
}
