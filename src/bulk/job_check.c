/* SPDX-License-Identifier: MIT */
/*
 * A dry run; see job_check.h.
 *
 *     reader ─▶ record ─▶ mapping, once for each pass ─▶ draft ─┬─ refused: counted, the first kept
 *                                                               └─ packer of the pass ─▶ batches,
 *                                                                  counted and thrown away
 *
 * A batch counts as finished when it is closed, so repeated keys cost as many batches as they would
 * if every request were answered at once.
 */
#include "bulk/job_check.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/table64.h"
#include "bulk/job_parts.h"

/* How often somebody may say that it is enough. */
#define ROWS_BETWEEN 4096

#define RECORD_ARENA_BYTES WEIR_BATCH_BYTES_ENOUGH
#define DRAFT_ARENA_BYTES  (8 * WEIR_BATCH_BYTES_ENOUGH)

struct check {
    struct weir_job *job;
    const struct weir_job_check_options *options;
    struct weir_job_check result;
    struct weir_packer *packers[WEIR_PASSES];
    bool bulk[WEIR_PASSES];
    uint32_t singles_max;
    bool only_pass;           /* the input can be read once: no pass follows the first */
    bool duplicates_refused;  /* rows that share a key with an earlier one */
    struct weir_table64 keys; /* key → row */
    struct weir_arena *record_arena;
    struct weir_arena *draft_arena;
};

/* --- what is counted -------------------------------------------------------------------------- */

static void keep_refusal(struct check *check, const struct weir_record *record,
                         const struct weir_draft *draft)
{
    struct weir_job_check *it = &check->result;
    it->refused++;
    if (it->refusal_count == check->options->refusals_max)
        return;
    it->refusals = weir_realloc(it->refusals, it->refusal_count + 1, sizeof(*it->refusals));
    it->refusals[it->refusal_count++] = (struct weir_check_refusal){
        .row = record->number,
        .path = weir_reader_name(check->job->reader, record->place.file),
        .line = record->place.line,
        .offset = record->place.offset,
        .column = weir_strndup(draft->column.len ? draft->column.ptr : "", draft->column.len),
        .message = weir_strndup(draft->refusal.ptr, draft->refusal.len),
    };
}

static void remember(struct check *check, uint64_t hash, uint64_t row)
{
    if (!hash || weir_table64_find(&check->keys, hash, NULL))
        return;
    if (check->keys.count < WEIR_CHECK_KEYS_MAX)
        weir_table64_set(&check->keys, hash, row);
    else
        check->result.keys_forgotten = true;
}

static bool note_key(struct check *check, const struct weir_draft *draft)
{
    struct weir_job_check *it = &check->result;
    uint64_t first;
    bool repeated = weir_table64_find(&check->keys, draft->key_hash, &first);
    if (repeated && !it->repeated++) {
        it->repeated_row = draft->number;
        it->repeated_first = first;
    }
    return repeated;
}

static bool note_alternate_keys(struct check *check, const struct weir_draft *draft)
{
    bool any = false;
    for (uint32_t i = 0; i < check->result.key_count; i++) {
        struct weir_check_key *key = &check->result.keys[i];
        uint64_t first;
        if (!weir_table64_find(&check->keys, check->result.view.hashes[i], &first))
            continue;
        any = true;
        if (!key->repeated++) {
            key->repeated_row = draft->number;
            key->repeated_first = first;
        }
    }
    return any;
}

/* A row that is refused for one of its keys takes none of the others. */
static void note_keys(struct check *check, const struct weir_draft *draft)
{
    struct weir_job_check *it = &check->result;
    bool own = note_key(check, draft);
    bool alternate = note_alternate_keys(check, draft);
    if (check->duplicates_refused && (own || alternate)) {
        it->duplicates++;
        return;
    }
    remember(check, draft->key_hash, draft->number);
    for (uint32_t i = 0; i < it->key_count; i++)
        remember(check, it->view.hashes[i], draft->number);
}

