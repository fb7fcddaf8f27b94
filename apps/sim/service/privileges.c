/* SPDX-License-Identifier: MIT */
/* Privileges by name; see privileges.h. */
#include "sim/service/privileges.h"

#include <stdio.h>

#include "base/json.h"

#define FUNCTION     "RetrieveUserSetOfPrivilegesByNames"
#define PRIVILEGE_ID 0x9417
#define NO_ID        "00000000-0000-0000-0000-000000000000"

/* What may be done with rows of a table, in the order of the service. */
static const struct verb {
    const char *name;
    enum sim_right right;
    bool owned; /* only rows that users own */
} verbs[] = {
    { "Create", SIM_RIGHT_WRITE, false }, { "Read", SIM_RIGHT_READ, false },
    { "Write", SIM_RIGHT_WRITE, false },  { "Delete", SIM_RIGHT_ALL, false },
    { "Assign", SIM_RIGHT_WRITE, true },  { "Share", SIM_RIGHT_WRITE, true },
    { "Append", SIM_RIGHT_WRITE, false }, { "AppendTo", SIM_RIGHT_READ, false },
};

#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

const char *sim_privilege_noun(const struct sim_table *table)
{
    static const char *const others[][2] = {
        { "annotation", "Note" },
        { "systemuser", "User" },
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strcmp(table->name, others[i][0]) == 0)
            return others[i][1];
    }
    return table->schema ? table->schema : table->name;
}

static bool has_verb(const struct sim_table *table, const struct verb *verb)
{
    return table->user_owned || !verb->owned;
}

static void put_id(const char *name, struct weir_buf *json)
{
    char id[SIM_GUID_TEXT];
    weir_buf_printf(json, "\"PrivilegeId\":\"%s\"",
                    sim_guid_print(sim_guid_of(name, PRIVILEGE_ID), id));
}

static void print_name(const struct sim_table *table, const struct verb *verb, char *text,
                       size_t text_bytes)
{
    snprintf(text, text_bytes, "prv%s%s", verb->name, sim_privilege_noun(table));
}

void sim_privileges_put(const struct sim_table *table, struct weir_buf *json)
{
    char name[2 * SIM_LOGICAL_MAX];
    const char *owned = table->user_owned ? "true" : "false";
    bool first = true;
    weir_buf_add_char(json, '[');
    for (size_t i = 0; i < VERBS; i++) {
        if (!has_verb(table, &verbs[i]))
            continue;
        print_name(table, &verbs[i], name, sizeof(name));
        weir_buf_printf(json,
                        "%s{\"CanBeBasic\":%s,\"CanBeDeep\":%s,\"CanBeGlobal\":true,"
                        "\"CanBeLocal\":%s,\"CanBeEntityReference\":false,"
                        "\"CanBeParentEntityReference\":false,\"Name\":\"%s\",",
                        first ? "" : ",", owned, owned, owned, name);
        put_id(name, json);
        weir_buf_printf(json, ",\"PrivilegeType\":\"%s\"}", verbs[i].name);
        first = false;
    }
    weir_buf_add_char(json, ']');
}

/* ---- what a user has ---- */

/* Rows that a user does not see it cannot touch either: that is the depth of all it does to them.
 */
static const char *depth_in_table(const struct sim_user *user, const struct sim_table *table,
                                  struct weir_str name)
{
    char text[2 * SIM_LOGICAL_MAX];
    for (size_t i = 0; i < VERBS; i++) {
        print_name(table, &verbs[i], text, sizeof(text));
        if (has_verb(table, &verbs[i]) && weir_str_equal(name, weir_str_from(text)))
            return user->rights[table->place] < verbs[i].right        ? NULL
                   : user->reads_own && table->owner != SIM_NO_COLUMN ? "Basic"
                                                                      : "Global";
    }
    return NULL;
}

