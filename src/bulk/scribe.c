/* SPDX-License-Identifier: MIT */
/* What is to be recorded, on its way into the journal; see scribe.h. */
#include "bulk/scribe.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "bulk/driver.h"
#include "bulk/key_reference.h"
#include "journal/rejects.h"

/* Of keys that are named in a message, with the words around them. */
#define KEYS_BYTES_MAX ((size_t)1024)

enum item_kind {
    ITEM_RECEIPT,
    ITEM_BLOCK,
    ITEM_REACH,
    ITEM_MARK, /* a rejected row is superseded */
};

struct weir_scribe_item {
    enum item_kind kind;
    const struct weir_receipt *receipt;
    uint64_t receipt_serial; /* the receipt itself may be gone by then */
    struct weir_block block;
    uint64_t row;  /* reach, mark */
    uint32_t pass; /* in which it was added */
    uint64_t journal_serial;
    struct weir_scribe_item *next;
};

/* "reach", "reach.1", … */
void weir_reach_name(uint32_t pass, char name[WEIR_REACH_NAME_MAX])
{
    snprintf(name, WEIR_REACH_NAME_MAX, pass ? "reach.%u" : "reach", (unsigned)pass);
}

void weir_scribe_init(struct weir_scribe *scribe, struct weir_journal *journal,
                      const struct weir_options *settings)
{
    *scribe = (struct weir_scribe){ .journal = journal,
                                    .settings = settings,
                                    .made = weir_job_facts_row_ids(weir_journal_facts(journal)) };
    weir_superseded_init(&scribe->superseded);
    weir_buf_init(&scribe->ids, WEIR_TARGETS_MAX * sizeof(struct weir_guid));
    weir_buf_init(&scribe->message, WEIR_JOURNAL_TEXT_MAX);
}

/* Whoever reads it must know that the row itself is there. */
static const char *preface_of(const struct weir_plan *plan)
{
    static const char *const prefaces[][2] = {
        [WEIR_PASS_ROWS] = { "", "" },
        [WEIR_PASS_LOOKUPS] = { "created, but its lookups could not be set: ",
                                "written, but its lookups could not be set: " },
        [WEIR_PASS_STATE] = { "created, but its state could not be set: ",
                              "written, but its state could not be set: " },
    };
    return prefaces[plan->pass][plan->job_operation != WEIR_OPERATION_CREATE];
}

void weir_scribe_begin_pass(struct weir_scribe *scribe, const struct weir_plan *plan,
                            uint64_t reach)
{
    scribe->pass = plan->pass;
    scribe->with_ids = plan->operation == WEIR_OPERATION_CREATE;
    scribe->marks = plan->job_operation != WEIR_OPERATION_CREATE;
    scribe->preface = preface_of(plan);
    scribe->rows_are_there =
        plan->pass != WEIR_PASS_ROWS && plan->job_operation == WEIR_OPERATION_CREATE;
    scribe->reach = reach;
    scribe->reach_asked = reach;
    weir_superseded_release(&scribe->superseded);
    weir_superseded_init(&scribe->superseded);
}

enum weir_status weir_scribe_recall(struct weir_scribe *scribe,
                                    const struct weir_journal_view *view, struct weir_error *err)
{
    struct weir_rejects rejects;
    const struct weir_reject *reject;
    enum weir_status status = scribe->marks ? weir_rejects_init(&rejects, view, err) : WEIR_OK;
    if (status || !scribe->marks)
        return status;
    while (!(status = weir_rejects_next(&rejects, &reject, err)) && reject) {
        if (reject->pass == scribe->pass && !reject->superseded)
            weir_superseded_reject(&scribe->superseded, reject->key_hash, reject->row);
    }
    weir_rejects_release(&rejects);
    return status;
}

static void free_items(struct weir_scribe_item *item)
{
    while (item) {
        struct weir_scribe_item *next = item->next;
        free(item);
        item = next;
    }
}

