/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the body of a failed answer. It must not crash; a fault is found in complete JSON
 * only, so the same bytes without their last bracket hold none; texts are UTF-8 and within bounds.
 *
 *     clang -fsanitize=fuzzer,address,undefined …     with libFuzzer
 *     replay.c                                        without: the files named on the command line
 */
#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "protocol/fault.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A reader that is strict about UTF-8 takes it as a JSON string. */
static void check_text(const char *text, size_t text_max)
{
    struct weir_str whole = weir_str(text, strnlen(text, text_max));
    struct weir_buf buf;
    struct weir_json *json;
    if (whole.len == text_max)
        abort();
    weir_buf_init(&buf, 8 * text_max);
    weir_buf_add_json_string(&buf, whole);
    if (weir_json_parse(weir_str(buf.ptr, buf.len), &json, NULL) != WEIR_OK)
        abort();
    weir_json_free(json);
    weir_buf_release(&buf);
}

static void check_rows(const struct weir_fault *fault)
{
    bool rows = fault->details == WEIR_FAULT_DETAILS_ROWS;
    bool seen[WEIR_TARGETS_MAX] = { false };
    if (rows != (fault->row_count > 0))
        abort();
    for (size_t i = 0; i < fault->row_count; i++) {
        const struct weir_fault_row *row = &fault->rows[i];
        if (row->index >= WEIR_TARGETS_MAX || row->status < 0 || row->status > 599)
            abort();
        if (seen[row->index])
            abort();
        seen[row->index] = true;
        check_text(row->code, sizeof(row->code));
    }
}

static void check_cut(struct weir_str body)
{
    struct weir_fault fault;
    const char *bracket = memrchr(body.ptr, '}', body.len);
    weir_fault_read(weir_str(body.ptr, (size_t)(bracket - body.ptr)), &fault);
    if (fault.found)
        abort();
    weir_fault_release(&fault);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of just this size, so that reading beyond its end is noticed. */
    char *bytes = weir_calloc(size ? size : 1, 1);
    if (size)
        memcpy(bytes, data, size);
    struct weir_fault fault;
    struct weir_http_answer http = { .status = 400 };
    weir_fault_read(weir_str(bytes, size), &fault);
    weir_fault_tell(&fault, &http);
    if (!fault.found && (http.error_code || http.error_message || fault.row_count))
        abort();
    check_text(fault.code, sizeof(fault.code));
    check_text(fault.message, sizeof(fault.message));
    check_text(fault.retry_after, sizeof(fault.retry_after));
    check_rows(&fault);
    if (fault.found)
        check_cut(weir_str(bytes, size));
    weir_fault_release(&fault);
    free(bytes);
    return 0;
}
