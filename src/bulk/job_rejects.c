/* SPDX-License-Identifier: MIT */
/* The rejected rows of a job, from its journal; see job.h. */
#include "base/limits.h"
#include "bulk/job_parts.h"
#include "journal/rejects.h"

/* As it was given. */
static const char *path_of(const struct weir_job_facts *facts, uint32_t file)
{
    return file < facts->input_count && facts->inputs[file].path ? facts->inputs[file].path : "";
}

enum weir_status weir_job_walk_rejects(struct weir_job *job, weir_job_walk_fn *fn, void *ctx,
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

/* --- for the public --------------------------------------------------------------------------- */

#define TEXTS 6

/* Its texts, each with a 0 behind it. */
struct walk {
    weir_job_reject_fn *fn;
    void *ctx;
    struct weir_buf memory;
};

static struct weir_str without_line_end(struct weir_str line)
{
    return line.len && line.ptr[line.len - 1] == '\n' ? weir_str(line.ptr, line.len - 1) : line;
}

static void hand_out(void *ctx, const struct weir_reject *reject, const char *path)
{
    struct walk *walk = ctx;
    struct weir_str json = without_line_end(reject->bytes);
    const struct weir_str texts[TEXTS] = { json,
                                           reject->column,
                                           reject->class_name,
                                           reject->message,
                                           reject->connection,
                                           reject->request_id };
    size_t at[TEXTS];
    (void)path; /* rows that are handed in have none */
    weir_buf_reset(&walk->memory);
    for (int i = 0; i < TEXTS; i++) {
        at[i] = walk->memory.len;
        weir_buf_add(&walk->memory, texts[i].ptr, texts[i].len);
        weir_buf_add_char(&walk->memory, '\0');
    }
    const char *memory = walk->memory.ptr;
    struct weir_job_reject it = {
        .row = reject->row,
        .json = memory + at[0],
        .json_bytes = json.len,
        .superseded = reject->superseded,
        .column = memory + at[1],
        .class_name = memory + at[2],
        .message = memory + at[3],
        .http_status = reject->http_status,
        .service_code = reject->service_code,
        .attempts = reject->attempts,
        .connection = memory + at[4],
        .request_id = memory + at[5],
    };
    walk->fn(walk->ctx, &it);
}

enum weir_status weir_job_each_reject(struct weir_job *job, weir_job_reject_fn *fn, void *ctx,
                                      struct weir_error *err)
{
    struct walk walk = { .fn = fn, .ctx = ctx };
    weir_buf_init(&walk.memory, WEIR_RECORD_BYTES_MAX + TEXTS * (WEIR_JOURNAL_TEXT_MAX + 1));
    enum weir_status status = weir_job_walk_rejects(job, hand_out, &walk, err);
    weir_buf_release(&walk.memory);
    return status;
}