/* What is chosen on the way is not known before: it is reckoned with what it begins with. */
static uint32_t rows_of_request(const struct check *check, enum weir_pass pass,
                                const struct weir_batch *batch)
{
    if (!check->bulk[pass])
        return check->singles_max;
    return check->job->plan.adaptive ? WEIR_SIZING_START_ROWS : batch->row_count;
}

/* Batches that are full, as requests. */
static void count_batches(struct check *check, enum weir_pass pass)
{
    struct weir_batch *batch;
    while ((batch = weir_packer_take(check->packers[pass]))) {
        uint32_t rows = 0;
        for (uint32_t i = 0; i < batch->row_count; i++)
            rows += !batch->rows[i].idle;
        uint32_t most = rows_of_request(check, pass, batch);
        check->result.passes[pass].requests += (rows + most - 1) / most;
        weir_packer_finished(check->packers[pass], batch->serial);
        weir_packer_batch_free(batch);
    }
}

static void pack(struct check *check, enum weir_pass pass, struct weir_draft *draft)
{
    struct weir_check_pass *it = &check->result.passes[pass];
    it->idle += draft->idle;
    it->rows += !draft->idle;
    it->bytes += draft->idle ? 0 : weir_bulk_target_bytes(&check->job->names, &draft->target);
    draft->raw = weir_str("", 0); /* nobody will write it back */
    weir_packer_add(check->packers[pass], draft);
    count_batches(check, pass);
}

/* --- rows ------------------------------------------------------------------------------------- */

static void map_row(struct check *check, enum weir_pass pass, const struct weir_record *record,
                    struct weir_draft *ret)
{
    static const char why[] = "the row is too big to be sent";
    weir_arena_reset(check->draft_arena);
    if (!weir_mapping_record(check->job->mapping, pass, record, check->draft_arena, ret))
        *ret = (struct weir_draft){ .number = record->number, .refusal = weir_str_from(why) };
}

/* What the feed would say of it. */
static bool is_left_out(struct check *check, const struct weir_record *record)
{
    struct weir_draft draft = { .number = record->number };
    if (check->only_pass)
        draft.refusal =
            weir_feed_wants_file(check->job->mapping, WEIR_PASS_ROWS, record, check->draft_arena);
    if (draft.refusal.len)
        keep_refusal(check, record, &draft);
    return draft.refusal.len > 0;
}

/* What is refused in one pass plays no part in those that follow. */
static void check_row(struct check *check, const struct weir_record *record)
{
    check->result.rows++;
    if (is_left_out(check, record))
        return;
    for (int pass = WEIR_PASS_ROWS; pass < WEIR_PASSES; pass++) {
        struct weir_draft draft;
        if (!check->packers[pass])
            continue;
        map_row(check, (enum weir_pass)pass, record, &draft);
        if (draft.refusal.len) {
            keep_refusal(check, record, &draft);
            return;
        }
        weir_check_view_row(&check->result.view, draft.target.members, check->draft_arena);
        if (pass == WEIR_PASS_ROWS)
            note_keys(check, &draft);
        pack(check, (enum weir_pass)pass, &draft);
    }
}

static bool may_go_on(const struct check *check)
{
    const struct weir_job_check_options *options = check->options;
    uint64_t rows = check->result.rows;
    return !options->go_on || rows % ROWS_BETWEEN || options->go_on(options->ctx, rows);
}

