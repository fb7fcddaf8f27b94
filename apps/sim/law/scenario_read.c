/* SPDX-License-Identifier: MIT */
/*
 * Reading a scenario from JSON; see scenario.h for the data.
 *
 * Each object of the format is a table of fields: the key, what its value may be, and where it
 * goes. Reading walks the document, not the tables, so that a key nobody knows is found; what the
 * document does not mention keeps its default. The first thing that is wrong ends the reading.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "sim/law/number.h"
#include "sim/law/scenario.h"

#define PATH_BYTES    96
#define PART_BYTES    32
#define VALUE_SHOWN   60 /* bytes of an offending value */
#define BUCKET_MIN_US WEIR_US_PER_MS

enum field_type {
    FIELD_IGNORED,
    FIELD_TEXT,         /* char[SIM_NAME_MAX + 1] */
    FIELD_TEXT_OR_NULL, /* null: empty */
    FIELD_BOOL,
    FIELD_WORD,     /* an enum, whose values are the places in `words` */
    FIELD_COUNT,    /* uint32_t */
    FIELD_INTEGER,  /* int64_t */
    FIELD_WORK,     /* int64_t; null: SIM_NO_WORK_ITEMS */
    FIELD_REAL,     /* double */
    FIELD_SECONDS,  /* int64_t, microseconds */
    FIELD_SHARE,    /* int64_t, in SIM_WHOLE_SHARE parts */
    FIELD_OBJECT,   /* fields of its own */
    FIELD_SERVICES, /* the array `service` */
    FIELD_CHANGES,  /* the array `change` */
};

struct field {
    const char *key;
    enum field_type type;
    size_t offset;
    double min;
    double max;
    const char *const *words;   /* ends with NULL */
    const struct field *fields; /* ends with a key of NULL */
};

/* Where we are: an object of the document and what it is read into. */
struct place {
    const char *file;
    struct weir_error *err;
    char path[PATH_BYTES]; /* "" or "limits." or "service[2].drift." */
    const struct field *fields;
    void *base;
};

static const char *const affinity_words[] = { "none", "soft", "pinned", NULL };
static const char *const charge_words[] = { "accrual", "completion", "arrival", NULL };
static const char *const form_words[] = { "seconds", "date", "missing", NULL };
static const char *const header_words[] = { "exact", "stale", "absent", "wrong", NULL };
static const char *const drift_words[] = { "none", "linear", "step", "sine", NULL };
static const char *const pattern_words[] = { "constant", "onoff", "bursty", NULL };

#define AT(type, member) offsetof(struct type, member)

static const struct field change_fields[] = {
    { "at_s", FIELD_SECONDS, AT(sim_change, at_us), 0, 1e7, NULL, NULL },
    { "requests", FIELD_INTEGER, AT(sim_change, requests), 0, 1e9, NULL, NULL },
    { "execution_s", FIELD_SECONDS, AT(sim_change, execution_us), 0, 1e6, NULL, NULL },
    { "dop_hint", FIELD_INTEGER, AT(sim_change, dop_hint), 0, 1e6, NULL, NULL },
    { 0 },
};

static const struct field limit_fields[] = {
    { "requests", FIELD_INTEGER, AT(sim_scenario, limits.requests), 0, 1e9, NULL, NULL },
    { "execution_s", FIELD_SECONDS, AT(sim_scenario, limits.execution_us), 0, 1e6, NULL, NULL },
    { "concurrent", FIELD_INTEGER, AT(sim_scenario, limits.concurrent), 0, 1e6, NULL, NULL },
    { "window_s", FIELD_SECONDS, AT(sim_scenario, limits.window_us), 0.001, 86400, NULL, NULL },
    { "bucket_s", FIELD_SECONDS, AT(sim_scenario, limits.bucket_us), 0, 86400, NULL, NULL },
    { "shared", FIELD_BOOL, AT(sim_scenario, limits.shared), 0, 0, NULL, NULL },
    { "charge", FIELD_WORD, AT(sim_scenario, limits.charge), 0, 0, charge_words, NULL },
    { "count_throttled", FIELD_BOOL, AT(sim_scenario, limits.count_throttled), 0, 0, NULL, NULL },
    { "change", FIELD_CHANGES, 0, 0, SIM_CHANGES_MAX, NULL, NULL },
    { 0 },
};

