/* SPDX-License-Identifier: MIT */
/*
 * Reading faults from JSON; see faults.h for what they are. Each key has one line in a table: for
 * which kinds it is, what its value may be, and where it goes. The first thing that is wrong ends
 * the reading, and the list stays as it was.
 */
#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "sim/service/faults.h"

#define VALUE_SHOWN 60 /* bytes of an offending value */
#define SECONDS_MAX 86400

#define STREAM UINT64_C(0x6661756c74) /* the faults' own streams of the seed begin here */

enum field_type {
    FIELD_KIND,
    FIELD_OPERATION,
    FIELD_TEXT, /* char[SIM_FAULT_TEXT_MAX + 1], not empty */
    FIELD_TEXT_OR_NUMBER,
    FIELD_REAL,    /* double */
    FIELD_COUNT,   /* uint64_t */
    FIELD_INDEX,   /* uint32_t */
    FIELD_STATUS,  /* int */
    FIELD_SECONDS, /* int64_t, microseconds */
    FIELD_CODE,
    FIELD_RETRY_AFTER,
    FIELD_WHERE,
    FIELD_ROWS,
};

struct field {
    const char *key;
    uint32_t kinds; /* bits */
    enum field_type type;
    size_t offset;
    double min;
    double max;
};

/* The fault that is being read. */
struct place {
    const char *file;
    uint32_t index;
    struct sim_fault *fault;
    struct weir_error *err;
};

#define BIT(kind)  (UINT32_C(1) << SIM_FAULT_##kind)
#define ANY        UINT32_MAX
#define AT(member) offsetof(struct sim_fault, member)
#define COUNT_MAX  1e12

static const char *const where_words[] = { "answer", "part", "detail", NULL };

static const struct field fields[] = {
    { "kind", ANY, FIELD_KIND, 0, 0, 0 },
    { "operation", ANY, FIELD_OPERATION, 0, 0, 0 },
    { "connection", ANY, FIELD_TEXT, AT(connection), 0, 0 },
    { "probability", ANY, FIELD_REAL, AT(probability), 0, 1 },
    { "nth", ANY, FIELD_COUNT, AT(nth), 1, COUNT_MAX },
    { "every", ANY, FIELD_COUNT, AT(every), 1, COUNT_MAX },
    { "count", ANY, FIELD_COUNT, AT(count), 1, COUNT_MAX },
    { "after", ANY, FIELD_COUNT, AT(after), 1, COUNT_MAX },
    { "byte", BIT(CUT), FIELD_COUNT, AT(effect.byte), 0, COUNT_MAX },
    { "seconds", BIT(STALL) | BIT(COMMIT_THEN_SILENCE) | BIT(LATE_COMMIT) | BIT(LATENCY_COLLAPSE),
      FIELD_SECONDS, AT(effect.stall_us), 0, SECONDS_MAX },
    { "factor", BIT(LATENCY_COLLAPSE), FIELD_REAL, AT(effect.factor), 1, 1e6 },
    { "status", BIT(SERVER_ERROR), FIELD_STATUS, AT(effect.status), 500, 599 },
    { "status", BIT(PARTIAL_FAILURE), FIELD_STATUS, AT(effect.status), 400, 599 },
    { "code", BIT(THROTTLE) | BIT(PARTIAL_FAILURE) | BIT(PLUGIN_ERROR), FIELD_CODE, 0, 0, 0 },
    { "retry_after", BIT(THROTTLE) | BIT(SERVER_ERROR), FIELD_RETRY_AFTER, 0, 0, SECONDS_MAX },
    { "where", BIT(THROTTLE), FIELD_WHERE, 0, 0, 0 },
    { "index", BIT(THROTTLE), FIELD_INDEX, AT(effect.index), 0, SIM_FAULT_ROWS_MAX - 1 },
    { "column", BIT(BAD_ROW), FIELD_TEXT, AT(effect.column), 0, 0 },
    { "value", BIT(BAD_ROW), FIELD_TEXT_OR_NUMBER, AT(effect.value), 0, 0 },
    { "rows", BIT(PARTIAL_FAILURE), FIELD_ROWS, 0, 1, SIM_FAULT_ROWS_MAX },
};

