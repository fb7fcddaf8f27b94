/* SPDX-License-Identifier: MIT */
/*
 * Packing drafts, against a model that looks at the whole history.
 *
 * A campaign adds random drafts, takes what is closed after each, and reports batches as finished
 * in any order in which those that they name come first. Where each row went and when each batch
 * was closed and finished is noted by the step (the number of the row that was being added); what
 * has to hold is checked afterwards, row by row and batch by batch.
 */
#include <stdio.h>

#include "base/mem.h"
#include "base/rng.h"
#include "bulk/packer.h"
#include "protocol/batch.h"
#include "protocol/bulk.h"
#include "support/suite.h"

#define ROWS  1200
#define TEXT  1024
#define NEVER UINT64_MAX

/* Asked for with each row that goes by itself: as much as 3 bytes for each of it, and its name. */
#define TAG                                                                                        \
    "a tag, \xc3\xa4 of 120 bytes and more ................................................."
#define TAG_BYTES (5 + 3 * (sizeof(TAG) - 1))

static const struct weir_table_names table = {
    { "new_sensor", 10 }, { "new_sensors", 11 }, { "new_sensorid", 12 }, false
};

/* --- drafts ----------------------------------------------------------------------------------- */

struct mix {
    uint64_t seed;
    uint32_t rows_max;
    size_t body_bytes_max;
    uint64_t keys;   /* how many; 0: rows have none */
    uint64_t shapes; /* likewise, at least 1 */
    uint64_t refused_percent;
    uint64_t idle_percent;
    uint64_t members_max; /* bytes */
};

/* The texts of a draft, in `memory`. */
struct making {
    struct weir_rng rng;
    char *at;
};

static struct weir_str printed(struct making *making, const char *before, uint64_t number,
                               const char *behind)
{
    struct weir_str text = { making->at, 0 };
    text.len = (size_t)snprintf(making->at, TEXT, "%s%012llx%s", before, (unsigned long long)number,
                                behind);
    making->at += text.len;
    return text;
}

static struct weir_str filled(struct making *making, const char *letters, uint64_t max)
{
    struct weir_str text = { making->at, weir_rng_below(&making->rng, max + 1) };
    for (size_t i = 0; i < text.len; i++)
        *making->at++ = letters[weir_rng_below(&making->rng, strlen(letters))];
    return text;
}

/* Named by its id, by its id and a partition, or by a key. */
static void name_row(struct making *making, uint64_t number, struct weir_target *target)
{
    uint64_t way = weir_rng_below(&making->rng, 3);
    if (way < 2)
        target->id = printed(making, "00000000-0000-8000-8000-", number, "");
    else
        target->key = printed(making, "new_code='", number, "'");
    if (way == 1)
        target->partition = filled(making, "a\"' \xc3", 20);
}

/* The draft of a row, always the same one. */
static struct weir_draft draft_of(const struct mix *mix, uint64_t number, char *memory)
{
    struct making making = { .at = memory };
    struct weir_draft draft = { .number = number, .file = (uint32_t)number % 3 };
    weir_rng_init(&making.rng, mix->seed, number);
    draft.offset = number * 100;
    draft.end = number * 100 + 99;
    draft.raw = printed(&making, "row ", number, "\n");
    draft.shape = weir_rng_below(&making.rng, mix->shapes);
    if (mix->keys)
        draft.key_hash = weir_rng_below(&making.rng, mix->keys + 1) * 0x10001;
    name_row(&making, number, &draft.target);
    draft.target.members = filled(&making, "\"ab:1,", mix->members_max);
    if (weir_rng_below(&making.rng, 100) < mix->refused_percent) {
        draft.refusal = printed(&making, "row ", number, " is not well");
        draft.column = filled(&making, "c", 5);
    }
    draft.idle = !draft.refusal.len && weir_rng_below(&making.rng, 100) < mix->idle_percent;
    return draft;
}

static uint64_t key_of(const struct weir_draft *draft)
{
    return draft->refusal.len ? 0 : draft->key_hash;
}

/* --- what happened ---------------------------------------------------------------------------- */

struct packed {
    struct weir_batch *batch;
    uint64_t taken; /* as the how manieth */
    uint64_t closed_at;
    uint64_t finished_at;
};

