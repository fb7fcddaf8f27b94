/* SPDX-License-Identifier: MIT */
/* The thread that reads; see feed.h. */
#include "bulk/feed.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "bulk/skipper.h"

/* A record as it stands, and what it becomes when every byte of it has to be escaped. */
#define RECORD_ARENA_BYTES WEIR_BATCH_BYTES_ENOUGH
#define DRAFT_ARENA_BYTES  (8 * WEIR_BATCH_BYTES_ENOUGH)

/* How long rows wait for others when the stream that they are from says nothing. */
#define PATIENCE_US (200 * WEIR_US_PER_MS)

/* So much is read between two hashes of a block that is not finished. A file on disk is known by
 * its size and its ends as well. */
#define STREAM_STEP_BYTES ((size_t)64 * 1024)
#define FILE_STEP_BYTES   ((size_t)1024 * 1024)

struct weir_feed {
    struct weir_feed_options options;
    size_t step_bytes;
    int64_t waiting_us; /* since when a row may have been waiting; 0: none is */
    struct weir_skipper skipper;
    bool skipping;
    struct weir_arena *record_arena;
    struct weir_arena *draft_arena;
    uint64_t added;
    pthread_t thread;
    bool thread_runs;

    /* Changed by the reader's thread only; in the same file row and offset go on without the lock,
     * so that one may be some rows ahead of the other. */
    pthread_mutex_t lock;
    struct weir_feed_position position;
};

static void note_row(struct weir_feed_position *position, const struct weir_record *record)
{
    __atomic_store_n(&position->last_row, record->number, __ATOMIC_RELAXED);
    __atomic_store_n(&position->offset, record->place.end, __ATOMIC_RELAXED);
}

static void note_position(struct weir_feed *feed, const struct weir_record *record)
{
    if (feed->position.file == record->place.file) {
        note_row(&feed->position, record);
        return;
    }
    pthread_mutex_lock(&feed->lock);
    feed->position.file = record->place.file;
    note_row(&feed->position, record);
    pthread_mutex_unlock(&feed->lock);
}

static void note_end(struct weir_feed *feed, bool complete, bool limited)
{
    pthread_mutex_lock(&feed->lock);
    feed->position.complete = complete;
    feed->position.limited = limited;
    pthread_mutex_unlock(&feed->lock);
}

struct weir_feed_position weir_feed_position(struct weir_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    struct weir_feed_position position = {
        .last_row = __atomic_load_n(&feed->position.last_row, __ATOMIC_RELAXED),
        .file = feed->position.file,
        .offset = __atomic_load_n(&feed->position.offset, __ATOMIC_RELAXED),
        .complete = feed->position.complete,
        .limited = feed->position.limited,
    };
    pthread_mutex_unlock(&feed->lock);
    return position;
}

static struct weir_draft bare(const struct weir_record *record)
{
    return (struct weir_draft){
        .number = record->number,
        .file = record->place.file,
        .offset = record->place.offset,
        .end = record->place.end,
        .raw = record->raw,
    };
}

/* A row that is larger than anything that can be sent. */
static struct weir_draft too_big(const struct weir_record *record)
{
    struct weir_draft draft = bare(record);
    draft.refusal = weir_str_from("the row is too big to be sent");
    return draft;
}

struct weir_str weir_feed_wants_file(const struct weir_mapping *mapping, enum weir_pass pass,
                                     const struct weir_record *record, struct weir_arena *arena)
{
    static const char why[] = "the row refers to its own table, or has a state, which are set in "
                              "passes of their own: it must come from a file, not from a stream";
    for (int later = pass + 1; later < WEIR_PASSES; later++) {
        struct weir_draft draft;
        weir_arena_reset(arena);
        if (weir_mapping_has_pass(mapping, (enum weir_pass)later) &&
            weir_mapping_record(mapping, (enum weir_pass)later, record, arena, &draft) &&
            !draft.idle && !draft.refusal.len)
            return weir_str_from(why);
    }
    return weir_str("", 0);
}

static enum weir_status add(struct weir_feed *feed, const struct weir_draft *draft)
{
    feed->added++;
    if (!feed->waiting_us)
        feed->waiting_us = weir_clock_now_us();
    return weir_intake_add(feed->options.intake, draft);
}

/* A row that the first pass skipped is skipped in all of them. */
static enum weir_status pass_by(struct weir_feed *feed, const struct weir_record *record)
{
    struct weir_draft draft = bare(record);
    draft.idle = true;
    return add(feed, &draft);
}

static enum weir_status pass_on(struct weir_feed *feed, const struct weir_record *record)
{
    struct weir_draft draft;
    struct weir_str stays = weir_str("", 0);
    if (feed->options.only_pass)
        stays = weir_feed_wants_file(feed->options.mapping, feed->options.pass, record,
                                     feed->draft_arena);
    weir_arena_reset(feed->draft_arena);
    if (!weir_mapping_record(feed->options.mapping, feed->options.pass, record, feed->draft_arena,
                             &draft))
        draft = too_big(record);
    if (!draft.refusal.len)
        draft.refusal = stays;
    return add(feed, &draft);
}

/* The finished ones, and the one at hand if `step` bytes have come to it. */
static void pass_on_blocks(struct weir_feed *feed, size_t step)
{
    struct weir_block block;
    while (weir_reader_take_block(feed->options.reader, &block))
        weir_intake_add_block(feed->options.intake, &block);
    if (weir_reader_grown_block(feed->options.reader, step, &block))
        weir_intake_add_block(feed->options.intake, &block);
}

