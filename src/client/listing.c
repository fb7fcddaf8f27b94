/* SPDX-License-Identifier: MIT */
/*
 * All rows of a table, page by page; see listing.h.
 *
 *     /api/data/v9.2/systemusers?$select=systemuserid,domainname          the first page
 *     "@odata.nextLink": "https://…/api/data/v9.2/systemusers?…"          the next, and so on
 *
 * A link is followed only to the same origin and the same set: the token goes nowhere else. One
 * that came before would lead round in a circle.
 */
#include "client/listing.h"

#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/table64.h"
#include "client/client.h"
#include "client/watchman.h"
#include "protocol/answer.h"
#include "protocol/odata.h"
#include "protocol/same_origin.h"
#include "protocol/scan.h"

struct reading {
    struct weir_client *client;
    const struct weir_listing *listing;
    struct weir_response page;
    struct weir_table64 seen; /* hashes of the addresses of pages */
    uint64_t rows;
    char *scratch; /* for the texts of one row */
    size_t scratch_bytes;
    const char *path; /* of the next page, in `link`; NULL: there is none */
    char link[WEIR_URL_BYTES_MAX + 1];
};

/* ---- one row ---- */

static void make_room(struct reading *r, size_t bytes)
{
    if (bytes <= r->scratch_bytes)
        return;
    r->scratch = weir_realloc(r->scratch, bytes, 1);
    r->scratch_bytes = bytes;
}

/* `*used`: bytes of the scratch. False: it is no single value. */
static bool read_value(struct reading *r, struct weir_str value, size_t *used, struct weir_str *ret)
{
    *ret = weir_str(NULL, 0);
    if (weir_str_equal(value, weir_str_from("null")))
        return true;
    *ret = value;
    if (!weir_scan_is_string(value))
        return !weir_scan_is_object(value) && !weir_scan_is_array(value);
    char *text = r->scratch + *used;
    *ret = weir_str(text, weir_scan_text(value, text, r->scratch_bytes - *used));
    *used += ret->len + 1;
    return true;
}

static enum weir_status read_row(struct reading *r, struct weir_str row, struct weir_error *err)
{
    const struct weir_listing *it = r->listing;
    struct weir_str values[WEIR_LISTING_COLUMNS_MAX];
    struct weir_str value;
    size_t used = 0;
    if (r->rows++ == it->rows_max)
        return weir_fail(err, WEIR_E_TOO_BIG,
                         "\"%s\" has more than %llu rows, too many to look them up by a column: "
                         "refer to them by an alternate key instead",
                         it->set, (unsigned long long)it->rows_max);
    make_room(r, 3 * row.len + it->column_count);
    for (size_t i = 0; i < it->column_count; i++) {
        if (!weir_scan_find(row, it->columns[i], &value) ||
            !read_value(r, value, &used, &values[i]))
            return weir_fail(err, WEIR_E_INVALID,
                             "a row of \"%s\" came without a value of \"%s\", which was asked for",
                             it->set, it->columns[i]);
    }
    return it->on_row(it->ctx, values, err);
}

/* ---- one page ---- */

static bool is_of_the_set(const struct reading *r, struct weir_str path)
{
    struct weir_str api = weir_str_from(WEIR_API_PATH);
    struct weir_str set = weir_str_from(r->listing->set);
    size_t len = api.len + set.len;
    return path.len > len && weir_str_equal(weir_str(path.ptr, api.len), api) &&
           weir_str_equal(weir_str(path.ptr + api.len, set.len), set) && path.ptr[len] == '?';
}

/* False: the path was there before. */
static bool remember(struct reading *r, const char *path)
{
    uint64_t hash = weir_str_hash(weir_str_from(path)) | 1; /* 0 is no key */
    if (weir_table64_find(&r->seen, hash, NULL))
        return false;
    weir_table64_set(&r->seen, hash, 1);
    return true;
}

static enum weir_status find_next(struct reading *r, struct weir_str body, struct weir_error *err)
{
    const struct weir_listing *it = r->listing;
    struct weir_str path;
    enum weir_status status = weir_answer_next_link(body, r->link, sizeof(r->link), err);
    r->path = NULL;
    if (status || !r->link[0])
        return status;
    if (!weir_same_origin_path(r->client->options->url, weir_str_from(r->link), &path) ||
        !is_of_the_set(r, path))
        return weir_fail(err, WEIR_E_INVALID,
                         "the link to the next page of \"%s\" leads elsewhere: \"%.*s\"", it->set,
                         (int)weir_str_cut(weir_str_from(r->link), 200).len, r->link);
    if (!remember(r, path.ptr))
        return weir_fail(err, WEIR_E_INVALID,
                         "the link to the next page of \"%s\" leads to one that came before",
                         it->set);
    if (r->seen.count > WEIR_LISTING_PAGES_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "\"%s\" has more than %d pages", it->set,
                         WEIR_LISTING_PAGES_MAX);
    r->path = path.ptr;
    return WEIR_OK;
}

