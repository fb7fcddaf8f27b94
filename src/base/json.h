/* SPDX-License-Identifier: MIT */
/*
 * Reading JSON: one call turns a text into a tree of nodes that is then simply walked.
 *
 *     struct weir_json *json;
 *     if (weir_json_parse(text, &json, err) != WEIR_OK)
 *         ...
 *     const struct weir_json_node *root = weir_json_root(json);
 *     for (const struct weir_json_node *node = root->first; node; node = node->next)
 *         ... node->key, node->type, node->text, node->line ...
 *     weir_json_free(json);
 *
 * The language is JSON with comments (of both kinds) and with a trailing comma in objects and
 * arrays. Everything else is as strict as the standard: no NaN, no Infinity, no single quotes,
 * nothing after the end of the document, UTF-8 throughout. A key that an object has twice is
 * refused. Numbers are not converted: they are the text that was written, so that nothing is
 * rounded or clamped on the way. Nesting ends at WEIR_JSON_DEPTH_MAX; the size of the text is the
 * caller's to bound.
 *
 * Any thread; one document in one thread at a time.
 */
#ifndef WEIR_BASE_JSON_H
#define WEIR_BASE_JSON_H

#include "base/str.h"
#include "weir/error.h"

enum weir_json_type {
    WEIR_JSON_NULL = 0,
    WEIR_JSON_BOOL,
    WEIR_JSON_NUMBER,
    WEIR_JSON_STRING,
    WEIR_JSON_ARRAY,
    WEIR_JSON_OBJECT,
};

/* One value. All of it is read-only and lives as long as the document. */
struct weir_json_node {
    enum weir_json_type type;
    uint32_t line;        /* where it begins, from 1 … */
    uint32_t column;      /* … in bytes, from 1 */
    uint32_t count;       /* members of an object, elements of an array */
    struct weir_str key;  /* of a member, without escapes; empty for anything else */
    struct weir_str text; /* of a string, without escapes and terminated by a 0 that does not count;
                             of any other value, as it was written */
    const struct weir_json_node *first; /* member or element; NULL: none */
    const struct weir_json_node *next;  /* sibling, in the order of the text; NULL: the last */
};

struct weir_json;

/*
 * Parse the whole of `text`, which must outlive the document. A byte order mark is skipped.
 *   WEIR_E_INVALID  it is not JSON; the message begins with `line L, column C: `
 *   WEIR_E_TOO_BIG  it is nested too deep, or longer than 2 GiB
 * Messages never repeat a value: it might be a secret.
 */
enum weir_status weir_json_parse(struct weir_str text, struct weir_json **ret,
                                 struct weir_error *err);

/* NULL is fine. */
void weir_json_free(struct weir_json *json);

/* Never NULL. */
const struct weir_json_node *weir_json_root(const struct weir_json *json);

/* The member of that name, exactly; NULL: there is none, or `node` is NULL or no object. */
const struct weir_json_node *weir_json_find(const struct weir_json_node *node, const char *key);

/* "an object", "an array", "a string", "a number", "true or false", "null". */
const char *weir_json_type_name(enum weir_json_type type);

#endif
