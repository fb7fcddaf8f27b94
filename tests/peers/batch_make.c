/* SPDX-License-Identifier: MIT */
/*
 * The bytes that weir sends for a $batch, for tests that are not written in C. Standard input says
 * what is wanted:
 *
 *     {"boundary": "batch_1",
 *      "options": {"tag": "…", "impersonate": "…", "detectDuplicates": true, "continueOnError":
 * true}, "table": {"logicalName": "account", "setName": "accounts", "primaryId": "accountid"},
 *      "parts": [{"kind": "create|update|upsert|delete", "id": "…", "members": "\"name\":\"A\""},
 *                {"kind": "update", "key": [{"name": "accountnumber", "text": "A1"}]},
 *                {"kind": "read", "path": "accounts?$top=1"}]}
 *
 * Standard output: the header lines of the request, an empty line, the body.
 */
#include <stdio.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "protocol/batch.h"

#define INPUT_BYTES_MAX ((size_t)16 * 1024 * 1024)
#define BODY_BYTES_MAX  ((size_t)16 * 1024 * 1024)
#define KEY_BYTES_MAX   4096

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "batch_make: %s\n", what);
    exit(EXIT_FAILURE);
}

static void must_be_ok(enum weir_status status, const struct weir_error *err)
{
    if (status != WEIR_OK)
        give_up(err->message);
}

static struct weir_buf read_input(void)
{
    struct weir_buf input;
    weir_buf_init(&input, INPUT_BYTES_MAX);
    char chunk[4096];
    size_t len;
    while ((len = fread(chunk, 1, sizeof(chunk), stdin)) > 0)
        weir_buf_add(&input, chunk, len);
    if (ferror(stdin) || input.overflow)
        give_up("cannot read standard input");
    return input;
}

/* ---- what is wanted ---- */

static struct weir_str text_of(const struct weir_json_node *node, const char *name)
{
    const struct weir_json_node *member = weir_json_find(node, name);
    return member ? member->text : weir_str("", 0);
}

/* The text of a string is terminated. */
static const char *c_text_of(const struct weir_json_node *node, const char *name)
{
    const struct weir_json_node *member = weir_json_find(node, name);
    return member && member->type == WEIR_JSON_STRING ? member->text.ptr : NULL;
}

static bool is_true(const struct weir_json_node *node, const char *name)
{
    return weir_str_equal(text_of(node, name), weir_str_from("true"));
}

static struct weir_request_options read_options(const struct weir_json_node *node)
{
    return (struct weir_request_options){
        .tag = c_text_of(node, "tag"),
        .impersonate = c_text_of(node, "impersonate"),
        .detect_duplicates = is_true(node, "detectDuplicates"),
        .continue_on_error = is_true(node, "continueOnError"),
    };
}

static enum weir_request_kind read_kind(const struct weir_json_node *node)
{
    static const char *const names[WEIR_REQUEST_KINDS] = { "read", "create", "update", "upsert",
                                                           "delete" };
    int kind = 0;
    while (kind < WEIR_REQUEST_KINDS &&
           !weir_str_equal(text_of(node, "kind"), weir_str_from(names[kind])))
        kind++;
    if (kind == WEIR_REQUEST_KINDS)
        give_up("a part has no kind");
    return (enum weir_request_kind)kind;
}

static void read_key(const struct weir_json_node *node, struct weir_buf *key)
{
    struct weir_key_part parts[WEIR_KEY_PARTS_MAX];
    struct weir_error err;
    size_t count = 0;
    const struct weir_json_node *list = weir_json_find(node, "key");
    for (node = list ? list->first : NULL; node && count < WEIR_KEY_PARTS_MAX; node = node->next) {
        bool text = weir_json_find(node, "text") != NULL;
        parts[count++] = (struct weir_key_part){ text ? WEIR_KEY_PART_TEXT : WEIR_KEY_PART_LITERAL,
                                                 text_of(node, "name"),
                                                 text_of(node, text ? "text" : "literal") };
    }
    if (count)
        must_be_ok(weir_odata_add_predicate(key, parts, count, &err), &err);
}

static void add_part(struct weir_batch_request *batch, const struct weir_table_names *table,
                     const struct weir_json_node *node)
{
    struct weir_error err;
    struct weir_buf key;
    weir_buf_init(&key, KEY_BYTES_MAX);
    read_key(node, &key);
    struct weir_batch_part part = {
        .kind = read_kind(node),
        .table = table,
        .target = { .id = text_of(node, "id"),
                    .key = weir_str(key.ptr, key.len),
                    .members = text_of(node, "members") },
        .path = text_of(node, "path"),
    };
    must_be_ok(weir_batch_request_add(batch, &part, &err), &err);
    weir_buf_release(&key);
}

/* ---- what comes of it ---- */

static void print(const struct weir_batch_request *batch, const struct weir_request_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        printf("%s\r\n", lines->lines[i]);
    printf("\r\n");
    for (size_t i = 0; i < batch->body.count; i++)
        fwrite(batch->body.slices[i].ptr, 1, batch->body.slices[i].len, stdout);
    if (fflush(stdout) || ferror(stdout))
        give_up("cannot write to standard output");
}

static void make(const struct weir_json_node *root)
{
    const struct weir_json_node *names = weir_json_find(root, "table");
    struct weir_table_names table = { text_of(names, "logicalName"), text_of(names, "setName"),
                                      text_of(names, "primaryId"), false };
    struct weir_request_options options = read_options(weir_json_find(root, "options"));
    struct weir_batch_request batch;
    struct weir_error err;
    must_be_ok(
        weir_batch_request_init(&batch, text_of(root, "boundary"), &options, BODY_BYTES_MAX, &err),
        &err);
    const struct weir_json_node *parts = weir_json_find(root, "parts");
    for (const struct weir_json_node *part = parts ? parts->first : NULL; part; part = part->next)
        add_part(&batch, &table, part);
    must_be_ok(weir_batch_request_finish(&batch, &err), &err);
    struct weir_request_lines lines;
    weir_request_lines_init_batch(&lines, &options, batch.boundary);
    print(&batch, &lines);
    weir_request_lines_release(&lines);
    weir_batch_request_release(&batch);
}

int main(void)
{
    struct weir_buf input = read_input();
    struct weir_json *json;
    struct weir_error err;
    must_be_ok(weir_json_parse(weir_str(weir_buf_text(&input), input.len), &json, &err), &err);
    make(weir_json_root(json));
    weir_json_free(json);
    weir_buf_release(&input);
    return EXIT_SUCCESS;
}
