/* SPDX-License-Identifier: MIT */
/* Bodies of CreateMultiple, UpdateMultiple, UpsertMultiple and DeleteMultiple. */
#include <stdio.h>

#include "base/json.h"
#include "base/limits.h"
#include "protocol/bulk.h"
#include "support/gathered.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ID           "00000000-0000-4000-8000-000000000001"
#define TYPE         "\"@odata.type\":\"Microsoft.Dynamics.CRM.account\""
#define BYTES_MAX    ((size_t)4 * 1024 * 1024)

static struct weir_str text(const char *s)
{
    return weir_str_from(s);
}

static struct weir_table_names accounts(void)
{
    return (struct weir_table_names){ text("account"), text("accounts"), text("accountid"), false };
}

static struct weir_target target(const char *id, const char *key, const char *members)
{
    return (struct weir_target){ .id = text(id), .key = text(key), .members = text(members) };
}

/* A row by itself comes to the same, and its texts are those that were written. */
static void expect_written(enum weir_bulk_message message, struct weir_target row, const char *body)
{
    struct weir_table_names table = accounts();
    struct weir_bulk_writer writer;
    struct weir_guid id, wanted = { 0 };
    struct weir_target before = row;
    weir_bulk_writer_init(&writer, message, &table);
    size_t bytes = weir_bulk_written_bytes(&writer, &row, NULL, &id);
    must(bytes == weir_bulk_target_bytes(&table, &row));
    must(!row.id.len || weir_guid_parse(row.id, &wanted));
    must(weir_guid_equal(&id, &wanted));
    if (row.id.len) /* whoever made the text has the id */
        must(weir_bulk_written_bytes(&writer, &row, &wanted, &id) == bytes &&
             weir_guid_equal(&id, &wanted));
    char *written = weir_calloc(bytes, 1);
    weir_bulk_write(&writer, &row, written);
    must(memcmp(written, body + strlen(WEIR_BULK_FRAME_BEGIN), bytes) == 0);
    must(weir_str_equal(row.id, before.id) && weir_str_equal(row.key, before.key));
    must(weir_str_equal(row.members, before.members));
    must(!row.id.len || (row.id.ptr > written && row.id.ptr < written + bytes));
    must(!row.members.len || (row.members.ptr > written && row.members.ptr < written + bytes));
    free(written);
    weir_bulk_writer_release(&writer);
}

static char *body_of(enum weir_bulk_message message, const struct weir_target *targets,
                     size_t count)
{
    struct weir_table_names table = accounts();
    struct weir_gather gather;
    struct weir_error err;
    weir_gather_init(&gather, BYTES_MAX);
    if (weir_bulk_body(message, &table, targets, count, &gather, &err) != WEIR_OK)
        ck_abort_msg("%s", err.message);
    size_t bytes = WEIR_BULK_FRAME_BYTES + count - 1;
    for (size_t i = 0; i < count; i++) {
        bytes += weir_bulk_target_bytes(&table, &targets[i]);
        must(!targets[i].members.len || gathered_borrows(&gather, targets[i].members));
    }
    must(bytes == gather.bytes);
    char *body = gathered(&gather);
    weir_gather_release(&gather);
    expect_written(message, targets[0], body);
    return body;
}

