/* SPDX-License-Identifier: MIT */
/*
 * A mapping onto the gadget (support/gadget.h), and rows for it. Whatever was made last is there
 * for the test to look at: `mapping`, `draft`, `err`.
 *
 *     rig_table(ELASTIC, NULL);
 *     rig_options.operation = WEIR_OPERATION_UPDATE;
 *     rig_open("gadgetid,name");
 *     rig_row(ID_1, "Contoso");
 */
#ifndef WEIR_TESTS_MAPPING_RIG_H
#define WEIR_TESTS_MAPPING_RIG_H

#include <stdarg.h>

#include "base/json.h"
#include "base/rng.h"
#include "protocol/batch.h"
#include "records/mapping.h"
#include "support/gadget.h"

#define ID_1  "0123abcd-4567-89ab-cdef-0123456789ab"
#define ID_1X "{0123ABCD-4567-89AB-cdef-0123456789AB}" /* the same */
#define ID_2  "00000000-0000-0000-0000-000000000002"
#define CELLS 32

static struct weir_mapping_options rig_options;
static struct weir_mapping *mapping;
static struct weir_arena *rig_arena;
static struct weir_draft draft;
static struct weir_str rig_names[CELLS];
static uint64_t rig_number;
static enum weir_pass rig_pass;
static char *rig_body; /* that was parsed last */

/* Changes to the gadget: what the table is to be beside standard and owned by users. */
static const char *const ELASTIC[] = { "\"Standard\"", "\"Elastic\"" };
static const char *const NOBODYS[] = { "UserOwned", "OrganizationOwned" };
static const char *const NAME_IS_KEY[] = { "Pending", "Active" };
static const char *const PARTITIONED[] = {
    "{\"LogicalName\":\"plain\"",
    "{\"LogicalName\":\"partitionid\",\"AttributeType\":\"String\",\"IsValidForCreate\":true,"
    "\"IsValidForUpdate\":false,\"IsValidForRead\":true},{\"LogicalName\":\"plain\""
};
static const char *const CREATE_ONLY[] = {
    "true,\"IsValidForUpdate\":true,\"IsValidForRead\":true}]", /* `plain`, the last column */
    "true,\"IsValidForUpdate\":false}]"
};
static const char *const
    UPDATE_ONLY[] = { /* `notes` */
                      "{\"Value\":\"MemoType\"},\"AttributeOf\":null,\"IsValidForCreate\":true",
                      "{\"Value\":\"MemoType\"}"
    };
static const char *const
    VIRTUAL[] = { /* `kindname`, which says that it could be written */
                  "\"AttributeOf\":\"kind\"",
                  "\"AttributeOf\":\"kind\",\"IsValidForCreate\":true,\"IsValidForUpdate\":true"
    };
static const char *const KEY_OF_MANY[] = { "[\"name\"]",
                                           "[\"maker\",\"weight\",\"name\",\"pieces\"]" };
static const char *const KEY_OF_TAGS[] = { "[\"name\"]", "[\"tags\"]" };

/* The gadget with changes, each a pair of texts; NULL ends them. */
static inline void rig_table(const char *const *change, ...)
{
    va_list changes;
    va_start(changes, change);
    for (; change; change = va_arg(changes, const char *const *))
        gadget_make(DEFINITION, bodies[DEFINITION], change[0], change[1]);
    va_end(changes);
    gadget_read_well();
}

/* Texts of any length. */
static inline void rig_unbounded(void)
{
    gadget_set(STRINGS, "{'value':[]}");
    gadget_set(MEMOS, "{'value':[]}");
    gadget_read_well();
}

