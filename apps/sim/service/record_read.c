/* SPDX-License-Identifier: MIT */
/*
 * A row from JSON; see record.h. Each member is a column, a lookup to be bound, or an annotation,
 * which except for @odata.type and @odata.id says nothing. Texts without escapes stay where they
 * are.
 */
#include <stdio.h>

#include "base/mem.h"
#include "sim/service/literal.h"
#include "sim/service/record.h"

#define SHOWN           100 /* bytes of an offending text */
#define CHOICES_PER_ROW 150

#define EDM_INT32  "Edm.Int32"
#define EDM_INT64  "Edm.Int64"
#define EDM_STRING "Edm.String"

static int shown(struct weir_str text)
{
    return (int)sim_text_cut(text, SHOWN).len;
}

void sim_record_release(struct sim_record *record)
{
    free(record->text);
    record->text = NULL;
    record->text_capacity = record->text_len = 0;
}

void sim_record_reset(struct sim_record *record, const struct sim_table *table)
{
    for (uint32_t i = 0; i < record->column_count; i++)
        record->given[record->columns[i]] = 0;
    record->table = table;
    record->column_count = 0;
    record->has_type = false;
    record->odata_id = weir_str(NULL, 0);
    record->text_len = 0;
}

void sim_record_set(struct sim_record *record, uint32_t column, struct sim_value value)
{
    record->values[column] = value;
    if (record->given[column])
        return;
    record->given[column] = 1;
    record->columns[record->column_count++] = (uint16_t)column;
}

/*
 * A text without escapes. All texts of one row together are shorter than the body, so that much
 * memory never has to move while it is pointed into.
 */
static struct weir_str decoded(struct sim_record *record, const struct sim_scan *scan,
                               struct weir_str raw, bool escaped)
{
    if (!escaped)
        return raw;
    size_t body = (size_t)(scan->end - scan->start);
    if (record->text_len == 0 && record->text_capacity < body) {
        record->text_capacity = body > 4096 ? body : 4096;
        record->text = weir_realloc(record->text, record->text_capacity, 1);
    }
    char *start = record->text + record->text_len;
    size_t len = sim_scan_decode(raw, start);
    record->text_len += len;
    return weir_str(start, len);
}

static bool bad_literal(const struct sim_record *record, const struct sim_token *token,
                        const char *type, struct sim_rejection *why)
{
    bool container = token->type == SIM_SCAN_OBJECT || token->type == SIM_SCAN_ARRAY;
    if (container)
        return sim_reject_payload(why, record->table,
                                  "An unexpected '%s' node was found when reading from the JSON "
                                  "reader. A 'PrimitiveValue' node was expected.",
                                  token->type == SIM_SCAN_OBJECT ? "StartObject" : "StartArray");
    return sim_reject_payload(why, record->table,
                              "Cannot convert the literal '%.*s' to the expected type '%s'.",
                              shown(token->text), token->text.ptr, type);
}

static bool out_of_range(const struct sim_record *record, const struct sim_column *column,
                         struct sim_rejection *why)
{
    return sim_reject(why, 400, "0x80044330",
                      "A validation error occurred. The value of '%s' on record of type '%s' is "
                      "outside the valid range.",
                      column->name, record->table->name);
}

static bool read_text(struct sim_record *record, const struct sim_column *column,
                      const struct sim_token *token, struct sim_value *ret,
                      struct sim_rejection *why)
{
    if (token->type != SIM_SCAN_STRING)
        return bad_literal(record, token, EDM_STRING, why);
    /* A text has at least as many bytes as units, so most need not be counted. */
    if (token->text.len > column->length_max && sim_text_units(ret->text) > column->length_max)
        return sim_reject(why, 400, "0x80044331",
                          "A validation error occurred.  The length of the '%s' attribute of the "
                          "'%s' entity exceeded the maximum allowed length of '%u'.",
                          column->name, record->table->name, column->length_max);
    /* The service keeps no empty texts: they are null, and so no key either. */
    ret->kind = ret->text.len ? SIM_TEXT : SIM_NULL;
    return true;
}

static bool bad_choice(const struct sim_record *record, const struct sim_column *column,
                       int64_t value, struct sim_rejection *why)
{
    char accepted[512] = "";
    size_t len = 0;
    for (uint32_t i = 0; i < column->choice_count && len < sizeof(accepted) - 16; i++)
        len += (size_t)snprintf(accepted + len, sizeof(accepted) - len, "%s%d", i ? "," : "",
                                column->choices[i].value);
    return sim_reject(why, 400, "0x8004431a",
                      "A validation error occurred. The value %lld of '%s' on record of type "
                      "'%s' is outside the valid range. Accepted Values: %s",
                      (long long)value, column->name, record->table->name, accepted);
}

