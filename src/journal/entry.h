/* SPDX-License-Identifier: MIT */
/*
 * What a journal remembers of a job's work: ranges of finished rows, rejected rows, hashes of the
 * input's blocks, and notes. Every record carries a CRC-32C over all its fields from the moment it
 * is handed in: what is read later is what was meant, or an error.
 *
 * Rows and offsets are counted as the reader counts them; the journal only orders them. A job has
 * up to WEIR_JOURNAL_PASSES passes over its rows; a row may be finished once in each.
 */
#ifndef WEIR_JOURNAL_ENTRY_H
#define WEIR_JOURNAL_ENTRY_H

#include "base/str.h"
#include "weir/error.h"

enum weir_range_outcome {
    WEIR_RANGE_DONE = 0,
    WEIR_RANGE_SKIPPED, /* found there, from an earlier job */
    WEIR_RANGE_ABSENT,  /* a delete that found nothing to delete */
    WEIR_RANGE_OUTCOMES
};

/* Rows first … last of one file, all of them finished with the same outcome. */
struct weir_range {
    uint32_t pass;
    uint32_t file; /* of the job's inputs, from 0 */
    enum weir_range_outcome outcome;
    uint64_t first;
    uint64_t last;
    uint64_t offset;     /* of the first row's first byte, in its file */
    uint64_t behind;     /* the offset behind the last row's last byte */
    uint32_t connection; /* whose work it was, as far as the caller says so; else 0 */
    struct weir_str ids; /* 16 bytes a row, or empty */
    bool ids_made; /* they are what weir_row_ids_make() makes for these rows: not written down */
};

/*
 * A row that the service, or we, will not have. A later one for the same row replaces it; one that
 * is superseded and has neither class nor bytes only marks what stands there.
 */
struct weir_reject {
    uint32_t pass;
    uint32_t file; /* of the job's inputs, from 0 … */
    uint64_t row;
    uint64_t offset;   /* … of its first byte in there */
    uint64_t key_hash; /* to know it by when its key comes again; 0: it cannot */
    bool superseded;   /* its key comes again: not for the rejects file */
    int http_status;   /* 0: it was never sent */
    uint32_t service_code;
    uint32_t attempts;
    struct weir_str column; /* texts: empty if there is none */
    struct weir_str class_name;
    struct weir_str message;
    struct weir_str request_id;
    struct weir_str connection;
    struct weir_str bytes; /* the row as it stood in the input, line end included; empty: it is not
                              to be fed in again */
};

/*
 * The hash of a block of decoded input, as far as it was read. A later one for the same block
 * replaces it only if it says more: more bytes, or that the file ends with them.
 */
struct weir_input_block {
    uint32_t file;
    uint64_t number;
    uint32_t bytes; /* that were hashed */
    bool last;      /* the file ends behind them */
    uint64_t hash;
};

/* A text under a name; a later one of the same name replaces it. */
struct weir_note {
    struct weir_str name;
    struct weir_str text;
};

enum weir_entry_kind {
    WEIR_ENTRY_RANGE = 0,
    WEIR_ENTRY_REJECT,
    WEIR_ENTRY_BLOCK,
    WEIR_ENTRY_NOTE,
    WEIR_ENTRY_KINDS
};

struct weir_entry {
    enum weir_entry_kind kind;
    uint32_t crc;
    uint64_t serial;
    union {
        struct weir_range range;
        struct weir_reject reject;
        struct weir_input_block block;
        struct weir_note note;
    };
};

/* Over serial and fields. Pure. */
uint32_t weir_entry_crc(const struct weir_entry *record);

/* Bytes of its texts. */
size_t weir_entry_bytes(const struct weir_entry *record);

/* WEIR_E_INVALID: a field is impossible; WEIR_E_TOO_BIG: one exceeds its bound. */
enum weir_status weir_entry_check(const struct weir_entry *record, struct weir_error *err);

/* CRCs of numbers and texts, whatever the machine's order of bytes; for the parts of the journal.
 */
uint32_t weir_crc_number(uint32_t crc, uint64_t number);
uint32_t weir_crc_text(uint32_t crc, struct weir_str text);

#endif
