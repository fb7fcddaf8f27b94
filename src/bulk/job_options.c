/* SPDX-License-Identifier: MIT */
/* The options of a job: defaults, what they cannot be, and what is asked of the service with
 * every request; see job_parts.h. */
#include <string.h>

#include "base/error.h"
#include "bulk/job_parts.h"

void weir_job_options_defaults(struct weir_job_options *options)
{
    *options = (struct weir_job_options){
        .batch_size = 100,
        .rejected_max = 100,
        .memory_bytes_max = (size_t)24 * 1024 * 1024,
    };
}

const char *weir_operation_name(enum weir_operation operation)
{
    static const char *const names[] = { "create", "update", "upsert", "delete" };
    return (unsigned)operation <= WEIR_OPERATION_DELETE ? names[operation] : "unknown operation";
}

enum weir_status weir_job_check_run_options(const struct weir_job_options *options,
                                            struct weir_error *err)
{
    if (options->rejected_share_max < 0 || options->rejected_share_max > 1)
        return weir_fail(err, WEIR_E_INVALID,
                         "the share of rejected rows is %g; it must be between 0 and 1",
                         options->rejected_share_max);
    if (!(options->rows_per_second_max >= 0))
        return weir_fail(err, WEIR_E_INVALID,
                         "the rate is %g rows a second; it must not be negative",
                         options->rows_per_second_max);
    if (options->memory_bytes_max < WEIR_JOB_MEMORY_MIN)
        return weir_fail(err, WEIR_E_INVALID,
                         "%zu bytes of memory are too few; it must be at least %zu",
                         options->memory_bytes_max, WEIR_JOB_MEMORY_MIN);
    if (options->deadline_us < 0)
        return weir_fail(err, WEIR_E_INVALID, "the deadline lies in the past");
    return WEIR_OK;
}

/* --- of a new job ----------------------------------------------------------------------------- */

static enum weir_status read_bypass(const char *word, enum weir_bypass *ret, struct weir_error *err)
{
    static const char *const words[] = {
        [WEIR_BYPASS_SYNC] = "sync",
        [WEIR_BYPASS_ASYNC] = "async",
        [WEIR_BYPASS_ALL] = "all",
    };
    *ret = WEIR_BYPASS_NONE;
    if (!word)
        return WEIR_OK;
    for (int i = WEIR_BYPASS_SYNC; i <= WEIR_BYPASS_ALL; i++) {
        *ret = (enum weir_bypass)i;
        if (strcmp(word, words[i]) == 0)
            return WEIR_OK;
    }
    return weir_fail(err, WEIR_E_INVALID,
                     "logic to bypass is \"%.60s\"; it must be sync, async or all", word);
}

enum weir_status weir_job_request_options(const struct weir_job_options *options,
                                          struct weir_request_options *ret, struct weir_error *err)
{
    struct weir_request_options it = {
        .bypass_flows = options->bypass_flows,
        .detect_duplicates = options->detect_duplicates,
        .error_details = true,
        .tag = options->tag,
        .impersonate = options->as,
    };
    enum weir_status status = read_bypass(options->bypass_logic, &it.bypass_logic, err);
    if (!status)
        status = weir_request_options_check(&it, err);
    if (!status)
        *ret = it;
    return status;
}

static enum weir_status check_rows(const struct weir_job_options *options, struct weir_error *err)
{
    if (options->format && !weir_format_named(options->format))
        return weir_fail(err, WEIR_E_INVALID,
                         "format \"%.60s\" is not known; csv, tsv and jsonl are", options->format);
    if ((unsigned)options->empty > WEIR_EMPTY_REJECT)
        return weir_fail(err, WEIR_E_INVALID, "%d is nothing that an empty cell can be",
                         (int)options->empty);
    if (options->with_count > WEIR_SPEC_WITH_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "%zu constants are too many; %d can be",
                         options->with_count, WEIR_SPEC_WITH_MAX);
    return WEIR_OK;
}

enum weir_status weir_job_check_options(const struct weir_job_options *options,
                                        struct weir_error *err)
{
    if (!options->table || !options->table[0])
        return weir_fail(err, WEIR_E_INVALID, "a job needs a table");
    if ((unsigned)options->operation > WEIR_OPERATION_DELETE)
        return weir_fail(err, WEIR_E_INVALID, "%d is no operation", (int)options->operation);
    if (options->batch_size > WEIR_TARGETS_MAX)
        return weir_fail(err, WEIR_E_INVALID, "a batch of %u rows cannot be; 1 to %d can",
                         (unsigned)options->batch_size, WEIR_TARGETS_MAX);
    struct weir_request_options requests;
    enum weir_status status = check_rows(options, err);
    if (!status)
        status = weir_job_request_options(options, &requests, err);
    return status ? status : weir_job_check_run_options(options, err);
}

/* --- copies ----------------------------------------------------------------------------------- */

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

void weir_job_keep_with(struct weir_job *job, const char *const *with, size_t count)
{
    const char **copies = weir_arena_take(job->texts, (count ? count : 1) * sizeof(*copies));
    for (size_t i = 0; copies && i < count; i++)
        copies[i] = weir_job_keep(job, with[i]);
    job->options.with = copies;
    job->options.with_count = count;
}

void weir_job_keep_options(struct weir_job *job, const struct weir_job_options *options)
{
    static const size_t texts[] = {
        offsetof(struct weir_job_options, table),
        offsetof(struct weir_job_options, key),
        offsetof(struct weir_job_options, id_from),
        offsetof(struct weir_job_options, owner),
        offsetof(struct weir_job_options, directory),
        offsetof(struct weir_job_options, name),
        offsetof(struct weir_job_options, format),
        offsetof(struct weir_job_options, mapping),
        offsetof(struct weir_job_options, ignore_columns),
        offsetof(struct weir_job_options, timezone),
        offsetof(struct weir_job_options, as),
        offsetof(struct weir_job_options, bypass_logic),
        offsetof(struct weir_job_options, tag),
    };
    job->options = *options;
    job->deadline_us = options->deadline_us
                           ? weir_time_add(weir_clock_now_us(), options->deadline_us)
                           : WEIR_FOREVER;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const char **text = (const char **)((char *)&job->options + texts[i]);
        *text = weir_job_keep(job, *text);
    }
    weir_job_keep_with(job, options->with, options->with_count);
}
