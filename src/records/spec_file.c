/* SPDX-License-Identifier: MIT */
/* Reading a mapping file; see spec.h. Messages say where in the file. */
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "records/cell_kinds.h"
#include "records/spec_parts.h"

#define QUOTED_MAX   60
#define QUOTED(text) (int)weir_str_cut((text), QUOTED_MAX).len, (text).ptr

struct reading {
    const char *name; /* of the file */
    struct weir_spec *spec;
    struct weir_error *err;
};

static enum weir_status fail_kind(const struct reading *reading, const struct weir_json_node *node,
                                  const char *wanted)
{
    return weir_fail(reading->err, WEIR_E_INVALID,
                     "%s, line %u, column %u: \"%.*s\" is %s; it must be %s", reading->name,
                     node->line, node->column, QUOTED(node->key), weir_json_type_name(node->type),
                     wanted);
}

static enum weir_status fail_key(const struct reading *reading, const struct weir_json_node *node,
                                 const char *known)
{
    return weir_fail(reading->err, WEIR_E_INVALID,
                     "%s, line %u, column %u: \"%.*s\" is not known here; there may be %s",
                     reading->name, node->line, node->column, QUOTED(node->key), known);
}

static enum weir_status need_text(const struct reading *reading, const struct weir_json_node *node)
{
    if (node->type != WEIR_JSON_STRING)
        return fail_kind(reading, node, "a string");
    if (!node->text.len || memchr(node->text.ptr, 0, node->text.len))
        return weir_fail(reading->err, WEIR_E_INVALID,
                         "%s, line %u, column %u: \"%.*s\" is empty, or has a NUL in it",
                         reading->name, node->line, node->column, QUOTED(node->key));
    return WEIR_OK;
}

/* Numbers and booleans may stand without quotes: their text is what was written. */
static bool is_cell(const struct weir_json_node *node)
{
    bool plain = node->type == WEIR_JSON_STRING || node->type == WEIR_JSON_NUMBER ||
                 node->type == WEIR_JSON_BOOL;
    return plain && !(node->text.len && memchr(node->text.ptr, 0, node->text.len));
}

static bool is(const struct weir_json_node *node, const char *key)
{
    return weir_str_equal(node->key, weir_str_from(key));
}

static char *copy(struct weir_str text)
{
    return weir_strndup(text.ptr, text.len);
}

static struct weir_spec_place place_of(const struct weir_json_node *node)
{
    return (struct weir_spec_place){ node->line, node->column };
}

/* ---- one column ---- */

static enum weir_status read_values(const struct reading *reading,
                                    const struct weir_json_node *node,
                                    struct weir_spec_column *column)
{
    if (node->type != WEIR_JSON_OBJECT)
        return fail_kind(reading, node, "an object of texts");
    if (node->count > WEIR_SPEC_VALUES_MAX)
        return weir_fail(reading->err, WEIR_E_TOO_BIG,
                         "%s, line %u, column %u: \"%.*s\" has %u entries, more than %d",
                         reading->name, node->line, node->column, QUOTED(node->key), node->count,
                         WEIR_SPEC_VALUES_MAX);
    column->values = weir_calloc(node->count ? node->count : 1, sizeof(*column->values));
    for (const struct weir_json_node *value = node->first; value; value = value->next) {
        bool null = value->type == WEIR_JSON_NULL;
        if (!null && !is_cell(value))
            return fail_kind(reading, value, "a text, a number, true, false or null");
        column->values[column->value_count++] = (struct weir_spec_value){
            .from = copy(value->key),
            .to = null ? NULL : copy(value->text),
            .place = place_of(value),
        };
    }
    return WEIR_OK;
}

static enum weir_status read_empty(const struct reading *reading, const struct weir_json_node *node,
                                   struct weir_spec_column *column)
{
    static const char *const words[] = {
        [WEIR_CELL_EMPTY_OMIT] = "omit",
        [WEIR_CELL_EMPTY_NULL] = "null",
        [WEIR_CELL_EMPTY_REJECT] = "reject",
    };
    for (int i = WEIR_CELL_EMPTY_OMIT; i <= WEIR_CELL_EMPTY_REJECT; i++) {
        if (node->type == WEIR_JSON_STRING && weir_str_equal(node->text, weir_str_from(words[i]))) {
            column->empty = i;
            return WEIR_OK;
        }
    }
    if (node->type != WEIR_JSON_STRING)
        return fail_kind(reading, node, "\"omit\", \"null\" or \"reject\"");
    return weir_fail(
        reading->err, WEIR_E_INVALID,
        "%s, line %u, column %u: \"empty\" is \"%.*s\"; it must be \"omit\", \"null\" or "
        "\"reject\"",
        reading->name, node->line, node->column, QUOTED(node->text));
}

