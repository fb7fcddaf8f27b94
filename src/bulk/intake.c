/* SPDX-License-Identifier: MIT */
/*
 * The bounded way from the reader to the loop; see intake.h.
 *
 *     add     full, or has something come back? lock ─ wait ─ take the serials ─ unlock
 *             packer: forget those, add the draft, take what is closed now        no lock
 *             nothing is? count the row                                           no lock
 *             else lock ─ closed? throw it away : queue it ─ unlock ─ was empty? ready()
 *
 * A reader that waits for room sleeps until half of it is there. Woken for each batch that is taken
 * it would add one and sleep again: two switches between threads for every request.
 *
 * Why nobody waits for ever: the queue is in the order of closing, in which a batch comes after
 * those that it names. So what the loop has taken never waits for something in the queue, let alone
 * in the packer; it comes to its end, memory is free, and the loop takes the next.
 */
#include "bulk/intake.h"

#include <pthread.h>

#include "base/mem.h"

/* Beside the rows that were added: no more are, and none is counted. */
#define CLOSED (UINT64_C(1) << 63)

/* A batch that was given back and left something behind. */
struct held {
    uint64_t serial;
    int64_t clear_us;
};

struct weir_intake {
    struct weir_intake_options options;

    /* The reader's thread. */
    struct weir_packer *packer;
    uint64_t *finished; /* room for what came back */
    uint32_t finished_capacity;
    bool full; /* when something was added last: only the reader makes it so */

    /* The loop's. */
    struct held *held;
    uint32_t held_count;
    uint32_t held_capacity;
    int64_t held_until_us; /* the first of them */

    /* Below: only under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t room; /* in the queue, among the blocks; or it is closed */
    struct weir_batch *first;
    struct weir_batch **end;
    size_t queue_bytes;
    bool sleeping;             /* the reader waits for room in the queue */
    struct weir_block *blocks; /* a ring */
    uint32_t block_first;
    uint32_t block_count;
    uint64_t *returned;      /* serials that came back and the packer does not know of */
    uint32_t returned_count; /* atomic: the reader looks without the lock whether there are any */
    uint32_t returned_capacity;
    uint64_t added; /* rows, with CLOSED; atomic: the reader counts without the lock */
    uint64_t added_tainted;
    struct weir_intake_rows taken;
    bool ended;
    enum weir_status end_status;
    struct weir_error end_error;
};

static bool is_closed(const struct weir_intake *intake)
{
    return __atomic_load_n(&intake->added, __ATOMIC_RELAXED) & CLOSED;
}

/* --- beginning and end ------------------------------------------------------------------------ */

struct weir_intake *weir_intake_new(const struct weir_intake_options *options)
{
    struct weir_intake *intake = weir_calloc(1, sizeof(*intake));
    intake->options = *options;
    intake->packer = weir_packer_new(&options->packer);
    intake->held_until_us = WEIR_FOREVER;
    intake->end = &intake->first;
    intake->blocks = weir_calloc(WEIR_INTAKE_BLOCKS_MAX, sizeof(*intake->blocks));
    pthread_mutex_init(&intake->lock, NULL);
    pthread_cond_init(&intake->room, NULL);
    return intake;
}

static void free_batches(struct weir_batch *batch)
{
    while (batch) {
        struct weir_batch *next = batch->next;
        weir_packer_batch_free(batch);
        batch = next;
    }
}

void weir_intake_free(struct weir_intake *intake)
{
    if (!intake)
        return;
    pthread_cond_destroy(&intake->room);
    pthread_mutex_destroy(&intake->lock);
    free_batches(intake->first);
    weir_packer_free(intake->packer);
    free(intake->blocks);
    free(intake->finished);
    free(intake->returned);
    free(intake->held);
    free(intake);
}

/* --- the reader's thread ---------------------------------------------------------------------- */

/* What came back and what the reader has for it change places. Under the lock. */
static uint32_t swap_returned(struct weir_intake *intake)
{
    uint64_t *serials = intake->returned;
    uint32_t capacity = intake->returned_capacity;
    uint32_t count = intake->returned_count;
    intake->returned = intake->finished;
    intake->returned_capacity = intake->finished_capacity;
    __atomic_store_n(&intake->returned_count, 0, __ATOMIC_RELAXED);
    intake->finished = serials;
    intake->finished_capacity = capacity;
    return count;
}

/* Under the lock. */
static bool is_full(const struct weir_intake *intake)
{
    return intake->first && intake->queue_bytes >= intake->options.queue_bytes_max;
}

/* Until there is room worth waking up for. Under the lock. */
static void wait_for_room(struct weir_intake *intake)
{
    intake->sleeping = is_full(intake);
    while (!is_closed(intake) && intake->sleeping)
        pthread_cond_wait(&intake->room, &intake->lock);
    intake->full = false;
}

/* Wait for room, and let the packer know what came back. That the loop takes no more is seen when
 * something is handed over. */
