/* SPDX-License-Identifier: MIT */
/*
 * Rows that are written while they are packed, against the bodies that are made of their targets:
 * whole batches, parts of them, and any rows of them. And that slices keep pointing at their texts
 * while the memory behind them grows and changes hands.
 */
#include <stdio.h>

#include "bulk/packing.h"
#include "bulk/request.h"
#include "support/gathered.h"

#define TEXT ((size_t)4096)

static const struct weir_table_names table = {
    { "new_sensor", 10 }, { "new_sensors", 11 }, { "new_sensorid", 12 }, false
};

struct making {
    struct weir_rng rng;
    uint32_t rows;
    uint64_t members_max;
    bool odd;      /* some are refused, some idle, some have a key, some numbers are left out */
    bool unsound;  /* some have an id that is none */
    char *memory;  /* what the draft at hand points into */
    uint64_t next; /* number */
};

static struct weir_str some(struct making *making, char **at, const char *letters, uint64_t max)
{
    struct weir_str text = { *at, weir_rng_below(&making->rng, max + 1) };
    for (size_t i = 0; i < text.len; i++)
        *(*at)++ = letters[weir_rng_below(&making->rng, strlen(letters))];
    return text;
}

static struct weir_str id_of(struct making *making, char **at, uint64_t number)
{
    struct weir_str text = { *at, WEIR_GUID_CHARS };
    bool unsound = making->unsound && weir_rng_below(&making->rng, 20) == 0;
    *at += sprintf(*at, "%s-0000-8000-8000-%012llx", unsound ? "0000000A" : "0000000a",
                   (unsigned long long)number);
    return text;
}

static struct weir_draft make_draft(struct making *making)
{
    char *at = making->memory;
    struct weir_draft draft = { .number = making->next++, .file = 3 };
    bool odd = making->odd && weir_rng_below(&making->rng, 4) == 0;
    draft.raw = some(making, &at, "abc,\n", 200);
    if (odd && weir_rng_below(&making->rng, 2))
        draft.key_hash = draft.number;
    if (weir_rng_below(&making->rng, 3))
        draft.target.id = id_of(making, &at, draft.number);
    if (draft.target.id.len && weir_rng_below(&making->rng, 3) == 0)
        draft.target.partition = some(making, &at, "p\"\\\n", 20);
    draft.target.members = some(making, &at, "\"m:1,", making->members_max);
    if (odd && weir_rng_below(&making->rng, 3) == 0)
        draft.refusal = some(making, &at, "no", 20);
    draft.idle = odd && weir_rng_below(&making->rng, 3) == 0;
    draft.column = some(making, &at, "c", 5);
    making->next += odd && weir_rng_below(&making->rng, 2);
    must((size_t)(at - making->memory) <= TEXT);
    return draft;
}

static bool is_sent(const struct weir_row *row)
{
    return !row->refusal.len && !row->idle;
}

/* --- what has to hold ------------------------------------------------------------------------- */

static void expect_text(struct weir_str is, struct weir_str wanted)
{
    must(weir_str_equal(is, wanted));
}

static void expect_row(const struct weir_row *row, const struct weir_draft *draft)
{
    must(row->number == draft->number && row->key_hash == draft->key_hash);
    must(row->idle == draft->idle && row->file == draft->file);
    expect_text(row->raw, draft->raw);
    expect_text(row->target.id, draft->target.id);
    expect_text(row->target.partition, draft->target.partition);
    expect_text(row->target.members, draft->target.members);
    expect_text(row->refusal, draft->refusal);
    expect_text(row->column, draft->column);
}

/* The body of these rows, made of their targets; NULL: one of them cannot be sent. */
static char *plain_body(const struct weir_load *load)
{
    struct weir_gather gather;
    struct weir_target *targets = weir_calloc(load->row_count, sizeof(*targets));
    char *body = NULL;
    for (uint32_t i = 0; i < load->row_count; i++)
        targets[i] = weir_load_row(load, i)->target;
    weir_gather_init(&gather, SIZE_MAX / 2);
    if (weir_bulk_body(WEIR_BULK_CREATE, &table, targets, load->row_count, &gather, NULL) ==
        WEIR_OK)
        body = gathered(&gather);
    weir_gather_release(&gather);
    free(targets);
    return body;
}

/* What the request for these rows has; *ret_slices: in how many pieces. */
static void expect_body(const struct weir_load *load, size_t *ret_slices)
{
    struct weir_load_request request;
    struct weir_request_plan plan = { .operation = WEIR_OPERATION_CREATE,
                                      .table = &table,
                                      .body_bytes_max = SIZE_MAX / 2 };
    char *wanted = plain_body(load);
    enum weir_status status =
        weir_load_request_init(&request, load, &plan, weir_str_from(""), NULL);
    *ret_slices = 0;
    must((status == WEIR_OK) == (wanted != NULL));
    if (!wanted)
        return;
    char *body = gathered(request.body);
    ck_assert_str_eq(body, wanted);
    *ret_slices = request.body->count;
    weir_load_request_release(&request);
    free(body);
    free(wanted);
}