static const struct field retry_fields[] = {
    { "base_s", FIELD_SECONDS, AT(sim_retry_after, base_us), 0, 86400, NULL, NULL },
    { "growth", FIELD_REAL, AT(sim_retry_after, growth), 1, 100, NULL, NULL },
    { "forget_s", FIELD_SECONDS, AT(sim_retry_after, forget_us), 0, 1e6, NULL, NULL },
    { "cap_s", FIELD_SECONDS, AT(sim_retry_after, cap_us), 0, 86400, NULL, NULL },
    { "per_offence_s", FIELD_SECONDS, AT(sim_retry_after, per_offence_us), 0, 60, NULL, NULL },
    { "form", FIELD_WORD, AT(sim_retry_after, form), 0, 0, form_words, NULL },
    { 0 },
};

static const struct field drift_fields[] = {
    { "kind", FIELD_WORD, AT(sim_drift, kind), 0, 0, drift_words, NULL },
    { "to", FIELD_REAL, AT(sim_drift, to), 0, 1000, NULL, NULL },
    { 0 },
};

static const struct field service_fields[] = {
    { "weight", FIELD_REAL, AT(sim_service, weight), 1e-6, 1e6, NULL, NULL },
    { "operation", FIELD_TEXT_OR_NULL, AT(sim_service, operation), 0, 0, NULL, NULL },
    { "rows", FIELD_COUNT, AT(sim_service, rows), 1, 1e6, NULL, NULL },
    { "median_s", FIELD_REAL, AT(sim_service, median_s), 0, 3600, NULL, NULL },
    { "fixed_s", FIELD_REAL, AT(sim_service, fixed_s), 0, 3600, NULL, NULL },
    { "sigma", FIELD_REAL, AT(sim_service, sigma), 0, 3, NULL, NULL },
    { "overhead_s", FIELD_SECONDS, AT(sim_service, overhead_us), 0, 3600, NULL, NULL },
    { "exec_share", FIELD_SHARE, AT(sim_service, exec_share), 0, 1, NULL, NULL },
    { "drift", FIELD_OBJECT, AT(sim_service, drift), 0, 0, NULL, drift_fields },
    { 0 },
};

static const struct field contention_fields[] = {
    { "knee", FIELD_REAL, AT(sim_contention, knee), 0, 1e6, NULL, NULL },
    { "kappa", FIELD_REAL, AT(sim_contention, kappa), 0, 1000, NULL, NULL },
    { 0 },
};

static const struct field foreign_fields[] = {
    { "share", FIELD_REAL, AT(sim_foreign_load, share), 0, 1, NULL, NULL },
    { "pattern", FIELD_WORD, AT(sim_foreign_load, pattern), 0, 0, pattern_words, NULL },
    { 0 },
};

static const struct field scenario_fields[] = {
    { "name", FIELD_TEXT, AT(sim_scenario, name), 0, 0, NULL, NULL },
    { "duration_s", FIELD_SECONDS, AT(sim_scenario, duration_us), 0.001, 1e7, NULL, NULL },
    { "work_items", FIELD_WORK, AT(sim_scenario, work_items), 1, 1e9, NULL, NULL },
    { "connections", FIELD_COUNT, AT(sim_scenario, connections), 1, WEIR_CONNECTIONS_MAX, NULL,
      NULL },
    { "servers", FIELD_COUNT, AT(sim_scenario, servers), 1, SIM_SERVERS_MAX, NULL, NULL },
    { "affinity", FIELD_WORD, AT(sim_scenario, affinity), 0, 0, affinity_words, NULL },
    { "limits", FIELD_OBJECT, 0, 0, 0, NULL, limit_fields },
    { "retry_after", FIELD_OBJECT, AT(sim_scenario, retry_after), 0, 0, NULL, retry_fields },
    { "headers", FIELD_WORD, AT(sim_scenario, headers), 0, 0, header_words, NULL },
    { "dop_hint", FIELD_INTEGER, AT(sim_scenario, dop_hint), 0, 1e6, NULL, NULL },
    { "service", FIELD_SERVICES, 0, 1, SIM_SERVICES_MAX, NULL, NULL },
    { "contention", FIELD_OBJECT, AT(sim_scenario, contention), 0, 0, NULL, contention_fields },
    { "foreign", FIELD_OBJECT, AT(sim_scenario, foreign), 0, 0, NULL, foreign_fields },
    { "prefill", FIELD_REAL, AT(sim_scenario, prefill), 0, 1, NULL, NULL },
    { "failures", FIELD_REAL, AT(sim_scenario, failures), 0, 1, NULL, NULL },
    { "tables", FIELD_IGNORED, 0, 0, 0, NULL, NULL },
    { "users", FIELD_IGNORED, 0, 0, 0, NULL, NULL },
    { "rows", FIELD_IGNORED, 0, 0, 0, NULL, NULL },
    { "faults", FIELD_IGNORED, 0, 0, 0, NULL, NULL },
    { 0 },
};

