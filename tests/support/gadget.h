/* SPDX-License-Identifier: MIT */
/*
 * A table of one column of each kind, as the service would describe it: canned answers to all parts
 * of the question, each of which a test may replace. Texts are written with ' where JSON has ".
 *
 *     gadget_fill();
 *     gadget_set(DATES, "{'value':[]}");
 *     ck_assert_int_eq(gadget_read(), WEIR_OK);
 *     … table, err …
 */
#ifndef WEIR_TESTS_GADGET_H
#define WEIR_TESTS_GADGET_H

#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "protocol/metadata.h"
#include "support/suite.h"

#define PARTS        WEIR_METADATA_PARTS
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LIST(text)   "{'@odata.context':'x','value':[" text "]}"

/* The parts, in the order of the addresses. */
enum gadget_part {
    DEFINITION,
    STRINGS,
    MEMOS,
    INTEGERS,
    BIGINTS,
    DECIMALS,
    DOUBLES,
    MONEY,
    DATES,
    LOOKUPS,
    BOOLEANS,
    PICKLISTS,
    MULTI_PICKLISTS,
    STATES,
    STATUSES,
    CREATES,
    UPDATES,
    UPSERTS,
    DELETES,
    SETS,
};

static const char *const gadget_texts[PARTS] = {
    [DEFINITION] =
        "{'LogicalName':'gadget','EntitySetName':'gadgets','PrimaryIdAttribute':'gadgetid',"
        "'PrimaryNameAttribute':'name','TableType':'Standard','OwnershipType':'UserOwned',"
        "'MetadataId':'1','Attributes':["
        "{'LogicalName':'gadgetid','AttributeType':'Uniqueidentifier',"
        "'AttributeTypeName':{'Value':'UniqueidentifierType'},'IsValidForCreate':true,"
        "'IsValidForUpdate':false,'IsValidForRead':true,"
        "'RequiredLevel':{'Value':'SystemRequired'}},"
        "{'LogicalName':'name','AttributeType':'String',"
        "'AttributeTypeName':{'Value':'StringType'},'IsValidForCreate':true,"
        "'IsValidForUpdate':true,'IsValidForRead':true,"
        "'RequiredLevel':{'Value':'ApplicationRequired'}},"
        "{'LogicalName':'kindname','AttributeType':'Virtual',"
        "'AttributeTypeName':{'Value':'VirtualType'},'AttributeOf':'kind'},"
        "{'LogicalName':'notes','AttributeType':'Memo',"
        "'AttributeTypeName':{'Value':'MemoType'},'AttributeOf':null,'IsValidForCreate':true,"
        "'IsValidForUpdate':true,'IsValidForRead':true,'RequiredLevel':{'Value':'None'}},"
        "{'LogicalName':'pieces','AttributeType':'Integer',"
        "'AttributeTypeName':{'Value':'IntegerType'},'AttributeOf':null,"
        "'IsValidForCreate':true,'IsValidForUpdate':true,'IsValidForRead':true,"
        "'RequiredLevel':{'Value':'None'}},"
        "{'LogicalName':'serial','AttributeType':'BigInt',"
        "'AttributeTypeName':{'Value':'BigIntType'},'AttributeOf':null,'IsValidForCreate':true,"
        "'IsValidForUpdate':true,'IsValidForRead':true,'RequiredLevel':{'Value':'None'}},"
        "{'LogicalName':'weight','AttributeType':'Decimal',"
        "'AttributeTypeName':{'Value':'DecimalType'},'AttributeOf':null,"
        "'IsValidForCreate':true,'IsValidForUpdate':true,'IsValidForRead':true,"
        "'RequiredLevel':{'Value':'None'}},"
        "{'LogicalName':'angle','AttributeType':'Double',"
        "'AttributeTypeName':{'Value':'DoubleType'},'AttributeOf':null,'IsValidForCreate':true,"
        "'IsValidForUpdate':true,'IsValidForRead':true,'RequiredLevel':{'Value':'None'}},"
        "{'LogicalName':'price','AttributeType':'Money',"
        "'AttributeTypeName':{'Value':'MoneyType'},'AttributeOf':null,'IsValidForCreate':true,"
        "'IsValidForUpdate':true,'IsValidForRead':true,'RequiredLevel':{'Value':'None'}},"
        "{'LogicalName':'sold','AttributeType':'Boolean',"
        "'AttributeTypeName':{'Value':'BooleanType'},'AttributeOf':null,"
        "'IsValidForCreate':true,'IsValidForUpdate':true,'IsValidForRead':true,"
        "'RequiredLevel':{'Value':'None'}},"
        "{'LogicalName':'kind','AttributeType':'Picklist',"
        "'AttributeTypeName':{'Value':'PicklistType'},'AttributeOf':null,"
        "'IsValidForCreate':true,'IsValidForUpdate':true,'IsValidForRead':true,"
        "'RequiredLevel':{'Value':'None'}},"
        "{'LogicalName':'tags','AttributeType':'Virtual',"
        "'AttributeTypeName':{'Value':'MultiSelectPicklistType'},'AttributeOf':null,"
        "'IsValidForCreate':true,'IsValidForUpdate':true,'IsValidForRead':true,"
        "'RequiredLevel':{'Value':'None'}},"
        "{'LogicalName':'statecode','AttributeType':'State',"
        "'AttributeTypeName':{'Value':'StateType'},'AttributeOf':null,'IsValidForCreate':true,"
        "'IsValidForUpdate':true,'IsValidForRead':true,'RequiredLevel':{'Value':'None'}},"
        "{'LogicalName':'statuscode','AttributeType':'Status',"
        "'AttributeTypeName':{'Value':'StatusType'},'AttributeOf':null,'IsValidForCreate':true,"
        "'IsValidForUpdate':true,'IsValidForRead':true,'RequiredLevel':{'Value':'None'}},"
        "{'LogicalName':'built','AttributeType':'DateTime',"
        "'AttributeTypeName':{'Value':'DateTimeType'},'AttributeOf':null,"
        "'IsValidForCreate':true,'IsValidForUpdate':true,'IsValidForRead':true,"
        "'RequiredLevel':{'Value':'None'}},"
        "{'LogicalName':'maker','AttributeType':'Lookup',"
        "'AttributeTypeName':{'Value':'LookupType'},'AttributeOf':null,'IsValidForCreate':true,"
        "'IsValidForUpdate':true,'IsValidForRead':true,'RequiredLevel':{'Value':'None'}},"
        "{'LogicalName':'buyer','AttributeType':'Customer',"
        "'AttributeTypeName':{'Value':'CustomerType'},'AttributeOf':null,"
        "'IsValidForCreate':true,'IsValidForUpdate':true,'IsValidForRead':true,"
        "'RequiredLevel':{'Value':'None'}},"
        "{'LogicalName':'ownerid','AttributeType':'Owner',"
        "'AttributeTypeName':{'Value':'OwnerType'},'AttributeOf':null,'IsValidForCreate':true,"
        "'IsValidForUpdate':true,'IsValidForRead':true,'RequiredLevel':{'Value':'None'}},"
        "{'LogicalName':'manual','AttributeType':'Virtual',"
        "'AttributeTypeName':{'Value':'FileType'},'AttributeOf':null,'IsValidForCreate':true,"
        "'IsValidForUpdate':true,'IsValidForRead':true,'RequiredLevel':{'Value':'None'}},"
        "{'LogicalName':'photo','AttributeType':'Virtual',"
        "'AttributeTypeName':{'Value':'ImageType'},'AttributeOf':null,'IsValidForCreate':true,"
        "'IsValidForUpdate':true,'IsValidForRead':true,'RequiredLevel':{'Value':'None'}},"
        "{'LogicalName':'plain','AttributeType':'String','IsValidForCreate':true,"
        "'IsValidForUpdate':true,'IsValidForRead':true}"
        "],'Keys':[{'LogicalName':'byserial','KeyAttributes':['serial','kind'],"
        "'EntityKeyIndexStatus':'Active'},{'LogicalName':'byname','KeyAttributes':['name'],"
        "'EntityKeyIndexStatus':'Pending'}],'ManyToOneRelationships':["
        "{'ReferencingAttribute':'maker','ReferencedEntity':'account',"
        "'ReferencingEntityNavigationPropertyName':'Maker'},"
        "{'ReferencingAttribute':'buyer','ReferencedEntity':'contact',"
        "'ReferencingEntityNavigationPropertyName':'buyer_contact'},"
        "{'ReferencingAttribute':'buyer','ReferencedEntity':'account',"
        "'ReferencingEntityNavigationPropertyName':'buyer_account'},"
        "{'ReferencingAttribute':'ownerid','ReferencedEntity':'owner',"
        "'ReferencingEntityNavigationPropertyName':'ownerid'},"
        "{'ReferencingAttribute':'gone','ReferencedEntity':'account',"
        "'ReferencingEntityNavigationPropertyName':'gone'}]}",
    [STRINGS] = "{'@odata.context':'x','value':[{'LogicalName':'name','MaxLength':160}]}",
    [MEMOS] = "{'@odata.context':'x','value':[{'LogicalName':'notes','MaxLength':2000}]}",
    [INTEGERS] = "{'@odata.context':'x','value':[{'LogicalName':'pieces','MinValue':-5,"
                 "'MaxValue':2147483647}]}",
    [BIGINTS] = "{'@odata.context':'x','value':[{'LogicalName':'serial',"
                "'MinValue':-9223372036854775808,'MaxValue':9223372036854775807}]}",
    [DECIMALS] =
        "{'@odata.context':'x','value':[{'LogicalName':'weight','MinValue':-100000000000.0,"
        "'MaxValue':1e11,'Precision':4}]}",
    [DOUBLES] = "{'@odata.context':'x','value':[{'LogicalName':'angle','MinValue':-180.0,"
                "'MaxValue':180.0,'Precision':5}]}",
    [MONEY] = "{'@odata.context':'x','value':[{'LogicalName':'price','MinValue':0.0,"
              "'MaxValue':922337203685477.0,'Precision':2}]}",
    [DATES] = "{'@odata.context':'x','value':[{'LogicalName':'built',"
              "'DateTimeBehavior':{'Value':'DateOnly'},'Format':'DateOnly'}]}",
    [LOOKUPS] = "{'@odata.context':'x','value':[{'LogicalName':'maker','Targets':['account']},"
                "{'LogicalName':'buyer','Targets':['account','contact']},{'LogicalName':'ownerid',"
                "'Targets':['systemuser','team']}]}",
    [BOOLEANS] =
        "{'@odata.context':'x','value':[{'LogicalName':'sold',"
        "'OptionSet':{'TrueOption':{'Value':1,'Label':{'LocalizedLabels':[{'Label':'Sold',"
        "'LanguageCode':1033}],'UserLocalizedLabel':{'Label':'Sold','LanguageCode':1033}}},"
        "'FalseOption':{'Value':0,'Label':{'LocalizedLabels':[{'Label':'In stock',"
        "'LanguageCode':1033}],'UserLocalizedLabel':{'Label':'In stock',"
        "'LanguageCode':1033}}}},'GlobalOptionSet':null}]}",
    [PICKLISTS] =
        "{'@odata.context':'x','value':[{'LogicalName':'kind',"
        "'OptionSet':{'Options':[{'Value':1,'Label':{'LocalizedLabels':[{'Label':'Gizmo',"
        "'LanguageCode':1033}],'UserLocalizedLabel':{'Label':'Gizmo','LanguageCode':1033}}},"
        "{'Value':-2,'Label':{'LocalizedLabels':[{'Label':'Ding','LanguageCode':1031}],"
        "'UserLocalizedLabel':null}},{'Value':3,'Label':{'LocalizedLabels':[],"
        "'UserLocalizedLabel':null}}]},'GlobalOptionSet':null}]}",
    [MULTI_PICKLISTS] =
        "{'@odata.context':'x','value':[{'LogicalName':'tags','OptionSet':null,"
        "'GlobalOptionSet':{'Options':[{'Value':10,'Label':{'LocalizedLabels':[{'Label':'Red',"
        "'LanguageCode':1033}],'UserLocalizedLabel':{'Label':'Red','LanguageCode':1033}}},"
        "{'Value':20,'Label':{'LocalizedLabels':[{'Label':'Blue','LanguageCode':1033}],"
        "'UserLocalizedLabel':{'Label':'Blue','LanguageCode':1033}}}]}}]}",
    [STATES] =
        "{'@odata.context':'x','value':[{'LogicalName':'statecode',"
        "'OptionSet':{'Options':[{'Value':0,'Label':{'LocalizedLabels':[{'Label':'Active',"
        "'LanguageCode':1033}],'UserLocalizedLabel':{'Label':'Active','LanguageCode':1033}}},"
        "{'Value':1,'Label':{'LocalizedLabels':[{'Label':'Inactive','LanguageCode':1033}],"
        "'UserLocalizedLabel':{'Label':'Inactive','LanguageCode':1033}}}]}}]}",
    [STATUSES] = "{'@odata.context':'x','value':[{'LogicalName':'statuscode',"
                 "'OptionSet':{'Options':[{'Value':1,'State':0,"
                 "'Label':{'LocalizedLabels':[{'Label':'New','LanguageCode':1033}],"
                 "'UserLocalizedLabel':{'Label':'New','LanguageCode':1033}}},{'Value':2,'State':1,"
                 "'Label':{'LocalizedLabels':[{'Label':'Old','LanguageCode':1033}],"
                 "'UserLocalizedLabel':{'Label':'Old','LanguageCode':1033}}}]}}]}",
    [CREATES] = "{'@odata.context':'x','value':[{'sdkmessagefilterid':'1'}]}",
    [UPDATES] = "{'@odata.context':'x','value':[{'sdkmessagefilterid':'2'}]}",
    [UPSERTS] = "{'@odata.context':'x','value':[]}",
    [DELETES] = "{'@odata.context':'x','value':[{'sdkmessagefilterid':'4'}]}",
    [SETS] = "{'@odata.context':'x','value':[]}",
};