static void prepare(struct weir_intake *intake)
{
    if (!intake->full && !__atomic_load_n(&intake->returned_count, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&intake->lock);
    wait_for_room(intake);
    uint32_t count = swap_returned(intake);
    pthread_mutex_unlock(&intake->lock);
    for (uint32_t i = 0; i < count; i++)
        weir_packer_finished(intake->packer, intake->finished[i]);
}

/* What the packer has closed, as a list. */
static struct weir_batch *take_closed(struct weir_packer *packer, size_t *ret_bytes)
{
    struct weir_batch *first = NULL;
    struct weir_batch **end = &first;
    *ret_bytes = 0;
    for (struct weir_batch *batch; (batch = weir_packer_take(packer)); end = &batch->next) {
        *end = batch;
        *ret_bytes += batch->bytes;
    }
    return first;
}

static bool is_tainted(const struct weir_intake *intake, const struct weir_draft *draft)
{
    if (draft->number > intake->options.tainted_through)
        return false;
    struct weir_row row = { .number = draft->number,
                            .refusal = draft->refusal,
                            .idle = draft->idle };
    return weir_row_may_be_sent(&row, intake->options.tainted_through);
}

/* False: the loop takes no more. Nobody else counts, so only closing can be in between. */
static bool count_row(struct weir_intake *intake)
{
    uint64_t rows = __atomic_load_n(&intake->added, __ATOMIC_RELAXED);
    return !(rows & CLOSED) && __atomic_compare_exchange_n(&intake->added, &rows, rows + 1, false,
                                                           __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Under the lock. */
static void queue(struct weir_intake *intake, struct weir_batch *batches, size_t bytes)
{
    *intake->end = batches;
    while (*intake->end)
        intake->end = &(*intake->end)->next;
    intake->queue_bytes += bytes;
}

/* Hand over what is closed, with a draft that was added; NULL: none was. False: the loop takes no
 * more. */
static bool hand_over(struct weir_intake *intake, const struct weir_draft *draft)
{
    size_t bytes;
    struct weir_batch *batches = take_closed(intake->packer, &bytes);
    bool tainted = draft && is_tainted(intake, draft);
    if (draft && !batches && !tainted)
        return count_row(intake);
    pthread_mutex_lock(&intake->lock);
    bool open = !is_closed(intake);
    bool news = open && batches && !intake->first;
    if (open) {
        if (draft)
            count_row(intake);
        intake->added_tainted += tainted;
        queue(intake, batches, bytes);
        intake->full = is_full(intake);
    }
    pthread_mutex_unlock(&intake->lock);
    if (!open)
        free_batches(batches);
    if (news)
        intake->options.ready(intake->options.ctx);
    return open;
}

enum weir_status weir_intake_add(struct weir_intake *intake, const struct weir_draft *draft)
{
    prepare(intake);
    weir_packer_add(intake->packer, draft);
    return hand_over(intake, draft) ? WEIR_OK : WEIR_E_CANCELLED;
}

enum weir_status weir_intake_flush(struct weir_intake *intake)
{
    prepare(intake);
    weir_packer_flush(intake->packer);
    return hand_over(intake, NULL) ? WEIR_OK : WEIR_E_CANCELLED;
}

void weir_intake_add_block(struct weir_intake *intake, const struct weir_block *block)
{
    pthread_mutex_lock(&intake->lock);
    while (!is_closed(intake) && intake->block_count == WEIR_INTAKE_BLOCKS_MAX)
        pthread_cond_wait(&intake->room, &intake->lock);
    bool news = !is_closed(intake) && !intake->block_count;
    if (!is_closed(intake)) {
        uint32_t at = (intake->block_first + intake->block_count++) % WEIR_INTAKE_BLOCKS_MAX;
        intake->blocks[at] = *block;
    }
    pthread_mutex_unlock(&intake->lock);
    if (news)
        intake->options.ready(intake->options.ctx);
}

void weir_intake_end(struct weir_intake *intake, enum weir_status status,
                     const struct weir_error *err)
{
    if (status == WEIR_OK) {
        weir_packer_flush(intake->packer);
        hand_over(intake, NULL);
    }
    pthread_mutex_lock(&intake->lock);
    intake->ended = true;
    intake->end_status = status;
    if (err)
        intake->end_error = *err;
    pthread_mutex_unlock(&intake->lock);
    intake->options.ready(intake->options.ctx);
}

/* --- the loop's: batches and blocks ----------------------------------------------------------- */

/* Who waits for room in the queue, if half of it is free. Under the lock. */
static void wake_reader(struct weir_intake *intake)
{
    if (!intake->sleeping ||
        (intake->first && intake->queue_bytes > intake->options.queue_bytes_max / 2))
        return;
    intake->sleeping = false;
    pthread_cond_signal(&intake->room);
}

struct weir_batch *weir_intake_take(struct weir_intake *intake)
{
    pthread_mutex_lock(&intake->lock);
    struct weir_batch *batch = intake->first;
    if (batch) {
        intake->first = batch->next;
        if (!intake->first)
            intake->end = &intake->first;
        batch->next = NULL;
        intake->queue_bytes -= batch->bytes;
        intake->taken.rows += batch->row_count;
        uint64_t through = intake->options.tainted_through;
        for (uint32_t i = 0; i < batch->row_count && batch->rows[i].number <= through; i++)
            intake->taken.tainted += weir_row_may_be_sent(&batch->rows[i], through);
        wake_reader(intake);
    }
    pthread_mutex_unlock(&intake->lock);
    return batch;
}

bool weir_intake_take_block(struct weir_intake *intake, struct weir_block *ret)
{
    pthread_mutex_lock(&intake->lock);
    bool found = intake->block_count > 0;
    if (found) {
        *ret = intake->blocks[intake->block_first];
        intake->block_first = (intake->block_first + 1) % WEIR_INTAKE_BLOCKS_MAX;
        intake->block_count--;
        pthread_cond_signal(&intake->room);
    }
    pthread_mutex_unlock(&intake->lock);
    return found;
}

bool weir_intake_ended(struct weir_intake *intake, enum weir_status *ret_status,
                       struct weir_error *err)
{
    pthread_mutex_lock(&intake->lock);
    bool ended = intake->ended && !intake->first && !intake->block_count;
    if (ended) {
        *ret_status = intake->end_status;
        if (err)
            *err = intake->end_error;
    }
    pthread_mutex_unlock(&intake->lock);
    return ended;
}

struct weir_intake_rows weir_intake_close(struct weir_intake *intake)
{
    pthread_mutex_lock(&intake->lock);
    struct weir_batch *batches = intake->first;
    uint64_t added = __atomic_fetch_or(&intake->added, CLOSED, __ATOMIC_RELAXED) & ~CLOSED;
    struct weir_intake_rows left = { added - intake->taken.rows,
                                     intake->added_tainted - intake->taken.tainted };
    intake->first = NULL;
    intake->end = &intake->first;
    intake->queue_bytes = 0;
    intake->block_count = 0;
    pthread_cond_signal(&intake->room);
    pthread_mutex_unlock(&intake->lock);
    free_batches(batches);
    return left;
}

uint64_t weir_intake_rows(struct weir_intake *intake)
{
    return __atomic_load_n(&intake->added, __ATOMIC_RELAXED) & ~CLOSED;
}

/* --- the loop's: what is over ----------------------------------------------------------------- */

/* For the packer, the next time that the reader comes by; if he will. Under the lock. */
static void return_serial(struct weir_intake *intake, uint64_t serial)
{
    if (is_closed(intake) || intake->ended)
        return;
    if (intake->returned_count == intake->returned_capacity) {
        intake->returned_capacity = intake->returned_capacity ? 2 * intake->returned_capacity : 64;
        intake->returned =
            weir_realloc(intake->returned, intake->returned_capacity, sizeof(uint64_t));
    }
    intake->returned[intake->returned_count] = serial;
    __atomic_store_n(&intake->returned_count, intake->returned_count + 1, __ATOMIC_RELAXED);
}

/* Those that nobody has to know of any more. Under the lock. */
static void return_held(struct weir_intake *intake, int64_t now_us)
{
    uint32_t kept = 0;
    if (intake->held_until_us > now_us)
        return;
    intake->held_until_us = WEIR_FOREVER;
    for (uint32_t i = 0; i < intake->held_count; i++) {
        struct held it = intake->held[i];
        if (it.clear_us <= now_us) {
            return_serial(intake, it.serial);
            continue;
        }
        if (it.clear_us < intake->held_until_us)
            intake->held_until_us = it.clear_us;
        intake->held[kept++] = it;
    }
    intake->held_count = kept;
}

static void hold(struct weir_intake *intake, const struct weir_batch *batch)
{
    if (intake->held_count == intake->held_capacity) {
        intake->held_capacity = intake->held_capacity ? 2 * intake->held_capacity : 64;
        intake->held = weir_realloc(intake->held, intake->held_capacity, sizeof(struct held));
    }
    intake->held[intake->held_count++] = (struct held){ batch->serial, batch->clear_us };
    if (batch->clear_us < intake->held_until_us)
        intake->held_until_us = batch->clear_us;
}

static bool has_keys(const struct weir_batch *batch)
{
    for (uint32_t i = 0; !batch->plain && i < batch->row_count; i++) {
        if (batch->rows[i].key_hash && !batch->rows[i].refusal.len)
            return true;
    }
    return false;
}

void weir_intake_give_back(struct weir_intake *intake, struct weir_batch *batch, int64_t now_us)
{
    bool keys = has_keys(batch);
    pthread_mutex_lock(&intake->lock);
    return_held(intake, now_us);
    if (keys && !batch->lapsed && batch->clear_us <= now_us)
        return_serial(intake, batch->serial);
    pthread_mutex_unlock(&intake->lock);
    if (keys && !batch->lapsed && batch->clear_us > now_us)
        hold(intake, batch);
    weir_packer_batch_free(batch);
}
