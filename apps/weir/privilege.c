/* SPDX-License-Identifier: MIT */
/* Which privileges a job needs and a user has; see privilege.h. */
#include "privilege.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"

#define OWNER_MEMBER "ownerid"

/* A definition in the answer, and what its rows are called in a sentence. */
struct table {
    const struct weir_json_node *privileges;
    char name[WEIR_NAME_BYTES_MAX + 1];
};

/* --- tables ----------------------------------------------------------------------------------- */

static bool is_owner(const struct weir_check_link *link)
{
    return strcmp(link->member, OWNER_MEMBER) == 0;
}

/* Its set is asked for already. */
static bool is_repeated(const struct weir_table *table, const struct weir_check_view *view,
                        uint32_t i)
{
    const char *set = view->links[i].set;
    bool found = strcmp(set, table->set_name) == 0 || is_owner(&view->links[i]);
    for (uint32_t k = 0; k < i && !found; k++)
        found = !is_owner(&view->links[k]) && strcmp(set, view->links[k].set) == 0;
    return found;
}

void privilege_needs_path(const struct weir_table *table, const struct weir_job_check *check,
                          struct weir_buf *path)
{
    weir_buf_printf(path,
                    "EntityDefinitions?$select=LogicalName,EntitySetName,Privileges"
                    "&$filter=EntitySetName%%20eq%%20'%s'",
                    table->set_name);
    for (uint32_t i = 0; i < check->view.link_count; i++) {
        if (!is_repeated(table, &check->view, i))
            weir_buf_printf(path, "%%20or%%20EntitySetName%%20eq%%20'%s'",
                            check->view.links[i].set);
    }
}

static bool member_is(const struct weir_json_node *node, const char *member, const char *text)
{
    const struct weir_json_node *found = weir_json_find(node, member);
    return found && found->type == WEIR_JSON_STRING &&
           weir_str_equal(found->text, weir_str_from(text));
}

/* False: the answer does not have it. */
static bool find_table(const struct weir_json_node *tables, const char *set, struct table *ret)
{
    for (const struct weir_json_node *it = tables->first; it; it = it->next) {
        const struct weir_json_node *name = weir_json_find(it, "LogicalName");
        if (!member_is(it, "EntitySetName", set) || !name)
            continue;
        ret->privileges = weir_json_find(it, "Privileges");
        snprintf(ret->name, sizeof(ret->name), "%.*s", (int)name->text.len, name->text.ptr);
        return ret->privileges && ret->privileges->type == WEIR_JSON_ARRAY;
    }
    return false;
}

/* --- needs ------------------------------------------------------------------------------------ */

static bool is_name(struct weir_str name)
{
    return name.len <= PRIVILEGE_NAME_MAX && weir_odata_is_name(name);
}

/* NULL: there is no room, or it is there already. */
static struct privilege_need *add(struct privilege_needs *needs, struct weir_str name)
{
    if (needs->count == PRIVILEGE_NEEDS_MAX || !is_name(name))
        return NULL;
    for (size_t i = 0; i < needs->count; i++) {
        if (weir_str_equal(name, weir_str_from(needs->list[i].name)))
            return NULL;
    }
    struct privilege_need *need = &needs->list[needs->count++];
    *need = (struct privilege_need){ 0 };
    memcpy(need->name, name.ptr, name.len);
    return need;
}

/* Who lacks it may not do `before` rows of the table `after`. */
static void need(struct privilege_needs *needs, const struct table *table, const char *type,
                 const char *before, const char *after)
{
    for (const struct weir_json_node *it = table->privileges->first; it; it = it->next) {
        const struct weir_json_node *name = weir_json_find(it, "Name");
        if (!member_is(it, "PrivilegeType", type) || !name)
            continue;
        struct privilege_need *added = add(needs, name->text);
        if (added)
            snprintf(added->what, sizeof(added->what), "%s %s rows%s", before, table->name, after);
    }
}

static void need_word(struct privilege_needs *needs, const char *name, const char *what,
                      bool of_caller)
{
    struct privilege_need *added = add(needs, weir_str_from(name));
    if (!added)
        return;
    snprintf(added->what, sizeof(added->what), "%s", what);
    added->of_caller = of_caller;
}

static void need_for_rows(struct privilege_needs *needs, const struct table *table,
                          enum weir_operation operation, bool updates)
{
    bool upserts = operation == WEIR_OPERATION_UPSERT;
    bool creates = upserts || operation == WEIR_OPERATION_CREATE;
    if (operation == WEIR_OPERATION_DELETE)
        need(needs, table, "Delete", "delete", "");
    if (creates)
        need(needs, table, "Create", "create", "");
    if (upserts || updates || operation == WEIR_OPERATION_UPDATE)
        need(needs, table, "Write", "update", "");
    if (creates)
        need(needs, table, "Read", "read", " back, as is done when an answer is lost");
}

