/* SPDX-License-Identifier: MIT */
/*
 * What successful answers say. Each is read strictly: a complete JSON document with everything that
 * must be in it, or an error. Nothing is allocated. Pure. Any thread.
 */
#ifndef WEIR_PROTOCOL_ANSWER_H
#define WEIR_PROTOCOL_ANSWER_H

#include "protocol/guid.h"
#include "weir/verdict.h"

/*
 * The ids of a CreateMultiple of `count` rows, in their order:
 * `{"@odata.context":…,"Ids":["…",…]}`. WEIR_E_INVALID: no complete document, or not exactly that
 * many GUIDs in it; `ids` is not to be used then.
 */
enum weir_status weir_answer_ids(struct weir_str body, size_t count, struct weir_guid *ids,
                                 struct weir_error *err);

struct weir_whoami {
    struct weir_guid user_id;
    struct weir_guid business_unit_id;
    struct weir_guid organization_id;
};

/* WEIR_E_INVALID: it does not name all three. */
enum weir_status weir_answer_whoami(struct weir_str body, struct weir_whoami *ret,
                                    struct weir_error *err);

/* The id of a created row: `OData-EntityId: https://…/accounts(…)`. False: none, or not by id. */
bool weir_answer_entity_id(const struct weir_http_header *headers, size_t header_count,
                           struct weir_guid *ret);

/*
 * `@odata.nextLink` of a page, as a C string in `link` of `link_bytes` bytes; "" if it is the last
 * page. WEIR_E_INVALID: no complete document, or a link that is no text in UTF-8; WEIR_E_TOO_BIG:
 * it does not fit. Where it leads is weir_same_origin_path()'s to say.
 */
enum weir_status weir_answer_next_link(struct weir_str body, char *link, size_t link_bytes,
                                       struct weir_error *err);

#endif
