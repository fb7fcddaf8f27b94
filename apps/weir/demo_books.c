/* SPDX-License-Identifier: MIT */
/* Books and a neighbour; see demo_books.h. */
#include "demo_books.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "journal/place.h"
#include "weir/config.h"

enum weir_status demo_books_init(struct demo_books *books, const char *settings,
                                 struct weir_error *err)
{
    const struct weir_options *options;
    *books = (struct demo_books){ .config = weir_config_new() };
    enum weir_status status = weir_config_read_file(books->config, settings, err);
    if (!status)
        status = weir_config_finish(books->config, &options, err);
    if (!status)
        status = weir_client_new(options, NULL, &books->client, err);
    return status;
}

void demo_books_release(struct demo_books *books)
{
    weir_client_free(books->client);
    weir_config_free(books->config);
    *books = (struct demo_books){ 0 };
}

enum weir_status demo_books_spend(struct demo_books *books, unsigned requests,
                                  struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    for (unsigned i = 0; !status && i < requests; i++) {
        struct weir_request request = { .method = "GET", .path = "WhoAmI" };
        struct weir_response response = { 0 };
        status = weir_execute(books->client, &request, &response, err);
        weir_response_release(&response);
    }
    return status;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Takes what it needs from a document; false: it is not as it should be. */
typedef bool reader(const struct weir_json_node *root, void *ret);

static enum weir_status read_text(struct weir_str text, reader *read, void *ret,
                                  struct weir_error *err)
{
    struct weir_json *json;
    enum weir_status status = weir_json_parse(text, &json, err);
    if (status)
        return status;
    if (!read(weir_json_root(json), ret))
        status = weir_fail(err, WEIR_E_INVALID, "a number is missing in \"%.*s\"",
                           (int)(text.len < 300 ? text.len : 300), text.ptr);
    weir_json_free(json);
    return status;
}

static enum weir_status ask(struct demo_books *books, const char *path, reader *read, void *ret,
                            struct weir_error *err)
{
    struct weir_request request = { .method = "GET", .path = path };
    struct weir_response response = { 0 };
    enum weir_status status = weir_execute(books->client, &request, &response, err);
    if (!status)
        status = read_text(weir_str(response.body, response.body_bytes), read, ret, err);
    weir_response_release(&response);
    return status;
}

static bool find_number(const struct weir_json_node *node, const char *key, int64_t *ret)
{
    const struct weir_json_node *it = weir_json_find(node, key);
    return it && it->type == WEIR_JSON_NUMBER && weir_str_to_int64(it->text, ret);
}

static bool read_ledger(const struct weir_json_node *root, void *ret)
{
    struct demo_ledger *ledger = ret;
    return find_number(root, "rows", &ledger->rows) &&
           find_number(root, "distinct", &ledger->distinct) &&
           find_number(root, "duplicates", &ledger->duplicates);
}

enum weir_status demo_books_ledger(struct demo_books *books, struct demo_ledger *ret,
                                   struct weir_error *err)
{
    return ask(books, "/sim/ledger?table=account&by=accountnumber", read_ledger, ret, err);
}

static bool add_kinds(const struct weir_json_node *connection, int64_t *ret)
{
    const struct weir_json_node *kinds = weir_json_find(connection, "throttled");
    int64_t requests, execution, concurrency;
    if (!find_number(kinds, "requests", &requests) ||
        !find_number(kinds, "execution_time", &execution) ||
        !find_number(kinds, "concurrency", &concurrency))
        return false;
    *ret = requests + execution + concurrency;
    return true;
}

static bool take_rows(const struct weir_json_node *connection, int64_t *ret)
{
    return find_number(connection, "done_rows", ret);
}

/* One number for each of the connections. */
static bool read_each(const struct weir_json_node *root, int64_t *numbers,
                      bool (*take)(const struct weir_json_node *connection, int64_t *ret))
{
    const struct weir_json_node *list = weir_json_find(root, "connections");
    const struct weir_json_node *it = list ? list->first : NULL;
    for (size_t i = 0; i < DEMO_USERS; i++) {
        if (!it || !take(it, &numbers[i]))
            return false;
        it = it->next;
    }
    return true;
}

static bool read_throttles(const struct weir_json_node *root, void *ret)
{
    return read_each(root, ret, add_kinds);
}

enum weir_status demo_books_throttles(struct demo_books *books, int64_t ret[DEMO_USERS],
                                      struct weir_error *err)
{
    return ask(books, "/sim/stats", read_throttles, ret, err);
}

/* --- the summary ------------------------------------------------------------------------------ */

static bool read_rows(const struct weir_json_node *root, void *ret)
{
    return read_each(root, ret, take_rows);
}

enum weir_status demo_books_rows(const char *job, int64_t ret[DEMO_USERS], struct weir_error *err)
{
    char text[16384];
    struct weir_path path = weir_path_join(job, "summary.json");
    FILE *file = fopen(path.text, "re");
    if (!file)
        return weir_fail(err, WEIR_E_IO, "\"%.300s\" cannot be read: %s", path.text,
                         strerror(errno));
    size_t len = fread(text, 1, sizeof(text), file);
    fclose(file);
    return read_text(weir_str(text, len), read_rows, ret, err);
}
