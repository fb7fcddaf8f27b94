/* SPDX-License-Identifier: MIT */
/* The security roles of a user; see role.h. */
#include "role.h"

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "printable.h"

static char *printable(struct weir_str name)
{
    struct weir_buf copy;
    weir_buf_init(&copy, name.len);
    printable_add(&copy, name);
    return weir_buf_take(&copy);
}

enum weir_status role_set_read(struct role_set *set, struct weir_str body)
{
    struct weir_json *json;
    enum weir_status status = weir_json_parse(body, &json, NULL);
    if (status)
        return status;
    const struct weir_json_node *value = weir_json_find(weir_json_root(json), "value");
    set->names = weir_calloc(ROLES_MAX, sizeof(*set->names));
    for (const struct weir_json_node *it = value ? value->first : NULL;
         it && set->count < ROLES_MAX; it = it->next) {
        const struct weir_json_node *name = weir_json_find(it, "name");
        if (name && name->type == WEIR_JSON_STRING)
            set->names[set->count++] = printable(name->text);
    }
    status = value && value->type == WEIR_JSON_ARRAY ? WEIR_OK : WEIR_E_INVALID;
    weir_json_free(json);
    return status;
}

void role_set_release(struct role_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->names[i]);
    free(set->names);
    *set = (struct role_set){ 0 };
}

static bool has(const struct role_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++) {
        if (strcmp(set->names[i], name) == 0)
            return true;
    }
    return false;
}

const char *role_set_lacking(const struct role_set *set, const struct role_set *other, size_t *at)
{
    for (; *at < other->count; (*at)++) {
        if (!has(set, other->names[*at]))
            return other->names[*at];
    }
    return NULL;
}