static enum weir_status check_rows(struct check *check, struct weir_error *err)
{
    struct weir_record record;
    struct weir_error why = { 0 };
    for (;;) {
        weir_arena_reset(check->record_arena);
        enum weir_step step =
            weir_reader_next(check->job->reader, check->record_arena, &record, &why);
        if (step == WEIR_STEP_END)
            return WEIR_OK;
        if (step == WEIR_STEP_FULL)
            return weir_fail(err, WEIR_E_TOO_BIG, "row %llu of the input needs more than %zu bytes",
                             (unsigned long long)check->result.rows + 1, RECORD_ARENA_BYTES);
        if (step != WEIR_STEP_RECORD)
            return weir_fail(err, why.status, "%s", why.message);
        if (check->options->rows_max && check->result.rows == check->options->rows_max) {
            check->result.limited = true;
            return WEIR_OK;
        }
        check_row(check, &record);
        if (!may_go_on(check))
            return weir_fail(err, WEIR_E_CANCELLED, "the check was stopped");
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

static const char *message_of(const struct weir_job *job)
{
    static const char *const names[] = { "CreateMultiple", "UpdateMultiple", "UpsertMultiple",
                                         "DeleteMultiple" };
    return job->plan.bulk ? names[job->plan.operation] : "$batch";
}

static void begin_pass(struct check *check, enum weir_pass pass)
{
    struct weir_job *job = check->job;
    if (pass > job->last_pass || !weir_mapping_has_pass(job->mapping, pass))
        return;
    weir_job_make_plan(job, pass);
    struct weir_packer_options options = weir_job_packer_options(job);
    check->packers[pass] = weir_packer_new(&options);
    check->bulk[pass] = job->plan.bulk;
    check->singles_max = job->plan.singles_max;
    check->result.passes[pass].made = true;
    check->result.passes[pass].message = message_of(job);
}

static void begin_keys(struct check *check)
{
    const struct weir_job *job = check->job;
    struct weir_job_check *it = &check->result;
    check->duplicates_refused =
        job->options.operation == WEIR_OPERATION_CREATE && job->table->type != WEIR_TABLE_ELASTIC;
    weir_check_view_init(&it->view, job->table, check->duplicates_refused);
    it->ids_made =
        job->options.operation == WEIR_OPERATION_CREATE && !weir_mapping_takes_ids(job->mapping);
    it->key_count = it->view.key_count;
    it->keys = weir_calloc(it->key_count + 1, sizeof(*it->keys));
    for (uint32_t i = 0; i < it->key_count; i++)
        it->keys[i].key = it->view.keys[i];
    weir_table64_init(&check->keys);
}

static void begin(struct check *check)
{
    check->only_pass = weir_job_reads_streams(check->job);
    begin_keys(check);
    check->record_arena = weir_arena_new(RECORD_ARENA_BYTES);
    check->draft_arena = weir_arena_new(DRAFT_ARENA_BYTES);
    for (int pass = WEIR_PASSES - 1; pass >= WEIR_PASS_ROWS; pass--)
        begin_pass(check, (enum weir_pass)pass); /* the first last: its plan is the job's */
}

static void end(struct check *check)
{
    for (int pass = 0; pass < WEIR_PASSES; pass++) {
        if (!check->packers[pass])
            continue;
        weir_packer_flush(check->packers[pass]);
        count_batches(check, (enum weir_pass)pass);
        weir_packer_free(check->packers[pass]);
    }
    weir_arena_unref(check->record_arena);
    weir_arena_unref(check->draft_arena);
    weir_table64_release(&check->keys);
}

enum weir_status weir_job_check(struct weir_job *job, const struct weir_job_check_options *options,
                                struct weir_job_check *ret, struct weir_error *err)
{
    struct check check = { .job = job, .options = options };
    if (!job->reader || job->driver)
        return weir_fail(err, WEIR_E_INVALID,
                         "only a job that reads files and was not begun can be checked");
    begin(&check);
    enum weir_status status = check_rows(&check, err);
    end(&check);
    if (status)
        weir_job_check_release(&check.result);
    else
        *ret = check.result;
    return status;
}

void weir_job_check_release(struct weir_job_check *check)
{
    for (uint32_t i = 0; i < check->refusal_count; i++) {
        free(check->refusals[i].column);
        free(check->refusals[i].message);
    }
    free(check->refusals);
    free(check->keys);
    weir_check_view_release(&check->view);
    *check = (struct weir_job_check){ 0 };
}
