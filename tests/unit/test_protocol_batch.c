/* SPDX-License-Identifier: MIT */
/* The bytes of a $batch. */
#include <stdio.h>

#include "base/limits.h"
#include "protocol/batch.h"
#include "support/gathered.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ID           "00000000-0000-4000-8000-000000000001"
#define BYTES_MAX    ((size_t)4 * 1024 * 1024)
#define HEAD                                                                                       \
    "--batch_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
#define JSON "Content-Type: application/json\r\n"

static const struct weir_request_options nothing;

static struct weir_str text(const char *s)
{
    return weir_str_from(s);
}

static const struct weir_table_names *accounts(void)
{
    static struct weir_table_names table;
    table =
        (struct weir_table_names){ text("account"), text("accounts"), text("accountid"), false };
    return &table;
}

static struct weir_batch_part part(enum weir_request_kind kind, const char *id, const char *key,
                                   const char *members)
{
    return (struct weir_batch_part){
        .kind = kind,
        .table = accounts(),
        .target = { .id = text(id), .key = text(key), .members = text(members) }
    };
}

static struct weir_batch_part in_partition(struct weir_batch_part one, const char *partition)
{
    one.target.partition = text(partition);
    return one;
}

static struct weir_batch_part read_part(const char *path)
{
    return (struct weir_batch_part){ .kind = WEIR_REQUEST_READ, .path = text(path) };
}

static struct weir_batch_request begin(const char *boundary,
                                       const struct weir_request_options *options)
{
    struct weir_batch_request batch;
    struct weir_error err;
    if (weir_batch_request_init(&batch, text(boundary), options, BYTES_MAX, &err) != WEIR_OK)
        ck_abort_msg("%s", err.message);
    return batch;
}

static void add(struct weir_batch_request *batch, struct weir_batch_part one)
{
    struct weir_error err;
    if (weir_batch_request_add(batch, &one, &err) != WEIR_OK)
        ck_abort_msg("%s", err.message);
}

static char *finish(struct weir_batch_request *batch)
{
    ck_assert_int_eq(weir_batch_request_finish(batch, NULL), WEIR_OK);
    return gathered(&batch->body);
}

START_TEST(a_batch_is_written_to_the_byte)
{
    struct weir_batch_request batch = begin("batch_1", &nothing);
    add(&batch, part(WEIR_REQUEST_CREATE, ID, "", "\"name\":\"A\""));
    add(&batch, part(WEIR_REQUEST_CREATE, "", "", "\"name\":\"B\""));
    add(&batch, part(WEIR_REQUEST_CREATE, ID, "", ""));
    add(&batch, part(WEIR_REQUEST_UPDATE, ID, "", "\"name\":\"C\""));
    add(&batch, part(WEIR_REQUEST_UPSERT, "", "accountnumber='O''Brien',x=5", "\"name\":\"D\""));
    add(&batch, part(WEIR_REQUEST_DELETE, ID, "", ""));
    add(&batch, read_part("accounts(" ID ")?$select=accountid,createdon"));
    ck_assert_uint_eq(batch.part_count, 7);
    char *body = finish(&batch);
    ck_assert_str_eq(
        body, HEAD "POST /api/data/v9.2/accounts HTTP/1.1\r\n" JSON "\r\n{\"accountid\":\"" ID
                   "\",\"name\":\"A\"}\r\n"                                              //
        HEAD "POST /api/data/v9.2/accounts HTTP/1.1\r\n" JSON "\r\n{\"name\":\"B\"}\r\n" //
        HEAD "POST /api/data/v9.2/accounts HTTP/1.1\r\n" JSON "\r\n{\"accountid\":\"" ID
                   "\"}\r\n" //
        HEAD "PATCH /api/data/v9.2/accounts(" ID ") HTTP/1.1\r\n" JSON
                   "If-Match: *\r\n\r\n{\"name\":\"C\"}\r\n" //
        HEAD "PATCH /api/data/v9.2/accounts(accountnumber='O''Brien',x=5) HTTP/1.1\r\n" JSON
                   "\r\n{\"name\":\"D\"}\r\n"                              //
        HEAD "DELETE /api/data/v9.2/accounts(" ID ") HTTP/1.1\r\n\r\n\r\n" //
        HEAD "GET /api/data/v9.2/accounts(" ID ")?$select=accountid,createdon HTTP/1.1\r\n"
                   "Accept: application/json\r\n\r\n\r\n" //
                   "--batch_1--\r\n");
    free(body);
    weir_batch_request_release(&batch);
    weir_batch_request_release(&batch);
}
END_TEST

