/* SPDX-License-Identifier: MIT */
/* What may be asked for along with a request; see request_options.h. */
#include "protocol/request_options.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "protocol/guid.h"

#define ERROR_DETAILS "odata.include-annotations=\"Microsoft.PowerApps.CDS.ErrorDetails.*\""

const char *weir_request_method(enum weir_request_kind kind)
{
    static const char *const methods[WEIR_REQUEST_KINDS] = {
        [WEIR_REQUEST_READ] = "GET",      [WEIR_REQUEST_CREATE] = "POST",
        [WEIR_REQUEST_UPDATE] = "PATCH",  [WEIR_REQUEST_UPSERT] = "PATCH",
        [WEIR_REQUEST_DELETE] = "DELETE",
    };
    return methods[kind];
}

/* ---- the check ---- */

/* A header's value: printable ASCII. The text itself is not repeated: it may be a token. */
static enum weir_status check_text(const char *text, const char *what, struct weir_error *err)
{
    size_t len = text ? strlen(text) : 0;
    if (len > WEIR_REQUEST_TEXT_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "%s is longer than %d bytes", what,
                         WEIR_REQUEST_TEXT_MAX);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < ' ' || c >= 0x7f)
            return weir_fail(err, WEIR_E_INVALID,
                             "%s has a character that cannot stand in a header", what);
    }
    return WEIR_OK;
}

static enum weir_status check_step_ids(const char *ids, struct weir_error *err)
{
    struct weir_str rest = weir_str_from(ids);
    while (rest.len) {
        const char *comma = memchr(rest.ptr, ',', rest.len);
        size_t len = comma ? (size_t)(comma - rest.ptr) : rest.len;
        struct weir_guid guid;
        if (!weir_guid_parse(weir_str(rest.ptr, len), &guid) || (comma && len + 1 == rest.len))
            return weir_fail(err, WEIR_E_INVALID,
                             "the steps to bypass must be GUIDs with commas between them");
        len += comma != NULL;
        rest = weir_str(rest.ptr + len, rest.len - len);
    }
    return WEIR_OK;
}

enum weir_status weir_request_options_check(const struct weir_request_options *options,
                                            struct weir_error *err)
{
    enum weir_status status = check_text(options->session_token, "the session token", err);
    if (status == WEIR_OK)
        status = check_text(options->bypass_step_ids, "the list of steps to bypass", err);
    if (status == WEIR_OK)
        status = check_step_ids(options->bypass_step_ids, err);
    if (status != WEIR_OK)
        return status;
    /* The tag is percent-encoded on its way: only its length matters. */
    if (options->tag && strlen(options->tag) > WEIR_REQUEST_TEXT_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "the tag is longer than %d bytes",
                         WEIR_REQUEST_TEXT_MAX);
    struct weir_guid guid;
    if (options->impersonate && !weir_guid_parse(weir_str_from(options->impersonate), &guid))
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.60s\" is no object id of a user: it needs a GUID",
                         options->impersonate);
    return WEIR_OK;
}

/* ---- lines ---- */

static void add(struct weir_buf *buf, const char *name, const char *value)
{
    weir_buf_add_text(buf, name);
    weir_buf_add(buf, ": ", 2);
    weir_buf_add_text(buf, value);
    weir_buf_add(buf, "\r\n", 2);
}

static bool has_body(enum weir_request_kind kind)
{
    return kind == WEIR_REQUEST_CREATE || kind == WEIR_REQUEST_UPDATE ||
           kind == WEIR_REQUEST_UPSERT;
}

static void add_standard(struct weir_buf *buf, bool conditional)
{
    add(buf, "Accept", "application/json");
    add(buf, "OData-Version", "4.0");
    add(buf, "OData-MaxVersion", "4.0");
    if (!conditional)
        add(buf, "If-None-Match", "null");
}

