/* SPDX-License-Identifier: MIT */
/* What of a job is journaled beside its input, and read again by a later run; see job_parts.h. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "bulk/job_parts.h"

/* --- writing ---------------------------------------------------------------------------------- */

static void add_text(struct weir_buf *buf, const char *name, const char *text)
{
    weir_buf_printf(buf, "\"%s\":", name);
    if (text)
        weir_buf_add_json_string(buf, weir_str_from(text));
    else
        weir_buf_add_text(buf, "null");
}

/* --- options --- */

/* Texts among the options that are journaled under their names. */
static const struct {
    const char *name;
    size_t offset;
} texts[] = {
    { "key", offsetof(struct weir_job_options, key) },
    { "owner", offsetof(struct weir_job_options, owner) },
    { "id_from", offsetof(struct weir_job_options, id_from) },
    { "ignore_columns", offsetof(struct weir_job_options, ignore_columns) },
    { "timezone", offsetof(struct weir_job_options, timezone) },
    { "as", offsetof(struct weir_job_options, as) },
    { "bypass_logic", offsetof(struct weir_job_options, bypass_logic) },
    { "tag", offsetof(struct weir_job_options, tag) },
};

#define TEXTS (sizeof(texts) / sizeof(texts[0]))

static const char **text_at(struct weir_job_options *options, size_t i)
{
    return (const char **)((char *)options + texts[i].offset);
}

static const struct {
    const char *name;
    size_t offset;
} flags[] = {
    { "raw", offsetof(struct weir_job_options, raw) },
    { "bypass_flows", offsetof(struct weir_job_options, bypass_flows) },
    { "detect_duplicates", offsetof(struct weir_job_options, detect_duplicates) },
};

#define FLAGS (sizeof(flags) / sizeof(flags[0]))

static bool *flag_at(struct weir_job_options *options, size_t i)
{
    return (bool *)((char *)options + flags[i].offset);
}

static void add_with(struct weir_buf *buf, const struct weir_job_options *options)
{
    weir_buf_add_text(buf, "\"with\":[");
    for (size_t i = 0; i < options->with_count; i++) {
        if (i)
            weir_buf_add_char(buf, ',');
        weir_buf_add_json_string(buf, weir_str_from(options->with[i]));
    }
    weir_buf_add_text(buf, "],");
}

enum weir_status weir_job_facts_print(struct weir_job *job, char **ret, struct weir_error *err)
{
    struct weir_job_options *options = &job->options;
    struct weir_buf buf;
    weir_buf_init(&buf, WEIR_JOURNAL_FACT_MAX);
    weir_buf_add_char(&buf, '{');
    for (size_t i = 0; i < TEXTS; i++) {
        add_text(&buf, texts[i].name, *text_at(options, i));
        weir_buf_add_char(&buf, ',');
    }
    for (size_t i = 0; i < FLAGS; i++)
        weir_buf_printf(&buf, "\"%s\":%s,", flags[i].name, *flag_at(options, i) ? "true" : "false");
    add_with(&buf, options);
    add_text(&buf, "mapping", job->mapping_text);
    weir_buf_printf(&buf, ",\"empty\":%d,\"batch_size\":", (int)options->empty);
    if (options->batch_size == WEIR_BATCH_SIZE_AUTO)
        weir_buf_add_text(&buf, "\"auto\"");
    else
        weir_buf_printf(&buf, "%u", (unsigned)options->batch_size);
    weir_buf_printf(&buf, ",\"service_began_us\":%lld}", (long long)job->service_began_us);
    if (buf.overflow) {
        weir_buf_release(&buf);
        return weir_fail(err, WEIR_E_TOO_BIG,
                         "the options, with the mapping file, have more than %zu bytes",
                         WEIR_JOURNAL_FACT_MAX);
    }
    *ret = weir_buf_take(&buf);
    return WEIR_OK;
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

enum weir_status weir_job_header(const struct weir_job *job, char **ret, struct weir_error *err)
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
        weir_buf_add_text(&buf, weir_reader_line_end(job->reader));
    if (buf.overflow) {
        weir_buf_release(&buf);
        return weir_fail(err, WEIR_E_TOO_BIG, "the header of the input has more than %zu bytes",
                         WEIR_JOURNAL_FACT_MAX);
    }
    *ret = weir_buf_take(&buf);
    return WEIR_OK;
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

/* False: it is no list of strings. */
static bool read_with(struct weir_job *job, const struct weir_json_node *root)
{
    const struct weir_json_node *list = weir_json_find(root, "with");
    const char *with[WEIR_SPEC_WITH_MAX];
    size_t count = 0;
    if (list && (list->type != WEIR_JSON_ARRAY || list->count > WEIR_SPEC_WITH_MAX))
        return false;
    for (const struct weir_json_node *node = list ? list->first : NULL; node; node = node->next) {
        if (node->type != WEIR_JSON_STRING)
            return false;
        with[count++] = node->text.ptr;
    }
    weir_job_keep_with(job, with, count);
    return true;
}

static bool read_flag(const struct weir_json_node *root, const char *name)
{
    const struct weir_json_node *node = weir_json_find(root, name);
    return node && weir_str_equal(node->text, weir_str_from("true"));
}

static bool read_batch_size(const struct weir_json_node *root, uint32_t *ret)
{
    const struct weir_json_node *node = weir_json_find(root, "batch_size");
    int64_t rows = WEIR_BATCH_SIZE_AUTO;
    bool is_auto =
        node && node->type == WEIR_JSON_STRING && weir_str_equal(node->text, weir_str_from("auto"));
    if (!is_auto && !read_number(root, "batch_size", 1, WEIR_TARGETS_MAX, &rows))
        return false;
    *ret = (uint32_t)rows;
    return true;
}

/* What an older job does not have is as it was then: not said. */
static enum weir_status read_options(struct weir_job *job, const struct weir_json_node *root,
                                     struct weir_error *err)
{
    struct weir_job_options *options = &job->options;
    uint32_t batch_size;
    int64_t empty = WEIR_EMPTY_OMIT;
    if (!read_batch_size(root, &batch_size) ||
        !read_number(root, "service_began_us", 0, INT64_MAX, &job->service_began_us) ||
        (weir_json_find(root, "empty") &&
         !read_number(root, "empty", WEIR_EMPTY_OMIT, WEIR_EMPTY_REJECT, &empty)) ||
        !read_with(job, root))
        return weir_fail(err, WEIR_E_INVALID, "the job's options are not as weir writes them");
    options->batch_size = batch_size;
    options->empty = (enum weir_empty)empty;
    for (size_t i = 0; i < TEXTS; i++)
        *text_at(options, i) = read_text(job, root, texts[i].name);
    for (size_t i = 0; i < FLAGS; i++)
        *flag_at(options, i) = read_flag(root, flags[i].name);
    options->mapping = NULL;
    job->mapping_text = read_text(job, root, "mapping");
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
    job->options.format = weir_job_keep(job, facts->suffix);
    job->options.name = weir_job_keep(job, facts->job);
    job->started_us = facts->started_us;
    job->ids = weir_job_facts_row_ids(facts);
    snprintf(job->organisation, sizeof(job->organisation), "%s", facts->organisation);
    read_paths(job, facts);
    return WEIR_OK;
}