/* NULL: the user lacks it, or there is none of that name. */
static const char *depth_of(const struct sim_api *api, const struct sim_user *user,
                            struct weir_str name)
{
    const char *depth = NULL;
    if (weir_str_equal(name, weir_str_from("prvActOnBehalfOfAnotherUser")))
        return user->no_impersonation ? NULL : "Global";
    if (weir_str_equal(name, weir_str_from("prvBypassCustomBusinessLogic")))
        return user->no_bypass ? NULL : "Global";
    if (weir_str_equal(name, weir_str_from("prvOverrideCreatedOnCreatedBy")))
        return "Global";
    for (uint32_t i = 0; !depth && i < api->schema.table_count; i++)
        depth = depth_in_table(user, api->schema.tables[i], name);
    return depth;
}

static void put_held(const struct sim_api *api, const struct sim_user *user,
                     const struct weir_json_node *names, struct weir_buf *json)
{
    char unit[SIM_GUID_TEXT];
    bool first = true;
    sim_guid_print(api->business_unit, unit);
    for (const struct weir_json_node *it = names->first; it; it = it->next) {
        const char *depth = depth_of(api, user, it->text);
        if (!depth)
            continue;
        weir_buf_printf(json, "%s{\"Depth\":\"%s\",", first ? "" : ",", depth);
        put_id(it->text.ptr, json);
        weir_buf_printf(json,
                        ",\"BusinessUnitId\":\"%s\",\"PrivilegeName\":\"%s\","
                        "\"RecordFilterId\":\"" NO_ID "\",\"RecordFilterUniqueName\":\"\"}",
                        unit, it->text.ptr);
        first = false;
    }
}

/* ---- the function ---- */

bool sim_privileges_is(const struct sim_url *url)
{
    return url->kind == SIM_URL_ACTION && url->key_count > 0 &&
           weir_str_equal(url->set, weir_str_from("systemusers")) &&
           weir_str_equal(url->action, weir_str_from(FUNCTION));
}

/* An array of strings: ["prvReadAccount"]. */
static bool are_names(const struct weir_json_node *list)
{
    if (list->type != WEIR_JSON_ARRAY || list->count > SIM_PRIVILEGE_NAMES_MAX)
        return false;
    for (const struct weir_json_node *it = list->first; it; it = it->next) {
        if (it->type != WEIR_JSON_STRING)
            return false;
    }
    return true;
}

/* NULL: the answer is filled. */
static struct weir_json *read_names(const struct sim_url *url, struct sim_answer *answer)
{
    static const char parameter[] = "PrivilegeNames=";
    size_t len = sizeof(parameter) - 1;
    struct weir_str literal = weir_str("", 0);
    struct weir_json *json = NULL;
    if (url->arguments.len > len && memcmp(url->arguments.ptr, parameter, len) == 0)
        literal = sim_url_alias(url, weir_str(url->arguments.ptr + len, url->arguments.len - len));
    if (literal.len && weir_json_parse(literal, &json, NULL) == WEIR_OK &&
        are_names(weir_json_root(json)))
        return json;
    weir_json_free(json);
    sim_answer_error(answer, 400, "0x80060888",
                     "The parameter 'PrivilegeNames' of the function '" FUNCTION
                     "' must be a collection of strings.");
    return NULL;
}

void sim_privileges_list(const struct sim_api *api, const struct sim_call *call,
                         const struct sim_url *url, struct sim_answer *answer)
{
    const struct sim_table *table = sim_api_set(api, url->set, answer);
    if (!table || !sim_api_may(api, call, table, SIM_RIGHT_READ, "Read", answer))
        return;
    const struct sim_user *user = sim_api_user_of(api, url, answer);
    struct weir_json *names = user ? read_names(url, answer) : NULL;
    if (!names)
        return;
    answer->status = 200;
    sim_answer_header(answer, "Content-Type", "application/json; odata.metadata=minimal");
    weir_buf_printf(
        &answer->body,
        "{\"@odata.context\":\"%s/api/data/%.*s/$metadata#Microsoft.Dynamics.CRM." FUNCTION
        "Response\",\"RolePrivileges\":[",
        api->base_url, (int)url->version.len, url->version.ptr);
    put_held(api, user, weir_json_root(names), &answer->body);
    weir_buf_add_text(&answer->body, "]}");
    weir_json_free(names);
}
