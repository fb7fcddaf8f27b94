/* SPDX-License-Identifier: MIT */
/*
 * Rows that are handed in; see job_parts.h. They are the lines of a file that nobody wrote, and
 * their bytes are hashed in blocks like those of one (records/input.h).
 *
 *     add ─▶ held ─▶ block: hashed, compared with what an earlier run journaled of it
 *              └────── the rows before that place ──▶ skipper ─▶ mapping ─▶ intake
 *
 * A row that an earlier run journaled a hash of is held back until that hash is compared: at most a
 * block and a row are. Any other is passed on at once, and comes into the block only if it was
 * taken: what is refused to the caller is no row of the job.
 */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "bulk/job_parts.h"

/* A block, the row that reaches into it, and the one that is handed in. More is held only by
 * whoever goes on handing in rows to a job that takes no more. */
#define HELD_BYTES_MAX (WEIR_INPUT_BLOCK_BYTES + 2 * WEIR_RECORD_BYTES_MAX)

/* At most so many bytes are taken between two hashes of a block that is not full. */
#define STEP_BYTES ((size_t)64 * 1024)

/* --- blocks ----------------------------------------------------------------------------------- */

/* What was journaled of a block; they ascend. NULL: nothing. */
static const struct weir_block *block_before(const struct weir_job *job, uint64_t index)
{
    size_t low = 0;
    size_t high = job->block_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (job->blocks[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < job->block_count && job->blocks[low].index == index ? &job->blocks[low] : NULL;
}

static uint64_t block_begin(const struct weir_job *job)
{
    return job->bytes - job->block_filled;
}

/* Whether that byte of the rows has a hash that is compared only when more of them are here. */
static bool is_journaled(const struct weir_job *job, uint64_t offset)
{
    const struct weir_block *then = block_before(job, offset / WEIR_INPUT_BLOCK_BYTES);
    return then && offset % WEIR_INPUT_BLOCK_BYTES < then->bytes;
}

/* There is more of it than was journaled. */
static bool has_block(const struct weir_job *job, uint64_t index)
{
    const struct weir_block *then = block_before(job, index);
    return job->block_filled && !(then && then->bytes >= job->block_filled);
}

bool weir_job_rows_block(const struct weir_job *job, struct weir_block *ret)
{
    uint64_t index = block_begin(job) / WEIR_INPUT_BLOCK_BYTES;
    if (!has_block(job, index))
        return false;
    *ret = weir_block_make(0, index, weir_str(job->block, job->block_filled), false);
    return true;
}

/* As in records/input.h: by a step, or by an eighth. */
static bool has_grown(const struct weir_job *job)
{
    size_t eighth = job->block_noted / 8 + 1;
    return job->block_filled - job->block_noted >= (STEP_BYTES < eighth ? STEP_BYTES : eighth);
}

static void note_block(struct weir_job *job)
{
    uint64_t index = block_begin(job) / WEIR_INPUT_BLOCK_BYTES;
    if (!job->block_noted)
        weir_hash_run_init(&job->block_hashed);
    if (has_block(job, index)) {
        struct weir_block block = weir_block_grow(0, index, weir_str(job->block, job->block_filled),
                                                  false, &job->block_hashed);
        weir_intake_add_block(job->intake, &block);
    }
    job->block_noted = job->block_filled;
}

/* Some bytes more; when those are here that were journaled, they must be the same. */
static enum weir_status fill_block(struct weir_job *job, struct weir_str part,
                                   struct weir_error *err)
{
    const struct weir_block *then = block_before(job, job->bytes / WEIR_INPUT_BLOCK_BYTES);
    size_t filled = job->block_filled + part.len;
    bool comparable = then && job->block_filled < then->bytes && filled >= then->bytes;
    memcpy(job->block + job->block_filled, part.ptr, part.len);
    job->block_filled = filled;
    job->bytes += part.len;
    if (comparable)
        return weir_block_compare("rows", then, weir_str(job->block, filled), false, err);
    return WEIR_OK;
}

static enum weir_status hash_row(struct weir_job *job, struct weir_str row, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    while (!status && row.len) {
        size_t room = WEIR_INPUT_BLOCK_BYTES - job->block_filled;
        size_t part = row.len < room ? row.len : room;
        status = fill_block(job, weir_str(row.ptr, part), err);
        row = weir_str(row.ptr + part, row.len - part);
        bool full = job->block_filled == WEIR_INPUT_BLOCK_BYTES;
        if (!status && (full || has_grown(job)))
            note_block(job);
        if (full)
            job->block_filled = job->block_noted = 0;
    }
    return status;
}

/* --- passing on ------------------------------------------------------------------------------- */

static enum weir_status draft_row(struct weir_job *job, struct weir_str raw, struct weir_draft *ret,
                                  struct weir_error *err)
{
    weir_arena_reset(job->scratch);
    *ret = (struct weir_draft){
        .number = job->rows + 1,
        .offset = job->rows_bytes,
        .end = job->rows_bytes + raw.len,
        .raw = raw,
    };
    if (!weir_mapping_object(job->mapping, weir_str(raw.ptr, raw.len - 1), job->scratch, ret))
        return weir_fail(err, WEIR_E_TOO_BIG, "a row of %zu bytes is too big to be sent",
                         raw.len - 1);
    return WEIR_OK;
}

static enum weir_status refuse_further(struct weir_job *job, struct weir_error *err)
{
    pthread_mutex_lock(&job->lock);
    job->limited = true;
    pthread_mutex_unlock(&job->lock);
    return weir_fail(err, WEIR_E_CANCELLED, "the job takes no more than %llu rows",
                     (unsigned long long)job->options.rows_max);
}

static enum weir_status pass_on(struct weir_job *job, struct weir_str raw, struct weir_error *err)
{
    struct weir_draft draft;
    enum weir_status status = draft_row(job, raw, &draft, err);
    if (status)
        return status;
    if (job->options.rows_max && job->rows_added == job->options.rows_max)
        return refuse_further(job, err);
    status = weir_intake_add(job->intake, &draft);
    if (status)
        return weir_fail(err, status, "the job takes no more rows: it is ending");
    job->rows_added++;
    return WEIR_OK;
}

/* If it is not finished; from then on it is one of the job's rows. */
static enum weir_status pass_row(struct weir_job *job, struct weir_str raw, struct weir_error *err)
{
    bool finished = false;
    enum weir_status status = WEIR_OK;
    if (job->skipping)
        status = weir_skipper_ask(&job->skipper, job->rows + 1, &finished, err);
    if (!status && !finished)
        status = pass_on(job, raw, err);
    if (status)
        return status;
    pthread_mutex_lock(&job->lock);
    job->rows++;
    pthread_mutex_unlock(&job->lock);
    job->rows_bytes += raw.len;
    return WEIR_OK;
}

/* --- holding back ----------------------------------------------------------------------------- */

static void drop_held(struct weir_job *job, size_t bytes)
{
    if (!bytes)
        return;
    memmove(job->held.ptr, job->held.ptr + bytes, job->held.len - bytes);
    job->held.len -= bytes;
}

/* Those that end before whatever is not compared yet. */
static enum weir_status release_held(struct weir_job *job, struct weir_error *err)
{
    uint64_t clear = is_journaled(job, job->bytes) ? block_begin(job) : job->bytes;
    enum weir_status status = WEIR_OK;
    size_t at = 0;
    while (!status && job->rows_bytes < clear && at < job->held.len) {
        const char *from = job->held.ptr + at;
        const char *end = memchr(from, '\n', job->held.len - at);
        struct weir_str raw = weir_str(from, (size_t)(end + 1 - from));
        if (job->rows_bytes + raw.len > clear)
            break;
        status = pass_row(job, raw, err);
        at += status ? 0 : raw.len;
    }
    drop_held(job, at);
    return status;
}

/* Not what the job had here: nothing more of it may be sent. */
static enum weir_status give_up(struct weir_job *job, const struct weir_error *why,
                                struct weir_error *err)
{
    job->wrong = *why;
    weir_driver_stop(job->driver, WEIR_END_INPUT);
    if (err)
        *err = *why;
    return why->status;
}

/* The row is the last of those that are held. */
static enum weir_status take_held(struct weir_job *job, struct weir_str raw, struct weir_error *err)
{
    struct weir_draft draft;
    struct weir_error why;
    enum weir_status status = draft_row(job, raw, &draft, err);
    if (status) {
        job->held.len -= raw.len;
        return status;
    }
    status = hash_row(job, raw, &why);
    return status ? give_up(job, &why, err) : release_held(job, err);
}

static enum weir_status take_at_once(struct weir_job *job, struct weir_str raw,
                                     struct weir_error *err)
{
    struct weir_error why;
    enum weir_status status = pass_row(job, raw, err);
    if (!status && hash_row(job, raw, &why))
        status = give_up(job, &why, err);
    job->held.len = 0;
    return status;
}

static enum weir_status take_row(struct weir_job *job, struct weir_str raw, struct weir_error *err)
{
    bool hold = job->held.len > raw.len || is_journaled(job, job->bytes) ||
                is_journaled(job, job->bytes + raw.len - 1);
    return hold ? take_held(job, raw, err) : take_at_once(job, raw, err);
}

/* --- what the caller does --------------------------------------------------------------------- */

enum weir_status weir_job_begin_rows(struct weir_job *job, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    job->scratch = weir_arena_new(8 * WEIR_BATCH_BYTES_ENOUGH);
    job->block = weir_realloc(NULL, WEIR_INPUT_BLOCK_BYTES, 1);
    weir_buf_init(&job->held, HELD_BYTES_MAX);
    if (job->resumed) {
        status = weir_skipper_init(&job->skipper, weir_journal_view(job->journal), 0, err);
        job->skipping = status == WEIR_OK;
    }
    return status;
}

void weir_job_release_rows(struct weir_job *job)
{
    if (job->skipping)
        weir_skipper_release(&job->skipper);
    weir_arena_unref(job->scratch);
    if (job->block)
        weir_buf_release(&job->held);
    free(job->block);
}

static enum weir_status check_add(struct weir_job *job, const char *json, size_t bytes,
                                  struct weir_error *err)
{
    if (job->reader || job->input_over || !job->scratch)
        return weir_fail(err, WEIR_E_INVALID, "the job takes no rows by hand");
    if (job->wrong.status)
        return weir_fail(err, WEIR_E_INVALID, "%s", job->wrong.message);
    if (job->limited || job->held.len > HELD_BYTES_MAX - WEIR_RECORD_BYTES_MAX)
        return weir_fail(err, WEIR_E_CANCELLED, "the job takes no more rows");
    if (memchr(json, '\n', bytes))
        return weir_fail(err, WEIR_E_INVALID, "a row must stand on one line");
    if (bytes >= WEIR_RECORD_BYTES_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "a row of %zu bytes is too big; %zu can be", bytes,
                         WEIR_RECORD_BYTES_MAX);
    return WEIR_OK;
}

enum weir_status weir_job_add(struct weir_job *job, const char *json, size_t bytes,
                              struct weir_error *err)
{
    enum weir_status status = check_add(job, json, bytes, err);
    if (status)
        return status;
    weir_buf_add(&job->held, json, bytes);
    weir_buf_add_char(&job->held, '\n');
    return take_row(job, weir_str(job->held.ptr + job->held.len - bytes - 1, bytes + 1), err);
}

/* Rows are still held: there are fewer of them than before. If the run was ending anyway, that is
 * no wonder. */
static enum weir_status check_end(struct weir_job *job, struct weir_error *err)
{
    struct weir_driver_view view;
    if (job->wrong.status) {
        *err = job->wrong;
        return err->status;
    }
    weir_driver_view(job->driver, &view);
    if (!job->held.len || job->limited || view.stopping || !is_journaled(job, job->bytes))
        return WEIR_OK;
    const struct weir_block *then = block_before(job, job->bytes / WEIR_INPUT_BLOCK_BYTES);
    return weir_block_compare("rows", then, weir_str(job->block, job->block_filled), false, err);
}

void weir_job_end_rows(struct weir_job *job)
{
    struct weir_error err = { 0 };
    if (job->reader || job->input_over || !job->intake)
        return;
    pthread_mutex_lock(&job->lock);
    job->input_over = true;
    pthread_mutex_unlock(&job->lock);
    enum weir_status status = check_end(job, &err);
    if (!status) {
        note_block(job);
        status = weir_intake_flush(job->intake);
    }
    weir_intake_end(job->intake, status == WEIR_E_CANCELLED ? WEIR_OK : status, &err);
}
