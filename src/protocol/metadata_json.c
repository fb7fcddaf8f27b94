/* SPDX-License-Identifier: MIT */
/*
 * Members of what the service says of a table; declared in metadata_parts.h. Everything may be
 * missing or null unless it is needed; whatever is there must be of its type.
 */
#include "base/error.h"
#include "protocol/metadata_parts.h"

bool weir_metadata_is_absent(const struct weir_json_node *node)
{
    return !node || node->type == WEIR_JSON_NULL;
}

enum weir_status weir_metadata_get(struct weir_metadata_reader *reader,
                                   const struct weir_json_node *node, const char *key,
                                   enum weir_json_type type, bool needed,
                                   const struct weir_json_node **ret)
{
    const struct weir_json_node *member = weir_json_find(node, key);
    bool absent = weir_metadata_is_absent(member);
    if (absent ? needed : member->type != type)
        return weir_fail(reader->err, WEIR_E_INVALID,
                         "the metadata of \"%s\" makes no sense: %s is %s where %s is right",
                         reader->name, key, member ? weir_json_type_name(member->type) : "missing",
                         weir_json_type_name(type));
    *ret = absent ? NULL : member;
    return WEIR_OK;
}

enum weir_status weir_metadata_own_text(struct weir_metadata_reader *reader,
                                        const struct weir_json_node *node, const char *key,
                                        const char **ret)
{
    if (node->type != WEIR_JSON_STRING)
        return weir_fail(reader->err, WEIR_E_INVALID,
                         "the metadata of \"%s\" makes no sense: %s has %s where a string is right",
                         reader->name, key, weir_json_type_name(node->type));
    if (memchr(node->text.ptr, '\0', node->text.len))
        return weir_fail(reader->err, WEIR_E_INVALID,
                         "the metadata of \"%s\" makes no sense: %s has a zero byte", reader->name,
                         key);
    *ret = weir_table_text(reader->table, node->text);
    return WEIR_OK;
}

enum weir_status weir_metadata_get_text(struct weir_metadata_reader *reader,
                                        const struct weir_json_node *node, const char *key,
                                        bool needed, const char **ret)
{
    const struct weir_json_node *member = NULL;
    enum weir_status status =
        weir_metadata_get(reader, node, key, WEIR_JSON_STRING, needed, &member);
    if (status != WEIR_OK)
        return status;
    *ret = NULL;
    return member ? weir_metadata_own_text(reader, member, key, ret) : WEIR_OK;
}

enum weir_status weir_metadata_get_value(struct weir_metadata_reader *reader,
                                         const struct weir_json_node *node, const char *key,
                                         struct weir_str *ret)
{
    const struct weir_json_node *object = NULL, *value = NULL;
    enum weir_status status =
        weir_metadata_get(reader, node, key, WEIR_JSON_OBJECT, false, &object);
    if (status == WEIR_OK && object)
        status = weir_metadata_get(reader, object, "Value", WEIR_JSON_STRING, false, &value);
    if (status == WEIR_OK)
        *ret = value ? value->text : weir_str("", 0);
    return status;
}

enum weir_status weir_metadata_get_label(struct weir_metadata_reader *reader,
                                         const struct weir_json_node *node, const char *key,
                                         const char **ret)
{
    const struct weir_json_node *label = NULL, *localized = NULL, *all = NULL;
    enum weir_status status = weir_metadata_get(reader, node, key, WEIR_JSON_OBJECT, false, &label);
    if (status == WEIR_OK && label)
        status = weir_metadata_get(reader, label, "UserLocalizedLabel", WEIR_JSON_OBJECT, false,
                                   &localized);
    if (status == WEIR_OK && label && !localized) {
        status = weir_metadata_get(reader, label, "LocalizedLabels", WEIR_JSON_ARRAY, false, &all);
        localized = all ? all->first : NULL;
    }
    *ret = NULL;
    if (status == WEIR_OK && localized)
        status = weir_metadata_get_text(reader, localized, "Label", false, ret);
    return status;
}

enum weir_status weir_metadata_get_bool(struct weir_metadata_reader *reader,
                                        const struct weir_json_node *node, const char *key,
                                        bool *ret)
{
    const struct weir_json_node *member;
    enum weir_status status = weir_metadata_get(reader, node, key, WEIR_JSON_BOOL, false, &member);
    if (status == WEIR_OK)
        *ret = member && weir_str_equal(member->text, weir_str_from("true"));
    return status;
}

enum weir_status weir_metadata_get_int(struct weir_metadata_reader *reader,
                                       const struct weir_json_node *node, const char *key,
                                       int64_t min, int64_t max, int64_t absent, int64_t *ret)
{
    const struct weir_json_node *member;
    int64_t value = absent;
    enum weir_status status =
        weir_metadata_get(reader, node, key, WEIR_JSON_NUMBER, false, &member);
    if (status != WEIR_OK)
        return status;
    if (member && (!weir_str_to_int64(member->text, &value) || value < min || value > max))
        return weir_fail(reader->err, WEIR_E_INVALID,
                         "the metadata of \"%s\" makes no sense: %s is \"%.*s\"", reader->name, key,
                         (int)(member->text.len < 40 ? member->text.len : 40), member->text.ptr);
    *ret = value;
    return WEIR_OK;
}

int weir_metadata_word(struct weir_str text, const char *const *words, int otherwise)
{
    for (int i = 0; words[i]; i++) {
        if (weir_str_equal(text, weir_str_from(words[i])))
            return i;
    }
    return otherwise;
}
