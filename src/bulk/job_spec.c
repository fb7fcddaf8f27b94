/* SPDX-License-Identifier: MIT */
/*
 * What the rows of a job mean beyond their header: its mapping file, constants, columns to ignore,
 * time zone; see job_parts.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "bulk/job_parts.h"

/* --- the file --------------------------------------------------------------------------------- */

static enum weir_status read_file(FILE *file, const char *path, struct weir_buf *text,
                                  struct weir_error *err)
{
    char part[4096];
    size_t got;
    while (!text->overflow && (got = fread(part, 1, sizeof(part), file)) > 0)
        weir_buf_add(text, part, got);
    if (text->overflow)
        return weir_fail(err, WEIR_E_TOO_BIG, "mapping file \"%s\" has more than %d bytes", path,
                         WEIR_SPEC_BYTES_MAX);
    if (ferror(file) && errno == EISDIR)
        return weir_fail(err, WEIR_E_INVALID,
                         "mapping file \"%s\" is a directory; it must be a file", path);
    if (ferror(file))
        return weir_fail(err, WEIR_E_IO, "mapping file \"%s\" cannot be read: %s", path,
                         strerror(errno));
    if (text->len && memchr(text->ptr, '\0', text->len))
        return weir_fail(err, WEIR_E_INVALID, "mapping file \"%s\" is no text", path);
    return WEIR_OK;
}

enum weir_status weir_job_read_mapping(struct weir_job *job, struct weir_error *err)
{
    const char *path = job->options.mapping;
    struct weir_buf text;
    if (!path)
        return WEIR_OK;
    FILE *file = fopen(path, "re");
    if (!file)
        return weir_fail(err, errno == ENOENT ? WEIR_E_NOT_FOUND : WEIR_E_IO,
                         "mapping file \"%s\" cannot be opened: %s", path, strerror(errno));
    weir_buf_init(&text, WEIR_SPEC_BYTES_MAX);
    enum weir_status status = read_file(file, path, &text, err);
    fclose(file);
    if (!status)
        job->mapping_text = weir_job_keep(job, weir_buf_text(&text));
    weir_buf_release(&text);
    return status;
}

/* --- the spec --------------------------------------------------------------------------------- */

static enum weir_status read_text(struct weir_job *job, struct weir_error *err)
{
    const char *name = job->options.mapping ? job->options.mapping : "the job's mapping";
    if (!job->mapping_text)
        return WEIR_OK;
    enum weir_status status =
        weir_spec_read(weir_str_from(job->mapping_text), name, &job->spec, err);
    if (!status && job->spec.table && strcmp(job->spec.table, job->options.table) != 0)
        status = weir_fail(err, WEIR_E_INVALID,
                           "mapping file \"%s\" is for table \"%s\", and the job for \"%s\"", name,
                           job->spec.table, job->options.table);
    return status;
}

const struct weir_spec *weir_job_spec(const struct weir_job *job)
{
    return job->spec.column_count || job->spec.with_count ? &job->spec : NULL;
}

enum weir_status weir_job_make_spec(struct weir_job *job, struct weir_error *err)
{
    const struct weir_job_options *options = &job->options;
    enum weir_status status = read_text(job, err);
    for (size_t i = 0; !status && i < options->with_count; i++)
        status = weir_spec_add_with(&job->spec, weir_str_from(options->with[i]), err);
    if (!status && options->ignore_columns)
        status = weir_spec_ignore(&job->spec, weir_str_from(options->ignore_columns), err);
    if (!status && options->timezone)
        status = weir_zone_load(options->timezone, &job->zone, err);
    if (!status && !job->reader && (weir_job_spec(job) || options->timezone))
        status = weir_fail(err, WEIR_E_INVALID,
                           "rows that are handed in are taken as they are: a mapping, constants, "
                           "columns to ignore and a time zone are for files");
    return status;
}