struct history {
    struct mix mix;
    struct weir_rng rng;
    struct weir_packer *packer;
    struct packed batches[2 * ROWS + 1]; /* by serial */
    uint64_t batch_count;
    uint64_t unfinished_rows;        /* of batches that were taken, and what was not taken yet */
    uint64_t home[ROWS + 1];         /* serial, by the number of the row … */
    uint64_t keys[ROWS + 1];         /* … and its key; of one that is refused: 0 … */
    uint64_t refused_keys[ROWS + 1]; /* … and here it is */
};

static void take_all(struct history *history, uint64_t step)
{
    struct weir_batch *batch;
    while ((batch = weir_packer_take(history->packer))) {
        must(batch->serial >= 1 && batch->serial <= 2 * ROWS);
        must(!history->batches[batch->serial].batch);
        history->batches[batch->serial] =
            (struct packed){ batch, ++history->batch_count, step, NEVER };
        for (uint32_t i = 0; i < batch->row_count; i++) {
            must(batch->rows[i].number <= step && !history->home[batch->rows[i].number]);
            history->home[batch->rows[i].number] = batch->serial;
        }
    }
}

/* Its turn has come: it was taken, and those that it names are over. */
static bool may_finish(const struct history *history, uint64_t serial)
{
    const struct packed *it = &history->batches[serial];
    if (!it->batch || it->finished_at != NEVER)
        return false;
    for (uint32_t i = 0; i < it->batch->after_count; i++) {
        if (history->batches[it->batch->after[i]].finished_at == NEVER)
            return false;
    }
    return true;
}

static void finish_some(struct history *history, uint64_t step, uint64_t tries)
{
    for (uint64_t i = 0; i < tries; i++) {
        uint64_t serial = 1 + weir_rng_below(&history->rng, history->batch_count + 8);
        if (!may_finish(history, serial))
            continue;
        history->batches[serial].finished_at = step;
        history->unfinished_rows -= history->batches[serial].batch->row_count;
        weir_packer_finished(history->packer, serial);
    }
}

static void finish_all(struct history *history)
{
    for (uint64_t serial = 1; serial <= 2 * ROWS; serial++) {
        if (may_finish(history, serial)) {
            history->batches[serial].finished_at = ROWS + 1;
            weir_packer_finished(history->packer, serial);
        }
    }
}

static void run(struct history *history)
{
    static char memory[8 * TEXT];
    for (uint64_t number = 1; number <= ROWS; number++) {
        struct weir_draft draft = draft_of(&history->mix, number, memory);
        history->keys[number] = key_of(&draft);
        history->refused_keys[number] = draft.refusal.len ? draft.key_hash : 0;
        finish_some(history, number, weir_rng_below(&history->rng, 4));
        weir_packer_add(history->packer, &draft);
        memset(memory, '!', sizeof(memory)); /* it was copied */
        history->unfinished_rows++;
        take_all(history, number);
        must(weir_packer_keys(history->packer) <= history->unfinished_rows);
    }
    must(weir_packer_bytes(history->packer) <= WEIR_PACKER_OPEN_BYTES_MAX);
    weir_packer_flush(history->packer);
    take_all(history, ROWS);
    must(weir_packer_bytes(history->packer) == 0);
}

static struct history *history_of(uint64_t seed)
{
    static const uint64_t keys[] = { 0, 1, 4, 40, 400 };
    struct history *history = weir_calloc(1, sizeof(*history));
    struct weir_rng *rng = &history->rng;
    weir_rng_init(rng, seed, 99);
    history->mix = (struct mix){
        .seed = seed,
        .rows_max = (uint32_t)(1 + weir_rng_below(rng, 30)),
        .body_bytes_max = 1500 + weir_rng_below(rng, 30000),
        .keys = keys[weir_rng_below(rng, 5)],
        .shapes = 1 + (weir_rng_below(rng, 2) ? weir_rng_below(rng, 12) : 0),
        .refused_percent = weir_rng_below(rng, 3) ? 0 : 20,
        .members_max = weir_rng_below(rng, 2) ? 20 : 700,
        .idle_percent = seed % 3 == 0 ? 40 : 0,
    };
    struct weir_packer_options options = { &table, history->mix.rows_max,
                                           history->mix.body_bytes_max, TAG_BYTES,
                                           (enum weir_bulk_message)(seed % WEIR_BULK_MESSAGES) };
    history->packer = weir_packer_new(&options);
    return history;
}

static void free_history(struct history *history)
{
    for (uint64_t serial = 1; serial <= 2 * ROWS; serial++)
        weir_packer_batch_free(history->batches[serial].batch);
    weir_packer_free(history->packer);
    free(history);
}

