/* SPDX-License-Identifier: MIT */
/*
 * Tables that the gadget (support/gadget.h) may point to, beside what mapping_rig.h has: an account
 * with keys, a contact, users. And a gadget that points to itself:
 *
 *     rig_table(INWARD, NULL);            its column `maker` points to gadgets
 *     lookup_others();                    rig_options knows the other tables
 */
#ifndef WEIR_TESTS_LOOKUP_RIG_H
#define WEIR_TESTS_LOOKUP_RIG_H

#include "support/mapping_rig.h"

#define ORGANISATION "6ba7b810-9dad-11d1-80b4-00c04fd430c8"

#define WRITABLE "'IsValidForCreate':true,'IsValidForUpdate':true,'IsValidForRead':true"
#define DEFINE(table, set, columns, keys)                                                          \
    "{'LogicalName':'" table "','EntitySetName':'" set "','PrimaryIdAttribute':'" table            \
    "id','TableType':'Standard','Attributes':[{'LogicalName':'" table                              \
    "id','AttributeType':'Uniqueidentifier'," WRITABLE "}," columns "],'Keys':[" keys              \
    "],'ManyToOneRelationships':[]}"
#define COLUMN(name, type) "{'LogicalName':'" name "','AttributeType':'" type "'," WRITABLE "}"

static const char *const lookup_texts[] = {
    DEFINE("account", "accounts",
           COLUMN("accountnumber", "String") "," COLUMN("name", "String") "," COLUMN(
               "region", "Integer") "," COLUMN("founded", "DateTime") ","
                                                                      "{'LogicalName':'shadow',"
                                                                      "'AttributeType':'String'}",
           "{'LogicalName':'bynumber','KeyAttributes':['accountnumber'],'EntityKeyIndexStatus':"
           "'Active'},{'LogicalName':'byboth','KeyAttributes':['region','accountnumber'],"
           "'EntityKeyIndexStatus':'Active'}"),
    DEFINE("contact", "contacts", COLUMN("emailaddress1", "String"),
           "{'LogicalName':'bymail','KeyAttributes':['emailaddress1'],'EntityKeyIndexStatus':"
           "'Failed'}"),
    DEFINE("systemuser", "systemusers",
           COLUMN("domainname", "String") "," COLUMN("objectid", "Uniqueidentifier"), ""),
};

static struct weir_table *lookup_tables[COUNT(lookup_texts)];

/* `maker` points to gadgets, `buyer` to gadgets and contacts. */
static const char *const INWARD[] = {
    "{\"ReferencingAttribute\":\"maker\",\"ReferencedEntity\":\"account\"",
    "{\"ReferencingAttribute\":\"maker\",\"ReferencedEntity\":\"gadget\""
};

static inline struct weir_table *lookup_make(const char *text)
{
    struct weir_metadata_part made[PARTS];
    struct weir_table *ret;
    char *body = weir_strdup(text);
    for (char *c = body; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    for (size_t i = 0; i < PARTS; i++)
        made[i] =
            (struct weir_metadata_part){ .status = 200, .body = weir_str_from("{\"value\":[]}") };
    made[0].body = weir_str_from(body);
    const char *name = strstr(text, ":'") + 2;
    char *logical = weir_strndup(name, strcspn(name, "'"));
    enum weir_status status = weir_metadata_read(logical, made, PARTS, &ret, &err);
    ck_assert_msg(status == WEIR_OK, "%s", err.message);
    free(logical);
    free(body);
    return ret;
}

static inline void lookup_others(void)
{
    for (size_t i = 0; i < COUNT(lookup_texts); i++)
        lookup_tables[i] = lookup_make(lookup_texts[i]);
    rig_options.others = (const struct weir_table *const *)lookup_tables;
    rig_options.other_count = COUNT(lookup_texts);
    rig_options.organisation = ORGANISATION;
}

/* The gadget as it points to itself. */
static inline void lookup_inward(void)
{
    gadget_make(LOOKUPS, gadget_texts[LOOKUPS], "'maker','Targets':['account']",
                "'maker','Targets':['gadget']");
    rig_table(INWARD, NULL);
}

static inline void lookup_begin(void)
{
    rig_begin();
    lookup_others();
}

static inline void lookup_end(void)
{
    rig_end();
    for (size_t i = 0; i < COUNT(lookup_texts); i++)
        weir_table_free(lookup_tables[i]);
}

/* A case with a fresh gadget and the other tables around it. */
#define lookup_add(s, test) lookup_add_named((s), #test, test)

static inline void lookup_add_named(struct suite *s, const char *name, const TTest *test)
{
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 0);
    tcase_add_checked_fixture(tcase, lookup_begin, lookup_end);
    tcase_add_test(tcase, test);
    suite_add_tcase(s->suite, tcase);
}

/* A member of a row, whatever id the row has. */
static inline void is_members(const char *members)
{
    is_fine();
    same_text(draft.target.members, members);
}

/* ---- rows with names ---- */

/* {name, value} pairs; a value that is NULL is JSON's null. */
static inline void member_row(const char *const (*pairs)[2], uint32_t count)
{
    struct weir_str names[CELLS];
    struct weir_str cells[CELLS];
    for (uint32_t i = 0; i < count; i++) {
        names[i] = weir_str_from(pairs[i][0]);
        cells[i] = weir_str_from(pairs[i][1]);
    }
    struct weir_record record = { .number = ++rig_number,
                                  .cells = cells,
                                  .names = names,
                                  .cell_count = count,
                                  .raw = weir_str_from("as read") };
    weir_arena_reset(rig_arena);
    memset(&draft, 0xee, sizeof(draft));
    must(weir_mapping_record(mapping, rig_pass, &record, rig_arena, &draft));
}

#define members(...)                                                                               \
    member_row((const char *const[][2]){ __VA_ARGS__ },                                            \
               sizeof((const char *const[][2]){ __VA_ARGS__ }) / sizeof(char *[2]))

static inline void open_named(const char *known)
{
    rig_options.named = true;
    rig_open(known);
}

#endif
