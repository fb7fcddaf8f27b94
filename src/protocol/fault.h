/* SPDX-License-Identifier: MIT */
/*
 * What the body of a failed answer says: code, message, and which rows of an elastic table failed.
 *
 *     {"error":{"code":"0x80072322","message":"…","@….BulkApiErrorDetails":"[{…},…]"}}
 *     {"error":{"code":"…","message":{"lang":"en-US","value":"…"}}}
 *     {"Message":"…","ErrorCode":"0x80097303"}
 *
 * Only a complete JSON document in one of these shapes is a fault: of a page of HTML, of nothing,
 * of a text that was cut, of something nested too deep `found` is false, and nothing is guessed.
 *
 * On an elastic table the rows of a bulk message fail one by one. Whoever asked for it
 * (weir_request_options.error_details) is told which: an annotation whose name ends in
 * `BulkApiErrorDetails` holds a list, or a text that holds one, of {RequestIndex, Id, StatusCode}.
 * The list is understood whole or not at all, because a row that it fails to name is a success: one
 * that names a row twice, or a row that was never sent, is not understood.
 *
 * Pure. Any thread.
 */
#ifndef WEIR_PROTOCOL_FAULT_H
#define WEIR_PROTOCOL_FAULT_H

#include "base/limits.h"
#include "base/str.h"
#include "protocol/guid.h"
#include "weir/verdict.h"

#define WEIR_FAULT_RETRY_AFTER_MAX 64 /* terminator included */

/* A row that failed. */
struct weir_fault_row {
    uint32_t index; /* its place in the request, from 0 */
    int status;     /* as of HTTP; 0: not said */
    bool id_known;
    struct weir_guid id;
    char code[WEIR_FAULT_CODE_MAX]; /* "": none */
};

enum weir_fault_details {
    WEIR_FAULT_DETAILS_NONE = 0, /* nothing is said of single rows */
    WEIR_FAULT_DETAILS_ROWS,     /* `rows` are those that failed, all others succeeded */
    WEIR_FAULT_DETAILS_BAD,      /* something is said that is not understood */
};

/* Zeroed: no fault. */
struct weir_fault {
    bool found;
    char code[WEIR_FAULT_CODE_MAX];               /* as written, hex or decimal; "": none */
    char message[WEIR_FAULT_MESSAGE_MAX];         /* of a long one, beginning and end */
    char retry_after[WEIR_FAULT_RETRY_AFTER_MAX]; /* of an annotation, as a header has it; "": none
                                                   */
    enum weir_fault_details details;
    struct weir_fault_row *rows; /* in the order of the text */
    size_t row_count;            /* at most WEIR_TARGETS_MAX */
};

/* Read a body of any kind and size. `ret` must be released, whatever was found. */
void weir_fault_read(struct weir_str body, struct weir_fault *ret);

/* The answer is to a bulk message of `row_count` rows: details that name others are BAD. */
void weir_fault_bind(struct weir_fault *fault, size_t row_count);

void weir_fault_release(struct weir_fault *fault);

/* Put code and message into an answer, which borrows them. Nothing happens if no fault was found.
 */
void weir_fault_tell(const struct weir_fault *fault, struct weir_http_answer *http);

#endif