static inline void rig_begin(void)
{
    gadget_fill();
    gadget_read_well();
    rig_options = (struct weir_mapping_options){
        .connections = 1,
        .ids = { { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, 1700000000 },
    };
    rig_arena = weir_arena_new(WEIR_DRAFT_BYTES_ENOUGH);
    rig_number = 0;
    rig_pass = WEIR_PASS_ROWS;
}

static inline void rig_end(void)
{
    weir_mapping_free(mapping);
    mapping = NULL;
    weir_arena_unref(rig_arena);
    free(rig_body);
    rig_body = NULL;
    gadget_release();
}

/* At commas that are not between parentheses. */
static inline struct weir_columns rig_split(const char *columns)
{
    uint32_t count = 0;
    for (const char *at = columns; at && *at; count++) {
        size_t len = 0;
        for (int depth = 0; at[len] && (at[len] != ',' || depth); len++)
            depth += (at[len] == '(') - (at[len] == ')');
        rig_names[count] = weir_str(at, len);
        at += len + (at[len] == ',');
    }
    return (struct weir_columns){ rig_names, count };
}

/* "a,b,c", or NULL for objects. */
static inline enum weir_status rig_try(const char *columns)
{
    weir_mapping_free(mapping);
    mapping = NULL;
    memset(&err, 0, sizeof(err));
    rig_options.table = table;
    rig_options.columns = rig_split(columns);
    return weir_mapping_new(&rig_options, &mapping, &err);
}

static inline void rig_open(const char *columns)
{
    enum weir_status status = rig_try(columns);
    ck_assert_msg(status == WEIR_OK, "%s", err.message);
    ck_assert_ptr_nonnull(mapping);
}

static inline void rig_refused(const char *columns, const char *message)
{
    ck_assert_int_eq(rig_try(columns), WEIR_E_INVALID);
    ck_assert_str_eq(err.message, message);
    ck_assert_ptr_null(mapping);
}

/* A row of these cells into `draft`, with the next number. */
static inline void rig_cells(const struct weir_str *cells)
{
    rig_number++;
    struct weir_record record = {
        .number = rig_number,
        .place = { .file = 3, .offset = 100 * rig_number, .end = 100 * rig_number + 7 },
        .raw = weir_str_from("as read"),
        .cells = cells,
        .cell_count = rig_options.columns.count,
    };
    weir_arena_reset(rig_arena);
    memset(&draft, 0xee, sizeof(draft));
    must(weir_mapping_record(mapping, rig_pass, &record, rig_arena, &draft));
    must(draft.number == rig_number && draft.file == 3 && draft.offset == 100 * rig_number);
    must(draft.end == draft.offset + 7 && draft.raw.ptr == record.raw.ptr);
}

#define rig_row(...) rig_texts((const char *const[CELLS]){ __VA_ARGS__ })

static inline void rig_texts(const char *const texts[CELLS])
{
    struct weir_str cells[CELLS];
    for (size_t i = 0; i < CELLS; i++)
        cells[i] = weir_str_from(texts[i] ? texts[i] : "");
    rig_cells(cells);
}

static inline void rig_object_of(struct weir_str json)
{
    weir_arena_reset(rig_arena);
    memset(&draft, 0xee, sizeof(draft));
    draft.number = ++rig_number;
    must(weir_mapping_object(mapping, json, rig_arena, &draft));
    must(draft.number == rig_number);
}

static inline void rig_object(const char *json)
{
    rig_object_of(weir_str_from(json));
}

/* ---- looking at the draft ---- */

static inline void same_text(struct weir_str text, const char *wanted)
{
    ck_assert_msg(weir_str_equal(text, weir_str_from(wanted)), "\"%.*s\" instead of \"%s\"",
                  (int)text.len, text.ptr ? text.ptr : "", wanted);
}

static inline void is_fine(void)
{
    ck_assert_msg(!draft.refusal.len, "%.*s", (int)draft.refusal.len, draft.refusal.ptr);
}

/* id, key, partition, members; "" for none. */
static inline void is_target(const char *id, const char *key, const char *partition,
                             const char *members)
{
    is_fine();
    same_text(draft.target.id, id);
    same_text(draft.target.key, key);
    same_text(draft.target.partition, partition);
    same_text(draft.target.members, members);
}

static inline void is_refused(const char *column, const char *reason)
{
    same_text(draft.refusal, reason);
    same_text(draft.column, column);
    ck_assert_uint_eq(draft.target.members.len, 0);
}

/* The row of the draft as it stands in a bulk message, read by somebody else's parser; to be freed
 * before the next one. */
static inline struct weir_json *rig_parse(enum weir_bulk_message message)
{
    struct weir_table_names names = weir_table_names_of(table);
    struct weir_gather body;
    weir_gather_init(&body, WEIR_BODY_BYTES_MAX);
    must(weir_bulk_body(message, &names, &draft.target, 1, &body, &err) == WEIR_OK);
    free(rig_body);
    rig_body = weir_calloc(body.bytes + 1, 1);
    size_t used = 0;
    for (size_t i = 0; i < body.count; used += body.slices[i++].len)
        memcpy(rig_body + used, body.slices[i].ptr, body.slices[i].len);
    must(used == WEIR_BULK_FRAME_BYTES + weir_bulk_target_bytes(&names, &draft.target));
    struct weir_json *json;
    must(weir_json_parse(weir_str(rig_body, used), &json, &err) == WEIR_OK);
    weir_gather_release(&body);
    return json;
}

/* Its `Targets[0]`. */
static inline const struct weir_json_node *rig_target(const struct weir_json *json)
{
    return weir_json_find(weir_json_root(json), "Targets")->first;
}

/* ---- random texts ---- */

/* A character that makes trouble now and then; never NUL and never half of one. */
static inline uint32_t random_character(struct weir_rng *rng)
{
    static const uint32_t special[] = { '"',    '\\',   '/',    '\n',    '\r',   '\t',    '\b',
                                        '\f',   0x1f,   0x7f,   0x80,    0xa0,   0x2028,  0x2029,
                                        0xd7ff, 0xe000, 0xfeff, 0xfffd,  0xffff, 0x10000, 0x1f600,
                                        '\'',   ',',    '{',    0x10ffff };
    switch (weir_rng_below(rng, 6)) {
    case 0:
        return special[weir_rng_below(rng, COUNT(special))];
    case 1:
        return 1 + (uint32_t)weir_rng_below(rng, 0x7f);
    case 2:
        return 0x80 + (uint32_t)weir_rng_below(rng, 0x780);
    case 3: {
        uint32_t code = 0x800 + (uint32_t)weir_rng_below(rng, 0x10f800);
        return code >= 0xd800 && code < 0xe000 ? code - 0x1000 : code;
    }
    default:
        return 'a' + (uint32_t)weir_rng_below(rng, 26);
    }
}

static inline size_t put_character(uint32_t code, char *to)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    size_t len = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--, code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)(((0xf00u >> len) & 0xf0) | code);
    return len;
}

/* Up to `characters_max` of them in `to`, which has four bytes for each. */
static inline struct weir_str random_text(struct weir_rng *rng, char *to, size_t characters_max)
{
    size_t len = 0;
    for (uint64_t n = weir_rng_below(rng, characters_max + 1); n > 0; n--)
        len += put_character(random_character(rng), to + len);
    return weir_str(to, len);
}

/* A case with a fresh gadget around it and no mapping. */
#define rig_add(s, test) rig_add_named((s), #test, test)

static inline void rig_add_named(struct suite *s, const char *name, const TTest *test)
{
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 0);
    tcase_add_checked_fixture(tcase, rig_begin, rig_end);
    tcase_add_test(tcase, test);
    suite_add_tcase(s->suite, tcase);
}

#endif