/* --- what has to hold: rows ------------------------------------------------------------------- */

/* Those with nothing to do are alike, and like no others. */
static uint64_t shape_of(const struct weir_draft *draft)
{
    return draft->idle ? UINT64_C(1) << 60 : draft->shape;
}

static void expect_copied(const struct weir_row *row, const struct weir_draft *draft)
{
    must(row->number == draft->number && row->file == draft->file);
    must(row->offset == draft->offset && row->end == draft->end);
    must(row->key_hash == draft->key_hash && row->idle == draft->idle);
    must(weir_str_equal(row->raw, draft->raw));
    must(weir_str_equal(row->target.id, draft->target.id));
    must(weir_str_equal(row->target.key, draft->target.key));
    must(weir_str_equal(row->target.members, draft->target.members));
    must(weir_str_equal(row->target.partition, draft->target.partition));
    must(weir_str_equal(row->refusal, draft->refusal));
    must(weir_str_equal(row->column, draft->column));
}

/* Every draft is in one batch, as it was: take_all() has seen to it that it is in one only. */
static void check_rows(const struct history *history)
{
    static char memory[8 * TEXT];
    for (uint64_t number = 1; number <= ROWS; number++) {
        const struct weir_draft draft = draft_of(&history->mix, number, memory);
        must(history->home[number]);
        const struct weir_batch *batch = history->batches[history->home[number]].batch;
        uint32_t at = 0;
        while (batch->rows[at].number != number)
            at++;
        expect_copied(&batch->rows[at], &draft);
    }
}

/* The last row before `number` with the same key; 0: there is none. */
static uint64_t previous(const struct history *history, uint64_t number, uint64_t key)
{
    while (--number && history->keys[number] != key)
        continue;
    return number;
}

/* Nobody sees a row before a refused one of its key that comes before it. */
static void check_refused_before(const struct history *history, const struct packed *it,
                                 const struct weir_row *row)
{
    uint64_t before = row->number;
    while (--before && history->refused_keys[before] != row->key_hash)
        continue;
    if (before && row->key_hash && !row->refusal.len)
        must(history->batches[history->home[before]].taken <= it->taken);
}

static bool names(const struct weir_batch *batch, uint64_t serial)
{
    for (uint32_t i = 0; i < batch->after_count; i++) {
        if (batch->after[i] == serial)
            return true;
    }
    return false;
}

/* Whether a row had to wait for the one before it, and if so, that it does. */
static bool check_order(const struct history *history, const struct packed *it,
                        const struct weir_row *row, uint64_t *ret_predecessor)
{
    bool ordered = row->key_hash && !row->refusal.len;
    uint64_t before = ordered ? previous(history, row->number, row->key_hash) : 0;
    const struct packed *earlier = &history->batches[history->home[before]];
    if (!before || earlier->finished_at <= row->number)
        return false;
    must(earlier->batch->serial < it->batch->serial && earlier->taken < it->taken);
    if (earlier->finished_at <= it->closed_at)
        return false;
    must(names(it->batch, earlier->batch->serial));
    *ret_predecessor = earlier->batch->serial;
    return true;
}

/* --- what has to hold: batches ---------------------------------------------------------------- */

static void check_shape(const struct history *history, const struct weir_batch *batch)
{
    static char memory[8 * TEXT];
    uint64_t shape = NEVER;
    must(batch->row_count >= 1 && batch->row_count <= history->mix.rows_max);
    for (uint32_t i = 0; i < batch->row_count; i++) {
        const struct weir_row *row = &batch->rows[i];
        must(i == 0 || row->number > batch->rows[i - 1].number);
        if (row->refusal.len)
            continue;
        for (uint32_t j = 0; j < i; j++)
            must(!row->key_hash || row->key_hash != batch->rows[j].key_hash ||
                 batch->rows[j].refusal.len);
        struct weir_draft draft = draft_of(&history->mix, row->number, memory);
        must(shape == NEVER || shape == shape_of(&draft));
        shape = shape_of(&draft);
    }
}