static enum weir_status read_page(struct reading *r, struct weir_error *err)
{
    struct weir_str body = weir_str(r->page.body, r->page.body_bytes);
    struct weir_str root, list, key, row;
    if (!weir_scan_document(body, &root))
        return weir_fail(err, WEIR_E_INVALID, "a page of \"%s\" is no complete JSON document",
                         r->listing->set);
    if (!weir_scan_find(root, "value", &list) || !weir_scan_is_array(list))
        return weir_fail(err, WEIR_E_INVALID, "a page of \"%s\" has no list of rows, \"value\"",
                         r->listing->set);
    enum weir_status status = find_next(r, body, err);
    struct weir_scan scan = weir_scan_open(list);
    while (!status && weir_scan_next(&scan, &key, &row))
        status = read_row(r, row, err);
    return status;
}

/* ---- asking ---- */

static enum weir_status ask_for_page(void *ctx, uint64_t cancel_tag, struct weir_error *err)
{
    struct reading *r = ctx;
    char prefer[48];
    uint32_t rows = r->listing->page_rows ? r->listing->page_rows : WEIR_LISTING_PAGE_ROWS;
    snprintf(prefer, sizeof(prefer), "odata.maxpagesize=%u", rows);
    const struct weir_http_header headers[] = { { "Prefer", prefer } };
    struct weir_request request = {
        .method = "GET",
        .path = r->path,
        .headers = headers,
        .header_count = 1,
        .repeatable = true,
        .cancel_tag = cancel_tag,
    };
    return weir_execute(r->client, &request, &r->page, err);
}

static enum weir_status check(const struct weir_listing *listing, struct weir_error *err)
{
    if (listing->column_count == 0 || listing->column_count > WEIR_LISTING_COLUMNS_MAX)
        return weir_fail(err, WEIR_E_INVALID, "%zu columns cannot be listed, only 1 to %d",
                         listing->column_count, WEIR_LISTING_COLUMNS_MAX);
    if (!weir_odata_is_name(weir_str_from(listing->set)))
        return weir_fail(err, WEIR_E_INVALID, "\"%s\" is no name of an entity set", listing->set);
    for (size_t i = 0; i < listing->column_count; i++) {
        if (!weir_odata_is_name(weir_str_from(listing->columns[i])))
            return weir_fail(err, WEIR_E_INVALID, "\"%s\" is no name of a column",
                             listing->columns[i]);
    }
    return WEIR_OK;
}

static enum weir_status write_path(struct reading *r, struct weir_error *err)
{
    struct weir_buf path;
    weir_buf_init(&path, sizeof(r->link) - 1);
    weir_buf_printf(&path, WEIR_API_PATH "%s?$select=", r->listing->set);
    for (size_t i = 0; i < r->listing->column_count; i++)
        weir_buf_printf(&path, "%s%s", i ? "," : "", r->listing->columns[i]);
    bool fits = !path.overflow;
    weir_buf_hand_over(&path, r->link, sizeof(r->link));
    r->path = r->link;
    remember(r, r->path);
    return fits ? WEIR_OK
                : weir_fail(err, WEIR_E_TOO_BIG, "the names of the columns of \"%s\" are too long",
                            r->listing->set);
}

static enum weir_status read_pages(struct reading *r, struct weir_error *err)
{
    enum weir_status status = write_path(r, err);
    while (!status && r->path) {
        status = weir_watchman_insist(r->client, r->listing->patience, ask_for_page, r, err);
        if (!status)
            status = read_page(r, err);
        weir_response_release(&r->page);
    }
    return status;
}

enum weir_status weir_client_list(struct weir_client *client, const struct weir_listing *listing,
                                  struct weir_error *err)
{
    enum weir_status status = check(listing, err);
    if (status)
        return status;
    struct reading *r = weir_calloc(1, sizeof(*r));
    r->client = client;
    r->listing = listing;
    weir_table64_init(&r->seen);
    status = read_pages(r, err);
    weir_table64_release(&r->seen);
    free(r->scratch);
    free(r);
    return status;
}