static bool read_integer(const struct sim_record *record, const struct sim_column *column,
                         const struct sim_token *token, struct sim_value *ret,
                         struct sim_rejection *why)
{
    bool wide = column->type == SIM_TYPE_BIGINT;
    const char *type = wide ? EDM_INT64 : EDM_INT32;
    if (token->type != SIM_SCAN_NUMBER || !weir_str_to_int64(token->text, &ret->number))
        return bad_literal(record, token, type, why);
    if (!wide && (ret->number < INT32_MIN || ret->number > INT32_MAX))
        return bad_literal(record, token, type, why);
    ret->kind = SIM_NUMBER;
    if (column->choice_count)
        return sim_column_choice(column, ret->number) ||
               bad_choice(record, column, ret->number, why);
    return (ret->number >= column->min && ret->number <= column->max) ||
           out_of_range(record, column, why);
}

static bool read_decimal(const struct sim_record *record, const struct sim_column *column,
                         const struct sim_token *token, struct sim_value *ret,
                         struct sim_rejection *why)
{
    if (token->type != SIM_SCAN_NUMBER)
        return bad_literal(record, token, "Edm.Decimal", why);
    ret->kind = SIM_DECIMAL;
    bool exact;
    if (!sim_decimal_parse(token->text, column->precision, &ret->decimal, &exact))
        return out_of_range(record, column, why);
    if (!exact && record->strict)
        return sim_reject(why, 400, "0x80044330",
                          "A validation error occurred. The value of '%s' on record of type '%s' "
                          "has more digits than its precision of %u.",
                          column->name, record->table->name, column->precision);
    sim_wide unit = sim_wide_power(column->precision);
    bool fits = ret->decimal >= column->min * unit && ret->decimal <= column->max * unit;
    return fits || out_of_range(record, column, why);
}

static bool read_double(const struct sim_record *record, const struct sim_column *column,
                        const struct sim_token *token, struct sim_value *ret,
                        struct sim_rejection *why)
{
    if (token->type != SIM_SCAN_NUMBER || !sim_real_parse(token->text, &ret->real))
        return bad_literal(record, token, "Edm.Double", why);
    ret->kind = SIM_REAL;
    bool fits = ret->real >= (double)column->min && ret->real <= (double)column->max;
    return fits || out_of_range(record, column, why);
}

static bool read_boolean(const struct sim_record *record, const struct sim_token *token,
                         struct sim_value *ret, struct sim_rejection *why)
{
    if (token->type != SIM_SCAN_TRUE && token->type != SIM_SCAN_FALSE)
        return bad_literal(record, token, "Edm.Boolean", why);
    ret->kind = SIM_NUMBER;
    ret->number = token->type == SIM_SCAN_TRUE;
    return true;
}

static bool read_date(const struct sim_record *record, const struct sim_column *column,
                      const struct sim_token *token, struct sim_value *ret,
                      struct sim_rejection *why)
{
    const char *type = column->behavior == SIM_DATE_ONLY ? "Edm.Date" : "Edm.DateTimeOffset";
    int64_t us;
    if (token->type != SIM_SCAN_STRING || !sim_date_parse(ret->text, column->behavior, &us))
        return bad_literal(record, token, type, why);
    if (us < SIM_DATE_MIN_US)
        return sim_reject(why, 400, "0x80040239",
                          "DateTime is less than minimum value supported by CrmDateTime. "
                          "Actual value: %.*s, Minimum value supported: 01/01/1753 00:00:00",
                          shown(token->text), token->text.ptr);
    *ret = (struct sim_value){ .kind = SIM_NUMBER, .number = us };
    return true;
}

static bool read_id(const struct sim_record *record, const struct sim_token *token,
                    struct sim_value *ret, struct sim_rejection *why)
{
    struct sim_guid id;
    if (token->type != SIM_SCAN_STRING || !sim_guid_parse(ret->text, &id))
        return bad_literal(record, token, "Edm.Guid", why);
    *ret = (struct sim_value){ .kind = SIM_ID, .id = id };
    return true;
}