#define FIELDS (sizeof(fields) / sizeof(fields[0]))

static bool is_for(const struct field *field, enum sim_fault_kind kind)
{
    return field->kinds & (UINT32_C(1) << kind);
}

static const struct field *find_field(struct weir_str key, enum sim_fault_kind kind)
{
    for (size_t i = 0; i < FIELDS; i++) {
        if (is_for(&fields[i], kind) && weir_str_equal(key, weir_str_from(fields[i].key)))
            return &fields[i];
    }
    return NULL;
}

/* `"a", "b" or "c"`, for messages. */
static void list_words(char *text, size_t size, const char *const *words)
{
    size_t len = 0;
    text[0] = '\0';
    for (int i = 0; words[i] && len < size; i++) {
        const char *between = i == 0 ? "" : words[i + 1] ? ", " : " or ";
        len += (size_t)snprintf(text + len, size - len, "%s\"%s\"", between, words[i]);
    }
}

static void list_kinds(char *text, size_t size)
{
    const char *words[SIM_FAULT_KINDS + 1] = { NULL };
    for (int kind = 0; kind < SIM_FAULT_KINDS; kind++)
        words[kind] = sim_fault_kind_name((enum sim_fault_kind)kind);
    list_words(text, size, words);
}

/* What the value may be, as a phrase after "must be". */
static void describe(char *text, size_t size, const struct field *field)
{
    switch (field->type) {
    case FIELD_KIND:
        list_kinds(text, size);
        return;
    case FIELD_OPERATION:
        list_words(text, size, sim_fault_operations);
        return;
    case FIELD_WHERE:
        list_words(text, size, where_words);
        return;
    case FIELD_TEXT:
        snprintf(text, size, "a text of 1 to %d bytes", SIM_FAULT_TEXT_MAX);
        return;
    case FIELD_TEXT_OR_NUMBER:
        snprintf(text, size, "a text of 1 to %d bytes or a number", SIM_FAULT_TEXT_MAX);
        return;
    case FIELD_CODE:
        snprintf(text, size, "a text like \"0x80072322\"");
        return;
    case FIELD_RETRY_AFTER:
        snprintf(text, size, "a number from 0 to %d, \"date\", \"missing\" or any printable text",
                 SECONDS_MAX);
        return;
    case FIELD_ROWS:
        snprintf(text, size,
                 "an integer from 1 to %d or an array of indexes from 0 to %d, ascending",
                 SIM_FAULT_ROWS_MAX, SIM_FAULT_ROWS_MAX - 1);
        return;
    case FIELD_REAL:
    case FIELD_SECONDS:
        snprintf(text, size, "a number from %.10g to %.10g", field->min, field->max);
        return;
    case FIELD_COUNT:
    case FIELD_INDEX:
    case FIELD_STATUS:
        break;
    }
    snprintf(text, size, "an integer from %.0f to %.0f", field->min, field->max);
}

static enum weir_status refuse(const struct place *place, const struct field *field,
                               const struct weir_json_node *node)
{
    char must_be[WEIR_MESSAGE_MAX];
    bool cut = node->text.len > VALUE_SHOWN;
    describe(must_be, sizeof(must_be), field);
    return weir_fail(
        place->err, WEIR_E_INVALID, "%s: line %u: faults[%u].%s is \"%.*s%s\", must be %s",
        place->file, (unsigned)node->line, (unsigned)place->index, field->key,
        (int)(cut ? VALUE_SHOWN : node->text.len), node->text.ptr, cut ? "..." : "", must_be);
}

