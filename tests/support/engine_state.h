/* SPDX-License-Identifier: MIT */
/* What the engine in virtual time is made of (engine.h), and its reader: rows into batches. */
#ifndef WEIR_TESTS_ENGINE_STATE_H
#define WEIR_TESTS_ENGINE_STATE_H

#include "bulk/executor.h"
#include "bulk/request.h"
#include "support/rig.h"
#include "support/world.h"

#define ENGINE_ROWS_MAX    600
#define ENGINE_FLIGHTS_MAX 512
#define ENGINE_RECORDS_MAX 4096
#define ENGINE_STEPS_MAX   400000

/* A record of the input. */
struct engine_row {
    char id[WEIR_GUID_TEXT];
    char key[40];      /* predicate of an alternate key; "": by its id */
    char members[800]; /* JSON */
    uint32_t target;   /* which thing it is about: rows with the same one are repeats */
    bool idle;         /* it has nothing to do */
    int attempts;      /* requests to write it that may have been executed, over all runs */
    enum weir_fate durable;
};

enum engine_stage {
    ENGINE_FREE,
    ENGINE_TOKEN,
    ENGINE_VISIT,
    ENGINE_ANSWER
};

struct engine_flight {
    enum engine_stage stage;
    struct weir_load *load; /* NULL: nobody waits for it any more */
    enum weir_load_mode mode;
    uint32_t row_count;
    uint32_t connection;
    uint64_t token_serial;
    int64_t at_us;
    int64_t begun_us;
    int64_t timeout_us;
    struct sim_visit *visit;
    struct sim_answer answer;
    struct sim_delivery delivery;
};

struct engine_record {
    uint64_t serial;
    uint64_t first;
    uint32_t count;
    enum weir_fate fate;
};

struct engine {
    uint64_t seed;
    struct weir_rng rng;

    /* The job; set by the test. */
    struct weir_plan plan;
    struct weir_request_plan requests;
    struct engine_row rows[ENGINE_ROWS_MAX + 1]; /* from 1 */
    uint32_t row_count;
    uint32_t batch_rows_max;
    uint32_t connections;
    int64_t request_timeout_us;
    double unreachable;  /* chance that a request does not get there */
    double journal_loss; /* chance of a commit that fails */
    const char *policy;

    /* The run. */
    struct rig rig;
    struct weir_executor executor;
    uint64_t cursor; /* the reader's */
    uint64_t batch_serial;
    uint64_t last_batch_of[ENGINE_ROWS_MAX + 1]; /* by target */
    uint32_t batches_out;
    struct engine_flight flights[ENGINE_FLIGHTS_MAX];
    struct engine_record records[ENGINE_RECORDS_MAX];
    uint32_t record_count;
    int64_t commit_us;
    int spurned[4]; /* tokens in a row, by connection */
    uint64_t token_serials[4];
    uint64_t read;
    uint64_t reached; /* the last row that any run has sent */
    bool may_send;    /* neither stopped nor without a journal */
    bool journal_lost;
    bool broken; /* a connection was set aside in some run: those that are left may lack a right */
    bool over;
    struct weir_result result; /* of the last run that was over; its connections are gone */
    uint64_t hash;             /* of everything that happened */
};

static struct engine engine;

/* A broken invariant names its seed. */
#define INVARIANT(condition)                                                                       \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg("WEIR_SEED=%lu: " #condition " (line %d)", (unsigned long)engine.seed,    \
                         __LINE__);                                                                \
    } while (0)

static inline uint32_t engine_pick(uint32_t below)
{
    return (uint32_t)weir_rng_below(&engine.rng, below);
}

static inline bool engine_chance(double probability)
{
    return weir_rng_unit(&engine.rng) < probability;
}

static inline void engine_note(uint64_t what)
{
    engine.hash = (engine.hash ^ what) * UINT64_C(0x100000001b3) + (uint64_t)now;
}

/* --- the reader ------------------------------------------------------------------------------- */

/* One piece of memory, so that whoever uses it after its return is caught. */
struct engine_batch {
    struct weir_batch batch;
    struct weir_row rows[64];
    uint64_t after[64];
    char texts[64][sizeof(struct engine_row)];
};

static inline void engine_fill_row(struct engine_batch *made, uint32_t place, uint64_t number)
{
    struct engine_row *copy = (struct engine_row *)(void *)made->texts[place];
    *copy = engine.rows[number];
    made->rows[place] = (struct weir_row){
        .number = number,
        .offset = number * 10,
        .end = number * 10 + 10,
        .raw = weir_str_from(copy->members),
        .idle = copy->idle,
        .target = { .id = weir_str_from(copy->key[0] ? "" : copy->id),
                    .key = weir_str_from(copy->key),
                    .members = weir_str_from(copy->members) },
    };
}

static inline bool engine_batch_has(const struct engine_batch *made, uint32_t target)
{
    for (uint32_t i = 0; i < made->batch.row_count; i++) {
        if (engine.rows[made->rows[i].number].target == target)
            return true;
    }
    return false;
}

static inline void engine_follow(struct engine_batch *made, uint64_t serial)
{
    for (uint32_t i = 0; i < made->batch.after_count; i++) {
        if (made->after[i] == serial)
            return;
    }
    made->after[made->batch.after_count++] = serial;
}

/* The next rows that are not finished; a repeat of one among them begins the next batch. */
static inline struct engine_batch *engine_read(void)
{
    struct engine_batch *made = weir_calloc(1, sizeof(*made));
    made->batch.serial = engine.batch_serial + 1;
    made->batch.rows = made->rows;
    made->batch.after = made->after;
    for (; engine.cursor <= engine.row_count; engine.cursor++) {
        const struct engine_row *row = &engine.rows[engine.cursor];
        if (row->durable != WEIR_FATE_OPEN)
            continue;
        if (made->batch.row_count == engine.batch_rows_max || engine_batch_has(made, row->target))
            break;
        if (engine.last_batch_of[row->target])
            engine_follow(made, engine.last_batch_of[row->target]);
        engine_fill_row(made, made->batch.row_count++, engine.cursor);
    }
    for (uint32_t i = 0; i < made->batch.row_count; i++)
        engine.last_batch_of[engine.rows[made->rows[i].number].target] = made->batch.serial;
    made->batch.bytes = sizeof(*made);
    engine.batch_serial++;
    return made;
}

static inline void engine_feed(void)
{
    while (weir_executor_wants(&engine.executor)) {
        struct engine_batch *made = engine_read();
        if (!made->batch.row_count) {
            free(made);
            weir_executor_end_of_input(&engine.executor, now);
            return;
        }
        engine.read += made->batch.row_count;
        engine.batches_out++;
        weir_executor_offer(&engine.executor, &made->batch, now);
    }
}

#endif
