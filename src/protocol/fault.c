/* SPDX-License-Identifier: MIT */
/* What the body of a failed answer says; see fault.h. */
#include "protocol/fault.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "protocol/scan.h"

/* Of a member's name; annotations have long ones. */
#define NAME_BYTES 256

/* A name or a text that decodes to more than three times its bytes does not exist. */
#define DECODED_FACTOR 3

static bool is_text(struct weir_str value)
{
    return weir_scan_is_string(value) || weir_scan_is_number(value);
}

/* ---- rows ---- */

static bool read_int(struct weir_str value, int64_t max, int64_t *ret)
{
    char text[24];
    int64_t number;
    size_t len = weir_scan_text(value, text, sizeof(text));
    if (!weir_str_to_int64(weir_str(text, len), &number) || number < 0 || number > max)
        return false;
    *ret = number;
    return true;
}

/* One member of a row. False: it is not what it must be. */
static bool read_row_member(struct weir_fault_row *row, const char *name, struct weir_str value,
                            bool *indexed)
{
    struct weir_str text = weir_str_from(name);
    int64_t number;
    if (weir_str_equal_nocase(text, weir_str_from("RequestIndex"))) {
        *indexed = read_int(value, WEIR_TARGETS_MAX - 1, &number);
        row->index = *indexed ? (uint32_t)number : 0;
        return *indexed;
    }
    if (weir_str_equal_nocase(text, weir_str_from("StatusCode"))) {
        row->status = read_int(value, 599, &number) ? (int)number : 0;
    } else if (weir_str_equal_nocase(text, weir_str_from("Id"))) {
        char id[WEIR_GUID_TEXT + 2];
        size_t len = weir_scan_text(value, id, sizeof(id));
        row->id_known = weir_guid_parse(weir_str(id, len), &row->id);
    } else if (weir_str_equal_nocase(text, weir_str_from("ErrorCode")) ||
               weir_str_equal_nocase(text, weir_str_from("Code"))) {
        weir_scan_text(value, row->code, sizeof(row->code));
    }
    return true;
}

static bool read_row(struct weir_str value, struct weir_fault_row *ret)
{
    struct weir_fault_row row = { 0 };
    bool indexed = false;
    bool good = weir_scan_is_object(value);
    struct weir_scan scan = weir_scan_open(value);
    struct weir_str key, member;
    while (good && weir_scan_next(&scan, &key, &member)) {
        char name[NAME_BYTES];
        weir_scan_text(key, name, sizeof(name));
        good = read_row_member(&row, name, member, &indexed);
    }
    *ret = row;
    return good && indexed;
}

/* How many elements there are, at most one more than `max`. */
static size_t count_elements(struct weir_str array, size_t max)
{
    struct weir_scan scan = weir_scan_open(array);
    struct weir_str key, value;
    size_t count = 0;
    while (count <= max && weir_scan_next(&scan, &key, &value))
        count++;
    return count;
}

/* Every index at most once: a row cannot fail twice. */
static bool are_distinct(const struct weir_fault_row *rows, size_t count)
{
    bool seen[WEIR_TARGETS_MAX] = { false };
    for (size_t i = 0; i < count; i++) {
        if (seen[rows[i].index])
            return false;
        seen[rows[i].index] = true;
    }
    return true;
}

static bool read_rows(struct weir_str list, struct weir_fault *ret)
{
    size_t count = weir_scan_is_array(list) ? count_elements(list, WEIR_TARGETS_MAX) : 0;
    if (count == 0 || count > WEIR_TARGETS_MAX)
        return false;
    struct weir_fault_row *rows = weir_calloc(count, sizeof(*rows));
    struct weir_scan scan = weir_scan_open(list);
    struct weir_str key, value;
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        good = weir_scan_next(&scan, &key, &value) && read_row(value, &rows[i]);
    if (!good || !are_distinct(rows, count)) {
        free(rows);
        return false;
    }
    ret->rows = rows;
    ret->row_count = count;
    return true;
}

/* The same in a text that holds the list. */
static bool read_rows_in_text(struct weir_str value, struct weir_fault *ret)
{
    if (value.len > WEIR_FAULT_DETAILS_MAX)
        return false;
    size_t bytes = DECODED_FACTOR * value.len + 1;
    char *text = weir_calloc(bytes, 1);
    size_t len = weir_scan_text(value, text, bytes);
    struct weir_str list;
    bool good = weir_scan_document(weir_str(text, len), &list) && read_rows(list, ret);
    free(text);
    return good;
}

/* What was understood so far is not to be used. */
static void spoil_details(struct weir_fault *fault)
{
    free(fault->rows);
    fault->rows = NULL;
    fault->row_count = 0;
    fault->details = WEIR_FAULT_DETAILS_BAD;
}