static void need_for_links(struct privilege_needs *needs, const struct table *table,
                           const struct weir_json_node *tables, const struct weir_check_view *view)
{
    struct table other;
    for (uint32_t i = 0; i < view->link_count; i++) {
        if (is_owner(&view->links[i])) {
            need(needs, table, "Assign", "give", " to another owner");
            continue;
        }
        need(needs, table, "Append", "bind", " to others");
        if (find_table(tables, view->links[i].set, &other))
            need(needs, &other, "AppendTo", "bind rows to", "");
    }
}

static void need_for_options(struct privilege_needs *needs, const struct weir_job_options *options,
                             const struct weir_check_view *view)
{
    if (options->as)
        need_word(needs, PRIVILEGE_ACT, "act for another user, as --as says", true);
    if (options->bypass_logic)
        need_word(needs, "prvBypassCustomBusinessLogic",
                  "leave custom logic out, as --bypass-logic says", true);
    if (view->overrides)
        need_word(needs, "prvOverrideCreatedOnCreatedBy", "say when rows were created", false);
}

enum weir_status privilege_needs_read(struct privilege_needs *needs, struct weir_str body,
                                      const struct weir_job_options *options,
                                      const struct weir_table *table,
                                      const struct weir_job_check *check, struct weir_error *err)
{
    struct weir_json *json;
    struct table own;
    enum weir_status status = weir_json_parse(body, &json, err);
    if (status)
        return status;
    const struct weir_json_node *tables = weir_json_find(weir_json_root(json), "value");
    *needs = (struct privilege_needs){ .count = 0 };
    if (tables && tables->type == WEIR_JSON_ARRAY && find_table(tables, table->set_name, &own)) {
        bool updates = check->passes[WEIR_PASS_LOOKUPS].rows || check->passes[WEIR_PASS_STATE].rows;
        need_for_rows(needs, &own, options->operation, updates);
        need_for_links(needs, &own, tables, &check->view);
        need_for_options(needs, options, &check->view);
    } else {
        status = weir_fail(err, WEIR_E_INVALID,
                           "the definition of the table \"%s\" does not name its privileges",
                           table->name);
    }
    weir_json_free(json);
    return status;
}

/* --- a user ----------------------------------------------------------------------------------- */

static const char *const depth_names[] = { "none", "another", "Basic", "Local", "Deep", "Global" };

const char *privilege_depth_name(enum privilege_depth depth)
{
    return depth_names[depth];
}

void privilege_set_path(const struct privilege_needs *needs, const struct weir_guid *user,
                        struct weir_buf *path)
{
    char id[WEIR_GUID_TEXT];
    weir_buf_printf(path,
                    "systemusers(%s)/Microsoft.Dynamics.CRM.RetrieveUserSetOfPrivilegesByNames"
                    "(PrivilegeNames=@p)?@p=%%5B",
                    weir_guid_print(user, id));
    for (size_t i = 0; i < needs->count; i++)
        weir_buf_printf(path, "%s%%22%s%%22", i ? "," : "", needs->list[i].name);
    weir_buf_add_text(path, "%5D");
}

static enum privilege_depth read_depth(const struct weir_json_node *entry)
{
    for (int depth = PRIVILEGE_BASIC; depth <= PRIVILEGE_GLOBAL; depth++) {
        if (member_is(entry, "Depth", depth_names[depth]))
            return (enum privilege_depth)depth;
    }
    return PRIVILEGE_OTHER;
}

/* Several roles may have it: the one that reaches furthest counts. */
static void note(struct privilege_set *set, const struct privilege_needs *needs,
                 const struct weir_json_node *entry)
{
    enum privilege_depth depth = read_depth(entry);
    for (size_t i = 0; i < needs->count; i++) {
        if (member_is(entry, "PrivilegeName", needs->list[i].name) && depth > set->depths[i])
            set->depths[i] = depth;
    }
}

enum weir_status privilege_set_read(struct privilege_set *set, const struct privilege_needs *needs,
                                    struct weir_str body, struct weir_error *err)
{
    struct weir_json *json;
    enum weir_status status = weir_json_parse(body, &json, err);
    if (status)
        return status;
    const struct weir_json_node *held = weir_json_find(weir_json_root(json), "RolePrivileges");
    *set = (struct privilege_set){ { 0 } };
    if (!held || held->type != WEIR_JSON_ARRAY)
        status = weir_fail(err, WEIR_E_INVALID, "the answer does not list privileges");
    for (const struct weir_json_node *it = status ? NULL : held->first; it; it = it->next)
        note(set, needs, it);
    weir_json_free(json);
    return status;
}