static enum weir_status refuse_key(const struct place *place, const struct weir_json_node *node)
{
    char known[256] = "";
    size_t len = 0;
    for (size_t i = 0; i < FIELDS && len < sizeof(known); i++) {
        if (is_for(&fields[i], place->fault->effect.kind))
            len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s", len ? ", " : "",
                                    fields[i].key);
    }
    return weir_fail(place->err, WEIR_E_INVALID,
                     "%s: line %u: unknown key \"faults[%u].%.*s\", known for \"%s\" are %s",
                     place->file, (unsigned)node->line, (unsigned)place->index,
                     (int)(node->key.len > VALUE_SHOWN ? VALUE_SHOWN : node->key.len),
                     node->key.ptr, sim_fault_kind_name(place->fault->effect.kind), known);
}

static enum weir_status refuse_missing(const struct place *place, const struct weir_json_node *node,
                                       const char *key)
{
    char must_be[WEIR_MESSAGE_MAX];
    const struct field *field = find_field(weir_str_from(key), place->fault->effect.kind);
    assert(field);
    describe(must_be, sizeof(must_be), field);
    return weir_fail(place->err, WEIR_E_INVALID,
                     "%s: line %u: faults[%u].%s is missing, must be %s", place->file,
                     (unsigned)node->line, (unsigned)place->index, key, must_be);
}

static bool read_real(const struct weir_json_node *node, double min, double max, double *ret)
{
    char text[64];
    if (node->type != WEIR_JSON_NUMBER || node->text.len >= sizeof(text))
        return false;
    memcpy(text, node->text.ptr, node->text.len);
    text[node->text.len] = '\0';
    double value = strtod(text, NULL);
    if (!(value >= min && value <= max))
        return false;
    *ret = value;
    return true;
}

static bool read_integer(const struct weir_json_node *node, double min, double max, int64_t *ret)
{
    int64_t value;
    if (node->type != WEIR_JSON_NUMBER || !weir_str_to_int64(node->text, &value))
        return false;
    if ((double)value < min || (double)value > max)
        return false;
    *ret = value;
    return true;
}

static bool read_text(const struct weir_json_node *node, bool number_too, char *ret)
{
    bool fits = node->type == WEIR_JSON_STRING || (number_too && node->type == WEIR_JSON_NUMBER);
    if (!fits || !node->text.len || node->text.len > SIM_FAULT_TEXT_MAX ||
        memchr(node->text.ptr, '\0', node->text.len))
        return false;
    memcpy(ret, node->text.ptr, node->text.len);
    ret[node->text.len] = '\0';
    return true;
}

/* Where the text stands among the words; -1: nowhere. */
static int read_word(const struct weir_json_node *node, const char *const *words)
{
    for (int i = 0; node->type == WEIR_JSON_STRING && words[i]; i++) {
        if (weir_str_equal(node->text, weir_str_from(words[i])))
            return i;
    }
    return -1;
}

static bool read_operation(const struct weir_json_node *node, char *ret)
{
    if (node->type == WEIR_JSON_NULL)
        return true;
    int word = read_word(node, sim_fault_operations);
    if (word < 0)
        return false;
    snprintf(ret, SIM_FAULT_NAME_MAX + 1, "%s", sim_fault_operations[word]);
    return true;
}

static bool read_code(const struct weir_json_node *node, char *ret)
{
    struct weir_str text = node->text;
    if (node->type != WEIR_JSON_STRING || text.len != SIM_FAULT_CODE_BYTES - 1 ||
        !weir_str_starts_nocase(text, "0x") || strspn(text.ptr + 2, "0123456789abcdefABCDEF") != 8)
        return false;
    memcpy(ret, text.ptr, text.len);
    ret[text.len] = '\0';
    return true;
}

static bool is_printable(struct weir_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < 0x20 || text.ptr[i] > 0x7e)
            return false;
    }
    return text.len > 0;
}

static bool read_retry_after(const struct weir_json_node *node, struct sim_fault_effect *effect)
{
    double seconds;
    if (read_real(node, 0, SECONDS_MAX, &seconds)) {
        effect->retry = SIM_FAULT_RETRY_SECONDS;
        effect->retry_after_us = (int64_t)(seconds * (double)WEIR_US_PER_S + 0.5);
        return true;
    }
    if (node->type != WEIR_JSON_STRING || !is_printable(node->text) ||
        !read_text(node, false, effect->retry_text))
        return false;
    effect->retry = strcmp(effect->retry_text, "date") == 0      ? SIM_FAULT_RETRY_DATE
                    : strcmp(effect->retry_text, "missing") == 0 ? SIM_FAULT_RETRY_MISSING
                                                                 : SIM_FAULT_RETRY_TEXT;
    return true;
}

