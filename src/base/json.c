/* SPDX-License-Identifier: MIT */
/*
 * Reading JSON; see json.h. The only file that knows json-c.
 *
 * json-c does the grammar, the escapes and the UTF-8. In the mood in which it takes comments and
 * trailing commas it is generous in more ways than we want (NaN, 'text', True, the last of two
 * equal keys, whatever follows the document), and it keeps neither positions nor integers as
 * written. So a text is read twice, and the two readings are laid side by side:
 *
 *     scan    text ──▶ marks: where each value begins and ends, in the order of the text.
 *                      Refuses what json-c would let through.
 *     json-c  text ──▶ tree of json_objects; refuses whatever is not grammatical.
 *     build   tree + marks ──▶ nodes. A walk of the tree, parents first, meets the values in the
 *                      order of the marks, because json-c keeps the order of members.
 *
 * The scan does not know the grammar. A string is taken for a value until a colon follows: then it
 * was a key and its mark is taken back. If the text is not grammatical the marks are nonsense, but
 * json-c refuses it before anybody looks at them.
 */
#include "base/json.h"

#include <json-c/json.h>
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"

struct mark {
    uint32_t offset;
    uint32_t len;
};

struct level {
    size_t mark;
    struct weir_map keys; /* of an object, as written: with quotes and escapes */
};

struct scan {
    struct weir_str text;
    size_t at;
    struct mark *marks;
    size_t mark_count;
    size_t mark_capacity;
    int depth;
    struct level levels[WEIR_JSON_DEPTH_MAX]; /* the objects and arrays that are open */
    struct weir_error *err;
};

struct weir_json {
    struct json_object *tree;
    struct weir_json_node *nodes; /* parents first; the first one is the root */
};

/* ---- positions ---- */

struct cursor {
    size_t offset;
    size_t line_offset;
    uint32_t line; /* from 0 */
};

/* Move on to `offset`, which lies ahead. */
static void cursor_advance(struct cursor *cursor, struct weir_str text, size_t offset)
{
    for (; cursor->offset < offset; cursor->offset++) {
        if (text.ptr[cursor->offset] == '\n') {
            cursor->line++;
            cursor->line_offset = cursor->offset + 1;
        }
    }
}

static enum weir_status fail_at(struct weir_str text, size_t offset, enum weir_status status,
                                const char *what, struct weir_error *err)
{
    struct cursor cursor = { 0 };
    cursor_advance(&cursor, text, offset);
    return weir_fail(err, status, "line %u, column %zu: %s", cursor.line + 1,
                     offset - cursor.line_offset + 1, what);
}

/* ---- scan ---- */

static enum weir_status refuse(struct scan *s, size_t offset, const char *what)
{
    return fail_at(s->text, offset, WEIR_E_INVALID, what, s->err);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' ||
           c == '-' || c == '.' || c == '_';
}

static size_t skip_digits(struct weir_str text, size_t at)
{
    while (at < text.len && is_digit(text.ptr[at]))
        at++;
    return at;
}

/* The grammar of numbers, which json-c takes loosely: -? int frac? exp? */
static bool is_number(struct weir_str text)
{
    size_t at = text.len && text.ptr[0] == '-';
    size_t digits = at;
    at = skip_digits(text, at);
    if (at == digits || (text.ptr[digits] == '0' && at > digits + 1))
        return false;
    if (at < text.len && text.ptr[at] == '.') {
        digits = at + 1;
        at = skip_digits(text, digits);
        if (at == digits)
            return false;
    }
    if (at < text.len && (text.ptr[at] == 'e' || text.ptr[at] == 'E')) {
        at++;
        at += at < text.len && (text.ptr[at] == '+' || text.ptr[at] == '-');
        digits = at;
        at = skip_digits(text, digits);
        if (at == digits)
            return false;
    }
    return at == text.len;
}

static bool is_literal(struct weir_str text)
{
    return weir_str_equal(text, weir_str_from("true")) ||
           weir_str_equal(text, weir_str_from("false")) ||
           weir_str_equal(text, weir_str_from("null"));
}