void weir_scribe_release(struct weir_scribe *scribe)
{
    free_items(scribe->first);
    free_items(scribe->written);
    weir_superseded_release(&scribe->superseded);
    weir_buf_release(&scribe->ids);
    weir_buf_release(&scribe->message);
    *scribe = (struct weir_scribe){ 0 };
}

/* --- what is to be written -------------------------------------------------------------------- */

static struct weir_scribe_item *add(struct weir_scribe *scribe, enum item_kind kind)
{
    struct weir_scribe_item *item = weir_calloc(1, sizeof(*item));
    item->kind = kind;
    item->pass = scribe->pass;
    if (scribe->last)
        scribe->last->next = item;
    else
        scribe->first = item;
    scribe->last = item;
    return item;
}

void weir_scribe_add_receipt(struct weir_scribe *scribe, const struct weir_receipt *receipt)
{
    struct weir_scribe_item *item = add(scribe, ITEM_RECEIPT);
    item->receipt = receipt;
    item->receipt_serial = receipt->serial;
}

void weir_scribe_add_block(struct weir_scribe *scribe, const struct weir_block *block)
{
    add(scribe, ITEM_BLOCK)->block = *block;
}

/* Asked for at half the way, so that nobody but the first has to wait. */
void weir_scribe_want_reach(struct weir_scribe *scribe, uint64_t row)
{
    if (row + WEIR_REACH_STRIDE / 2 <= scribe->reach_asked)
        return;
    scribe->reach_asked = row + WEIR_REACH_STRIDE;
    add(scribe, ITEM_REACH)->row = scribe->reach_asked;
}

void weir_scribe_see(struct weir_scribe *scribe, const struct weir_batch *batch)
{
    if (!scribe->marks)
        return;
    uint64_t *rows = weir_calloc(batch->row_count ? batch->row_count : 1, sizeof(*rows));
    uint32_t count = weir_superseded_offer(&scribe->superseded, batch, rows);
    for (uint32_t i = 0; i < count; i++)
        add(scribe, ITEM_MARK)->row = rows[i];
    free(rows);
}

void weir_scribe_forget(struct weir_scribe *scribe, const struct weir_batch *batch)
{
    weir_superseded_over(&scribe->superseded, batch);
}

/* --- writing ---------------------------------------------------------------------------------- */

static enum weir_range_outcome outcome_of(enum weir_fate fate)
{
    switch (fate) {
    case WEIR_FATE_SKIPPED:
        return WEIR_RANGE_SKIPPED;
    case WEIR_FATE_ABSENT:
        return WEIR_RANGE_ABSENT;
    default:
        return WEIR_RANGE_DONE;
    }
}

/* The id that the service named, or the one that it was given. */
static struct weir_guid id_of(const struct weir_row *row, const struct weir_row_state *state)
{
    struct weir_guid id = { 0 };
    if (state->id_known)
        return state->id;
    weir_guid_parse(row->target.id, &id);
    return id;
}

/*
 * Each is the one that was made for its row, and can be made again. It is compared, whoever has
 * named it. Rows of a receipt follow on each other: those that have an id need not be looked at,
 * which long after they were read would take more time than all the rest here.
 */
static bool are_made(const struct weir_scribe *scribe, const struct weir_receipt *receipt)
{
    const struct weir_row *rows = weir_receipt_rows(receipt);
    bool made = true;
    for (uint32_t i = 0; made && i < receipt->row_count; i++) {
        struct weir_guid id = id_of(&rows[i], &weir_receipt_states(receipt)[i]);
        struct weir_guid own = weir_row_ids_make(&scribe->made, rows->number + i);
        made = weir_guid_equal(&id, &own);
    }
    return made;
}