START_TEST(a_partition_is_a_member_of_what_is_created_and_a_key_of_what_is_there)
{
    static const char name[] = "\"name\":\"A\"";
    struct weir_batch_request batch = begin("batch_1", &nothing);
    add(&batch, in_partition(part(WEIR_REQUEST_CREATE, ID, "", name), "a\"b/\xc3\xab"));
    add(&batch, in_partition(part(WEIR_REQUEST_CREATE, "", "", ""), "p"));
    add(&batch, in_partition(part(WEIR_REQUEST_UPDATE, ID, "", name), "O'Brien (\xc3\xab)"));
    add(&batch, in_partition(part(WEIR_REQUEST_UPSERT, ID, "", ""), "p"));
    add(&batch, in_partition(part(WEIR_REQUEST_DELETE, ID, "", ""), "p"));
    char *body = finish(&batch);
    ck_assert_str_eq(
        body, HEAD "POST /api/data/v9.2/accounts HTTP/1.1\r\n" JSON "\r\n{\"accountid\":\"" ID
                   "\",\"partitionid\":\"a\\\"b/\xc3\xab\",\"name\":\"A\"}\r\n"                 //
        HEAD "POST /api/data/v9.2/accounts HTTP/1.1\r\n" JSON "\r\n{\"partitionid\":\"p\"}\r\n" //
        HEAD "PATCH /api/data/v9.2/accounts(accountid=" ID
                   ",partitionid='O''Brien%20%28%C3%AB%29') HTTP/1.1\r\n" JSON
                   "If-Match: *\r\n\r\n{\"name\":\"A\"}\r\n" //
        HEAD "PATCH /api/data/v9.2/accounts(accountid=" ID ",partitionid='p') HTTP/1.1\r\n" JSON
                   "\r\n{}\r\n" //
        HEAD "DELETE /api/data/v9.2/accounts(accountid=" ID
                   ",partitionid='p') HTTP/1.1\r\n\r\n\r\n" //
                   "--batch_1--\r\n");
    free(body);
    weir_batch_request_release(&batch);
}
END_TEST

static size_t occurrences(const char *body, const char *needle)
{
    size_t count = 0;
    while ((body = strstr(body, needle))) {
        count++;
        body++;
    }
    return count;
}

