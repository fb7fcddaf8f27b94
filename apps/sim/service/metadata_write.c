/* SPDX-License-Identifier: MIT */
/* Options, properties and labels of the metadata; see metadata_write.h. */
#include "sim/service/metadata_write.h"

#define LANGUAGE 1033

/* ---- options ---- */

struct sim_meta_options sim_meta_options_of(const struct sim_url *url)
{
    return (struct sim_meta_options){ url->options[SIM_OPTION_SELECT],
                                      url->options[SIM_OPTION_FILTER],
                                      url->options[SIM_OPTION_EXPAND] };
}

/* Where `text` ends an item: at `end` outside of parentheses and quotes, or at its own end. */
static size_t item_end(struct weir_str text, char end)
{
    int depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        quoted ^= c == '\'';
        if (quoted)
            continue;
        if (c == end && depth == 0)
            return i;
        depth += (c == '(') - (c == ')');
    }
    return text.len;
}

static struct weir_str take_item(struct weir_str *text, char end)
{
    if (!text->len)
        return weir_str("", 0);
    size_t len = item_end(*text, end);
    struct weir_str item = weir_str_trim(weir_str(text->ptr, len));
    len += len < text->len;
    *text = weir_str(text->ptr + len, text->len - len);
    return item;
}

static bool set_option(struct weir_str item, struct sim_meta_options *options)
{
    static const char *const names[] = { "$select=", "$filter=", "$expand=" };
    struct weir_str *const places[] = { &options->select, &options->filter, &options->expand };
    for (size_t i = 0; i < 3; i++) {
        size_t len = strlen(names[i]);
        if (weir_str_starts_nocase(item, names[i])) {
            *places[i] = weir_str(item.ptr + len, item.len - len);
            return true;
        }
    }
    return false;
}

bool sim_meta_take_expand(struct weir_str *expand, struct weir_str *name,
                          struct sim_meta_options *options)
{
    struct weir_str rest = *expand;
    struct weir_str item = take_item(&rest, ',');
    *options = (struct sim_meta_options){ { NULL, 0 }, { NULL, 0 }, { NULL, 0 } };
    if (!item.len)
        return false;
    const char *open = memchr(item.ptr, '(', item.len);
    *name = weir_str(item.ptr, open ? (size_t)(open - item.ptr) : item.len);
    if (open) {
        if (item.ptr[item.len - 1] != ')')
            return false;
        struct weir_str inner = weir_str(open + 1, item.len - name->len - 2);
        while (inner.len) {
            if (!set_option(take_item(&inner, ';'), options))
                return false;
        }
    }
    *expand = rest;
    return true;
}

/* ---- $select ---- */

bool sim_meta_selects(struct weir_str select, const char *name)
{
    if (!select.ptr)
        return true;
    while (select.len) {
        if (weir_str_equal(take_item(&select, ','), weir_str_from(name)))
            return true;
    }
    return false;
}

static bool has_property(const struct sim_meta_type *type, uint32_t types, struct weir_str name)
{
    for (uint32_t i = 0; i < type->property_count; i++) {
        const struct sim_meta_property *property = &type->properties[i];
        if (weir_str_equal(name, weir_str_from(property->name)))
            return !property->types || property->types & types;
    }
    return false;
}

bool sim_meta_check_select(const struct sim_meta_type *type, uint32_t types, struct weir_str select,
                           struct sim_answer *answer)
{
    while (select.len) {
        struct weir_str name = take_item(&select, ',');
        if (has_property(type, types, name))
            continue;
        sim_answer_error(answer, 400, "0x0",
                         "Could not find a property named '%.*s' on type "
                         "'Microsoft.Dynamics.CRM.%s'.",
                         (int)(name.len <= 100 ? name.len : 0), name.ptr, type->name);
        return false;
    }
    return true;
}

/* ---- writing ---- */