static struct weir_str collect_ids(struct weir_scribe *scribe, const struct weir_receipt *receipt)
{
    weir_buf_reset(&scribe->ids);
    for (uint32_t i = 0; i < receipt->row_count; i++) {
        struct weir_guid id =
            id_of(&weir_receipt_rows(receipt)[i], &weir_receipt_states(receipt)[i]);
        weir_buf_add(&scribe->ids, &id, sizeof(id));
    }
    return weir_str(scribe->ids.ptr, scribe->ids.len);
}

static enum weir_status write_range(struct weir_scribe *scribe, struct weir_scribe_item *item,
                                    struct weir_error *err)
{
    const struct weir_receipt *receipt = item->receipt;
    const struct weir_row *rows = weir_receipt_rows(receipt);
    const struct weir_row *last = &rows[receipt->row_count - 1];
    struct weir_range range = {
        .pass = item->pass,
        .outcome = outcome_of(receipt->fate),
        .file = rows->file,
        .first = rows->number,
        .last = last->number,
        .offset = rows->offset,
        .behind = last->end,
    };
    range.ids_made = scribe->with_ids && are_made(scribe, receipt);
    if (scribe->with_ids && !range.ids_made)
        range.ids = collect_ids(scribe, receipt);
    return weir_journal_add_range(scribe->journal, &range, &item->journal_serial, err);
}

static struct weir_str text_of(const char *text)
{
    return weir_str_from(text ? text : "");
}

/* Somebody who is named by a key is not there, and the service does not say who. */
static void add_keys(struct weir_buf *text, const struct weir_row *row,
                     const struct weir_row_error *error)
{
    struct weir_buf references;
    struct weir_str key = weir_str_cut(row->target.key, KEYS_BYTES_MAX / 4);
    if (error->code != WEIR_KEY_NOT_THERE_CODE)
        return;
    weir_buf_init(&references, SIZE_MAX);
    weir_key_references_add(&references, row->target.members);
    struct weir_str others =
        weir_str_cut(weir_str(references.ptr, references.len), KEYS_BYTES_MAX / 2);
    if (key.len)
        weir_buf_printf(text, "; its own key is %.*s", (int)key.len, key.ptr);
    if (others.len)
        weir_buf_printf(text, "; the keys it refers to are %.*s", (int)others.len, others.ptr);
    weir_buf_release(&references);
}

/* With the preface, and whatever else is to be said, as far as there is room. */
static struct weir_str message_of(struct weir_scribe *scribe, const struct weir_row *row,
                                  const struct weir_row_error *error)
{
    struct weir_str words = text_of(error->message);
    size_t room = WEIR_JOURNAL_TEXT_MAX - KEYS_BYTES_MAX - strlen(scribe->preface);
    weir_buf_reset(&scribe->message);
    weir_buf_add_text(&scribe->message, scribe->preface);
    words = weir_str_cut(words, room);
    weir_buf_add(&scribe->message, words.ptr, words.len);
    add_keys(&scribe->message, row, error);
    return weir_str(weir_buf_text(&scribe->message), scribe->message.len);
}

/* What may be fed in again. */
static struct weir_str bytes_of(const struct weir_scribe *scribe, const struct weir_row *row)
{
    return scribe->rows_are_there && !row->named_by_input ? weir_str("", 0) : row->raw;
}

static enum weir_status write_reject(struct weir_scribe *scribe, struct weir_scribe_item *item,
                                     struct weir_error *err)
{
    const struct weir_row *row = weir_receipt_rows(item->receipt);
    const struct weir_row_state *state = weir_receipt_states(item->receipt);
    const struct weir_row_error *error = state->error;
    bool ours = row->refusal.len > 0;
    struct weir_reject reject = {
        .pass = item->pass,
        .row = row->number,
        .file = row->file,
        .offset = row->offset,
        .key_hash = row->key_hash,
        .superseded = scribe->marks &&
                      weir_superseded_reject(&scribe->superseded, row->key_hash, row->number),
        .http_status = error->http_status,
        .service_code = error->code,
        .attempts = state->attempts,
        .column = weir_str_cut(row->column, WEIR_JOURNAL_TEXT_MAX),
        .class_name = text_of(ours ? "input" : weir_class_name(error->class_)),
        .message = message_of(scribe, row, error),
        .request_id = weir_str_cut(text_of(error->request_id), WEIR_JOURNAL_TEXT_MAX),
        .connection = text_of(ours ? "" : scribe->settings->connections[error->connection].name),
        .bytes = bytes_of(scribe, row),
    };
    return weir_journal_add_reject(scribe->journal, &reject, &item->journal_serial, err);
}