/* All rows that are sent, those side by side from some place on, and any of them. */
static void expect_bodies(struct weir_batch *batch, struct weir_rng *rng, bool unsound)
{
    struct weir_load *load =
        weir_calloc(1, sizeof(*load) + batch->row_count * sizeof(load->rows[0]));
    uint32_t *sent = weir_calloc(batch->row_count, sizeof(*sent));
    uint32_t count = 0;
    size_t slices;
    load->batch = batch;
    for (uint32_t i = 0; i < batch->row_count; i++) {
        if (is_sent(&batch->rows[i]))
            sent[count++] = i;
    }
    must(batch->message_rows <= count && (unsound || batch->message_rows == count));
    for (int round = 0; count && round < 12; round++) {
        uint32_t from = round ? (uint32_t)weir_rng_below(rng, count) : 0;
        uint32_t behind = from + 1 + (uint32_t)weir_rng_below(rng, count - from);
        load->row_count = 0;
        for (uint32_t i = from; i < (round ? behind : count); i++) {
            if (round < 6 || weir_rng_below(rng, 2))
                load->rows[load->row_count++] = sent[i];
        }
        if (!load->row_count)
            continue;
        expect_body(load, &slices);
        if (!unsound && load->row_count == count)
            must(slices == 1); /* the message itself */
        else if (!unsound && round < 6)
            must(slices == 3);
    }
    free(sent);
    free(load);
}

/* Its memory is as large as it says, and little of it is not used. */
static void expect_bytes(const struct weir_batch *batch)
{
    size_t each = sizeof(struct weir_row) + sizeof(struct weir_guid);
    size_t held = sizeof(*batch) + batch->after_count * sizeof(uint64_t) +
                  batch->row_count * (each + sizeof(struct weir_row_state));
    for (uint32_t i = 0; i < batch->row_count; i++) {
        const struct weir_row *row = &batch->rows[i];
        held += row->raw.len + row->refusal.len + row->column.len + row->target.partition.len;
        held +=
            row->written.len ? row->written.len + 1 : row->target.id.len + row->target.members.len;
    }
    must(batch->bytes >= held && batch->bytes <= held + held / 3 + 4096);
}

static void expect_marks(const struct weir_batch *batch)
{
    bool plain = true, unbroken = true;
    for (uint32_t i = 0; i < batch->row_count; i++) {
        const struct weir_row *row = &batch->rows[i];
        struct weir_guid id = { 0 };
        plain = plain && is_sent(row) && !row->key_hash;
        unbroken = unbroken && (!i || row->number == row[-1].number + 1);
        if (row->written.len && row->target.id.len)
            must(weir_guid_parse(row->target.id, &id));
        must(weir_guid_equal(&id, &batch->ids[i]) || !row->written.len);
    }
    must(batch->plain == plain && batch->unbroken == unbroken);
}

/* --- campaigns -------------------------------------------------------------------------------- */

/* One batch of so many rows; the drafts are made twice, to be added and to be compared with. */
static void pack_and_look(struct weir_packing *packing, struct making *making, uint32_t rows)
{
    struct making again = *making;
    uint64_t after[] = { 7, 9 };
    for (uint32_t i = 0; i < rows; i++) {
        struct weir_draft draft = make_draft(making);
        must(weir_packing_add(packing, &draft) >= sizeof(struct weir_row));
        memset(making->memory, '!', TEXT);
    }
    struct weir_batch *batch = weir_packing_close(packing, 5, after, rows % 3);
    must(packing->row_count == 0 && batch->serial == 5 && batch->row_count == rows);
    must(batch->after_count == rows % 3 && (!batch->after_count || batch->after[0] == 7));
    for (uint32_t i = 0; i < rows; i++) {
        struct weir_draft draft = make_draft(&again);
        expect_row(&batch->rows[i], &draft);
    }
    expect_bodies(batch, &making->rng, making->unsound);
    expect_bytes(batch);
    expect_marks(batch);
    weir_packing_free_batch(batch);
}

START_TEST(what_was_written_is_what_would_have_been_sent)
{
    static char memory[TEXT];
    struct weir_packing packing;
    struct weir_bulk_writer writer;
    struct making making = { .rows = 1 + 7 * (uint32_t)_i % 40, .memory = memory, .next = 1 };
    weir_rng_init(&making.rng, (uint64_t)_i, 1);
    making.members_max = _i % 3 ? 300 : 2000;
    making.odd = _i % 4 == 1;
    making.unsound = _i % 4 == 2;
    weir_bulk_writer_init(&writer, WEIR_BULK_CREATE, &table);
    weir_packing_init(&packing, &writer, making.rows);
    for (int round = 0; round < 12; round++) {
        bool full = weir_rng_below(&making.rng, 2);
        pack_and_look(&packing, &making,
                      full ? making.rows : 1 + (uint32_t)weir_rng_below(&making.rng, making.rows));
    }
    weir_packing_release(&packing);
    weir_bulk_writer_release(&writer);
}
END_TEST

/* Batches of one row are small, however large the one before them was. */
START_TEST(a_batch_of_one_row_has_no_memory_for_more)
{
    struct weir_packing packing;
    struct weir_bulk_writer writer;
    struct weir_draft draft = { .number = 1, .target = { .members = weir_str_from("\"a\":1") } };
    weir_bulk_writer_init(&writer, WEIR_BULK_CREATE, &table);
    weir_packing_init(&packing, &writer, 100);
    for (uint32_t rows = 100; rows; rows /= 100) {
        for (uint32_t i = 0; i < rows; i++)
            weir_packing_add(&packing, &draft);
        struct weir_batch *batch = weir_packing_close(&packing, 1, NULL, 0);
        ck_assert_uint_le(batch->bytes, sizeof(*batch) + rows * 600);
        weir_packing_free_batch(batch);
    }
    weir_packing_free_batch(NULL);
    weir_packing_release(&packing);
    weir_bulk_writer_release(&writer);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("packing");
    suite_add_loop(&s, "what_was_written_is_what_would_have_been_sent",
                   what_was_written_is_what_would_have_been_sent, 40);
    suite_add(&s, a_batch_of_one_row_has_no_memory_for_more);
    return suite_run(&s);
}