static bool read_rows(const struct weir_json_node *node, struct sim_fault_effect *effect)
{
    int64_t value = -1;
    effect->row_count = 0;
    if (read_integer(node, 1, SIM_FAULT_ROWS_MAX, &value)) {
        for (uint32_t i = 0; i < (uint32_t)value; i++)
            effect->rows[effect->row_count++] = i;
        return true;
    }
    if (node->type != WEIR_JSON_ARRAY || !node->count || node->count > SIM_FAULT_ROWS_MAX)
        return false;
    for (const struct weir_json_node *row = node->first; row; row = row->next) {
        if (!read_integer(row, (double)value + 1, SIM_FAULT_ROWS_MAX - 1, &value))
            return false;
        effect->rows[effect->row_count++] = (uint32_t)value;
    }
    return true;
}

static bool read_where(const struct weir_json_node *node, struct sim_fault_effect *effect)
{
    int word = read_word(node, where_words);
    if (word >= 0)
        effect->where = (enum sim_fault_where)word;
    return word >= 0;
}

/* Numbers of all widths. */
static bool read_number(const struct weir_json_node *node, const struct field *field, void *at)
{
    int64_t integer;
    double real;
    if (field->type == FIELD_REAL)
        return read_real(node, field->min, field->max, at);
    if (field->type == FIELD_SECONDS) {
        if (!read_real(node, field->min, field->max, &real))
            return false;
        *(int64_t *)at = (int64_t)(real * (double)WEIR_US_PER_S + 0.5);
        return true;
    }
    if (!read_integer(node, field->min, field->max, &integer))
        return false;
    if (field->type == FIELD_COUNT)
        *(uint64_t *)at = (uint64_t)integer;
    else if (field->type == FIELD_INDEX)
        *(uint32_t *)at = (uint32_t)integer;
    else
        *(int *)at = (int)integer;
    return true;
}

static bool read_field(const struct weir_json_node *node, const struct field *field,
                       struct sim_fault *fault)
{
    void *at = (char *)fault + field->offset;
    switch (field->type) {
    case FIELD_KIND:
        return true; /* read before */
    case FIELD_OPERATION:
        return read_operation(node, fault->operation);
    case FIELD_TEXT:
        return read_text(node, false, at);
    case FIELD_TEXT_OR_NUMBER:
        return read_text(node, true, at);
    case FIELD_CODE:
        return read_code(node, fault->effect.code);
    case FIELD_RETRY_AFTER:
        return read_retry_after(node, &fault->effect);
    case FIELD_WHERE:
        return read_where(node, &fault->effect);
    case FIELD_ROWS:
        return read_rows(node, &fault->effect);
    default:
        return read_number(node, field, at);
    }
}

static enum weir_status read_kind(const struct place *place, const struct weir_json_node *node)
{
    const struct weir_json_node *kind = weir_json_find(node, "kind");
    struct sim_fault_effect *effect = &place->fault->effect;
    if (!kind)
        return refuse_missing(place, node, "kind");
    for (int i = 0; kind->type == WEIR_JSON_STRING && i < SIM_FAULT_KINDS; i++) {
        if (!weir_str_equal(kind->text, weir_str_from(sim_fault_kind_name((enum sim_fault_kind)i))))
            continue;
        effect->kind = (enum sim_fault_kind)i;
        return WEIR_OK;
    }
    return refuse(place, &fields[0], kind);
}

static int64_t default_seconds(enum sim_fault_kind kind)
{
    return kind == SIM_FAULT_STALL ? 30 : kind == SIM_FAULT_LATE_COMMIT ? 5 : 0;
}