START_TEST(what_is_asked_for_stands_in_every_part)
{
    struct weir_request_options options = { .bypass_logic = WEIR_BYPASS_ALL,
                                            .bypass_flows = true,
                                            .detect_duplicates = true,
                                            .error_details = true,
                                            .continue_on_error = true,
                                            .tag = "a b",
                                            .impersonate = ID,
                                            .session_token = "session" };
    struct weir_batch_request batch = begin("batch_1", &options);
    for (int i = 0; i < 10; i++) {
        add(&batch, part(WEIR_REQUEST_CREATE, ID, "", ""));
        add(&batch, part(WEIR_REQUEST_UPDATE, ID, "", ""));
        add(&batch, part(WEIR_REQUEST_UPSERT, ID, "", ""));
        add(&batch, part(WEIR_REQUEST_DELETE, ID, "", ""));
        add(&batch, read_part("accounts"));
        add(&batch, read_part("accounts?$top=1"));
    }
    char *body = finish(&batch);
    ck_assert_uint_eq(occurrences(body, "BypassBusinessLogicExecution: CustomSync,"), 40);
    ck_assert_uint_eq(occurrences(body, "SuppressCallbackRegistrationExpanderJob: true\r\n"), 40);
    ck_assert_uint_eq(occurrences(body, "SuppressDuplicateDetection: false\r\n"), 30);
    ck_assert_uint_eq(occurrences(body, "CallerObjectId: " ID "\r\n"), 60);
    ck_assert_uint_eq(occurrences(body, "include-annotations"), 60);
    ck_assert_uint_eq(occurrences(body, "MSCRM.SessionToken: session\r\n"), 20);
    ck_assert_uint_eq(occurrences(body, "continue-on-error"), 0);
    ck_assert_uint_eq(occurrences(body, "tag=a%20b HTTP/1.1\r\n"), 60);
    ck_assert_uint_eq(occurrences(body, "?tag="), 50);
    ck_assert_uint_eq(occurrences(body, "$top=1&tag="), 10);
    ck_assert_uint_eq(occurrences(body, "If-Match: *\r\n"), 10);
    free(body);
    weir_batch_request_release(&batch);
}
END_TEST

START_TEST(rows_are_borrowed_and_lines_end_with_cr_lf)
{
    static char members[100][64];
    struct weir_rng rng;
    weir_rng_init(&rng, 6, 0);
    struct weir_batch_request batch = begin("batch_1", &nothing);
    for (size_t i = 0; i < COUNT(members); i++) {
        snprintf(members[i], sizeof(members[i]), "\"name\":\"row %zu\"", i);
        enum weir_request_kind kind =
            (enum weir_request_kind)(WEIR_REQUEST_CREATE + weir_rng_below(&rng, 3));
        add(&batch, part(kind, ID, "", members[i]));
        ck_assert(gathered_borrows(&batch.body, text(members[i])));
    }
    char *body = finish(&batch);
    ck_assert_uint_eq(strlen(body), batch.body.bytes);
    for (const char *at = body; (at = strchr(at, '\n')); at++)
        ck_assert(at[-1] == '\r');
    ck_assert_uint_eq(occurrences(body, "\r"), occurrences(body, "\n"));
    ck_assert_str_eq(body + strlen(body) - 13, "--batch_1--\r\n");
    free(body);
    weir_batch_request_release(&batch);
}
END_TEST

/* ---- the boundary ---- */

static void check_boundary(const char *boundary, bool good)
{
    struct weir_batch_request batch;
    struct weir_error err;
    enum weir_status status =
        weir_batch_request_init(&batch, text(boundary), &nothing, BYTES_MAX, &err);
    ck_assert_msg(status == (good ? WEIR_OK : WEIR_E_INVALID), "%s", boundary);
    if (good)
        weir_batch_request_release(&batch);
}

START_TEST(boundaries_are_plain_and_short)
{
    char longest[WEIR_BOUNDARY_BYTES_MAX + 2];
    memset(longest, 'x', sizeof(longest));
    longest[WEIR_BOUNDARY_BYTES_MAX + 1] = '\0';
    check_boundary(longest, false);
    longest[WEIR_BOUNDARY_BYTES_MAX] = '\0';
    check_boundary(longest, true);
    check_boundary("batch_0aZ-9", true);
    static const char *const bad[] = { "", "a b", "a\"b", "a\r\nb", "a;b", "a=b", "\xc3\xab" };
    for (size_t i = 0; i < COUNT(bad); i++)
        check_boundary(bad[i], false);
    check_boundary("json", false); /* it stands in the headers */
}
END_TEST