static void read_details(struct weir_str value, struct weir_fault *ret)
{
    if (ret->details != WEIR_FAULT_DETAILS_NONE) { /* told twice */
        spoil_details(ret);
        return;
    }
    bool good = weir_scan_is_string(value) ? read_rows_in_text(value, ret) : read_rows(value, ret);
    ret->details = good ? WEIR_FAULT_DETAILS_ROWS : WEIR_FAULT_DETAILS_BAD;
}

/* ---- Retry-After ---- */

/* The .NET form of a duration, hh:mm:ss with or without a fraction, in seconds. */
static bool read_time_span(const char *text, int64_t *ret_s)
{
    int64_t parts[3];
    struct weir_str rest = weir_str_from(text);
    for (int i = 0; i < 3; i++) {
        size_t len = i < 2 ? strcspn(rest.ptr, ":") : strcspn(rest.ptr, ".");
        if (len == 0 || len > 2 || !weir_str_to_int64(weir_str(rest.ptr, len), &parts[i]) ||
            parts[i] < 0 || (i < 2 && rest.ptr[len] != ':'))
            return false;
        rest = weir_str_from(rest.ptr + len + (rest.ptr[len] != '\0'));
    }
    for (size_t i = 0; i < rest.len; i++) {
        if (rest.ptr[i] < '0' || rest.ptr[i] > '9')
            return false;
    }
    /* A fraction counts as a whole second: never too early. */
    *ret_s = parts[0] * 3600 + parts[1] * 60 + parts[2] + (rest.len > 0);
    return true;
}

static void read_retry_after(struct weir_str value, struct weir_fault *ret)
{
    int64_t seconds;
    weir_scan_text(value, ret->retry_after, sizeof(ret->retry_after));
    if (read_time_span(ret->retry_after, &seconds))
        snprintf(ret->retry_after, sizeof(ret->retry_after), "%" PRId64, seconds);
}

/* ---- the two shapes ---- */

static bool ends_with(const char *name, const char *end)
{
    struct weir_str text = weir_str_from(name);
    size_t len = strlen(end);
    return text.len >= len &&
           weir_str_equal_nocase(weir_str(text.ptr + text.len - len, len), weir_str(end, len));
}

/*
 * A text, or an object that has one as its `value`. The end of a long one is kept, because that is
 * where the number of the database's error stands.
 */
static void read_message(struct weir_str value, struct weir_fault *ret)
{
    if (weir_scan_is_object(value) && !weir_scan_find(value, "value", &value))
        return;
    weir_scan_text_ends(value, ret->message, sizeof(ret->message), WEIR_FAULT_TAIL_BYTES);
}

static void read_annotations(struct weir_str error, struct weir_fault *ret)
{
    struct weir_scan scan = weir_scan_open(error);
    struct weir_str key, value;
    while (weir_scan_next(&scan, &key, &value)) {
        char name[NAME_BYTES];
        weir_scan_text(key, name, sizeof(name));
        if (name[0] != '@')
            continue;
        if (ends_with(name, "BulkApiErrorDetails"))
            read_details(value, ret);
        else if (ends_with(name, "Retry-After") || ends_with(name, "RetryAfter"))
            read_retry_after(value, ret);
    }
}

static void read_error(struct weir_str error, struct weir_fault *ret)
{
    struct weir_str code, message;
    bool coded = weir_scan_find(error, "code", &code) && is_text(code);
    bool told = weir_scan_find(error, "message", &message);
    if (!coded && !told)
        return;
    ret->found = true;
    if (coded)
        weir_scan_text(code, ret->code, sizeof(ret->code));
    if (told)
        read_message(message, ret);
    read_annotations(error, ret);
}

static void read_flat(struct weir_str root, struct weir_fault *ret)
{
    struct weir_str code, message;
    bool coded = weir_scan_find(root, "ErrorCode", &code) && is_text(code);
    bool told = weir_scan_find(root, "Message", &message) && is_text(message);
    ret->found = coded || told;
    if (coded)
        weir_scan_text(code, ret->code, sizeof(ret->code));
    if (told)
        read_message(message, ret);
}

void weir_fault_read(struct weir_str body, struct weir_fault *ret)
{
    struct weir_str root, error;
    *ret = (struct weir_fault){ 0 };
    if (!weir_scan_document(body, &root))
        return;
    if (weir_scan_find(root, "error", &error))
        read_error(error, ret);
    else
        read_flat(root, ret);
}

void weir_fault_bind(struct weir_fault *fault, size_t row_count)
{
    for (size_t i = 0; i < fault->row_count; i++) {
        if (fault->rows[i].index >= row_count) {
            spoil_details(fault);
            return;
        }
    }
}

void weir_fault_release(struct weir_fault *fault)
{
    free(fault->rows);
    *fault = (struct weir_fault){ 0 };
}

void weir_fault_tell(const struct weir_fault *fault, struct weir_http_answer *http)
{
    if (!fault->found)
        return;
    http->error_code = fault->code[0] ? fault->code : NULL;
    http->error_message = fault->message[0] ? fault->message : NULL;
}