/* `"a", "b"` or `"a" or "b"`: the words of an enum, for messages. */
static void list_words(char *text, size_t size, const char *const *words)
{
    size_t len = 0;
    text[0] = '\0';
    for (int i = 0; words[i] && len < size; i++) {
        const char *between = i == 0 ? "" : words[i + 1] ? ", " : " or ";
        len += (size_t)snprintf(text + len, size - len, "%s\"%s\"", between, words[i]);
    }
}

/* What the value of a field may be, as a phrase after "must be". */
static void describe(char *text, size_t size, const struct field *field)
{
    switch (field->type) {
    case FIELD_TEXT:
        snprintf(text, size, "a text of at most %d bytes", SIM_NAME_MAX);
        return;
    case FIELD_TEXT_OR_NULL:
        snprintf(text, size, "a text of at most %d bytes or null", SIM_NAME_MAX);
        return;
    case FIELD_BOOL:
        snprintf(text, size, "true or false");
        return;
    case FIELD_WORD:
        list_words(text, size, field->words);
        return;
    case FIELD_COUNT:
    case FIELD_INTEGER:
        snprintf(text, size, "an integer from %.10g to %.10g", field->min, field->max);
        return;
    case FIELD_WORK:
        snprintf(text, size, "an integer from %.10g to %.10g or null", field->min, field->max);
        return;
    case FIELD_REAL:
    case FIELD_SECONDS:
    case FIELD_SHARE:
        snprintf(text, size, "a number from %.10g to %.10g", field->min, field->max);
        return;
    case FIELD_SERVICES:
    case FIELD_CHANGES:
        snprintf(text, size, "an array of %.10g to %.10g objects", field->min, field->max);
        return;
    case FIELD_OBJECT:
    case FIELD_IGNORED:
        break;
    }
    snprintf(text, size, "an object");
}

static enum weir_status refuse(const struct place *place, const char *key,
                               const struct weir_json_node *node, const char *must_be)
{
    size_t len = node->text.len;
    bool cut = len > VALUE_SHOWN;
    return weir_fail(place->err, WEIR_E_INVALID, "%s: line %u: %s%s is \"%.*s%s\", must be %s",
                     place->file, (unsigned)node->line, place->path, key,
                     (int)(cut ? VALUE_SHOWN : len), node->text.ptr, cut ? "..." : "", must_be);
}

static enum weir_status refuse_field(const struct place *place, const struct field *field,
                                     const struct weir_json_node *node)
{
    char must_be[128];
    describe(must_be, sizeof(must_be), field);
    return refuse(place, field->key, node, must_be);
}

static enum weir_status refuse_key(const struct place *place, const struct weir_json_node *node)
{
    char known[256] = "";
    size_t len = 0;
    for (const struct field *field = place->fields; field->key && len < sizeof(known); field++)
        len +=
            (size_t)snprintf(known + len, sizeof(known) - len, "%s%s", len ? ", " : "", field->key);
    return weir_fail(
        place->err, WEIR_E_INVALID, "%s: line %u: unknown key \"%s%.*s\", known are %s",
        place->file, (unsigned)node->line, place->path,
        (int)(node->key.len > VALUE_SHOWN ? VALUE_SHOWN : node->key.len), node->key.ptr, known);
}

static bool read_real(const struct weir_json_node *node, const struct field *field, double *ret)
{
    char text[64];
    if (node->type != WEIR_JSON_NUMBER || node->text.len >= sizeof(text))
        return false;
    memcpy(text, node->text.ptr, node->text.len);
    text[node->text.len] = '\0';
    double value = strtod(text, NULL);
    if (!(value >= field->min && value <= field->max))
        return false;
    *ret = value;
    return true;
}

static bool read_integer(const struct weir_json_node *node, const struct field *field, int64_t *ret)
{
    int64_t value;
    if (node->type != WEIR_JSON_NUMBER || !weir_str_to_int64(node->text, &value))
        return false;
    if ((double)value < field->min || (double)value > field->max)
        return false;
    *ret = value;
    return true;
}