/* A value begins at s->at. */
static enum weir_status add_mark(struct scan *s, size_t len)
{
    if (s->depth == 0 && s->mark_count)
        return refuse(s, s->at, "something follows the end of the document");
    if (s->mark_count == s->mark_capacity) {
        s->mark_capacity = s->mark_capacity ? s->mark_capacity * 2 : 64;
        s->marks = weir_realloc(s->marks, s->mark_capacity, sizeof(*s->marks));
    }
    s->marks[s->mark_count++] = (struct mark){ (uint32_t)s->at, (uint32_t)len };
    s->at += len;
    return WEIR_OK;
}

static enum weir_status scan_open(struct scan *s)
{
    if (s->depth == WEIR_JSON_DEPTH_MAX)
        return fail_at(s->text, s->at, WEIR_E_TOO_BIG, "nested too deep", s->err);
    enum weir_status status = add_mark(s, 1);
    if (status == WEIR_OK)
        s->levels[s->depth++] = (struct level){ .mark = s->mark_count - 1 };
    return status;
}

static enum weir_status scan_close(struct scan *s)
{
    if (s->depth == 0)
        return refuse(s, s->at, "unexpected character");
    s->at++;
    struct level *level = &s->levels[--s->depth];
    struct mark *mark = &s->marks[level->mark];
    mark->len = (uint32_t)s->at - mark->offset;
    weir_map_release(&level->keys);
    return WEIR_OK;
}

static enum weir_status refuse_twice(struct scan *s, struct weir_str key, size_t offset)
{
    char what[128];
    size_t len = key.len;
    if (len > 80) {
        for (len = 80; (key.ptr[len] & 0xC0) == 0x80; len--)
            ; /* not within a character */
    }
    snprintf(what, sizeof(what), "the object has the key %.*s%s twice", (int)len, key.ptr,
             len < key.len ? "…\"" : "");
    return refuse(s, offset, what);
}

/* The value that was marked last turns out to be a key. */
static enum weir_status scan_colon(struct scan *s)
{
    struct mark *key = s->mark_count ? &s->marks[s->mark_count - 1] : NULL;
    if (s->depth == 0 || !key || s->text.ptr[key->offset] != '"')
        return refuse(s, s->at, "unexpected character");
    struct weir_str text = weir_str(s->text.ptr + key->offset, key->len);
    if (!weir_map_add(&s->levels[s->depth - 1].keys, text, 0))
        return refuse_twice(s, text, key->offset);
    s->mark_count--;
    s->at++;
    return WEIR_OK;
}

static enum weir_status scan_comma(struct scan *s)
{
    if (s->depth == 0)
        return refuse(s, s->at, "unexpected character");
    s->at++;
    return WEIR_OK;
}

static enum weir_status scan_string(struct scan *s)
{
    size_t end = s->at + 1;
    for (; end < s->text.len && s->text.ptr[end] != '"'; end++) {
        if ((unsigned char)s->text.ptr[end] < 0x20)
            return refuse(s, end, "a control character or the end of the line within a string");
        if (s->text.ptr[end] == '\\' && end + 1 < s->text.len)
            end++;
    }
    if (end >= s->text.len)
        return refuse(s, s->at, "the string does not end");
    return add_mark(s, end + 1 - s->at);
}

static enum weir_status scan_word(struct scan *s)
{
    size_t end = s->at;
    while (end < s->text.len && is_word(s->text.ptr[end]))
        end++;
    if (end == s->at)
        return refuse(s, s->at, "unexpected character");
    struct weir_str word = weir_str(s->text.ptr + s->at, end - s->at);
    if (!is_literal(word) && !is_number(word))
        return refuse(s, s->at, "neither a number nor true, false, null or a string in quotes");
    return add_mark(s, word.len);
}

