/* SPDX-License-Identifier: MIT */
/* Records; see entry.h. */
#include "journal/entry.h"

#include "base/crc32c.h"
#include "base/error.h"
#include "base/limits.h"

uint32_t weir_crc_number(uint32_t crc, uint64_t number)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
    return weir_crc32c(crc, bytes, sizeof(bytes));
}

/* With its length: "ab" "c" is not "a" "bc". */
uint32_t weir_crc_text(uint32_t crc, struct weir_str text)
{
    crc = weir_crc_number(crc, text.len);
    return weir_crc32c(crc, text.ptr, text.len);
}

static uint32_t range_crc(uint32_t crc, const struct weir_range *range)
{
    crc = weir_crc_number(crc, range->pass);
    crc = weir_crc_number(crc, range->file);
    crc = weir_crc_number(crc, range->outcome);
    crc = weir_crc_number(crc, range->first);
    crc = weir_crc_number(crc, range->last);
    crc = weir_crc_number(crc, range->offset);
    crc = weir_crc_number(crc, range->behind);
    crc = weir_crc_number(crc, range->connection);
    crc = weir_crc_text(crc, range->ids);
    return range->ids_made ? weir_crc_number(crc, true) : crc; /* version 1 did not have it */
}

static uint32_t reject_crc(uint32_t crc, const struct weir_reject *reject)
{
    crc = weir_crc_number(crc, reject->pass);
    crc = weir_crc_number(crc, reject->file);
    crc = weir_crc_number(crc, reject->row);
    crc = weir_crc_number(crc, reject->offset);
    crc = weir_crc_number(crc, reject->key_hash);
    crc = weir_crc_number(crc, reject->superseded);
    crc = weir_crc_number(crc, (uint64_t)reject->http_status);
    crc = weir_crc_number(crc, reject->service_code);
    crc = weir_crc_number(crc, reject->attempts);
    crc = weir_crc_text(crc, reject->column);
    crc = weir_crc_text(crc, reject->class_name);
    crc = weir_crc_text(crc, reject->message);
    crc = weir_crc_text(crc, reject->request_id);
    crc = weir_crc_text(crc, reject->connection);
    return weir_crc_text(crc, reject->bytes);
}

static uint32_t block_crc(uint32_t crc, const struct weir_input_block *block)
{
    crc = weir_crc_number(crc, block->file);
    crc = weir_crc_number(crc, block->number);
    crc = weir_crc_number(crc, block->bytes);
    crc = weir_crc_number(crc, block->last);
    return weir_crc_number(crc, block->hash);
}

uint32_t weir_entry_crc(const struct weir_entry *record)
{
    uint32_t crc = weir_crc_number(weir_crc_number(0, record->kind), record->serial);
    switch (record->kind) {
    case WEIR_ENTRY_RANGE:
        return range_crc(crc, &record->range);
    case WEIR_ENTRY_REJECT:
        return reject_crc(crc, &record->reject);
    case WEIR_ENTRY_BLOCK:
        return block_crc(crc, &record->block);
    case WEIR_ENTRY_NOTE:
        return weir_crc_text(weir_crc_text(crc, record->note.name), record->note.text);
    case WEIR_ENTRY_KINDS:
        break;
    }
    return 0;
}

size_t weir_entry_bytes(const struct weir_entry *record)
{
    const struct weir_reject *reject = &record->reject;
    switch (record->kind) {
    case WEIR_ENTRY_RANGE:
        return record->range.ids.len;
    case WEIR_ENTRY_REJECT:
        return reject->column.len + reject->class_name.len + reject->message.len +
               reject->request_id.len + reject->connection.len + reject->bytes.len;
    case WEIR_ENTRY_NOTE:
        return record->note.name.len + record->note.text.len;
    case WEIR_ENTRY_BLOCK:
    case WEIR_ENTRY_KINDS:
        break;
    }
    return 0;
}

/* --- checks ----------------------------------------------------------------------------------- */

static enum weir_status check_number(const char *what, uint64_t number, struct weir_error *err)
{
    if (number <= (uint64_t)WEIR_JOURNAL_ROW_MAX)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_TOO_BIG, "%s \"%llu\" is beyond what a journal can hold", what,
                     (unsigned long long)number);
}

