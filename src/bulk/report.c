/* SPDX-License-Identifier: MIT */
/*
 * Bytes into reports; see report.h.
 *
 * A success is one only if it is whole: the ids of a CreateMultiple, the closing boundary of a
 * $batch, 204 or an OData version for any other bulk message. What is 2xx and not whole was
 * executed or not, nobody knows, and is as good as silence.
 *
 * A status without a code says something of a row only in a part or a row of its own: a whole
 * answer like that may be a gateway's.
 */
#include "bulk/report.h"

#include "base/buf.h"
#include "base/mem.h"
#include "protocol/answer.h"
#include "protocol/item_answer.h"
#include "protocol/readback.h"
#include "protocol/scan.h"
#include "throttle/signal.h"

/* A second answer in place of the one that is not whole. */
static const struct weir_verdict not_whole = {
    .class_ = WEIR_CLASS_TRANSIENT,
    .outcome = WEIR_OUTCOME_UNKNOWN,
    .retry_after_us = -1,
};

static bool is_success(int status)
{
    return status >= 200 && status <= 299;
}

/* A $batch that failed may be told of part by part all the same. */
static bool is_multipart(const struct weir_report_exchange *exchange)
{
    struct weir_str type =
        weir_signal_header(exchange->headers, exchange->header_count, "Content-Type");
    return exchange->status && weir_str_starts_nocase(type, "multipart/");
}

static char *header_text(const struct weir_http_header *headers, size_t count, const char *name)
{
    struct weir_str value = weir_signal_header(headers, count, name);
    return value.len ? weir_strndup(value.ptr, value.len) : NULL;
}

static struct weir_http_answer http_of(const struct weir_report_exchange *exchange)
{
    return (struct weir_http_answer){
        .status = exchange->status,
        .sent = exchange->sent,
        .headers = exchange->headers,
        .header_count = exchange->header_count,
        .duration_us = exchange->duration_us,
        .ttfb_us = exchange->ttfb_us,
    };
}

static enum weir_fault_kind kind_of(const struct weir_verdict *verdict, const char *message)
{
    return verdict->class_ == WEIR_CLASS_OK ? WEIR_FAULT_NONE
                                            : weir_catalogue_kind(verdict->code, message);
}

/* 404 without a code: of a part the service says that the row is not there. */
static bool is_bare_404(const struct weir_verdict *verdict)
{
    return !verdict->code && verdict->http_status == 404;
}

static void make_items(struct weir_report *report, uint32_t count)
{
    report->items = weir_calloc(count, sizeof(*report->items));
    report->item_count = count;
    for (uint32_t i = 0; i < count; i++) {
        report->items[i].verdict = report->answer.verdict;
        report->items[i].created_wall_us = INT64_MIN;
    }
}

static void read_item(const struct weir_item_answer *from, struct weir_report_item *item)
{
    struct weir_answer answer;
    weir_answer_read(&from->http, 0, &answer);
    item->verdict = answer.verdict;
    item->fault = is_bare_404(&item->verdict) ? WEIR_FAULT_NOT_FOUND
                                              : kind_of(&item->verdict, from->http.error_message);
    if (from->http.error_message && from->http.error_message[0])
        item->message = weir_strdup(from->http.error_message);
    item->request_id =
        header_text(from->http.headers, from->http.header_count, "x-ms-service-request-id");
}

/* A throttle inside is a throttle of the connection; what is left is that it answered. */
static void learn_from_items(struct weir_report *report, enum weir_class otherwise)
{
    const struct weir_verdict *longest = NULL;
    for (uint32_t i = 0; i < report->item_count; i++) {
        const struct weir_verdict *verdict = &report->items[i].verdict;
        if (verdict->class_ == WEIR_CLASS_THROTTLE &&
            (!longest || verdict->retry_after_us > longest->retry_after_us))
            longest = verdict;
    }
    if (longest) {
        report->answer.verdict = *longest;
        return;
    }
    report->answer.verdict.class_ = otherwise;
    report->answer.verdict.outcome = WEIR_OUTCOME_EXECUTED;
    report->answer.verdict.retry_after_us = -1;
}

/* --- bulk messages ---------------------------------------------------------------------------- */