static void add_impersonation(struct weir_buf *buf, const struct weir_request_options *options)
{
    struct weir_guid guid;
    char text[WEIR_GUID_TEXT];
    if (options->impersonate && weir_guid_parse(weir_str_from(options->impersonate), &guid))
        add(buf, "CallerObjectId", weir_guid_print(&guid, text));
}

static void add_bypass(struct weir_buf *buf, const struct weir_request_options *options)
{
    static const char *const names[] = {
        [WEIR_BYPASS_SYNC] = "CustomSync",
        [WEIR_BYPASS_ASYNC] = "CustomAsync",
        [WEIR_BYPASS_ALL] = "CustomSync,CustomAsync",
    };
    if (options->bypass_logic != WEIR_BYPASS_NONE)
        add(buf, "MSCRM.BypassBusinessLogicExecution", names[options->bypass_logic]);
    if (options->bypass_step_ids && options->bypass_step_ids[0])
        add(buf, "MSCRM.BypassBusinessLogicExecutionStepIds", options->bypass_step_ids);
    if (options->bypass_flows)
        add(buf, "MSCRM.SuppressCallbackRegistrationExpanderJob", "true");
}

/* What has a meaning for one request, alone or as a part. */
static void add_own(struct weir_buf *buf, const struct weir_request_options *options,
                    enum weir_request_kind kind)
{
    if (has_body(kind))
        add(buf, "Content-Type", "application/json");
    if (kind == WEIR_REQUEST_UPDATE)
        add(buf, "If-Match", "*");
    add_impersonation(buf, options);
    if (kind == WEIR_REQUEST_READ && options->session_token && options->session_token[0])
        add(buf, "MSCRM.SessionToken", options->session_token);
    if (kind != WEIR_REQUEST_READ)
        add_bypass(buf, options);
    if (has_body(kind) && options->detect_duplicates)
        add(buf, "MSCRM.SuppressDuplicateDetection", "false");
    if (options->error_details)
        add(buf, "Prefer", ERROR_DETAILS);
}

void weir_request_add_part_headers(struct weir_buf *buf, const struct weir_request_options *options,
                                   enum weir_request_kind kind)
{
    if (kind == WEIR_REQUEST_READ)
        add(buf, "Accept", "application/json");
    add_own(buf, options, kind);
}

/* Cut the text of `buf` into lines; it is the lines' from now on. */
static void take_lines(struct weir_request_lines *lines, struct weir_buf *buf)
{
    *lines = (struct weir_request_lines){ .text = weir_buf_take(buf) };
    char *at = lines->text;
    while (*at && lines->count < WEIR_REQUEST_LINES_MAX) {
        lines->lines[lines->count++] = at;
        at += strcspn(at, "\r");
        *at = '\0';
        at += 2;
    }
}

void weir_request_lines_init(struct weir_request_lines *lines,
                             const struct weir_request_options *options,
                             enum weir_request_kind kind)
{
    struct weir_buf buf;
    weir_buf_init(&buf, WEIR_REQUEST_HEADERS_BYTES);
    add_standard(&buf, kind == WEIR_REQUEST_UPDATE || kind == WEIR_REQUEST_UPSERT);
    add_own(&buf, options, kind);
    take_lines(lines, &buf);
}

void weir_request_lines_init_batch(struct weir_request_lines *lines,
                                   const struct weir_request_options *options,
                                   struct weir_str boundary)
{
    struct weir_buf buf;
    weir_buf_init(&buf, WEIR_REQUEST_HEADERS_BYTES);
    add_standard(&buf, false);
    weir_buf_printf(&buf, "Content-Type: multipart/mixed; boundary=%.*s\r\n", (int)boundary.len,
                    boundary.ptr);
    add_impersonation(&buf, options);
    if (options->continue_on_error)
        add(&buf, "Prefer", "odata.continue-on-error");
    take_lines(lines, &buf);
}

void weir_request_lines_release(struct weir_request_lines *lines)
{
    free(lines->text);
    *lines = (struct weir_request_lines){ 0 };
}