static enum weir_status check_text(const char *what, struct weir_str text, size_t bytes_max,
                                   struct weir_error *err)
{
    if (text.len <= bytes_max)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_TOO_BIG, "%s has %zu bytes: at most %zu can be journaled", what,
                     text.len, bytes_max);
}

static enum weir_status check_pass(uint32_t pass, struct weir_error *err)
{
    if (pass < WEIR_JOURNAL_PASSES)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_INVALID, "pass \"%u\" must be below %d", pass,
                     WEIR_JOURNAL_PASSES);
}

/* More is not known here: a job whose rows come from memory has no files, and its rows are in 0. */
static enum weir_status check_file(uint32_t file, struct weir_error *err)
{
    if (file < WEIR_JOURNAL_INPUTS_MAX)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_INVALID, "file \"%u\" must be below %d", file,
                     WEIR_JOURNAL_INPUTS_MAX);
}

static enum weir_status check_range(const struct weir_range *range, struct weir_error *err)
{
    enum weir_status status = check_pass(range->pass, err);
    status = status ? status : check_file(range->file, err);
    status = status ? status : check_number("row", range->last, err);
    status = status ? status : check_number("offset", range->behind, err);
    if (status)
        return status;
    if (range->first > range->last || range->offset > range->behind)
        return weir_fail(err, WEIR_E_INVALID, "a range must not end before it begins");
    if ((unsigned)range->outcome >= WEIR_RANGE_OUTCOMES)
        return weir_fail(err, WEIR_E_INVALID, "outcome \"%d\" is none of a range",
                         (int)range->outcome);
    if (range->ids.len == 0)
        return WEIR_OK;
    if (range->ids_made)
        return weir_fail(err, WEIR_E_INVALID, "ids that are made are not written down");
    if (range->ids.len % 16 != 0 || range->ids.len / 16 != range->last - range->first + 1)
        return weir_fail(err, WEIR_E_INVALID, "a range must have 16 bytes of ids for each row");
    return check_text("the ids of a range", range->ids, WEIR_JOURNAL_RECORD_MAX, err);
}

static enum weir_status check_reject(const struct weir_reject *reject, struct weir_error *err)
{
    enum weir_status status = check_pass(reject->pass, err);
    status = status ? status : check_file(reject->file, err);
    status = status ? status : check_number("row", reject->row, err);
    status = status ? status : check_number("offset", reject->offset, err);
    status = status ? status : check_text("a column", reject->column, WEIR_JOURNAL_TEXT_MAX, err);
    status =
        status ? status : check_text("a class", reject->class_name, WEIR_JOURNAL_TEXT_MAX, err);
    status = status ? status : check_text("a message", reject->message, WEIR_JOURNAL_TEXT_MAX, err);
    status = status ? status
                    : check_text("a request id", reject->request_id, WEIR_JOURNAL_TEXT_MAX, err);
    status = status ? status
                    : check_text("a connection", reject->connection, WEIR_JOURNAL_TEXT_MAX, err);
    return status ? status
                  : check_text("a rejected row", reject->bytes, WEIR_JOURNAL_RECORD_MAX, err);
}

static enum weir_status check_block(const struct weir_input_block *block, struct weir_error *err)
{
    enum weir_status status = check_file(block->file, err);
    return status ? status : check_number("block", block->number, err);
}

static enum weir_status check_note(const struct weir_note *note, struct weir_error *err)
{
    enum weir_status status =
        check_text("the name of a note", note->name, WEIR_JOURNAL_NAME_MAX, err);
    return status ? status : check_text("a note", note->text, WEIR_JOURNAL_RECORD_MAX, err);
}

enum weir_status weir_entry_check(const struct weir_entry *record, struct weir_error *err)
{
    switch (record->kind) {
    case WEIR_ENTRY_RANGE:
        return check_range(&record->range, err);
    case WEIR_ENTRY_REJECT:
        return check_reject(&record->reject, err);
    case WEIR_ENTRY_BLOCK:
        return check_block(&record->block, err);
    case WEIR_ENTRY_NOTE:
        return check_note(&record->note, err);
    case WEIR_ENTRY_KINDS:
        break;
    }
    return weir_fail(err, WEIR_E_INVALID, "there is no record of kind \"%d\"", (int)record->kind);
}