/*
 * Of a row that failed the details say its status, seldom a code, never a message; code and message
 * of the answer are about one of those that failed, nobody knows which. If there is but one they
 * are that row's.
 */
static void tell_of_row(const struct weir_fault *fault, uint32_t code,
                        struct weir_report_item *item)
{
    struct weir_buf words;
    if (fault->row_count == 1) {
        if (!item->verdict.code)
            item->verdict.code = code;
        if (!item->message && fault->message[0])
            item->message = weir_strdup(fault->message);
    }
    if (item->message)
        return;
    weir_buf_init(&words, WEIR_FAULT_MESSAGE_MAX + 256);
    weir_buf_printf(&words, "status %d: " WEIR_REPORT_STATUS_ONLY, item->verdict.http_status);
    if (fault->message[0])
        weir_buf_printf(&words, "; of one of the %zu that failed with it: %s", fault->row_count,
                        fault->message);
    item->message = weir_buf_take(&words);
}

/* An elastic table: those that it names have failed, all others are done. */
static void read_details(const struct weir_report_exchange *exchange,
                         const struct weir_fault *fault, uint32_t row_count,
                         struct weir_report *report)
{
    make_items(report, row_count);
    for (uint32_t i = 0; i < row_count; i++)
        report->items[i].verdict = (struct weir_verdict){ .class_ = WEIR_CLASS_OK,
                                                          .outcome = WEIR_OUTCOME_EXECUTED,
                                                          .http_status = 200,
                                                          .retry_after_us = -1 };
    for (size_t i = 0; i < fault->row_count; i++) {
        struct weir_item_answer answer;
        struct weir_report_item *item = &report->items[fault->rows[i].index];
        weir_item_answer_init_row(&answer, &fault->rows[i], fault, exchange->headers,
                                  exchange->header_count);
        free(item->message); /* named twice */
        free(item->request_id);
        read_item(&answer, item);
        tell_of_row(fault, report->answer.verdict.code, item);
        weir_item_answer_release(&answer);
    }
    learn_from_items(report, WEIR_CLASS_BAD_ROWS);
}

static void read_failure(const struct weir_report_exchange *exchange, enum weir_load_mode mode,
                         uint32_t row_count, struct weir_report *report)
{
    struct weir_fault fault = { 0 };
    struct weir_http_answer http = http_of(exchange);
    if (exchange->status)
        weir_fault_read(exchange->body, &fault);
    weir_fault_bind(&fault, row_count);
    weir_fault_tell(&fault, &http);
    weir_answer_read(&http, 0, &report->answer);
    report->fault = kind_of(&report->answer.verdict, fault.message);
    if (is_bare_404(&report->answer.verdict)) { /* a gateway that does not know the way */
        report->answer.verdict.class_ = WEIR_CLASS_OTHER;
        report->fault = WEIR_FAULT_NONE;
    }
    if (fault.message[0])
        report->message = weir_strdup(fault.message);
    if (mode == WEIR_LOAD_BULK && fault.details == WEIR_FAULT_DETAILS_ROWS && fault.row_count > 0)
        read_details(exchange, &fault, row_count, report);
    else if (fault.details != WEIR_FAULT_DETAILS_NONE) /* some rows may be there */
        report->answer.verdict.outcome = WEIR_OUTCOME_UNKNOWN;
    weir_fault_release(&fault);
}

static void fail_as_not_whole(struct weir_report *report, const char *message)
{
    int status = report->answer.verdict.http_status;
    report->answer.verdict = not_whole;
    report->answer.verdict.http_status = status;
    report->message = weir_strdup(message);
}

static void read_created(struct weir_str body, uint32_t row_count, struct weir_report *report)
{
    report->ids = weir_realloc(NULL, row_count, sizeof(*report->ids));
    if (weir_answer_ids(body, row_count, report->ids, NULL) == WEIR_OK)
        return;
    free(report->ids);
    report->ids = NULL;
    fail_as_not_whole(report, "the answer does not have the ids of the rows");
}

/* The service itself has said so, with or without a body; not a page in its place, and not a part
 * of what it said. */
static void read_accepted(const struct weir_report_exchange *exchange, struct weir_report *report)
{
    struct weir_str version =
        weir_signal_header(exchange->headers, exchange->header_count, "OData-Version");
    struct weir_str root;
    bool complete = exchange->body.len == 0 || weir_scan_document(exchange->body, &root);
    if (exchange->status != 204 && (!version.len || !complete))
        fail_as_not_whole(report, "the answer is not one to a bulk message");
}