/* A list "1,2,3" of choices; an empty one is no value. */
static bool read_multi(const struct sim_record *record, const struct sim_column *column,
                       const struct sim_token *token, struct sim_value *ret,
                       struct sim_rejection *why)
{
    if (token->type != SIM_SCAN_STRING)
        return bad_literal(record, token, EDM_STRING, why);
    struct weir_str rest = ret->text;
    ret->kind = rest.len ? SIM_TEXT : SIM_NULL;
    for (uint32_t count = 1; rest.len; count++) {
        const char *comma = memchr(rest.ptr, ',', rest.len);
        size_t len = comma ? (size_t)(comma - rest.ptr) : rest.len;
        int64_t value;
        if (count > CHOICES_PER_ROW ||
            !weir_str_to_int64(weir_str_trim(weir_str(rest.ptr, len)), &value))
            return bad_literal(record, token, "Edm.Int32", why);
        if (!sim_column_choice(column, value))
            return bad_choice(record, column, value, why);
        size_t taken = comma ? len + 1 : len;
        rest = weir_str(rest.ptr + taken, rest.len - taken);
    }
    return true;
}

/* A column that neither a create nor an update can write. */
static bool check_writable(const struct sim_record *record, uint32_t place,
                           struct sim_rejection *why)
{
    const struct sim_column *column = &record->table->columns[place];
    if (!record->strict || !column->no_create || !column->no_update)
        return true;
    return sim_reject(why, 400, "0x80040203",
                      "Attribute '%s' of entity '%s' is valid neither for create nor for update.",
                      column->name, record->table->name);
}

static bool upload_only(const struct sim_record *record, const struct sim_column *column,
                        struct sim_rejection *why)
{
    return sim_reject_payload(why, record->table,
                              "The property '%s' holds a file or an image, which cannot be written "
                              "with the other properties of a row.",
                              column->name);
}

static bool read_value(struct sim_record *record, uint32_t place, const struct sim_token *token,
                       struct weir_str text, struct sim_rejection *why)
{
    const struct sim_column *column = &record->table->columns[place];
    struct sim_value value = { .kind = SIM_NULL };
    bool good = true;
    if (token->type != SIM_SCAN_NULL) {
        value.text = text;
        switch (column->type) {
        case SIM_TYPE_STRING:
        case SIM_TYPE_MEMO:
            good = read_text(record, column, token, &value, why);
            break;
        case SIM_TYPE_INTEGER:
        case SIM_TYPE_BIGINT:
        case SIM_TYPE_PICKLIST:
        case SIM_TYPE_STATE:
        case SIM_TYPE_STATUS:
            good = read_integer(record, column, token, &value, why);
            break;
        case SIM_TYPE_DECIMAL:
        case SIM_TYPE_MONEY:
            good = read_decimal(record, column, token, &value, why);
            break;
        case SIM_TYPE_DOUBLE:
            good = read_double(record, column, token, &value, why);
            break;
        case SIM_TYPE_BOOLEAN:
            good = read_boolean(record, token, &value, why);
            break;
        case SIM_TYPE_DATETIME:
            good = read_date(record, column, token, &value, why);
            break;
        case SIM_TYPE_MULTI_PICKLIST:
            good = read_multi(record, column, token, &value, why);
            break;
        case SIM_TYPE_FILE:
        case SIM_TYPE_IMAGE:
            good = upload_only(record, column, why);
            break;
        default:
            good = read_id(record, token, &value, why);
        }
    }
    if (good)
        sim_record_set(record, place, value);
    return good;
}

/* Lookups. */

static bool undeclared(const struct sim_record *record, struct weir_str name,
                       struct sim_rejection *why)
{
    return sim_reject_payload(
        why, record->table,
        "An undeclared property '%.*s' which only has property annotations in the payload but no "
        "property value was found in the payload. In OData, only declared navigation properties "
        "and declared named streams can be represented as properties without values.",
        shown(name), name.ptr);
}

static bool bad_bind(const struct sim_record *record, struct weir_str name, struct weir_str text,
                     struct sim_rejection *why)
{
    return sim_reject_payload(why, record->table,
                              "The value '%.*s' of the annotation 'odata.bind' on the property "
                              "'%.*s' is not the address of a row that the property can refer to.",
                              shown(text), text.ptr, shown(name), name.ptr);
}

/* "/accounts(00000000-0000-0000-0000-000000000000)", which nearly all are. */
static bool quick_bind(const struct sim_table *target, struct weir_str text, struct sim_guid *ret)
{
    size_t set = strlen(target->set);
    if (text.len && *text.ptr == '/')
        text = weir_str(text.ptr + 1, text.len - 1);
    return text.len == set + 38 && memcmp(text.ptr, target->set, set) == 0 &&
           text.ptr[set] == '(' && text.ptr[set + 37] == ')' &&
           sim_guid_parse(weir_str(text.ptr + set + 1, 36), ret);
}