START_TEST(a_boundary_that_occurs_in_a_part_is_noticed_wherever_it_is)
{
    const struct weir_batch_part clashes[] = {
        part(WEIR_REQUEST_CREATE, "", "", "\"name\":\"batch_1\""),
        part(WEIR_REQUEST_UPSERT, "", "a='batch_1'", ""),
        part(WEIR_REQUEST_UPDATE, ID, "", "\"batch_1\":1"),
        part(WEIR_REQUEST_UPDATE, ID, "", "\"a\":\"\r\n--batch_1--\r\n\""),
        read_part("accounts?x=batch_1"),
        in_partition(part(WEIR_REQUEST_CREATE, ID, "", ""), "batch_1"),
        in_partition(part(WEIR_REQUEST_UPDATE, ID, "", ""), "batch_1"),
        in_partition(part(WEIR_REQUEST_DELETE, ID, "", ""), "batch_1"),
    };
    struct weir_batch_request batch = begin("batch_1", &nothing);
    add(&batch, part(WEIR_REQUEST_DELETE, ID, "", ""));
    size_t bytes = batch.body.bytes;
    for (size_t i = 0; i < COUNT(clashes); i++) {
        struct weir_error err;
        ck_assert_int_eq(weir_batch_request_add(&batch, &clashes[i], &err), WEIR_E_INVALID);
        ck_assert_ptr_nonnull(strstr(err.message, "boundary"));
        ck_assert_uint_eq(batch.body.bytes, bytes);
        ck_assert_uint_eq(batch.part_count, 1);
    }
    weir_batch_request_release(&batch);
    batch = begin("00000001", &nothing);
    struct weir_batch_part create = part(WEIR_REQUEST_CREATE, ID, "", "");
    ck_assert_int_eq(weir_batch_request_add(&batch, &create, NULL), WEIR_E_INVALID);
    weir_batch_request_release(&batch);
    batch = begin("u000b", &nothing); /* made by writing a control character as JSON does */
    create = in_partition(create, "\v");
    ck_assert_int_eq(weir_batch_request_add(&batch, &create, NULL), WEIR_E_INVALID);
    weir_batch_request_release(&batch);
    struct weir_request_options options = { .session_token = "x batch_1" };
    ck_assert_int_eq(weir_batch_request_init(&batch, text("batch_1"), &options, BYTES_MAX, NULL),
                     WEIR_E_INVALID);
    options = (struct weir_request_options){ .tag = "batch_1" };
    batch = begin("batch_1", &options);
    ck_assert_int_eq(weir_batch_request_add(&batch, &create, NULL), WEIR_E_INVALID);
    weir_batch_request_release(&batch);
}
END_TEST

/* ---- bounds ---- */

START_TEST(a_batch_takes_a_thousand_parts)
{
    struct weir_batch_request batch = begin("batch_1", &nothing);
    ck_assert_int_eq(weir_batch_request_finish(&batch, NULL), WEIR_E_INVALID);
    struct weir_batch_part one = part(WEIR_REQUEST_DELETE, ID, "", "");
    for (int i = 0; i < WEIR_BATCH_PARTS_MAX; i++)
        must(weir_batch_request_add(&batch, &one, NULL) == WEIR_OK);
    ck_assert_int_eq(weir_batch_request_add(&batch, &one, NULL), WEIR_E_TOO_BIG);
    char *body = finish(&batch);
    ck_assert_uint_eq(occurrences(body, "--batch_1\r\n"), WEIR_BATCH_PARTS_MAX);
    free(body);
    weir_batch_request_release(&batch);
}
END_TEST

START_TEST(an_address_in_a_part_has_a_bound)
{
    static char path[WEIR_PART_URL_BYTES_MAX + 1];
    memset(path, 'a', sizeof(path) - 1);
    size_t longest = WEIR_PART_URL_BYTES_MAX - strlen(WEIR_API_PATH);
    struct weir_batch_request batch = begin("batch_1", &nothing);
    path[longest + 1] = '\0';
    struct weir_batch_part one = read_part(path);
    ck_assert_int_eq(weir_batch_request_add(&batch, &one, NULL), WEIR_E_TOO_BIG);
    ck_assert_uint_eq(batch.body.bytes, 0);
    path[longest] = '\0';
    add(&batch, read_part(path));
    weir_batch_request_release(&batch);
}
END_TEST