static bool read_text(const struct weir_json_node *node, char *ret)
{
    if (node->type != WEIR_JSON_STRING || node->text.len > SIM_NAME_MAX)
        return false;
    memcpy(ret, node->text.ptr, node->text.len);
    ret[node->text.len] = '\0';
    return true;
}

static bool read_bool(const struct weir_json_node *node, bool *ret)
{
    if (node->type != WEIR_JSON_BOOL)
        return false;
    *ret = weir_str_equal(node->text, weir_str_from("true"));
    return true;
}

static bool read_word(const struct weir_json_node *node, const char *const *words, unsigned *ret)
{
    for (unsigned i = 0; node->type == WEIR_JSON_STRING && words[i]; i++) {
        if (!weir_str_equal(node->text, weir_str_from(words[i])))
            continue;
        *ret = i;
        return true;
    }
    return false;
}

static bool read_scaled(const struct weir_json_node *node, const struct field *field, double scale,
                        int64_t *ret)
{
    double value;
    if (!read_real(node, field, &value))
        return false;
    *ret = sim_round(value * scale, INT64_MAX);
    return true;
}

static bool read_count(const struct weir_json_node *node, const struct field *field, uint32_t *ret)
{
    int64_t value;
    if (!read_integer(node, field, &value))
        return false;
    *ret = (uint32_t)value;
    return true;
}

/* A value that has no parts. */
static bool read_scalar(const struct weir_json_node *node, const struct field *field, void *at)
{
    switch (field->type) {
    case FIELD_TEXT:
        return read_text(node, at);
    case FIELD_TEXT_OR_NULL:
        *(char *)at = '\0';
        return node->type == WEIR_JSON_NULL || read_text(node, at);
    case FIELD_BOOL:
        return read_bool(node, at);
    case FIELD_WORD:
        return read_word(node, field->words, at);
    case FIELD_COUNT:
        return read_count(node, field, at);
    case FIELD_INTEGER:
        return read_integer(node, field, at);
    case FIELD_WORK:
        *(int64_t *)at = SIM_NO_WORK_ITEMS;
        return node->type == WEIR_JSON_NULL || read_integer(node, field, at);
    case FIELD_REAL:
        return read_real(node, field, at);
    case FIELD_SECONDS:
        return read_scaled(node, field, (double)WEIR_US_PER_S, at);
    case FIELD_SHARE:
        return read_scaled(node, field, SIM_WHOLE_SHARE, at);
    default:
        return false;
    }
}

static enum weir_status read_object(const struct place *place, const struct weir_json_node *node);

/* The place of a part of `place`; `name` ends with a point. */
static struct place part_of(const struct place *place, const char *name, const struct field *fields,
                            void *base)
{
    struct place part = { .file = place->file, .err = place->err, .fields = fields, .base = base };
    snprintf(part.path, sizeof(part.path), "%.63s%.31s", place->path, name);
    return part;
}

static enum weir_status read_part(const struct place *place, const struct field *field,
                                  const struct weir_json_node *node)
{
    char name[PART_BYTES];
    if (node->type != WEIR_JSON_OBJECT)
        return refuse_field(place, field, node);
    snprintf(name, sizeof(name), "%s.", field->key);
    struct place part = part_of(place, name, field->fields, (char *)place->base + field->offset);
    return read_object(&part, node);
}

/* One element of `service` or `change`, which has its defaults already. */
static enum weir_status read_element(const struct place *place, const char *key, uint32_t index,
                                     const struct field *fields, void *base,
                                     const struct weir_json_node *node)
{
    char name[PART_BYTES];
    snprintf(name, sizeof(name), "%s[%u].", key, (unsigned)index);
    struct place part = part_of(place, name, fields, base);
    if (node->type == WEIR_JSON_OBJECT)
        return read_object(&part, node);
    part.path[strlen(part.path) - 1] = '\0';
    return refuse(&part, "", node, "an object");
}

static bool is_array_within(const struct weir_json_node *node, const struct field *field)
{
    return node->type == WEIR_JSON_ARRAY && node->count >= field->min && node->count <= field->max;
}

static enum weir_status read_services(const struct place *place, const struct field *field,
                                      const struct weir_json_node *node)
{
    struct sim_scenario *scenario = place->base;
    if (!is_array_within(node, field))
        return refuse_field(place, field, node);
    scenario->service_count = 0;
    for (const struct weir_json_node *element = node->first; element; element = element->next) {
        uint32_t index = scenario->service_count++;
        scenario->services[index] = sim_service_default();
        enum weir_status status = read_element(place, field->key, index, service_fields,
                                               &scenario->services[index], element);
        if (status != WEIR_OK)
            return status;
    }
    return WEIR_OK;
}