static char *bodies[PARTS]; /* what the parts hold, owned; the parts may point elsewhere */
static struct weir_metadata_part parts[PARTS];
static struct weir_table *table;
static struct weir_error err;

static inline void gadget_set(size_t part, const char *text)
{
    free(bodies[part]);
    bodies[part] = weir_strdup(text);
    for (char *c = bodies[part]; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    parts[part] = (struct weir_metadata_part){ .status = 200, .body = weir_str_from(bodies[part]) };
}

static inline void gadget_fill(void)
{
    for (size_t i = 0; i < PARTS; i++)
        gadget_set(i, gadget_texts[i]);
}

static inline void gadget_release(void)
{
    weir_table_free(table);
    table = NULL;
    for (size_t i = 0; i < PARTS; i++) {
        free(bodies[i]);
        bodies[i] = NULL;
    }
}

static inline enum weir_status gadget_read_as(const char *name)
{
    weir_table_free(table);
    table = NULL;
    memset(&err, 0, sizeof(err));
    return weir_metadata_read(name, parts, PARTS, &table, &err);
}

static inline enum weir_status gadget_read(void)
{
    return gadget_read_as("gadget");
}

static inline void gadget_read_well(void)
{
    enum weir_status status = gadget_read();
    ck_assert_msg(status == WEIR_OK, "%s", err.message);
}

static inline const struct weir_column *gadget_column(const char *name)
{
    const struct weir_column *found = weir_table_column(table, weir_str_from(name));
    ck_assert_msg(found, "%s", name);
    return found;
}

/* Make the body of a part of `text` with one text in it replaced; it must have it. */
static inline void gadget_make(size_t part, const char *text, const char *old, const char *new)
{
    const char *at = strstr(text, old);
    ck_assert_msg(at, "%s", old);
    size_t before = (size_t)(at - text);
    size_t bytes = strlen(text) - strlen(old) + strlen(new) + 1;
    char *made = weir_calloc(bytes, 1);
    snprintf(made, bytes, "%.*s%s%s", (int)before, text, new, at + strlen(old));
    gadget_set(part, made);
    free(made);
}

static inline void gadget_replace(size_t part, const char *old, const char *new)
{
    gadget_make(part, gadget_texts[part], old, new);
}

/* A case with a fresh gadget around it. */
static inline void gadget_add(struct suite *s, const char *name, const TTest *test)
{
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 0);
    tcase_add_checked_fixture(tcase, gadget_fill, gadget_release);
    tcase_add_test(tcase, test);
    suite_add_tcase(s->suite, tcase);
}

#endif