START_TEST(a_part_too_many_leaves_the_batch_as_it_was)
{
    struct weir_batch_part one = part(WEIR_REQUEST_UPDATE, ID, "", "\"name\":\"A\"");
    struct weir_batch_request batch = begin("batch_1", &nothing);
    add(&batch, one);
    add(&batch, one);
    char *wanted = finish(&batch);
    size_t bytes = batch.body.bytes;
    weir_batch_request_release(&batch);
    for (size_t room = bytes; room < bytes + bytes / 3; room++) {
        ck_assert_int_eq(weir_batch_request_init(&batch, text("batch_1"), &nothing, room, NULL),
                         WEIR_OK);
        add(&batch, one);
        add(&batch, one);
        ck_assert_int_eq(weir_batch_request_add(&batch, &one, NULL), WEIR_E_TOO_BIG);
        char *body = finish(&batch);
        ck_assert_str_eq(body, wanted);
        free(body);
        weir_batch_request_release(&batch);
    }
    for (size_t room = 0; room < bytes; room++) { /* whatever could be added can be finished */
        ck_assert_int_eq(weir_batch_request_init(&batch, text("batch_1"), &nothing, room, NULL),
                         WEIR_OK);
        size_t parts = 0;
        while (weir_batch_request_add(&batch, &one, NULL) == WEIR_OK)
            parts++;
        must(parts == batch.part_count && parts < 2);
        must(weir_batch_request_finish(&batch, NULL) == (parts ? WEIR_OK : WEIR_E_INVALID));
        must(batch.body.bytes <= room && !batch.body.overflow);
        weir_batch_request_release(&batch);
    }
    free(wanted);
}
END_TEST

/* A part of any kind; texts live in `memory` of 600 bytes. */
static struct weir_batch_part random_part(struct weir_rng *rng, char *memory)
{
    static const char *const partitions[] = { "", "", "p", "O'Brien ''", "\xc3\xab (1)", "a=b,c" };
    static const char *const any[] = { "\n\x01\"", "a/b:c" }; /* only a body takes these */
    enum weir_request_kind kind = (enum weir_request_kind)weir_rng_below(rng, WEIR_REQUEST_KINDS);
    size_t len = (size_t)weir_rng_below(rng, 300);
    snprintf(memory, 600, kind == WEIR_REQUEST_READ ? "a%0*d" : "\"n\":1%0*d", (int)len, 0);
    if (kind == WEIR_REQUEST_READ)
        return read_part(memory);
    bool bare = kind == WEIR_REQUEST_DELETE || weir_rng_below(rng, 4) == 0;
    bool keyed = kind != WEIR_REQUEST_CREATE && weir_rng_below(rng, 3) == 0;
    bool named = !keyed && (kind != WEIR_REQUEST_CREATE || weir_rng_below(rng, 2));
    struct weir_batch_part one =
        part(kind, named ? ID : "", keyed ? "number='A%201'" : "", bare ? "" : memory);
    if (!keyed)
        one = in_partition(one, partitions[weir_rng_below(rng, COUNT(partitions))]);
    if (kind == WEIR_REQUEST_CREATE && weir_rng_below(rng, 4) == 0)
        one = in_partition(one, any[weir_rng_below(rng, COUNT(any))]);
    return one;
}

START_TEST(a_part_weighs_what_is_said)
{
    static const struct weir_request_options options[] = {
        { 0 }, { .tag = "a b/\xc3\xab" }, { .bypass_flows = true, .session_token = "s" }
    };
    struct weir_rng rng;
    weir_rng_init(&rng, 21, 0);
    for (int run = 0; run < 300; run++) {
        static char memory[20][600];
        struct weir_batch_request batch = begin("batch_1", &options[run % 3]);
        size_t bytes = 0;
        for (size_t i = 0; i < COUNT(memory); i++) {
            struct weir_batch_part one = random_part(&rng, memory[i]);
            bytes += weir_batch_part_bytes(&batch, &one);
            add(&batch, one);
            must(batch.body.bytes == bytes);
        }
        bytes += weir_batch_close_bytes(&batch);
        must(weir_batch_request_finish(&batch, NULL) == WEIR_OK);
        must(batch.body.bytes == bytes);
        weir_batch_request_release(&batch);
    }
}
END_TEST