/* Skip one comment. What is no comment is left to be refused as a word. */
static enum weir_status scan_comment(struct scan *s)
{
    struct weir_str rest = weir_str(s->text.ptr + s->at, s->text.len - s->at);
    bool block = weir_str_starts_nocase(rest, "/*");
    if (!block && !weir_str_starts_nocase(rest, "//"))
        return scan_word(s);
    const char *end = memmem(rest.ptr + 2, rest.len - 2, block ? "*/" : "\n", block ? 2 : 1);
    if (block && !end)
        return refuse(s, s->at, "the comment does not end");
    s->at = end ? (size_t)(end - s->text.ptr) + (block ? 2 : 1) : s->text.len;
    return WEIR_OK;
}

static enum weir_status scan_token(struct scan *s)
{
    switch (s->text.ptr[s->at]) {
    case ' ':
    case '\t':
    case '\r':
    case '\n':
        s->at++;
        return WEIR_OK;
    case '/':
        return scan_comment(s);
    case '{':
    case '[':
        return scan_open(s);
    case '}':
    case ']':
        return scan_close(s);
    case ':':
        return scan_colon(s);
    case ',':
        return scan_comma(s);
    case '"':
        return scan_string(s);
    default:
        return scan_word(s);
    }
}

static enum weir_status scan_text(struct scan *s)
{
    enum weir_status status = WEIR_OK;
    while (status == WEIR_OK && s->at < s->text.len)
        status = scan_token(s);
    return status;
}

static void scan_release(struct scan *s)
{
    while (s->depth)
        weir_map_release(&s->levels[--s->depth].keys);
    free(s->marks);
}

/* ---- json-c ---- */

static enum weir_status parse_tree(struct weir_str text, struct json_object **ret,
                                   struct weir_error *err)
{
    /* The scan has counted the depth already; json-c counts one level more for scalars. */
    struct json_tokener *tokener = json_tokener_new_ex(WEIR_JSON_DEPTH_MAX + 2);
    if (!tokener)
        abort(); /* out of memory */
    json_tokener_set_flags(tokener, JSON_TOKENER_VALIDATE_UTF8);
    struct json_object *tree = json_tokener_parse_ex(tokener, text.ptr, (int)text.len);
    size_t offset = json_tokener_get_parse_end(tokener);
    enum json_tokener_error error = json_tokener_get_error(tokener);
    if (error == json_tokener_continue) { /* a 0 says that there is no more */
        tree = json_tokener_parse_ex(tokener, "", 1);
        error = json_tokener_get_error(tokener);
    }
    json_tokener_free(tokener);
    if (error != json_tokener_success)
        return fail_at(text, offset, WEIR_E_INVALID, json_tokener_error_desc(error), err);
    *ret = tree;
    return WEIR_OK;
}

/* ---- build ---- */

struct build {
    struct weir_str text;
    const struct mark *marks;
    struct weir_json_node *nodes;
    size_t at; /* of marks and nodes alike */
    struct cursor cursor;
};

static size_t count_values(struct json_object *tree)
{
    size_t count = 1;
    if (json_object_is_type(tree, json_type_object)) {
        json_object_object_foreach(tree, key, value)
        {
            (void)key;
            count += count_values(value);
        }
    } else if (json_object_is_type(tree, json_type_array)) {
        for (size_t i = 0; i < json_object_array_length(tree); i++)
            count += count_values(json_object_array_get_idx(tree, i));
    }
    return count;
}

static enum weir_json_type type_of(struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_null:
        return WEIR_JSON_NULL;
    case json_type_boolean:
        return WEIR_JSON_BOOL;
    case json_type_double:
    case json_type_int:
        return WEIR_JSON_NUMBER;
    case json_type_string:
        return WEIR_JSON_STRING;
    case json_type_array:
        return WEIR_JSON_ARRAY;
    case json_type_object:
        return WEIR_JSON_OBJECT;
    }
    abort();
}