/* Those that it names: ascending, closed before it, not over by then, each for a row's sake. */
static void check_after(const struct history *history, const struct packed *it)
{
    bool justified[ROWS] = { false };
    const struct weir_batch *batch = it->batch;
    for (uint32_t i = 0; i < batch->row_count; i++) {
        uint64_t serial;
        check_refused_before(history, it, &batch->rows[i]);
        if (!check_order(history, it, &batch->rows[i], &serial))
            continue;
        for (uint32_t j = 0; j < batch->after_count; j++)
            justified[j] |= batch->after[j] == serial;
    }
    for (uint32_t i = 0; i < batch->after_count; i++) {
        const struct packed *other = &history->batches[batch->after[i]];
        must(justified[i]);
        must(batch->after[i] < batch->serial);
        must(i == 0 || batch->after[i] > batch->after[i - 1]);
        must(other->taken < it->taken && other->finished_at > it->closed_at);
    }
}

/* How much more it is than what it holds: test_packing.c. */
static void check_bytes(const struct weir_batch *batch)
{
    size_t bytes = sizeof(*batch) + batch->after_count * sizeof(uint64_t);
    for (uint32_t i = 0; i < batch->row_count; i++) {
        const struct weir_row *row = &batch->rows[i];
        bytes += sizeof(*row) + sizeof(struct weir_row_state) + row->raw.len + row->target.id.len +
                 row->target.key.len + row->target.members.len + row->target.partition.len +
                 row->refusal.len + row->column.len;
    }
    must(batch->bytes >= bytes);
}

static void check_batches(const struct history *history)
{
    for (uint64_t serial = 1; serial <= 2 * ROWS; serial++) {
        const struct packed *it = &history->batches[serial];
        if (!it->batch)
            continue;
        must(serial <= history->batch_count); /* serials have no gaps */
        check_shape(history, it->batch);
        check_after(history, it);
        check_bytes(it->batch);
    }
}

START_TEST(every_row_is_in_one_batch_and_rows_of_a_key_keep_their_order)
{
    struct history *history = history_of((uint64_t)_i);
    run(history);
    check_rows(history);
    check_batches(history);
    finish_all(history);
    must(weir_packer_keys(history->packer) == 0);
    free_history(history);
}
END_TEST

/* --- what has to hold: places ----------------------------------------------------------------- */

/* Open batches as they were, replayed from where the rows went. */
struct replay {
    const struct history *history;
    uint32_t rows[2 * ROWS + 1]; /* by serial: so many rows so far */
    size_t weight[2 * ROWS + 1];
    uint64_t shape[2 * ROWS + 1]; /* NEVER: any */
    uint64_t opened;
};

static size_t weight_of(const struct weir_target *target)
{
    return weir_bulk_target_bytes(&table, target) + weir_target_address_bytes(&table, target) +
           WEIR_PACKER_PART_BYTES + TAG_BYTES;
}

/* Open when that row was added, before it had a place. */
static bool was_open(const struct replay *replay, uint64_t serial, uint64_t number)
{
    return replay->rows[serial] && replay->history->batches[serial].closed_at >= number;
}

static bool had_room(const struct replay *replay, uint64_t serial, size_t weight)
{
    size_t sum = replay->weight[serial] + weight + WEIR_PACKER_FRAME_BYTES;
    return !replay->weight[serial] || sum <= replay->history->mix.body_bytes_max;
}

/* The batch with the last row of that key, unless it is over; 0: there is none. */
static uint64_t last_of(const struct history *history, const struct weir_draft *draft)
{
    uint64_t key = key_of(draft);
    uint64_t before = key ? previous(history, draft->number, key) : 0;
    uint64_t serial = history->home[before];
    return before && history->batches[serial].finished_at > draft->number ? serial : 0;
}

/* Of those that were open the first that takes the row; 0: a new one. Full ones are closed. */
static uint64_t expected_place(const struct replay *replay, const struct weir_draft *draft)
{
    uint64_t last = last_of(replay->history, draft);
    for (uint64_t serial = 1; serial <= replay->opened; serial++) {
        if (!was_open(replay, serial, draft->number))
            continue;
        if (draft->refusal.len)
            return serial;
        bool fits = replay->shape[serial] == NEVER || replay->shape[serial] == shape_of(draft);
        if (serial <= last || !fits)
            continue;
        if (had_room(replay, serial, draft->idle ? 0 : weight_of(&draft->target)))
            return serial;
        must(replay->history->batches[serial].closed_at == draft->number);
    }
    return 0;
}

static void check_place(struct replay *replay, const struct weir_draft *draft)
{
    uint64_t place = replay->history->home[draft->number];
    uint64_t expected = expected_place(replay, draft);
    must(place == (expected ? expected : replay->opened + 1));
    if (!expected)
        replay->shape[++replay->opened] = NEVER;
    replay->rows[place]++;
    if (draft->refusal.len)
        return;
    replay->shape[place] = shape_of(draft);
    replay->weight[place] += draft->idle ? 0 : weight_of(&draft->target);
}

