/* SPDX-License-Identifier: MIT */
/* Reading back a row: the path, and what the answer says. */
#include <stdio.h>

#include "base/limits.h"
#include "protocol/odata.h"
#include "protocol/readback.h"
#include "support/gathered.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ID           "00000000-0000-4000-8000-00000000000a"

static struct weir_error err;

static struct weir_str text(const char *s)
{
    return weir_str_from(s);
}

static struct weir_table_names readings(void)
{
    return (struct weir_table_names){ text("reading"), text("readings"), text("readingid"), false };
}

static const char *path_of(struct weir_target target)
{
    static char out[1024];
    struct weir_table_names table = readings();
    struct weir_buf buf;
    weir_buf_init(&buf, sizeof(out) - 1);
    if (weir_readback_path(&table, &target, &buf, &err) != WEIR_OK) {
        must(buf.len == 0);
        snprintf(out, sizeof(out), "! %s", err.message);
    } else {
        must(weir_odata_is_address(weir_str(buf.ptr, buf.len)));
        snprintf(out, sizeof(out), "%s", weir_buf_text(&buf));
    }
    weir_buf_release(&buf);
    return out;
}

START_TEST(a_row_is_read_by_its_id_and_partition)
{
    ck_assert_str_eq(path_of((struct weir_target){ .id = text(ID) }),
                     "readings(" ID ")?$select=readingid,createdon");
    ck_assert_str_eq(
        path_of((struct weir_target){ .id = text(ID), .partition = text("O'Brien 1") }),
        "readings(readingid=" ID ",partitionid='O''Brien%201')?$select=readingid,createdon");
}
END_TEST

START_TEST(a_row_that_cannot_be_named_is_not_read)
{
    ck_assert_int_eq(path_of((struct weir_target){ .key = text("a='b'") })[0], '!');
    ck_assert_int_eq(path_of((struct weir_target){ .id = text("7") })[0], '!');
    ck_assert_int_eq(path_of((struct weir_target){ .members = text("") })[0], '!');
    ck_assert_ptr_nonnull(
        strstr(path_of((struct weir_target){ .id = text(ID), .partition = text("a/b") }),
               "\"a/b\" of the key \"partitionid\" has a \"/\""));
    struct weir_table_names table = readings();
    struct weir_target target = { .id = text(ID) };
    struct weir_buf buf;
    weir_buf_init(&buf, 20);
    ck_assert_int_eq(weir_readback_path(&table, &target, &buf, &err), WEIR_E_TOO_BIG);
    weir_buf_release(&buf);
    table.set_name = text("read ings");
    ck_assert_int_eq(weir_readback_path(&table, &target, &buf, &err), WEIR_E_INVALID);
}
END_TEST

START_TEST(an_address_to_read_has_a_bound)
{
    static char partition[WEIR_PART_URL_BYTES_MAX];
    struct weir_table_names table = readings();
    struct weir_target target = { .id = text(ID) };
    memset(partition, 'p', sizeof(partition));
    size_t rest = strlen("readings(readingid=" ID ",partitionid='')?$select=readingid,createdon");
    for (size_t more = 0; more < 2; more++) {
        struct weir_buf buf;
        weir_buf_init(&buf, 2 * WEIR_PART_URL_BYTES_MAX);
        target.partition = weir_str(partition, WEIR_PART_URL_BYTES_MAX - rest + more);
        ck_assert_int_eq(weir_readback_path(&table, &target, &buf, &err),
                         more ? WEIR_E_TOO_BIG : WEIR_OK);
        weir_buf_release(&buf);
    }
}
END_TEST

static enum weir_status read_body(const char *body, struct weir_readback *ret)
{
    struct weir_table_names table = readings();
    struct weir_str all = text(body);
    char *copy = exact_copy(all);
    enum weir_status status = weir_readback_read(weir_str(copy, all.len), &table, ret, &err);
    free(copy);
    return status;
}

START_TEST(an_answer_tells_the_id_and_since_when)
{
    static const struct {
        const char *members;
        bool good;
        bool known;
        int64_t us;
    } rows[] = {
        { "\"readingid\":\"" ID "\",\"createdon\":\"2026-01-01T00:00:00Z\"", true, true,
          1767225600000000 },
        { "\"createdon\":\"2026-01-01T00:00:00.5Z\",\"@odata.etag\":\"W/1\",\"readingid\":\"" ID
          "\"",
          true, true, 1767225600500000 },
        { "\"readingid\":\"" ID "\",\"createdon\":null", true, false, 0 },
        { "\"readingid\":\"" ID "\"", true, false, 0 },
        { "\"readingid\":\"" ID "\",\"createdon\":\"yesterday\"", false, false, 0 },
        { "\"readingid\":\"" ID "\",\"createdon\":1767225600", false, false, 0 },
        { "\"readingid\":\"" ID "\",\"createdon\":\"1767225600\"", false, false, 0 },
        { "\"readingid\":\"" ID "\",\"createdon\":{}", false, false, 0 },
        { "\"readingid\":\"7\",\"createdon\":\"2026-01-01T00:00:00Z\"", false, false, 0 },
        { "\"readingid\":null,\"createdon\":\"2026-01-01T00:00:00Z\"", false, false, 0 },
        { "\"accountid\":\"" ID "\",\"createdon\":\"2026-01-01T00:00:00Z\"", false, false, 0 },
        { "\"value\":[{\"readingid\":\"" ID "\"}]", false, false, 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_readback row = { .created_us = -7 };
        struct weir_guid id;
        char body[256];
        must(weir_guid_parse(text(ID), &id));
        snprintf(body, sizeof(body), "{%s}", rows[i].members);
        ck_assert_msg(read_body(body, &row) == (rows[i].good ? WEIR_OK : WEIR_E_INVALID), "%s",
                      body);
        if (!rows[i].good) {
            ck_assert_int_eq(row.created_us, -7);
            continue;
        }
        ck_assert(weir_guid_equal(&row.id, &id));
        ck_assert(row.created_known == rows[i].known);
        ck_assert(!row.created_known || row.created_us == rows[i].us);
        for (size_t len = 0; len < strlen(body); len++) {
            char cut[256];
            snprintf(cut, sizeof(cut), "%.*s", (int)len, body);
            must(read_body(cut, &row) == WEIR_E_INVALID);
        }
    }
    struct weir_readback row;
    ck_assert_int_eq(read_body("[]", &row), WEIR_E_INVALID);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("protocol_readback");
    suite_add(&s, a_row_is_read_by_its_id_and_partition);
    suite_add(&s, a_row_that_cannot_be_named_is_not_read);
    suite_add(&s, an_address_to_read_has_a_bound);
    suite_add(&s, an_answer_tells_the_id_and_since_when);
    return suite_run(&s);
}