static enum weir_status write_block(struct weir_scribe *scribe, struct weir_scribe_item *item,
                                    struct weir_error *err)
{
    struct weir_input_block block = {
        .file = item->block.file,
        .number = item->block.index,
        .bytes = item->block.bytes,
        .last = item->block.last,
        .hash = item->block.hash,
    };
    return weir_journal_add_block(scribe->journal, &block, &item->journal_serial, err);
}

static enum weir_status write_reach(struct weir_scribe *scribe, struct weir_scribe_item *item,
                                    struct weir_error *err)
{
    char name[WEIR_REACH_NAME_MAX];
    char text[24];
    weir_reach_name(item->pass, name);
    int len = snprintf(text, sizeof(text), "%llu", (unsigned long long)item->row);
    struct weir_note note = { weir_str_from(name), weir_str(text, (size_t)len) };
    enum weir_status status =
        weir_journal_add_note(scribe->journal, &note, &item->journal_serial, err);
    if (!status && item->row - WEIR_REACH_STRIDE > scribe->reach)
        weir_journal_hurry(scribe->journal); /* somebody is waiting for just this */
    return status;
}

static enum weir_status write_mark(struct weir_scribe *scribe, struct weir_scribe_item *item,
                                   struct weir_error *err)
{
    return weir_journal_add_mark(scribe->journal, item->pass, item->row, &item->journal_serial,
                                 err);
}

static enum weir_status write_item(struct weir_scribe *scribe, struct weir_scribe_item *item,
                                   struct weir_error *err)
{
    switch (item->kind) {
    case ITEM_RECEIPT:
        return item->receipt->fate == WEIR_FATE_REJECTED ? write_reject(scribe, item, err)
                                                         : write_range(scribe, item, err);
    case ITEM_BLOCK:
        return write_block(scribe, item, err);
    case ITEM_REACH:
        return write_reach(scribe, item, err);
    case ITEM_MARK:
        return write_mark(scribe, item, err);
    }
    return WEIR_OK;
}

static void move_to_written(struct weir_scribe *scribe)
{
    struct weir_scribe_item *item = scribe->first;
    scribe->first = item->next;
    if (!scribe->first)
        scribe->last = NULL;
    item->next = NULL;
    item->receipt = NULL;
    if (scribe->written_last)
        scribe->written_last->next = item;
    else
        scribe->written = item;
    scribe->written_last = item;
}

enum weir_status weir_scribe_write(struct weir_scribe *scribe, struct weir_error *err)
{
    while (scribe->first) {
        enum weir_status status = write_item(scribe, scribe->first, err);
        if (status == WEIR_E_WOULD_WAIT)
            return WEIR_OK;
        if (status)
            return status;
        move_to_written(scribe);
    }
    return WEIR_OK;
}

uint64_t weir_scribe_durable(struct weir_scribe *scribe, uint64_t journal_serial)
{
    uint64_t receipt = 0;
    while (scribe->written && scribe->written->journal_serial <= journal_serial) {
        struct weir_scribe_item *item = scribe->written;
        scribe->written = item->next;
        if (!scribe->written)
            scribe->written_last = NULL;
        if (item->kind == ITEM_RECEIPT)
            receipt = item->receipt_serial;
        if (item->kind == ITEM_REACH && item->pass == scribe->pass && item->row > scribe->reach)
            scribe->reach = item->row;
        free(item);
    }
    return receipt;
}