/* Put the last change in its place by time; those of the same time stay as written. */
static void sort_last_change(struct sim_scenario *scenario)
{
    struct sim_change *changes = scenario->changes;
    for (uint32_t i = scenario->change_count - 1; i > 0; i--) {
        if (changes[i - 1].at_us <= changes[i].at_us)
            return;
        struct sim_change moved = changes[i];
        changes[i] = changes[i - 1];
        changes[i - 1] = moved;
    }
}

static enum weir_status read_changes(const struct place *place, const struct field *field,
                                     const struct weir_json_node *node)
{
    struct sim_scenario *scenario = place->base;
    if (!is_array_within(node, field))
        return refuse_field(place, field, node);
    scenario->change_count = 0;
    for (const struct weir_json_node *element = node->first; element; element = element->next) {
        struct sim_change *change = &scenario->changes[scenario->change_count];
        *change = (struct sim_change){ SIM_UNCHANGED, SIM_UNCHANGED, SIM_UNCHANGED, SIM_UNCHANGED };
        enum weir_status status =
            read_element(place, field->key, scenario->change_count, change_fields, change, element);
        if (status != WEIR_OK)
            return status;
        if (change->at_us == SIM_UNCHANGED)
            return refuse(place, field->key, element, "an array of objects that have an at_s");
        scenario->change_count++;
        sort_last_change(scenario);
    }
    return WEIR_OK;
}

static enum weir_status read_field(const struct place *place, const struct field *field,
                                   const struct weir_json_node *node)
{
    switch (field->type) {
    case FIELD_IGNORED:
        return WEIR_OK;
    case FIELD_OBJECT:
        return read_part(place, field, node);
    case FIELD_SERVICES:
        return read_services(place, field, node);
    case FIELD_CHANGES:
        return read_changes(place, field, node);
    default:
        break;
    }
    if (!read_scalar(node, field, (char *)place->base + field->offset))
        return refuse_field(place, field, node);
    return WEIR_OK;
}

static enum weir_status read_object(const struct place *place, const struct weir_json_node *node)
{
    for (const struct weir_json_node *member = node->first; member; member = member->next) {
        const struct field *field = place->fields;
        while (field->key && !weir_str_equal(member->key, weir_str_from(field->key)))
            field++;
        enum weir_status status =
            field->key ? read_field(place, field, member) : refuse_key(place, member);
        if (status != WEIR_OK)
            return status;
    }
    return WEIR_OK;
}

/* What no single value can get wrong. */
static enum weir_status check_whole(const struct sim_scenario *scenario, const char *file,
                                    struct weir_error *err)
{
    int64_t bucket_us = scenario->limits.bucket_us;
    int64_t window_us = scenario->limits.window_us;
    if (bucket_us && (bucket_us < BUCKET_MIN_US || bucket_us > window_us))
        return weir_fail(err, WEIR_E_INVALID,
                         "%s: limits.bucket_s is \"%.10g\", must be 0 or a number from 0.001 to "
                         "limits.window_s, which is %.10g",
                         file, (double)bucket_us / 1e6, (double)window_us / 1e6);
    return WEIR_OK;
}

static enum weir_status read_document(struct sim_scenario *scenario,
                                      const struct weir_json_node *root, const char *file,
                                      struct weir_error *err)
{
    struct place place = { .file = file, .err = err, .fields = scenario_fields, .base = scenario };
    if (root->type != WEIR_JSON_OBJECT)
        return weir_fail(err, WEIR_E_INVALID, "%s: a scenario must be an object, not %s", file,
                         weir_json_type_name(root->type));
    sim_scenario_init(scenario);
    enum weir_status status = read_object(&place, root);
    return status == WEIR_OK ? check_whole(scenario, file, err) : status;
}

enum weir_status sim_scenario_read(struct sim_scenario *ret_scenario, struct weir_str json,
                                   const char *file, struct weir_error *err)
{
    struct weir_json *document;
    struct weir_error cause;
    struct sim_scenario scenario;
    enum weir_status status = weir_json_parse(json, &document, &cause);
    if (status != WEIR_OK)
        return weir_fail(err, status, "%s: %s", file, cause.message);
    status = read_document(&scenario, weir_json_root(document), file, err);
    weir_json_free(document);
    if (status == WEIR_OK)
        *ret_scenario = scenario;
    return status;
}