static uint32_t open_after(const struct replay *replay, uint64_t number)
{
    uint32_t count = 0;
    for (uint64_t serial = 1; serial <= replay->opened; serial++)
        count += replay->history->batches[serial].closed_at > number;
    return count;
}

START_TEST(a_row_goes_into_the_first_open_batch_that_may_have_it)
{
    static char memory[8 * TEXT];
    struct history *history = history_of((uint64_t)_i);
    struct replay *replay = weir_calloc(1, sizeof(*replay));
    replay->history = history;
    run(history);
    for (uint64_t number = 1; number <= ROWS; number++) {
        struct weir_draft draft = draft_of(&history->mix, number, memory);
        check_place(replay, &draft);
        must(open_after(replay, number) <= WEIR_PACKER_OPEN_MAX);
    }
    free(replay);
    free_history(history);
}
END_TEST

/* --- what has to hold: requests --------------------------------------------------------------- */

static const struct weir_request_options everything = {
    .bypass_logic = WEIR_BYPASS_ALL,
    .bypass_flows = true,
    .detect_duplicates = true,
    .error_details = true,
    .tag = TAG,
    .impersonate = "11111111-1111-1111-1111-111111111111",
};

static bool is_sent(const struct weir_row *row)
{
    return !row->refusal.len && !row->idle;
}

static size_t bulk_bytes(const struct weir_batch *batch, uint32_t *ret_rows)
{
    size_t bytes = WEIR_BULK_FRAME_BYTES;
    *ret_rows = 0;
    for (uint32_t i = 0; i < batch->row_count; i++) {
        if (is_sent(&batch->rows[i])) {
            bytes += 1 + weir_bulk_target_bytes(&table, &batch->rows[i].target);
            ++*ret_rows;
        }
    }
    return bytes;
}

/* As single requests, of which all that can be asked for is asked. */
static size_t singles_bytes(const struct weir_batch *batch, enum weir_request_kind kind)
{
    static const char boundary[] =
        "batch_123456789_123456789_123456789_123456789_123456789_123456789_1234";
    struct weir_batch_request scale;
    must(sizeof(boundary) - 1 == WEIR_BOUNDARY_BYTES_MAX);
    must(weir_batch_request_init(&scale, weir_str_from(boundary), &everything, 1 << 20, NULL) ==
         WEIR_OK);
    size_t bytes = weir_batch_close_bytes(&scale);
    for (uint32_t i = 0; i < batch->row_count; i++) {
        struct weir_batch_part part = { kind, &table, batch->rows[i].target, { 0 } };
        if (is_sent(&batch->rows[i]))
            bytes += weir_batch_part_bytes(&scale, &part);
    }
    weir_batch_request_release(&scale);
    return bytes;
}

START_TEST(the_rows_of_a_batch_fit_into_a_request_whichever_way_they_go)
{
    struct history *history = history_of((uint64_t)_i);
    size_t most = 0;
    run(history);
    for (uint64_t serial = 1; serial <= history->batch_count; serial++) {
        const struct weir_batch *batch = history->batches[serial].batch;
        uint32_t rows;
        size_t bytes = bulk_bytes(batch, &rows);
        for (int kind = WEIR_REQUEST_CREATE; kind < WEIR_REQUEST_KINDS; kind++) {
            size_t singles = singles_bytes(batch, (enum weir_request_kind)kind);
            bytes = singles > bytes ? singles : bytes;
        }
        must(rows <= 1 || bytes <= history->mix.body_bytes_max);
        most = bytes > most ? bytes : most;
    }
    ck_assert_uint_gt(most, 0);
    free_history(history);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("packer");
    suite_add_loop(&s, "every_row_is_in_one_batch_and_rows_of_a_key_keep_their_order",
                   every_row_is_in_one_batch_and_rows_of_a_key_keep_their_order, 40);
    suite_add_loop(&s, "a_row_goes_into_the_first_open_batch_that_may_have_it",
                   a_row_goes_into_the_first_open_batch_that_may_have_it, 40);
    suite_add_loop(&s, "the_rows_of_a_batch_fit_into_a_request_whichever_way_they_go",
                   the_rows_of_a_batch_fit_into_a_request_whichever_way_they_go, 40);
    return suite_run(&s);
}