START_TEST(parts_that_are_not_named_rightly_are_refused)
{
    const struct weir_batch_part bad[] = {
        part(WEIR_REQUEST_UPDATE, "", "", ""),
        part(WEIR_REQUEST_UPSERT, "", "", ""),
        part(WEIR_REQUEST_DELETE, "", "", ""),
        part(WEIR_REQUEST_CREATE, "", "a='b'", ""),
        part(WEIR_REQUEST_UPSERT, ID, "a='b'", ""),
        part(WEIR_REQUEST_UPDATE, "1", "", ""),
        part(WEIR_REQUEST_UPDATE, "", "a='b c'", ""),
        part(WEIR_REQUEST_UPDATE, "", "a='b')HTTP/1.1\r\n", ""),
        read_part(""),
        read_part("a b"),
        read_part("a\r\nb"),
        read_part("a#b"),
        part(WEIR_REQUEST_DELETE, ID, "", "\"name\":\"A\""),
        in_partition(part(WEIR_REQUEST_DELETE, "", "a='b'", ""), "p"),
        in_partition(part(WEIR_REQUEST_UPDATE, ID, "", ""), "a/b"),
        in_partition(part(WEIR_REQUEST_UPSERT, ID, "", ""), "a:b"),
        in_partition(part(WEIR_REQUEST_DELETE, ID, "", ""), "100%"),
        in_partition(part(WEIR_REQUEST_DELETE, ID, "", ""), "a\nb"),
    };
    struct weir_batch_request batch = begin("batch_1", &nothing);
    for (size_t i = 0; i < COUNT(bad); i++) {
        ck_assert_int_eq(weir_batch_request_add(&batch, &bad[i], NULL), WEIR_E_INVALID);
        ck_assert_uint_eq(batch.body.bytes, 0);
    }
    struct weir_error err;
    struct weir_batch_part keyed = in_partition(part(WEIR_REQUEST_UPSERT, "", "a='b'", ""), "p");
    ck_assert_int_eq(weir_batch_request_add(&batch, &keyed, &err), WEIR_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "a key names the partition itself"));
    struct weir_table_names nameless = { text("account"), text("acc ounts"), text("accountid"),
                                         false };
    struct weir_batch_part one = part(WEIR_REQUEST_CREATE, ID, "", "");
    one.table = &nameless;
    ck_assert_int_eq(weir_batch_request_add(&batch, &one, NULL), WEIR_E_INVALID);
    weir_batch_request_release(&batch);
    struct weir_request_options options = { .impersonate = "me" };
    ck_assert_int_eq(weir_batch_request_init(&batch, text("b_1"), &options, BYTES_MAX, NULL),
                     WEIR_E_INVALID);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("protocol_batch");
    suite_add(&s, a_batch_is_written_to_the_byte);
    suite_add(&s, a_partition_is_a_member_of_what_is_created_and_a_key_of_what_is_there);
    suite_add(&s, what_is_asked_for_stands_in_every_part);
    suite_add(&s, rows_are_borrowed_and_lines_end_with_cr_lf);
    suite_add(&s, boundaries_are_plain_and_short);
    suite_add(&s, a_boundary_that_occurs_in_a_part_is_noticed_wherever_it_is);
    suite_add(&s, a_batch_takes_a_thousand_parts);
    suite_add(&s, an_address_in_a_part_has_a_bound);
    suite_add(&s, a_part_too_many_leaves_the_batch_as_it_was);
    suite_add(&s, a_part_weighs_what_is_said);
    suite_add(&s, parts_that_are_not_named_rightly_are_refused);
    return suite_run(&s);
}