START_TEST(bodies_are_as_the_service_wants_them)
{
    static const struct {
        enum weir_bulk_message message;
        const char *id, *key, *members;
        const char *item;
    } rows[] = {
        { WEIR_BULK_CREATE, ID, "", "\"name\":\"A\"",
          TYPE ",\"accountid\":\"" ID "\",\"name\":\"A\"" },
        { WEIR_BULK_CREATE, "", "", "\"name\":\"A\"", TYPE ",\"name\":\"A\"" },
        { WEIR_BULK_CREATE, "", "", "", TYPE },
        { WEIR_BULK_UPDATE, ID, "", "\"name\":null",
          TYPE ",\"accountid\":\"" ID "\",\"name\":null" },
        { WEIR_BULK_UPSERT, ID, "", "", TYPE ",\"accountid\":\"" ID "\"" },
        { WEIR_BULK_UPSERT, "", "accountnumber='A1'", "\"name\":\"A\"",
          TYPE ",\"@odata.id\":\"accounts(accountnumber='A1')\",\"name\":\"A\"" },
        { WEIR_BULK_DELETE, ID, "", "", TYPE ",\"accountid\":\"" ID "\"" },
        { WEIR_BULK_DELETE, ID, "", "\"partitionid\":\"p\"",
          TYPE ",\"accountid\":\"" ID "\",\"partitionid\":\"p\"" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_target one = target(rows[i].id, rows[i].key, rows[i].members);
        struct weir_target two[] = { one, one };
        char wanted[1024];
        char *body = body_of(rows[i].message, &one, 1);
        snprintf(wanted, sizeof(wanted), "{\"Targets\":[{%s}]}", rows[i].item);
        ck_assert_str_eq(body, wanted);
        free(body);
        body = body_of(rows[i].message, two, 2);
        snprintf(wanted, sizeof(wanted), "{\"Targets\":[{%s},{%s}]}", rows[i].item, rows[i].item);
        ck_assert_str_eq(body, wanted);
        free(body);
    }
}
END_TEST

START_TEST(a_partition_is_a_member_in_every_message)
{
    static const struct {
        const char *partition;
        const char *written;
    } rows[] = {
        { "device-1", "\"device-1\"" },
        { "a\"b\\c/d", "\"a\\\"b\\\\c/d\"" },
        { "\n\t\x01", "\"\\n\\u0009\\u0001\"" },
        { "Zo\xc3\xab 100%", "\"Zo\xc3\xab 100%\"" },
    };
    for (size_t i = 0; i < COUNT(rows) * WEIR_BULK_MESSAGES * 2; i++) {
        enum weir_bulk_message message = (enum weir_bulk_message)(i / 2 % WEIR_BULK_MESSAGES);
        size_t row = i / 2 / WEIR_BULK_MESSAGES;
        bool bare = i % 2;
        struct weir_target one = target(ID, "", bare ? "" : "\"name\":\"A\"");
        one.partition = text(rows[row].partition);
        char wanted[256];
        snprintf(wanted, sizeof(wanted),
                 "{\"Targets\":[{" TYPE ",\"accountid\":\"" ID "\",\"partitionid\":%s%s}]}",
                 rows[row].written, bare ? "" : ",\"name\":\"A\"");
        char *body = body_of(message, &one, 1); /* weighs it, too */
        ck_assert_str_eq(body, wanted);
        free(body);
    }
    struct weir_target keyed = target("", "accountid=" ID ",partitionid='p'", "");
    keyed.partition = text("p");
    char *body = body_of(WEIR_BULK_UPSERT, &keyed, 1);
    ck_assert_str_eq(body, "{\"Targets\":[{" TYPE ",\"@odata.id\":\"accounts(accountid=" ID
                           ",partitionid='p')\",\"partitionid\":\"p\"}]}");
    free(body);
}
END_TEST

START_TEST(paths_name_set_message_and_tag)
{
    static const char *const names[] = { "CreateMultiple", "UpdateMultiple", "UpsertMultiple",
                                         "DeleteMultiple" };
    struct weir_table_names table = accounts();
    for (int i = 0; i < WEIR_BULK_MESSAGES; i++) {
        enum weir_bulk_message message = (enum weir_bulk_message)i;
        struct weir_request_options options = { .tag = i % 2 ? "a b" : NULL };
        struct weir_buf buf;
        char wanted[128];
        weir_buf_init(&buf, WEIR_URL_BYTES_MAX);
        ck_assert_int_eq(weir_bulk_path(message, &table, &options, &buf, NULL), WEIR_OK);
        snprintf(wanted, sizeof(wanted), "/api/data/v9.2/accounts/Microsoft.Dynamics.CRM.%s%s",
                 names[i], i % 2 ? "?tag=a%20b" : "");
        ck_assert_str_eq(weir_buf_text(&buf), wanted);
        ck_assert_str_eq(weir_bulk_name(message), names[i]);
        weir_buf_release(&buf);
    }
}
END_TEST

START_TEST(an_address_has_a_bound)
{
    static char name[WEIR_URL_BYTES_MAX];
    memset(name, 'a', sizeof(name));
    size_t rest = strlen("/api/data/v9.2//Microsoft.Dynamics.CRM.CreateMultiple");
    struct weir_table_names table = accounts();
    struct weir_request_options options = { 0 };
    for (size_t more = 0; more < 2; more++) {
        struct weir_buf buf;
        weir_buf_init(&buf, 2 * WEIR_URL_BYTES_MAX);
        table.set_name = weir_str(name, WEIR_URL_BYTES_MAX - rest + more);
        ck_assert_int_eq(weir_bulk_path(WEIR_BULK_CREATE, &table, &options, &buf, NULL),
                         more ? WEIR_E_TOO_BIG : WEIR_OK);
        weir_buf_release(&buf);
        weir_buf_init(&buf, WEIR_URL_BYTES_MAX - 1);
        ck_assert_int_eq(weir_bulk_path(WEIR_BULK_CREATE, &table, &options, &buf, NULL),
                         WEIR_E_TOO_BIG);
        weir_buf_release(&buf);
    }
}
END_TEST

static void check_refused(enum weir_bulk_message message, struct weir_target row, const char *says)
{
    struct weir_table_names table = accounts();
    struct weir_target rows[] = { target(ID, "", ""), row };
    struct weir_gather gather;
    struct weir_error err;
    weir_gather_init(&gather, BYTES_MAX);
    ck_assert_int_eq(weir_bulk_body(message, &table, rows, 2, &gather, &err), WEIR_E_INVALID);
    ck_assert_msg(strstr(err.message, says), "%s", err.message);
    ck_assert_msg(strstr(err.message, "row 1 of the "), "%s", err.message);
    ck_assert_uint_eq(gather.count, 0);
    weir_gather_release(&gather);
    struct weir_bulk_writer writer;
    struct weir_guid id;
    weir_bulk_writer_init(&writer, message, &table);
    ck_assert_uint_eq(weir_bulk_written_bytes(&writer, &row, NULL, &id), 0);
    weir_bulk_writer_release(&writer);
}

START_TEST(rows_that_are_not_named_rightly_are_refused)
{
    static const char key[] = "accountnumber='A1'";
    check_refused(WEIR_BULK_CREATE, target("", key, ""), "takes no alternate key");
    check_refused(WEIR_BULK_UPDATE, target("", key, ""), "takes no alternate key");
    check_refused(WEIR_BULK_DELETE, target("", key, ""), "takes no alternate key");
    check_refused(WEIR_BULK_UPDATE, target("", "", ""), "neither an id nor a key");
    check_refused(WEIR_BULK_UPSERT, target("", "", ""), "neither an id nor a key");
    check_refused(WEIR_BULK_DELETE, target("", "", ""), "neither an id nor a key");
    check_refused(WEIR_BULK_UPSERT, target(ID, key, ""), "not by both");
    check_refused(WEIR_BULK_CREATE, target("{" ID "}", "", ""), "is no id");
    check_refused(WEIR_BULK_CREATE, target("1", "", ""), "\"1\" is no id");
    check_refused(WEIR_BULK_CREATE, target("00000000-0000-4000-8000-00000000000A", "", ""),
                  "is no");
    static const char *const keys[] = { "a=\"b\"",    "a='b c'", "a",     "a=b)",
                                        "a=(b",       "a=b\\",   "a=b/c", "a=b?c",
                                        "a=\xc3\xab", "a=b\n",   "a=b#" };
    for (size_t i = 0; i < COUNT(keys); i++)
        check_refused(WEIR_BULK_UPSERT, target("", keys[i], ""), "is no key");
}
END_TEST

START_TEST(tables_need_names)
{
    struct weir_table_names tables[] = { accounts(), accounts(), accounts() };
    tables[0].logical_name = text("acc\"ount");
    tables[1].set_name = text("accounts/x");
    tables[2].primary_id = text("");
    struct weir_target row = target(ID, "", "");
    for (size_t i = 0; i < COUNT(tables); i++) {
        struct weir_gather gather;
        struct weir_buf buf;
        weir_gather_init(&gather, BYTES_MAX);
        weir_buf_init(&buf, 1000);
        ck_assert_int_eq(weir_bulk_body(WEIR_BULK_CREATE, &tables[i], &row, 1, &gather, NULL),
                         WEIR_E_INVALID);
        struct weir_request_options options = { 0 };
        ck_assert_int_eq(weir_bulk_path(WEIR_BULK_CREATE, &tables[i], &options, &buf, NULL),
                         WEIR_E_INVALID);
        struct weir_bulk_writer writer;
        struct weir_guid id;
        weir_bulk_writer_init(&writer, WEIR_BULK_CREATE, &tables[i]);
        ck_assert_uint_eq(weir_bulk_written_bytes(&writer, &row, NULL, &id), 0);
        weir_bulk_writer_release(&writer);
        weir_gather_release(&gather);
    }
}
END_TEST

START_TEST(rows_and_bytes_have_a_bound)
{
    static struct weir_target rows[WEIR_TARGETS_MAX + 1];
    struct weir_table_names table = accounts();
    for (size_t i = 0; i < COUNT(rows); i++)
        rows[i] = target(ID, "", "\"name\":\"A\"");
    struct weir_gather gather;
    weir_gather_init(&gather, BYTES_MAX);
    ck_assert_int_eq(weir_bulk_body(WEIR_BULK_CREATE, &table, rows, 0, &gather, NULL),
                     WEIR_E_INVALID);
    ck_assert_int_eq(weir_bulk_body(WEIR_BULK_CREATE, &table, rows, COUNT(rows), &gather, NULL),
                     WEIR_E_TOO_BIG);
    ck_assert_int_eq(
        weir_bulk_body(WEIR_BULK_CREATE, &table, rows, WEIR_TARGETS_MAX, &gather, NULL), WEIR_OK);
    size_t bytes = gather.bytes;
    weir_gather_release(&gather);
    for (int less = 0; less < 2; less++) {
        weir_gather_init(&gather, bytes - (size_t)less);
        ck_assert_int_eq(
            weir_bulk_body(WEIR_BULK_CREATE, &table, rows, WEIR_TARGETS_MAX, &gather, NULL),
            less ? WEIR_E_TOO_BIG : WEIR_OK);
        weir_gather_release(&gather);
    }
}
END_TEST

/* ---- random rows, read by another parser ---- */

struct row {
    char id[40];
    char key[80];
    char members[200];
    char partition[16];
    int number;
};

static void make_row(struct weir_rng *rng, enum weir_bulk_message message, struct row *row)
{
    bool by_key = message == WEIR_BULK_UPSERT && weir_rng_below(rng, 2);
    bool bare = message == WEIR_BULK_CREATE && weir_rng_below(rng, 2);
    *row = (struct row){ .number = (int)weir_rng_below(rng, 1000000) };
    if (by_key)
        snprintf(row->key, sizeof(row->key), "accountnumber='N%%20%d''',region=5", row->number);
    else if (!bare)
        snprintf(row->id, sizeof(row->id), "%08x-0000-4000-8000-%012x", row->number, row->number);
    if (weir_rng_below(rng, 4))
        snprintf(row->members, sizeof(row->members), "\"n\":%d,\"t\":\"\\\"}],{\"", row->number);
    for (size_t i = 0, len = weir_rng_below(rng, 2) * weir_rng_below(rng, 16); i < len; i++)
        row->partition[i] = (char)(1 + weir_rng_below(rng, 127));
}

static void check_item(const struct weir_json_node *item, const struct row *row)
{
    const struct weir_json_node *node = weir_json_find(item, "@odata.type");
    must(node && weir_str_equal(node->text, text("Microsoft.Dynamics.CRM.account")));
    node = weir_json_find(item, "accountid");
    must((node != NULL) == (row->id[0] != '\0'));
    must(!node || weir_str_equal(node->text, text(row->id)));
    node = weir_json_find(item, "@odata.id");
    must((node != NULL) == (row->key[0] != '\0'));
    char wanted[128];
    snprintf(wanted, sizeof(wanted), "accounts(%s)", row->key);
    must(!node || weir_str_equal(node->text, text(wanted)));
    node = weir_json_find(item, "n");
    must((node != NULL) == (row->members[0] != '\0'));
    snprintf(wanted, sizeof(wanted), "%d", row->number);
    must(!node || weir_str_equal(node->text, text(wanted)));
    node = weir_json_find(item, "partitionid");
    must((node != NULL) == (row->partition[0] != '\0'));
    must(!node || weir_str_equal(node->text, text(row->partition)));
}

START_TEST(random_bodies_are_json_that_says_what_was_meant)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 5, (uint64_t)_i);
    for (int run = 0; run < 200; run++) {
        static struct row rows[100];
        struct weir_target targets[COUNT(rows)];
        size_t count = 1 + (size_t)weir_rng_below(&rng, COUNT(rows));
        for (size_t i = 0; i < count; i++) {
            make_row(&rng, (enum weir_bulk_message)_i, &rows[i]);
            targets[i] = target(rows[i].id, rows[i].key, rows[i].members);
            targets[i].partition = text(rows[i].partition);
        }
        char *body = body_of((enum weir_bulk_message)_i, targets, count);
        struct weir_json *json;
        must(weir_json_parse(text(body), &json, NULL) == WEIR_OK);
        const struct weir_json_node *list = weir_json_find(weir_json_root(json), "Targets");
        must(list && list->count == count);
        const struct weir_json_node *item = list->first;
        for (size_t i = 0; i < count; i++, item = item->next)
            check_item(item, &rows[i]);
        weir_json_free(json);
        free(body);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("protocol_bulk");
    suite_add(&s, bodies_are_as_the_service_wants_them);
    suite_add(&s, a_partition_is_a_member_in_every_message);
    suite_add(&s, paths_name_set_message_and_tag);
    suite_add(&s, an_address_has_a_bound);
    suite_add(&s, rows_that_are_not_named_rightly_are_refused);
    suite_add(&s, tables_need_names);
    suite_add(&s, rows_and_bytes_have_a_bound);
    suite_add_loop(&s, "random_bodies_are_json_that_says_what_was_meant",
                   random_bodies_are_json_that_says_what_was_meant, WEIR_BULK_MESSAGES);
    return suite_run(&s);
}