/* --- $batch ----------------------------------------------------------------------------------- */

/* A row that was read: its id must be in the answer, its time of making may be. */
static void read_present(struct weir_str body, const struct weir_table_names *table,
                         struct weir_report_item *item)
{
    struct weir_readback row;
    if (weir_readback_read(body, table, &row, NULL) != WEIR_OK) {
        item->verdict = not_whole;
        return;
    }
    item->presence = WEIR_PRESENCE_PRESENT;
    item->id = row.id;
    item->id_known = true;
    if (row.created_known)
        item->created_wall_us = row.created_us;
}

static void read_presence(const struct weir_part_answer *part, const struct weir_table_names *table,
                          struct weir_report_item *item)
{
    if (item->verdict.class_ == WEIR_CLASS_OK)
        read_present(part->body, table, item);
    else if (item->verdict.class_ == WEIR_CLASS_PRIVILEGE)
        item->presence = WEIR_PRESENCE_FORBIDDEN;
    else if (item->fault == WEIR_FAULT_NOT_FOUND)
        item->presence = WEIR_PRESENCE_ABSENT;
}

static void read_part(const struct weir_report_exchange *exchange,
                      const struct weir_part_answer *part, enum weir_load_mode mode,
                      const struct weir_table_names *table, struct weir_report_item *item)
{
    struct weir_item_answer answer;
    weir_item_answer_init_part(&answer, part, exchange->headers, exchange->header_count);
    read_item(&answer, item);
    weir_item_answer_release(&answer);
    if (mode == WEIR_LOAD_READ_BACK)
        read_presence(part, table, item);
    else if (item->verdict.class_ == WEIR_CLASS_OK)
        item->id_known = weir_answer_entity_id(part->headers, part->header_count, &item->id);
}

static void read_parts(const struct weir_report_exchange *exchange, enum weir_load_mode mode,
                       const struct weir_table_names *table, uint32_t row_count,
                       struct weir_report *report)
{
    struct weir_str type =
        weir_signal_header(exchange->headers, exchange->header_count, "Content-Type");
    char *content_type = weir_strndup(type.ptr ? type.ptr : "", type.len);
    struct weir_batch_answer batch;
    if (weir_batch_answer_read(exchange->body, content_type, row_count, &batch, NULL) == WEIR_OK) {
        make_items(report, row_count);
        for (uint32_t i = 0; i < row_count; i++)
            read_part(exchange, &batch.parts[i], mode, table, &report->items[i]);
        learn_from_items(report, WEIR_CLASS_OK);
        weir_batch_answer_release(&batch);
    } else {
        fail_as_not_whole(report, "the answer is not one to a $batch of so many requests");
    }
    free(content_type);
}

/* --- the whole -------------------------------------------------------------------------------- */

void weir_report_read(const struct weir_report_exchange *exchange, enum weir_load_mode mode,
                      const struct weir_table_names *table, bool is_create, uint32_t row_count,
                      struct weir_report *ret)
{
    *ret = (struct weir_report){ .timed_out = exchange->timed_out };
    ret->request_id =
        header_text(exchange->headers, exchange->header_count, "x-ms-service-request-id");
    bool in_parts = mode != WEIR_LOAD_BULK && is_multipart(exchange);
    if (!is_success(exchange->status) && !in_parts) {
        read_failure(exchange, mode, row_count, ret);
        return;
    }
    struct weir_http_answer http = http_of(exchange);
    weir_answer_read(&http, 0, &ret->answer);
    if (mode != WEIR_LOAD_BULK)
        read_parts(exchange, mode, table, row_count, ret);
    else if (is_create)
        read_created(exchange->body, row_count, ret);
    else
        read_accepted(exchange, ret);
}

void weir_report_release(struct weir_report *report)
{
    for (uint32_t i = 0; i < report->item_count; i++) {
        free(report->items[i].message);
        free(report->items[i].request_id);
    }
    free(report->items);
    free(report->ids);
    free(report->message);
    free(report->request_id);
    *report = (struct weir_report){ 0 };
}