/* What a fault that says nothing but its kind does. */
static void set_defaults(struct sim_fault *fault)
{
    struct sim_fault_effect *effect = &fault->effect;
    const char *code = effect->kind == SIM_FAULT_THROTTLE       ? "0x80072322"
                       : effect->kind == SIM_FAULT_PLUGIN_ERROR ? "0x80040265"
                                                                : "0x80040216";
    fault->probability = 1;
    effect->byte = UINT64_MAX;
    effect->stall_us = default_seconds(effect->kind) * WEIR_US_PER_S;
    effect->status = effect->kind == SIM_FAULT_PARTIAL_FAILURE ? 409 : 500;
    effect->retry =
        effect->kind == SIM_FAULT_THROTTLE ? SIM_FAULT_RETRY_SECONDS : SIM_FAULT_RETRY_MISSING;
    effect->retry_after_us = 5 * WEIR_US_PER_S;
    effect->row_count = 1;
    snprintf(effect->code, sizeof(effect->code), "%s", code);
}

/* What no single value can get wrong. */
static enum weir_status check_whole(const struct place *place, const struct weir_json_node *node)
{
    struct sim_fault *fault = place->fault;
    struct sim_fault_effect *effect = &fault->effect;
    if (effect->kind == SIM_FAULT_BAD_ROW && !effect->column[0])
        return refuse_missing(place, node, "column");
    if (effect->kind == SIM_FAULT_BAD_ROW && !effect->value[0])
        return refuse_missing(place, node, "value");
    if (fault->nth && fault->every)
        return weir_fail(place->err, WEIR_E_INVALID,
                         "%s: line %u: faults[%u] has both nth and every, must be one of them",
                         place->file, (unsigned)node->line, (unsigned)place->index);
    if (effect->kind == SIM_FAULT_LATENCY_COLLAPSE && effect->factor == 0)
        effect->factor = effect->stall_us ? 1 : 10;
    return WEIR_OK;
}

static enum weir_status read_fault(const struct place *place, const struct weir_json_node *node)
{
    if (node->type != WEIR_JSON_OBJECT)
        return weir_fail(place->err, WEIR_E_INVALID,
                         "%s: line %u: faults[%u] is %s, must be an object", place->file,
                         (unsigned)node->line, (unsigned)place->index,
                         weir_json_type_name(node->type));
    enum weir_status status = read_kind(place, node);
    if (status != WEIR_OK)
        return status;
    set_defaults(place->fault);
    for (const struct weir_json_node *member = node->first; member; member = member->next) {
        const struct field *field = find_field(member->key, place->fault->effect.kind);
        if (!field)
            return refuse_key(place, member);
        if (!read_field(member, field, place->fault))
            return refuse(place, field, member);
    }
    return check_whole(place, node);
}

static enum weir_status read_list(struct sim_fault *list, const struct weir_json_node *node,
                                  const char *file, uint64_t seed, struct weir_error *err)
{
    uint32_t index = 0;
    for (const struct weir_json_node *element = node->first; element; element = element->next) {
        struct place place = { file, index, &list[index], err };
        enum weir_status status = read_fault(&place, element);
        if (status != WEIR_OK)
            return status;
        weir_rng_init(&list[index].rng, seed, STREAM + index);
        index++;
    }
    return WEIR_OK;
}

enum weir_status sim_faults_read(struct sim_faults *faults, const struct weir_json_node *list,
                                 const char *file, struct weir_error *err)
{
    if (list->type != WEIR_JSON_ARRAY || list->count > SIM_FAULTS_MAX)
        return weir_fail(err, WEIR_E_INVALID,
                         "%s: line %u: faults is %s of %u, must be an array of 0 to %d objects",
                         file, (unsigned)list->line, weir_json_type_name(list->type),
                         (unsigned)list->count, SIM_FAULTS_MAX);
    struct sim_fault *fresh = weir_calloc(list->count + 1, sizeof(*fresh));
    enum weir_status status = read_list(fresh, list, file, faults->seed, err);
    if (status == WEIR_OK)
        sim_faults_adopt(faults, fresh, list->count);
    else
        free(fresh);
    return status;
}
