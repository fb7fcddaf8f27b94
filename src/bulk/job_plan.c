/* SPDX-License-Identifier: MIT */
/* How the rows of a pass are going to be sent; see job_parts.h. */
#include <string.h>

#include "bulk/job_parts.h"

/* Of a $batch where there is no bulk message; halved when it takes long. */
#define SINGLES_MAX 20

/* Batches that wait may have this share of the memory; the rest is for those under way. */
#define QUEUE_SHARE 4

/* Whether rows may bring ids along: then finding one means less. */
static enum weir_ids whose_ids(const struct weir_job *job)
{
    if (job->options.id_from)
        return WEIR_IDS_DERIVED;
    return weir_mapping_takes_ids(job->mapping) ? WEIR_IDS_GIVEN : WEIR_IDS_MADE;
}

static bool has_bulk(const struct weir_job *job, enum weir_pass pass, enum weir_operation operation)
{
    bool elastic = job->table->type == WEIR_TABLE_ELASTIC;
    if (!weir_mapping_allows_bulk(job->mapping, pass) ||
        (operation == WEIR_OPERATION_DELETE && !elastic))
        return false;
    return job->table->bulk[weir_request_message(operation)] || !job->table->bulk_known;
}

static struct weir_plan plan_of(const struct weir_job *job, enum weir_pass pass)
{
    const struct weir_job_options *options = &job->options;
    enum weir_operation operation = weir_mapping_operation(job->mapping, pass);
    return (struct weir_plan){
        .pass = pass,
        .job_operation = options->operation,
        .operation = operation,
        .ids = whose_ids(job),
        .elastic = job->table->type == WEIR_TABLE_ELASTIC,
        .bulk = has_bulk(job, pass, operation),
        .adaptive = options->batch_size == WEIR_BATCH_SIZE_AUTO,
        .singles_max = SINGLES_MAX,
        .job_begun_wall_us = job->service_began_us,
        .max_retry_time_us = job->settings.resilience.max_retry_time_us,
        .late_us = job->settings.resilience.late_commit_time_us,
        .read_back_us = job->settings.resilience.read_back_delay_us,
        .errors_max = options->rejected_max,
        .errors_share_max = options->rejected_share_max,
        .rows_per_second_max = options->rows_per_second_max,
        .memory_bytes_max = options->memory_bytes_max - options->memory_bytes_max / QUEUE_SHARE,
        .commit_wait_max = WEIR_JOURNAL_GROUP_RECORDS,
    };
}

void weir_job_make_plan(struct weir_job *job, enum weir_pass pass)
{
    job->plan = plan_of(job, pass);
    job->requests = (struct weir_request_plan){
        .operation = job->plan.operation,
        .table = &job->names,
        .body_bytes_max = WEIR_BODY_BYTES_MAX,
    };
    weir_job_request_options(&job->options, &job->requests.options, NULL); /* it was checked */
}

/* WEIR_PACKER_PART_BYTES has room for everything that can be asked for but the tag. */
static size_t tag_bytes(const struct weir_job *job)
{
    const char *tag = job->requests.options.tag;
    return tag ? strlen("?tag=") + weir_odata_encoded_bytes(weir_str_from(tag)) : 0;
}

/* Large ones are cut when they go; where there is no bulk message that is into small pieces. */
static uint32_t rows_max(const struct weir_job *job)
{
    if (!job->plan.adaptive)
        return job->options.batch_size;
    return job->plan.bulk ? WEIR_TARGETS_MAX : WEIR_SIZING_START_ROWS;
}

struct weir_packer_options weir_job_packer_options(const struct weir_job *job)
{
    return (struct weir_packer_options){
        .table = &job->names,
        .rows_max = rows_max(job),
        .body_bytes_max = WEIR_BODY_BYTES_MAX,
        .part_bytes_more = tag_bytes(job),
        .message = weir_request_message(job->plan.operation),
    };
}