static struct weir_json_node *build_node(struct build *b, struct json_object *value,
                                         struct weir_str key)
{
    struct mark mark = b->marks[b->at];
    struct weir_json_node *node = &b->nodes[b->at++];
    cursor_advance(&b->cursor, b->text, mark.offset);
    *node = (struct weir_json_node){
        .type = type_of(value),
        .line = b->cursor.line + 1,
        .column = (uint32_t)(mark.offset - b->cursor.line_offset + 1),
        .key = key,
        .text = weir_str(b->text.ptr + mark.offset, mark.len),
    };
    if (node->type == WEIR_JSON_STRING)
        node->text =
            weir_str(json_object_get_string(value), (size_t)json_object_get_string_len(value));
    return node;
}

static struct weir_json_node *build_tree(struct build *b, struct json_object *value,
                                         struct weir_str key)
{
    struct weir_json_node *node = build_node(b, value, key);
    const struct weir_json_node **link = &node->first;
    if (node->type == WEIR_JSON_OBJECT) {
        json_object_object_foreach(value, name, member)
        {
            struct weir_json_node *child = build_tree(b, member, weir_str_from(name));
            *link = child;
            link = &child->next;
            node->count++;
        }
    } else if (node->type == WEIR_JSON_ARRAY) {
        node->count = (uint32_t)json_object_array_length(value);
        for (size_t i = 0; i < node->count; i++) {
            struct weir_json_node *child =
                build_tree(b, json_object_array_get_idx(value, i), weir_str("", 0));
            *link = child;
            link = &child->next;
        }
    }
    return node;
}

/* ---- the face ---- */

static enum weir_status parse_marked(const struct scan *s, struct weir_json *json,
                                     struct weir_error *err)
{
    enum weir_status status = parse_tree(s->text, &json->tree, err);
    if (status != WEIR_OK)
        return status;
    /* The scan compares keys as they are written; json-c drops those that are equal in the end. */
    if (!s->marks || count_values(json->tree) != s->mark_count)
        return fail_at(s->text, 0, WEIR_E_INVALID,
                       "an object has the same key twice, spelled in two ways", err);
    json->nodes = weir_calloc(s->mark_count, sizeof(*json->nodes));
    struct build build = { .text = s->text, .marks = s->marks, .nodes = json->nodes };
    build_tree(&build, json->tree, weir_str("", 0));
    return WEIR_OK;
}

enum weir_status weir_json_parse(struct weir_str text, struct weir_json **ret,
                                 struct weir_error *err)
{
    if (text.len > INT32_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "the text is longer than 2 GiB");
    if (weir_str_starts_nocase(text, "\xEF\xBB\xBF"))
        text = weir_str(text.ptr + 3, text.len - 3);

    struct scan scan = { .text = text, .err = err };
    struct weir_json *json = weir_calloc(1, sizeof(*json));
    enum weir_status status = scan_text(&scan);
    if (status == WEIR_OK)
        status = parse_marked(&scan, json, err);
    scan_release(&scan);
    if (status != WEIR_OK) {
        weir_json_free(json);
        return status;
    }
    *ret = json;
    return WEIR_OK;
}

void weir_json_free(struct weir_json *json)
{
    if (!json)
        return;
    json_object_put(json->tree);
    free(json->nodes);
    free(json);
}

const struct weir_json_node *weir_json_root(const struct weir_json *json)
{
    return &json->nodes[0];
}

const struct weir_json_node *weir_json_find(const struct weir_json_node *node, const char *key)
{
    if (!node || node->type != WEIR_JSON_OBJECT)
        return NULL;
    struct weir_str wanted = weir_str_from(key);
    node = node->first;
    while (node && !weir_str_equal(node->key, wanted))
        node = node->next;
    return node;
}

const char *weir_json_type_name(enum weir_json_type type)
{
    static const char *const names[] = {
        [WEIR_JSON_NULL] = "null",       [WEIR_JSON_BOOL] = "true or false",
        [WEIR_JSON_NUMBER] = "a number", [WEIR_JSON_STRING] = "a string",
        [WEIR_JSON_ARRAY] = "an array",  [WEIR_JSON_OBJECT] = "an object",
    };
    return names[type];
}