void sim_meta_put(const struct sim_meta_type *type, uint32_t types, const struct sim_meta *meta,
                  struct weir_str select, struct weir_buf *json)
{
    bool first = true;
    for (uint32_t i = 0; i < type->property_count; i++) {
        const struct sim_meta_property *property = &type->properties[i];
        bool always = strcmp(property->name, "MetadataId") == 0;
        if ((property->types && !(property->types & types)) ||
            (!always && !sim_meta_selects(select, property->name)))
            continue;
        weir_buf_printf(json, "%s\"%s\":", first ? "" : ",", property->name);
        if (property->put)
            property->put(meta, json);
        else
            weir_buf_add_text(json, property->literal);
        first = false;
    }
}

void sim_meta_put_text(const char *text, struct weir_buf *json)
{
    if (text)
        weir_buf_add_json_string(json, weir_str_from(text));
    else
        weir_buf_add_text(json, "null");
}

void sim_meta_put_value(const char *text, struct weir_buf *json)
{
    weir_buf_add_text(json, "{\"Value\":");
    sim_meta_put_text(text, json);
    weir_buf_add_char(json, '}');
}

void sim_meta_put_id(const char *a, const char *b, struct weir_buf *json)
{
    char text[SIM_GUID_TEXT];
    struct sim_guid id = sim_guid_of(a, weir_str_hash(weir_str_from(b)));
    weir_buf_printf(json, "\"%s\"", sim_guid_print(id, text));
}

static void put_localized(const char *text, struct weir_buf *json)
{
    weir_buf_add_text(json, "{\"Label\":");
    sim_meta_put_text(text, json);
    weir_buf_printf(json, ",\"LanguageCode\":%d,\"IsManaged\":true,\"MetadataId\":", LANGUAGE);
    sim_meta_put_id(text, "label", json);
    weir_buf_add_text(json, ",\"HasChanged\":null}");
}

void sim_meta_put_label(const char *text, struct weir_buf *json)
{
    if (!text) {
        weir_buf_add_text(json, "{\"LocalizedLabels\":[],\"UserLocalizedLabel\":null}");
        return;
    }
    weir_buf_add_text(json, "{\"LocalizedLabels\":[");
    put_localized(text, json);
    weir_buf_add_text(json, "],\"UserLocalizedLabel\":");
    put_localized(text, json);
    weir_buf_add_char(json, '}');
}

void sim_meta_put_context(const struct sim_meta *meta, const char *member, const char *path,
                          struct weir_str select, const char *end, struct weir_buf *json)
{
    struct weir_buf text;
    weir_buf_init(&text, 2 * SIM_URL_BATCH_BYTES_MAX);
    weir_buf_printf(&text, "%s/api/data/%.*s/$metadata#%s", meta->api->base_url,
                    (int)meta->url->version.len, meta->url->version.ptr, path);
    if (select.len)
        weir_buf_printf(&text, "(%.*s)", (int)select.len, select.ptr);
    weir_buf_add_text(&text, end);
    weir_buf_printf(json, "\"%s\":", member);
    weir_buf_add_json_string(json, weir_str(text.ptr, text.len));
    weir_buf_release(&text);
}

bool sim_meta_absent(struct sim_answer *answer, struct weir_str what)
{
    sim_answer_error(answer, 404, "0x8006088a", "Resource not found for the segment '%.*s'.",
                     (int)(what.len <= 200 ? what.len : 0), what.ptr);
    return false;
}

bool sim_meta_bad_expand(struct sim_answer *answer)
{
    sim_answer_error(answer, 400, "0x80060888", "Bad Request - Error in query syntax.");
    return false;
}

const struct sim_column *sim_meta_find_column(const struct sim_column *columns, size_t count,
                                              struct weir_str name, uint32_t *ret_slot)
{
    for (size_t i = 0; i < count; i++) {
        if (weir_str_equal(name, weir_str_from(columns[i].name))) {
            *ret_slot = (uint32_t)i;
            return &columns[i];
        }
    }
    return NULL;
}