/* A lookup refers to one row, by whichever of its navigation properties. */
static bool refer(struct sim_record *record, uint32_t column, struct sim_value value,
                  struct sim_rejection *why)
{
    if (record->given[column] && record->values[column].kind == SIM_ID && value.kind == SIM_ID)
        return sim_reject_payload(why, record->table,
                                  "The lookup '%s' is bound more than once in a resource object.",
                                  record->table->columns[column].name);
    if (!record->given[column] || value.kind == SIM_ID)
        sim_record_set(record, column, value);
    return true;
}

/* Any other address. */
static bool slow_bind(struct sim_api *api, struct sim_record *record, struct weir_str name,
                      struct weir_str text, const struct sim_property *property,
                      struct sim_rejection *why)
{
    const struct sim_column *column = &record->table->columns[property->column];
    struct sim_url url;
    bool good = sim_url_parse(text, &url) && url.kind == SIM_URL_RECORD;
    uint8_t i = 0;
    while (good && i < column->target_count &&
           !(weir_str_equal(url.set,
                            weir_str_from(api->schema.tables[column->targets[i].place]->set)) &&
             weir_str_equal(name, weir_str_from(column->targets[i].nav))))
        i++;
    if (!good || i == column->target_count) {
        sim_url_release(&url);
        return bad_bind(record, name, text, why);
    }
    const struct sim_table *target = api->schema.tables[column->targets[i].place];
    struct sim_target_key key;
    good = sim_target_key_read(target, url.keys, url.key_count, weir_str("", 0), &key, why);
    struct sim_value value = { .kind = SIM_ID, .target = i, .id = key.id };
    if (good && key.key != SIM_NO_KEY) {
        uint32_t place = sim_target_key_find(api, target, &key);
        good = place != SIM_NO_PLACE || sim_target_key_absent(target, &key, why);
        if (good)
            value.id = sim_store_at(&api->stores[target->place], place)->id;
    }
    good = good && refer(record, property->column, value, why);
    sim_url_release(&url);
    return good;
}

static bool read_bind(struct sim_api *api, struct sim_record *record, struct weir_str name,
                      const struct sim_token *token, struct weir_str text,
                      struct sim_rejection *why)
{
    const struct sim_property *property = sim_table_property(record->table, name);
    if (!property || property->kind != SIM_PROPERTY_NAVIGATION)
        return undeclared(record, name, why);
    if (!check_writable(record, property->column, why))
        return false;
    if (token->type == SIM_SCAN_NULL)
        return refer(record, property->column, (struct sim_value){ .kind = SIM_NULL }, why);
    if (token->type != SIM_SCAN_STRING)
        return bad_bind(record, name, token->text, why);
    const struct sim_column *column = &record->table->columns[property->column];
    for (uint8_t i = 0; i < column->target_count; i++) {
        struct sim_value value = { .kind = SIM_ID, .target = i };
        if (weir_str_equal(name, weir_str_from(column->targets[i].nav)) &&
            quick_bind(api->schema.tables[column->targets[i].place], text, &value.id))
            return refer(record, property->column, value, why);
    }
    return slow_bind(api, record, name, text, property, why);
}

/* Members. */

static bool read_type(struct sim_record *record, const struct sim_token *token,
                      struct weir_str text, struct sim_rejection *why)
{
    static const char space[] = "Microsoft.Dynamics.CRM.";
    size_t space_len = sizeof(space) - 1;
    if (text.len && *text.ptr == '#')
        text = weir_str(text.ptr + 1, text.len - 1);
    record->has_type = token->type == SIM_SCAN_STRING && text.len > space_len &&
                       memcmp(text.ptr, space, space_len) == 0 &&
                       weir_str_equal(weir_str(text.ptr + space_len, text.len - space_len),
                                      weir_str_from(record->table->name));
    if (record->has_type)
        return true;
    return sim_reject_payload(why, record->table,
                              "A resource with type '%.*s' was found, but it is not assignable to "
                              "the expected type 'Microsoft.Dynamics.CRM.%s'.",
                              shown(text), text.ptr, record->table->name);
}

