/* SPDX-License-Identifier: MIT */
/*
 * Who calls: the application users app1 … appN, and what each may do. A scenario may take rights
 * away, and name security roles:
 *
 *     "users": [{ "name": "app2", "privileges": { "account": "none" | "read" | "write" | "all" },
 *                 "read": "own" | "all", "roles": ["Basic User"], "impersonate": true | false,
 *                 "bypass": true | false }]
 *
 * Roles are names that can be read, no more: what a user may do is said by its privileges
 * (privileges.h). Without a word on them a user is a System Administrator.
 */
#include <stdio.h>

#include "base/error.h"
#include "base/mem.h"
#include "sim/service/api_internal.h"

#define DEFAULT_ROLE "System Administrator"
#define ROLE_ID      0x701e

static enum weir_status wrong(const char *file, uint32_t number, const char *key,
                              struct weir_str value, const char *allowed, struct weir_error *err)
{
    int shown = (int)(value.len < 60 ? value.len : 60);
    return weir_fail(err, WEIR_E_INVALID, "%s: users[%u].%s is \"%.*s\", allowed is %s", file,
                     number, key, shown, value.ptr ? value.ptr : "", allowed);
}

static bool read_right(const struct weir_json_node *node, enum sim_right *ret)
{
    static const char *const words[] = { "none", "read", "write", "all" };
    for (uint32_t i = 0; i < 4; i++) {
        if (node->type == WEIR_JSON_STRING && weir_str_equal(node->text, weir_str_from(words[i]))) {
            *ret = (enum sim_right)i;
            return true;
        }
    }
    return false;
}

static enum weir_status read_privileges(const struct sim_api *api, struct sim_user *user,
                                        const struct weir_json_node *object, const char *file,
                                        uint32_t number, struct weir_error *err)
{
    if (object->type != WEIR_JSON_OBJECT)
        return wrong(file, number, "privileges", weir_str_from("..."), "an object", err);
    for (const struct weir_json_node *node = object->first; node; node = node->next) {
        const struct sim_table *table = sim_schema_table(&api->schema, node->key);
        if (!table)
            return wrong(file, number, "privileges", node->key, "the name of a table", err);
        if (!read_right(node, &user->rights[table->place]))
            return wrong(file, number, table->name, node->text, "one of none read write all", err);
    }
    return WEIR_OK;
}

static void forget_roles(struct sim_user *user)
{
    for (uint32_t i = 0; i < user->role_count; i++)
        free(user->roles[i]);
    user->role_count = 0;
}

static enum weir_status read_roles(struct sim_user *user, const struct weir_json_node *list,
                                   const char *file, uint32_t number, struct weir_error *err)
{
    if (list->type != WEIR_JSON_ARRAY || list->count > SIM_ROLES_MAX)
        return wrong(file, number, "roles", weir_str_from("..."), "an array of at most 16 names",
                     err);
    forget_roles(user);
    for (const struct weir_json_node *node = list->first; node; node = node->next) {
        if (node->type != WEIR_JSON_STRING || !node->text.len || node->text.len > SIM_ROLE_NAME_MAX)
            return wrong(file, number, "roles", node->text, "a name of 1 to 100 bytes", err);
        user->roles[user->role_count++] = weir_strndup(node->text.ptr, node->text.len);
    }
    return WEIR_OK;
}

static struct sim_user *find_user(struct sim_api *api, const struct weir_json_node *node)
{
    for (uint32_t i = 0; node && node->type == WEIR_JSON_STRING && i < api->user_count; i++) {
        if (weir_str_equal(node->text, weir_str_from(api->users[i].name)))
            return &api->users[i];
    }
    return NULL;
}

static enum weir_status read_user(struct sim_api *api, const struct weir_json_node *object,
                                  const char *file, uint32_t number, struct weir_error *err)
{
    const struct weir_json_node *name = weir_json_find(object, "name");
    struct sim_user *user = find_user(api, name);
    if (!user)
        return wrong(file, number, "name", name ? name->text : weir_str("", 0),
                     "the name of a user, app1 and so on", err);
    for (const struct weir_json_node *node = object->first; node; node = node->next) {
        if (weir_str_equal(node->key, weir_str_from("privileges"))) {
            enum weir_status status = read_privileges(api, user, node, file, number, err);
            if (status != WEIR_OK)
                return status;
        } else if (weir_str_equal(node->key, weir_str_from("roles"))) {
            enum weir_status status = read_roles(user, node, file, number, err);
            if (status != WEIR_OK)
                return status;
        } else if (weir_str_equal(node->key, weir_str_from("read"))) {
            user->reads_own = weir_str_equal(node->text, weir_str_from("own"));
            if (!user->reads_own && !weir_str_equal(node->text, weir_str_from("all")))
                return wrong(file, number, "read", node->text, "one of own all", err);
        } else if (weir_str_equal(node->key, weir_str_from("impersonate")) ||
                   weir_str_equal(node->key, weir_str_from("bypass"))) {
            bool lacks = weir_str_equal(node->text, weir_str_from("false"));
            if (node->type != WEIR_JSON_BOOL)
                return wrong(file, number, node->key.ptr, node->text, "true or false", err);
            *(node->key.ptr[0] == 'i' ? &user->no_impersonation : &user->no_bypass) = lacks;
        } else if (node != name) {
            return weir_fail(err, WEIR_E_INVALID, "%s: users[%u] has an unknown key \"%.*s\"", file,
                             number, (int)node->key.len, node->key.ptr);
        }
    }
    return WEIR_OK;
}