static enum weir_status read_detail(const struct reading *reading,
                                    const struct weir_json_node *node,
                                    struct weir_spec_column *column)
{
    if (is(node, "values"))
        return read_values(reading, node, column);
    if (is(node, "empty"))
        return read_empty(reading, node, column);
    if (!is(node, "to"))
        return fail_key(reading, node, "\"to\", \"values\" and \"empty\"");
    enum weir_status status = need_text(reading, node);
    if (!status)
        column->target = copy(node->text);
    return status;
}

static enum weir_status read_column(const struct reading *reading,
                                    const struct weir_json_node *node)
{
    enum weir_status status = WEIR_OK;
    struct weir_spec_column *column = weir_spec_append(reading->spec, node->key);
    column->place = place_of(node);
    if (node->type == WEIR_JSON_NULL)
        return WEIR_OK;
    if (node->type != WEIR_JSON_OBJECT) {
        status = need_text(reading, node);
        if (!status)
            column->target = copy(node->text);
        return status;
    }
    for (const struct weir_json_node *it = node->first; it && !status; it = it->next)
        status = read_detail(reading, it, column);
    if (!status && !column->target)
        return weir_fail(reading->err, WEIR_E_INVALID,
                         "%s, line %u, column %u: \"%.*s\" does not say \"to\" which column it "
                         "goes",
                         reading->name, node->line, node->column, QUOTED(node->key));
    return status;
}

/* ---- all of it ---- */

static enum weir_status read_columns(const struct reading *reading,
                                     const struct weir_json_node *node)
{
    enum weir_status status = WEIR_OK;
    if (node->type != WEIR_JSON_OBJECT)
        return fail_kind(reading, node, "an object: columns of the input, and where they go");
    if (node->count > WEIR_FIELDS_MAX)
        return weir_fail(reading->err, WEIR_E_TOO_BIG, "%s has %u columns, more than %d",
                         reading->name, node->count, WEIR_FIELDS_MAX);
    for (const struct weir_json_node *it = node->first; it && !status; it = it->next)
        status = read_column(reading, it);
    return status;
}

static enum weir_status read_with(const struct reading *reading, const struct weir_json_node *node)
{
    enum weir_status status = WEIR_OK;
    if (node->type != WEIR_JSON_OBJECT)
        return fail_kind(reading, node, "an object: columns, and the constant of each");
    for (const struct weir_json_node *it = node->first; it && !status; it = it->next) {
        bool null = it->type == WEIR_JSON_NULL;
        if (!null && !is_cell(it))
            return fail_kind(reading, it, "a text, a number, true, false or null");
        if (!it->key.len)
            return fail_key(reading, it, "names of columns");
        status = weir_spec_set_constant(reading->spec, it->key, null ? weir_str("", 0) : it->text,
                                        reading->err);
        if (!status)
            reading->spec->with[reading->spec->with_count - 1].place = place_of(it);
    }
    return status;
}

static enum weir_status read_member(const struct reading *reading,
                                    const struct weir_json_node *node)
{
    if (is(node, "columns"))
        return read_columns(reading, node);
    if (is(node, "with"))
        return read_with(reading, node);
    if (!is(node, "table"))
        return fail_key(reading, node, "\"table\", \"columns\" and \"with\"");
    enum weir_status status = need_text(reading, node);
    if (!status)
        reading->spec->table = copy(node->text);
    return status;
}

static enum weir_status read_root(const struct reading *reading, const struct weir_json_node *root)
{
    enum weir_status status = WEIR_OK;
    if (root->type != WEIR_JSON_OBJECT)
        return weir_fail(reading->err, WEIR_E_INVALID,
                         "%s is %s; a mapping file is an object with \"table\", \"columns\" and "
                         "\"with\"",
                         reading->name, weir_json_type_name(root->type));
    for (const struct weir_json_node *node = root->first; node && !status; node = node->next)
        status = read_member(reading, node);
    return status;
}

enum weir_status weir_spec_read(struct weir_str text, const char *name, struct weir_spec *ret,
                                struct weir_error *err)
{
    struct weir_json *json;
    struct weir_error wrong = { 0 };
    if (text.len > WEIR_SPEC_BYTES_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "%s is larger than %d bytes", name,
                         WEIR_SPEC_BYTES_MAX);
    enum weir_status status = weir_json_parse(text, &json, &wrong);
    if (status)
        return weir_fail(err, status, "%s, %s", name, wrong.message);
    struct weir_spec spec = { .name = weir_strdup(name) };
    struct reading reading = { name, &spec, err };
    status = read_root(&reading, weir_json_root(json));
    weir_json_free(json);
    if (status)
        weir_spec_release(&spec);
    else
        *ret = spec;
    return status;
}