/* "name@odata.bind", "@odata.type" and so on; `at` is where the sign is. */
static bool read_annotation(struct sim_api *api, struct sim_record *record, struct sim_scan *scan,
                            struct weir_str key, size_t at, const struct sim_token *token,
                            struct weir_str text, struct sim_rejection *why)
{
    struct weir_str annotation = weir_str(key.ptr + at, key.len - at);
    if (at && weir_str_equal(annotation, weir_str_from("@odata.bind")))
        return read_bind(api, record, weir_str(key.ptr, at), token, text, why);
    if (!at && weir_str_equal(annotation, weir_str_from("@odata.type")))
        return read_type(record, token, text, why);
    if (!at && weir_str_equal(annotation, weir_str_from("@odata.id")) &&
        token->type == SIM_SCAN_STRING)
        record->odata_id = text;
    bool container = token->type == SIM_SCAN_OBJECT || token->type == SIM_SCAN_ARRAY;
    if (container && !sim_scan_skip(scan))
        return sim_reject_payload(why, record->table, "%s.", scan->problem);
    return true;
}

static bool unknown(const struct sim_record *record, struct weir_str name,
                    struct sim_rejection *why)
{
    return sim_reject(why, 400, "0x0",
                      "An error occurred while validating input parameters: "
                      "Microsoft.Crm.CrmException: Invalid property '%.*s' was found in entity "
                      "'Microsoft.Dynamics.CRM.%s'. ---> Microsoft.OData.ODataException: Does "
                      "not support untyped value in non-open type.",
                      shown(name), name.ptr, record->table->name);
}

static bool read_property(struct sim_record *record, struct weir_str name,
                          const struct sim_token *token, struct weir_str text,
                          struct sim_rejection *why)
{
    const struct sim_property *property = sim_table_property(record->table, name);
    if (!property)
        return unknown(record, name, why);
    if (property->kind == SIM_PROPERTY_COLUMN) {
        if (record->given[property->column])
            return sim_reject_payload(why, record->table,
                                      "Multiple properties with the name '%.*s' were detected in a "
                                      "resource object or a complex value. In OData, duplicate "
                                      "property names are not allowed.",
                                      shown(name), name.ptr);
        return check_writable(record, property->column, why) &&
               read_value(record, property->column, token, text, why);
    }
    if (token->type == SIM_SCAN_NULL && property->kind == SIM_PROPERTY_NAVIGATION)
        return check_writable(record, property->column, why) &&
               refer(record, property->column, (struct sim_value){ .kind = SIM_NULL }, why);
    return sim_reject_payload(
        why, record->table,
        "CRM do not support direct update of Entity Reference properties, Use "
        "Navigation properties instead: '%.*s'.",
        shown(name), name.ptr);
}

static bool read_member(struct sim_api *api, struct sim_record *record, struct sim_scan *scan,
                        const struct sim_token *token, struct sim_rejection *why)
{
    struct weir_str key = decoded(record, scan, token->key, token->key_escaped);
    struct weir_str text = decoded(record, scan, token->text, token->escaped);
    const char *at = key.len ? memchr(key.ptr, '@', key.len) : NULL;
    if (!at)
        return read_property(record, key, token, text, why);
    return read_annotation(api, record, scan, key, (size_t)(at - key.ptr), token, text, why);
}

bool sim_record_read(struct sim_api *api, struct sim_record *record, struct sim_scan *scan,
                     struct sim_rejection *why)
{
    struct sim_token token;
    while (sim_scan_next(scan, &token) > SIM_SCAN_END) {
        if (token.type == SIM_SCAN_OBJECT_END)
            return true;
        if (!read_member(api, record, scan, &token, why))
            return false;
    }
    return sim_reject_payload(why, record->table, "Invalid JSON: %s.",
                              scan->problem ? scan->problem : "it ends too early");
}

bool sim_record_read_body(struct sim_api *api, struct sim_record *record, struct weir_str body,
                          struct sim_rejection *why)
{
    struct sim_scan scan;
    struct sim_token token;
    if (!sim_scan_check(body, &scan))
        return sim_reject_payload(why, record->table, "Invalid JSON: %s.", scan.problem);
    sim_scan_init(&scan, body);
    if (sim_scan_next(&scan, &token) != SIM_SCAN_OBJECT)
        return sim_reject_payload(why, record->table,
                                  "An unexpected node was found when reading from the JSON reader. "
                                  "A 'StartObject' node was expected.");
    return sim_record_read(api, record, &scan, why);
}

bool sim_record_id(const struct sim_record *record, struct sim_guid *ret)
{
    uint32_t column = record->table->id;
    const struct sim_value *value = &record->values[column];
    if (!record->given[column] || value->kind != SIM_ID || sim_guid_is_empty(value->id))
        return false;
    *ret = value->id;
    return true;
}

struct weir_str sim_record_partition(const struct sim_record *record)
{
    uint32_t column = record->table->partition;
    if (column == SIM_NO_COLUMN || !record->given[column] ||
        record->values[column].kind != SIM_TEXT)
        return weir_str("", 0);
    return record->values[column].text;
}
