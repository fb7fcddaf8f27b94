/* SPDX-License-Identifier: MIT */
/*
 * The names of members as Dataverse writes them when rows are read, so that what was read can be
 * written again:
 *
 *     {"@odata.etag":"W/\"1\"",                                                  the row's version
 *      "name":"Contoso",                                                         plain
 *      "statecode":0,
 *      "statecode@OData.Community.Display.V1.FormattedValue":"Active",           to be dropped
 *      "_parentaccountid_value":"0F…",                                           a lookup's id
 *      "_parentaccountid_value@Microsoft.Dynamics.CRM.lookuplogicalname":"account",  … its table
 *      "_parentaccountid_value@Microsoft.Dynamics.CRM.associatednavigationproperty":"…"}
 *
 * A file of cells has the same names in its header. Annotations are those of the service: what has
 * another word behind an @ is plain. Names are compared to the letter, as the service does. Pure.
 * Any thread.
 */
#ifndef WEIR_RECORDS_READ_FORMAT_H
#define WEIR_RECORDS_READ_FORMAT_H

#include "base/str.h"

/* Behind the name of a lookup, the name of the member that says its table. */
#define WEIR_READ_TABLE_TERM "@Microsoft.Dynamics.CRM.lookuplogicalname"

enum weir_read_member {
    WEIR_READ_PLAIN,             /* a column, or a navigation property */
    WEIR_READ_LOOKUP,            /* the id that a lookup column holds */
    WEIR_READ_LOOKUP_TABLE,      /* the logical name of the table that it points to */
    WEIR_READ_LOOKUP_NAVIGATION, /* the navigation property that it is set by */
    WEIR_READ_ETAG,              /* the row's version */
    WEIR_READ_RESERVED,          /* names the row or its type: @odata.id, @odata.type */
    WEIR_READ_BIND,              /* is written and never read: a reference to be set */
    WEIR_READ_ANNOTATION,        /* says something about a column or the row; can be dropped */
};

/*
 * What the member of that name is. `ret_column` (not NULL) becomes what it belongs to: the name in
 * front of the annotation, of a lookup the name of its column; empty of the row. A slice of `name`.
 */
enum weir_read_member weir_read_member_of(struct weir_str name, struct weir_str *ret_column);

#endif