void sim_api_release_users(struct sim_api *api)
{
    for (uint32_t i = 0; i < api->user_count; i++)
        forget_roles(&api->users[i]);
    free(api->users);
}

enum weir_status sim_api_read_users(struct sim_api *api, const struct weir_json *scenario,
                                    const char *file, struct weir_error *err)
{
    const struct weir_json_node *users =
        scenario ? weir_json_find(weir_json_root(scenario), "users") : NULL;
    uint32_t number = 0;
    for (uint32_t i = 0; i < api->user_count; i++)
        api->users[i].roles[api->users[i].role_count++] = weir_strdup(DEFAULT_ROLE);
    if (!users)
        return WEIR_OK;
    if (users->type != WEIR_JSON_ARRAY)
        return weir_fail(err, WEIR_E_INVALID, "%s: users is %s, allowed is an array", file,
                         weir_json_type_name(users->type));
    for (const struct weir_json_node *node = users->first; node; node = node->next) {
        enum weir_status status = read_user(api, node, file, number++, err);
        if (status != WEIR_OK)
            return status;
    }
    return WEIR_OK;
}

/* Roles of a user: GET systemusers(id)/systemuserroles_association. */

bool sim_api_is_roles(const struct sim_url *url)
{
    return url->kind == SIM_URL_PROPERTY &&
           weir_str_equal(url->set, weir_str_from("systemusers")) &&
           weir_str_equal(url->rest, weir_str_from("systemuserroles_association"));
}

const struct sim_user *sim_api_user_of(const struct sim_api *api, const struct sim_url *url,
                                       struct sim_answer *answer)
{
    const struct sim_url_key *key = &url->keys[0];
    struct sim_guid id;
    char text[SIM_GUID_TEXT];
    bool named = !key->name.len || weir_str_equal(key->name, weir_str_from("systemuserid")) ||
                 weir_str_equal(key->name, weir_str_from("ownerid"));
    if (url->key_count != 1 || !named || !sim_guid_parse(key->value, &id)) {
        sim_answer_error(answer, 400, "0x80060888", "Bad Request - Error in query syntax.");
        return NULL;
    }
    for (uint32_t i = 0; i < api->user_count; i++) {
        if (sim_guid_equal(api->users[i].id, id))
            return &api->users[i];
    }
    sim_answer_error(answer, 404, "0x80040217", "systemuser With Id = %s Does Not Exist",
                     sim_guid_print(id, text));
    return NULL;
}

/* Of the options only $select is known, and of columns name and roleid. */
static bool read_select(const struct sim_url *url, bool *ret_name, struct sim_answer *answer)
{
    struct weir_str select = url->options[SIM_OPTION_SELECT];
    bool others = url->unknown_option.ptr != NULL;
    for (int i = 0; i < SIM_OPTIONS; i++)
        others |= i != SIM_OPTION_SELECT && url->options[i].ptr;
    if (others) {
        sim_answer_error(answer, 400, "0x80060888",
                         "This simulated service knows only $select on roles.");
        return false;
    }
    *ret_name = !select.ptr;
    while (select.len) {
        const char *comma = memchr(select.ptr, ',', select.len);
        size_t len = comma ? (size_t)(comma - select.ptr) : select.len;
        struct weir_str name = weir_str_trim(weir_str(select.ptr, len));
        len += comma != NULL;
        select = weir_str(select.ptr + len, select.len - len);
        if (weir_str_equal(name, weir_str_from("name"))) {
            *ret_name = true;
        } else if (!weir_str_equal(name, weir_str_from("roleid"))) {
            sim_answer_error(answer, 400, "0x0",
                             "Could not find a property named '%.*s' on type "
                             "'Microsoft.Dynamics.CRM.role'.",
                             (int)(name.len <= 100 ? name.len : 0), name.ptr);
            return false;
        }
    }
    return true;
}

static void put_roles(const struct sim_user *user, bool with_name, struct weir_buf *json)
{
    char id[SIM_GUID_TEXT];
    for (uint32_t i = 0; i < user->role_count; i++) {
        weir_buf_printf(json, "%s{\"@odata.etag\":\"W/\\\"1\\\"\",\"roleid\":\"%s\"", i ? "," : "",
                        sim_guid_print(sim_guid_of(user->roles[i], ROLE_ID), id));
        if (with_name) {
            weir_buf_add_text(json, ",\"name\":");
            weir_buf_add_json_string(json, weir_str_from(user->roles[i]));
        }
        weir_buf_add_char(json, '}');
    }
}

void sim_api_list_roles(const struct sim_api *api, const struct sim_call *call,
                        const struct sim_url *url, struct sim_answer *answer)
{
    const struct sim_table *table = sim_api_set(api, url->set, answer);
    bool with_name;
    if (!table || !sim_api_may(api, call, table, SIM_RIGHT_READ, "Read", answer))
        return;
    const struct sim_user *user = sim_api_user_of(api, url, answer);
    if (!user || !read_select(url, &with_name, answer))
        return;
    answer->status = 200;
    sim_answer_header(answer, "Content-Type", "application/json; odata.metadata=minimal");
    weir_buf_printf(&answer->body,
                    "{\"@odata.context\":\"%s/api/data/%.*s/$metadata#roles\",\"value\":[",
                    api->base_url, (int)url->version.len, url->version.ptr);
    put_roles(user, with_name, &answer->body);
    weir_buf_add_text(&answer->body, "]}");
}
