/* SPDX-License-Identifier: MIT */
/* The rejected rows of a job, from its journal; see job.h. */
#include "bulk/job_parts.h"
#include "journal/rejects.h"

/* As it was given. */
static const char *path_of(const struct weir_job_facts *facts, uint32_t file)
{
    return file < facts->input_count && facts->inputs[file].path ? facts->inputs[file].path : "";
}

enum weir_status weir_job_each_reject(struct weir_job *job, weir_job_reject_fn *fn, void *ctx,
                                      struct weir_error *err)
{
    struct weir_journal_view view = weir_journal_view_now(job->journal);
    const struct weir_job_facts *facts = weir_journal_facts(job->journal);
    struct weir_rejects rejects;
    const struct weir_reject *reject;
    enum weir_status status = weir_rejects_init(&rejects, &view, err);
    if (status)
        return status;
    while ((status = weir_rejects_next(&rejects, &reject, err)) == WEIR_OK && reject)
        fn(ctx, reject, path_of(facts, reject->file));
    weir_rejects_release(&rejects);
    return status;
}
