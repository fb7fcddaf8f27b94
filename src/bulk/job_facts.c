/* SPDX-License-Identifier: MIT */
/* What of a job is journaled beside its input, and read again by a later run; see job_parts.h. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "bulk/job_parts.h"

const char *weir_job_keep(struct weir_job *job, const char *text)
{
    if (!text)
        return NULL;
    size_t bytes = strlen(text) + 1;
    char *copy = weir_arena_take(job->texts, bytes);
    if (copy)
        memcpy(copy, text, bytes);
    return copy;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void add_text(struct weir_buf *buf, const char *name, const char *text)
{
    weir_buf_printf(buf, "\"%s\":", name);
    if (text)
        weir_buf_add_json_string(buf, weir_str_from(text));
    else
        weir_buf_add_text(buf, "null");
}

char *weir_job_facts_print(const struct weir_job *job)
{
    struct weir_buf buf;
    weir_buf_init(&buf, WEIR_JOURNAL_FACT_MAX);
    weir_buf_add_char(&buf, '{');
    add_text(&buf, "key", job->options.key);
    weir_buf_add_char(&buf, ',');
    add_text(&buf, "owner", job->options.owner);
    weir_buf_printf(&buf, ",\"batch_size\":%u,\"service_began_us\":%lld}",
                    (unsigned)job->options.batch_size, (long long)job->service_began_us);
    return weir_buf_take(&buf);
}

/* A name as a cell of a CSV or TSV file. */
static void add_cell(struct weir_buf *buf, struct weir_str name, char separator)
{
    bool plain = true;
    for (size_t i = 0; i < name.len; i++)
        plain &= name.ptr[i] != separator && !strchr("\"\r\n", name.ptr[i]);
    if (plain) {
        weir_buf_add(buf, name.ptr, name.len);
        return;
    }
    weir_buf_add_char(buf, '"');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '"')
            weir_buf_add_char(buf, '"');
        weir_buf_add_char(buf, name.ptr[i]);
    }
    weir_buf_add_char(buf, '"');
}

char *weir_job_header(const struct weir_job *job)
{
    struct weir_buf buf;
    weir_buf_init(&buf, WEIR_JOURNAL_FACT_MAX);
    struct weir_columns columns = { 0 };
    char separator = ',';
    if (job->reader) {
        columns = weir_reader_columns(job->reader);
        separator = weir_reader_format(job->reader) == &weir_format_tsv ? '\t' : ',';
    }
    for (uint32_t i = 0; i < columns.count; i++) {
        if (i)
            weir_buf_add_char(&buf, separator);
        add_cell(&buf, columns.names[i], separator);
    }
    if (columns.count)
        weir_buf_add_char(&buf, '\n');
    return weir_buf_take(&buf);
}

/* --- reading ---------------------------------------------------------------------------------- */

static const char *read_text(struct weir_job *job, const struct weir_json_node *root,
                             const char *name)
{
    const struct weir_json_node *node = weir_json_find(root, name);
    return node && node->type == WEIR_JSON_STRING ? weir_job_keep(job, node->text.ptr) : NULL;
}

static bool read_number(const struct weir_json_node *root, const char *name, int64_t min,
                        int64_t max, int64_t *ret)
{
    const struct weir_json_node *node = weir_json_find(root, name);
    return node && node->type == WEIR_JSON_NUMBER && weir_str_to_int64(node->text, ret) &&
           *ret >= min && *ret <= max;
}

static enum weir_status read_options(struct weir_job *job, const struct weir_json_node *root,
                                     struct weir_error *err)
{
    int64_t batch_size;
    if (!read_number(root, "batch_size", 1, WEIR_TARGETS_MAX, &batch_size) ||
        !read_number(root, "service_began_us", 0, INT64_MAX, &job->service_began_us))
        return weir_fail(err, WEIR_E_INVALID, "the job's options are not as weir writes them");
    job->options.batch_size = (uint32_t)batch_size;
    job->options.key = read_text(job, root, "key");
    job->options.owner = read_text(job, root, "owner");
    return WEIR_OK;
}

static enum weir_status read_operation(struct weir_job *job, const char *name,
                                       struct weir_error *err)
{
    for (int i = WEIR_OPERATION_CREATE; i <= WEIR_OPERATION_DELETE; i++) {
        job->options.operation = (enum weir_operation)i;
        if (strcmp(name, weir_operation_name(job->options.operation)) == 0)
            return WEIR_OK;
    }
    return weir_fail(err, WEIR_E_INVALID, "the job's operation \"%s\" is not known", name);
}

static void read_paths(struct weir_job *job, const struct weir_job_facts *facts)
{
    job->path_count = facts->input_count;
    job->paths = weir_calloc(facts->input_count ? facts->input_count : 1, sizeof(*job->paths));
    for (size_t i = 0; i < facts->input_count; i++)
        job->paths[i] = weir_job_keep(job, facts->inputs[i].path);
}

enum weir_status weir_job_facts_parse(struct weir_job *job, const struct weir_job_facts *facts,
                                      struct weir_error *err)
{
    struct weir_json *json;
    enum weir_status status = read_operation(job, facts->operation, err);
    if (!status)
        status = weir_json_parse(weir_str_from(facts->options), &json, err);
    if (status)
        return status;
    status = read_options(job, weir_json_root(json), err);
    weir_json_free(json);
    if (status)
        return status;
    job->options.table = weir_job_keep(job, facts->table);
    job->options.name = weir_job_keep(job, facts->job);
    job->started_us = facts->started_us;
    memcpy(job->ids.job, facts->id_bytes, sizeof(job->ids.job));
    job->ids.started_s = facts->started_us / WEIR_US_PER_S;
    read_paths(job, facts);
    return WEIR_OK;
}
