/* SPDX-License-Identifier: MIT */
/* How the input is to be understood beyond its header; see spec.h. spec_file.c reads the file. */
#include "records/spec.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "records/spec_parts.h"

/* How much of a text goes into a message. */
#define QUOTED_MAX   60
#define QUOTED(text) (int)weir_str_cut((text), QUOTED_MAX).len, (text).ptr

/* ---- columns ---- */

const struct weir_spec_column *weir_spec_find(const struct weir_spec *spec, struct weir_str source)
{
    uint32_t place;
    if (!spec || !weir_map_find(&spec->map, source, &place))
        return NULL;
    return &spec->columns[place];
}

struct weir_spec_column *weir_spec_append(struct weir_spec *spec, struct weir_str source)
{
    spec->columns = weir_realloc(spec->columns, spec->column_count + 1, sizeof(*spec->columns));
    struct weir_spec_column *column = &spec->columns[spec->column_count];
    *column = (struct weir_spec_column){ .empty = -1 };
    column->source = weir_strndup(source.ptr, source.len);
    weir_map_add(&spec->map, weir_str_from(column->source), spec->column_count++);
    return column;
}

static void release_column(struct weir_spec_column *column)
{
    free((char *)column->source);
    free((char *)column->target);
    for (uint32_t i = 0; i < column->value_count; i++) {
        free((char *)column->values[i].from);
        free((char *)column->values[i].to);
    }
    free(column->values);
}

void weir_spec_release(struct weir_spec *spec)
{
    for (uint32_t i = 0; i < spec->column_count; i++)
        release_column(&spec->columns[i]);
    for (uint32_t i = 0; i < spec->with_count; i++) {
        free((char *)spec->with[i].target);
        free((char *)spec->with[i].value);
    }
    weir_map_release(&spec->map);
    free(spec->columns);
    free(spec->with);
    free(spec->table);
    free(spec->name);
    *spec = (struct weir_spec){ 0 };
}

/* ---- columns that are ignored ---- */

static enum weir_status ignore(struct weir_spec *spec, struct weir_str name, struct weir_error *err)
{
    uint32_t place;
    if (!name.len)
        return weir_fail(err, WEIR_E_INVALID,
                         "a column to be ignored has no name; they stand with one comma between "
                         "them");
    if (!weir_map_find(&spec->map, name, &place)) {
        if (spec->column_count == WEIR_FIELDS_MAX)
            return weir_fail(err, WEIR_E_TOO_BIG, "more than %d columns are to be ignored",
                             WEIR_FIELDS_MAX);
        weir_spec_append(spec, name);
        return WEIR_OK;
    }
    free((char *)spec->columns[place].target);
    spec->columns[place].target = NULL;
    spec->columns[place].place = (struct weir_spec_place){ 0 };
    return WEIR_OK;
}

enum weir_status weir_spec_ignore(struct weir_spec *spec, struct weir_str columns,
                                  struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    for (bool more = true; more && !status;) {
        const char *comma = columns.len ? memchr(columns.ptr, ',', columns.len) : NULL;
        size_t len = comma ? (size_t)(comma - columns.ptr) : columns.len;
        status = ignore(spec, weir_str_trim(weir_str(columns.ptr, len)), err);
        more = comma != NULL;
        if (more)
            columns = weir_str(columns.ptr + len + 1, columns.len - len - 1);
    }
    return status;
}

/* ---- constants ---- */

enum weir_status weir_spec_set_constant(struct weir_spec *spec, struct weir_str target,
                                        struct weir_str value, struct weir_error *err)
{
    for (uint32_t i = 0; i < spec->with_count; i++) {
        if (weir_str_equal(target, weir_str_from(spec->with[i].target)))
            return weir_fail(err, WEIR_E_INVALID, "the column \"%.*s\" has two constants",
                             QUOTED(target));
    }
    if (spec->with_count == WEIR_SPEC_WITH_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "more than %d columns have a constant",
                         WEIR_SPEC_WITH_MAX);
    spec->with = weir_realloc(spec->with, spec->with_count + 1, sizeof(*spec->with));
    spec->with[spec->with_count++] = (struct weir_spec_with){
        .target = weir_strndup(target.ptr, target.len),
        .value = weir_strndup(value.ptr, value.len),
    };
    return WEIR_OK;
}

enum weir_status weir_spec_add_with(struct weir_spec *spec, struct weir_str text,
                                    struct weir_error *err)
{
    const char *sign = text.len ? memchr(text.ptr, '=', text.len) : NULL;
    size_t len = sign ? (size_t)(sign - text.ptr) : 0;
    struct weir_str target = weir_str_trim(weir_str(text.ptr, len));
    if (!target.len)
        return weir_fail(err, WEIR_E_INVALID, "\"%.*s\" is no constant; it must be COLUMN=VALUE",
                         QUOTED(text));
    return weir_spec_set_constant(spec, target, weir_str(sign + 1, text.len - len - 1), err);
}