/* A stream says nothing now. That the intake takes no more is seen at the next row, or the reader
 * is told to stop. */
static int on_idle(void *ctx)
{
    struct weir_feed *feed = ctx;
    if (!feed->waiting_us)
        return -1;
    int64_t left_us = feed->waiting_us + PATIENCE_US - weir_clock_now_us();
    if (left_us > 0)
        return 1 + (int)(left_us / WEIR_US_PER_MS);
    feed->waiting_us = 0;
    pass_on_blocks(feed, 1);
    weir_intake_flush(feed->options.intake);
    return -1;
}

/* Whether this pass has to pass it by; *ret_skipped: whether the first has, too. */
static enum weir_status ask(struct weir_feed *feed, uint64_t row, bool *ret_finished,
                            bool *ret_skipped, struct weir_error *err)
{
    *ret_finished = *ret_skipped = false;
    if (!feed->skipping)
        return WEIR_OK;
    enum weir_status status = weir_skipper_ask(&feed->skipper, row, ret_finished, err);
    return status ? status : weir_skipper_ask_skipped(&feed->skipper, row, ret_skipped, err);
}

static enum weir_status take_record(struct weir_feed *feed, const struct weir_record *record,
                                    struct weir_error *err)
{
    bool finished, was_skipped;
    pass_on_blocks(feed, feed->step_bytes); /* before rows of them can be sent */
    enum weir_status status = ask(feed, record->number, &finished, &was_skipped, err);
    if (!status && !finished)
        status = was_skipped ? pass_by(feed, record) : pass_on(feed, record);
    if (!status)
        note_position(feed, record);
    return status;
}

/* RECORD, or END: of the input, or because reading failed, with *ret. */
static enum weir_step next_record(struct weir_feed *feed, struct weir_record *record,
                                  enum weir_status *ret, struct weir_error *err)
{
    weir_arena_reset(feed->record_arena);
    enum weir_step step = weir_reader_next(feed->options.reader, feed->record_arena, record, err);
    if (step == WEIR_STEP_RECORD)
        return step;
    if (step == WEIR_STEP_FULL)
        weir_fail(err, WEIR_E_TOO_BIG, "row %llu of the input needs more than %zu bytes",
                  (unsigned long long)weir_feed_position(feed).last_row + 1, RECORD_ARENA_BYTES);
    *ret = step == WEIR_STEP_END ? WEIR_OK : err->status;
    return WEIR_STEP_END;
}

/* As many rows as there may be. Whether one follows is found out if nobody has to wait for it. */
static bool is_limit(const struct weir_feed *feed)
{
    return feed->options.rows_max && feed->added == feed->options.rows_max;
}

static enum weir_status read_all(struct weir_feed *feed, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    struct weir_record record;
    while (!is_limit(feed) || !weir_reader_may_wait(feed->options.reader)) {
        if (next_record(feed, &record, &status, err) == WEIR_STEP_END) {
            if (!status) {
                pass_on_blocks(feed, 1);
                note_end(feed, true, false);
            }
            return status;
        }
        if (is_limit(feed))
            break;
        status = take_record(feed, &record, err);
        if (status)
            return status;
    }
    note_end(feed, false, true);
    return WEIR_OK;
}

static void *run(void *ctx)
{
    struct weir_feed *feed = ctx;
    struct weir_error err = { 0 };
    enum weir_status status = read_all(feed, &err);
    if (!status)
        status = weir_intake_flush(feed->options.intake);
    if (status == WEIR_E_CANCELLED) /* the run is ending: nothing is wrong with the input */
        status = WEIR_OK;
    weir_intake_end(feed->options.intake, status, status ? &err : NULL);
    return NULL;
}

enum weir_status weir_feed_new(const struct weir_feed_options *options, struct weir_feed **ret,
                               struct weir_error *err)
{
    struct weir_feed *feed = weir_calloc(1, sizeof(*feed));
    enum weir_status status = WEIR_OK;
    feed->options = *options;
    feed->record_arena = weir_arena_new(RECORD_ARENA_BYTES);
    feed->draft_arena = weir_arena_new(DRAFT_ARENA_BYTES);
    feed->step_bytes = weir_reader_may_wait(options->reader) ? STREAM_STEP_BYTES : FILE_STEP_BYTES;
    weir_reader_watch(options->reader, (struct weir_idle){ on_idle, feed });
    pthread_mutex_init(&feed->lock, NULL);
    if (options->view) {
        status = weir_skipper_init(&feed->skipper, options->view, options->pass, err);
        feed->skipping = status == WEIR_OK;
        feed->options.view = NULL;
    }
    if (!status)
        status = weir_thread_start(&feed->thread, run, feed, err);
    feed->thread_runs = status == WEIR_OK;
    if (status) {
        weir_feed_free(feed);
        return status;
    }
    *ret = feed;
    return WEIR_OK;
}

void weir_feed_join(struct weir_feed *feed)
{
    if (!feed || !feed->thread_runs)
        return;
    pthread_join(feed->thread, NULL);
    feed->thread_runs = false;
}

void weir_feed_free(struct weir_feed *feed)
{
    if (!feed)
        return;
    weir_feed_join(feed);
    if (feed->skipping)
        weir_skipper_release(&feed->skipper);
    weir_arena_unref(feed->record_arena);
    weir_arena_unref(feed->draft_arena);
    pthread_mutex_destroy(&feed->lock);
    free(feed);
}
