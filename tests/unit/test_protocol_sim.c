/* SPDX-License-Identifier: MIT */
/*
 * What src/protocol writes, executed by the simulated service, which shares no code with it; and
 * what that answers, read by src/protocol.
 */
#include "base/limits.h"
#include "protocol/answer.h"
#include "protocol/batch.h"
#include "protocol/bulk.h"
#include "protocol/item_answer.h"
#include "protocol/readback.h"
#include "support/gathered.h"
#include "support/web_api.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BYTES_MAX    ((size_t)4 * 1024 * 1024)
#define ROWS         40
#define PARTS        25

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

static const struct weir_table_names *readings(void)
{
    static struct weir_table_names table;
    table = (struct weir_table_names){ text("sensorreading"), text("sensorreadings"),
                                       text("sensorreadingid"), false };
    return &table;
}

/* Send slices to a path, with the lines that the protocol makes. */
static int send_gathered(struct web *web, const char *path, const struct weir_gather *gather,
                         const struct weir_request_lines *lines)
{
    struct sim_header headers[WEIR_REQUEST_LINES_MAX];
    for (size_t i = 0; i < lines->count; i++) {
        const char *colon = strchr(lines->lines[i], ':');
        headers[i].name = weir_str(lines->lines[i], (size_t)(colon - lines->lines[i]));
        headers[i].value = weir_str_trim(text(colon + 1));
    }
    char *body = gathered(gather);
    struct sim_call call = { .method = text("POST"),
                             .target = text(path),
                             .headers = headers,
                             .header_count = lines->count,
                             .body = weir_str(body, gather->bytes),
                             .wall_us = WEB_WALL_US };
    sim_answer_reset(&web->answer);
    sim_api_execute(web->api, &call, NULL, NULL, &web->answer);
    free(body);
    return web->answer.status;
}

static struct weir_str answer_body(const struct web *web)
{
    return weir_str(weir_buf_text(&web->answer.body), web->answer.body.len);
}

static int send_bulk(struct web *web, enum weir_bulk_message message,
                     const struct weir_table_names *table,
                     const struct weir_request_options *options, const struct weir_target *targets,
                     size_t count)
{
    struct weir_buf path;
    struct weir_gather body;
    struct weir_request_lines lines;
    struct weir_error err;
    weir_buf_init(&path, WEIR_URL_BYTES_MAX);
    weir_gather_init(&body, BYTES_MAX);
    weir_request_lines_init(&lines, options, WEIR_REQUEST_CREATE);
    if (weir_bulk_path(message, table, options, &path, &err) != WEIR_OK ||
        weir_bulk_body(message, table, targets, count, &body, &err) != WEIR_OK)
        ck_abort_msg("%s", err.message);
    int status = send_gathered(web, weir_buf_text(&path), &body, &lines);
    weir_buf_release(&path);
    weir_gather_release(&body);
    weir_request_lines_release(&lines);
    return status;
}

struct row {
    char id[WEIR_GUID_TEXT];
    char key[64];
    char members[128];
    struct weir_target target;
};

/* `column`: a text, `word` and the number of the row; `numbered`: an account number, too. */
static void make_rows(struct row *rows, const char *column, const char *word, bool numbered)
{
    for (int i = 0; i < ROWS; i++) {
        char number[40] = "";
        if (numbered)
            snprintf(number, sizeof(number), ",\"accountnumber\":\"N %d\"", i);
        snprintf(rows[i].id, sizeof(rows[i].id), "00000000-0000-4000-8000-%012x", i + 1);
        snprintf(rows[i].members, sizeof(rows[i].members), "\"%s\":\"%s %d\"%s", column, word, i,
                 number);
        rows[i].target =
            (struct weir_target){ .id = text(rows[i].id), .members = text(rows[i].members) };
    }
}

static void take_targets(const struct row *rows, struct weir_target *targets)
{
    for (int i = 0; i < ROWS; i++)
        targets[i] = rows[i].target;
}

static void must_have(struct web *web, const char *address, const char *says)
{
    char request[256];
    snprintf(request, sizeof(request), "GET %s", address);
    ck_assert_msg(web_send(web, request, NULL, NULL) == 200, "%s: %s", address, web_body(web));
    ck_assert_msg(web_says(web, says), "%s: %s", says, web_body(web));
}

START_TEST(bulk_messages_are_executed_as_meant)
{
    static struct row rows[ROWS];
    struct weir_target targets[ROWS];
    struct weir_guid ids[ROWS];
    struct weir_request_options options = { .tag = "a b", .bypass_logic = WEIR_BYPASS_ALL };
    struct web web = web_new(NULL);
    make_rows(rows, "name", "row", true);
    take_targets(rows, targets);
    ck_assert_int_eq(send_bulk(&web, WEIR_BULK_CREATE, accounts(), &options, targets, ROWS), 200);
    ck_assert_int_eq(weir_answer_ids(answer_body(&web), ROWS, ids, NULL), WEIR_OK);
    for (int i = 0; i < ROWS; i++) {
        char id[WEIR_GUID_TEXT];
        ck_assert_str_eq(weir_guid_print(&ids[i], id), rows[i].id);
    }
    make_rows(rows, "name", "new", false);
    take_targets(rows, targets);
    ck_assert_int_eq(send_bulk(&web, WEIR_BULK_UPDATE, accounts(), &options, targets, ROWS), 204);
    must_have(&web, "accounts(00000000-0000-4000-8000-000000000003)", "\"name\":\"new 2\"");
    for (int i = 0; i < ROWS; i++) { /* one half is there, the other is not */
        snprintf(rows[i].key, sizeof(rows[i].key), "accountnumber='N%%20%d'", i + ROWS / 2);
        targets[i] =
            (struct weir_target){ .key = text(rows[i].key), .members = targets[i].members };
    }
    ck_assert_int_eq(send_bulk(&web, WEIR_BULK_UPSERT, accounts(), &options, targets, ROWS), 204);
    must_have(&web, "accounts(accountnumber='N%2020')", "\"name\":\"new 0\"");
    must_have(&web, "accounts(accountnumber='N%2059')", "\"name\":\"new 39\"");
    must_have(&web, "accounts/$count", "60");
    web_free(&web);
}
END_TEST

START_TEST(elastic_rows_are_deleted_and_failures_are_told_row_by_row)
{
    static struct row rows[ROWS];
    struct weir_target targets[ROWS];
    struct weir_guid ids[ROWS];
    struct weir_request_options options = { .error_details = true };
    struct web web = web_new(NULL);
    make_rows(rows, "name", "p", false);
    take_targets(rows, targets);
    for (int i = 0; i < ROWS; i++)
        targets[i].partition = text(i % 2 ? "odd" : "even");
    ck_assert_int_eq(send_bulk(&web, WEIR_BULK_CREATE, readings(), &options, targets, ROWS), 200);
    ck_assert_int_eq(weir_answer_ids(answer_body(&web), ROWS, ids, NULL), WEIR_OK);
    ck_assert_int_eq(send_bulk(&web, WEIR_BULK_DELETE, readings(), &options, targets, ROWS / 2),
                     204);
    /* the first half is gone: told by index, the second half is deleted all the same */
    int status = send_bulk(&web, WEIR_BULK_DELETE, readings(), &options, targets, ROWS);
    ck_assert_int_ge(status, 400);
    struct weir_fault fault;
    weir_fault_read(answer_body(&web), &fault);
    ck_assert(fault.found);
    ck_assert_int_eq(fault.details, WEIR_FAULT_DETAILS_ROWS);
    ck_assert_uint_eq(fault.row_count, ROWS / 2);
    for (uint32_t i = 0; i < ROWS / 2; i++) {
        ck_assert_uint_eq(fault.rows[i].index, i);
        ck_assert_int_eq(fault.rows[i].status, 404);
        ck_assert(fault.rows[i].id_known && weir_guid_equal(&fault.rows[i].id, &ids[i]));
    }
    weir_fault_release(&fault);
    must_have(&web, "sensorreadings/$count", "0");
    web_free(&web);
}
END_TEST

START_TEST(keys_with_everything_in_them_find_their_row)
{
    static const char *const values[] = { "A1",    "O'Brien", "''", "a b",   "Zo\xc3\xab #1",
                                          "(x),y", "a=b",     "\"", "~!$@;", "[{|}]^`" };
    struct web web = web_new(NULL);
    struct weir_request_options options = { 0 };
    for (size_t i = 0; i < COUNT(values); i++) {
        struct weir_key_part part = { WEIR_KEY_PART_TEXT, text("accountnumber"), text(values[i]) };
        struct weir_buf key;
        char address[256], name[32];
        weir_buf_init(&key, 1000);
        ck_assert_int_eq(weir_odata_add_predicate(&key, &part, 1, NULL), WEIR_OK);
        snprintf(name, sizeof(name), "\"name\":\"row %zu\"", i);
        struct weir_target target = { .key = weir_str(key.ptr, key.len), .members = text(name) };
        int status = send_bulk(&web, WEIR_BULK_UPSERT, accounts(), &options, &target, 1);
        ck_assert_msg(status == 204, "%s: %s", values[i], web_body(&web));
        snprintf(address, sizeof(address), "accounts(%s)", weir_buf_text(&key));
        must_have(&web, address, name);
        struct weir_buf shown;
        weir_buf_init(&shown, 1000);
        weir_buf_add_text(&shown, "\"accountnumber\":");
        weir_buf_add_json_string(&shown, text(values[i]));
        ck_assert_msg(web_says(&web, weir_buf_text(&shown)), "%s", web_body(&web));
        weir_buf_release(&shown);
        weir_buf_release(&key);
    }
    web_free(&web);
}
END_TEST

/* ---- $batch against a model ---- */

struct model {
    bool there[8];
    int name[8];
};

struct plan {
    enum weir_request_kind kind;
    uint64_t row;
    int name;
    char id[WEIR_GUID_TEXT];
    char text[128]; /* members, or the path of a read */
};

static void make_plan(struct weir_rng *rng, struct plan *plan)
{
    plan->kind = (enum weir_request_kind)weir_rng_below(rng, WEIR_REQUEST_KINDS);
    plan->row = weir_rng_below(rng, 8);
    plan->name = (int)weir_rng_below(rng, 1000);
    snprintf(plan->id, sizeof(plan->id), "00000000-0000-4000-8000-%012d", (int)plan->row + 1);
    if (plan->kind == WEIR_REQUEST_READ)
        snprintf(plan->text, sizeof(plan->text), "accounts(%s)?$select=name", plan->id);
    else
        snprintf(plan->text, sizeof(plan->text), "\"name\":\"<%d>\"", plan->name);
}

static struct weir_batch_part part_of(const struct plan *plan)
{
    if (plan->kind == WEIR_REQUEST_READ)
        return (struct weir_batch_part){ .kind = plan->kind, .path = text(plan->text) };
    const char *members = plan->kind == WEIR_REQUEST_DELETE ? "" : plan->text;
    return (struct weir_batch_part){ .kind = plan->kind,
                                     .table = accounts(),
                                     .target = { .id = text(plan->id), .members = text(members) } };
}

/* What the service must answer, and what holds afterwards. */
static int play(struct model *model, const struct plan *plan)
{
    bool *there = &model->there[plan->row];
    bool was_there = *there;
    switch (plan->kind) {
    case WEIR_REQUEST_READ:
        return was_there ? 200 : 404;
    case WEIR_REQUEST_DELETE:
        *there = false;
        return was_there ? 204 : 404;
    case WEIR_REQUEST_CREATE:
        if (was_there)
            return 412;
        break;
    case WEIR_REQUEST_UPDATE:
        if (!was_there)
            return 404;
        break;
    default:
        break;
    }
    *there = true;
    model->name[plan->row] = plan->name;
    return 204;
}

static char *outer_type(const struct web *web)
{
    static char type[256];
    const char *line = strstr(weir_buf_text(&web->answer.headers), "Content-Type: ");
    must(line);
    line += strlen("Content-Type: ");
    snprintf(type, sizeof(type), "%.*s", (int)strcspn(line, "\r\n"), line);
    return type;
}

static void send_parts(struct web *web, const struct weir_batch_part *parts, size_t count,
                       bool go_on)
{
    struct weir_request_options options = { .continue_on_error = go_on, .tag = "t" };
    struct weir_batch_request batch;
    struct weir_request_lines lines;
    struct weir_error err;
    must(weir_batch_request_init(&batch, text("batch_0f8fad5b"), &options, BYTES_MAX, NULL) ==
         WEIR_OK);
    for (size_t i = 0; i < count; i++) {
        if (weir_batch_request_add(&batch, &parts[i], &err) != WEIR_OK)
            ck_abort_msg("%s", err.message);
    }
    must(weir_batch_request_finish(&batch, NULL) == WEIR_OK);
    weir_request_lines_init_batch(&lines, &options, batch.boundary);
    send_gathered(web, WEIR_BATCH_PATH, &batch.body, &lines);
    weir_request_lines_release(&lines);
    weir_batch_request_release(&batch);
}

static void send_plans(struct web *web, const struct plan *plans, size_t count, bool go_on)
{
    struct weir_batch_part parts[PARTS];
    for (size_t i = 0; i < count; i++)
        parts[i] = part_of(&plans[i]);
    send_parts(web, parts, count, go_on);
}

static void check_part(const struct model *model, const struct plan *plan,
                       const struct weir_part_answer *part, int wanted)
{
    struct weir_item_answer item;
    struct weir_answer answer;
    struct weir_guid id, own;
    if (part->status != wanted)
        ck_abort_msg("%s %s: %d, not %d: %.*s", weir_request_method(plan->kind), plan->id,
                     part->status, wanted, (int)part->body.len, part->body.ptr);
    weir_item_answer_init_part(&item, part, NULL, 0);
    weir_answer_read(&item.http, WEIR_US_PER_S, &answer);
    must(answer.verdict.class_ == (wanted < 300 ? WEIR_CLASS_OK : WEIR_CLASS_BAD_ROWS));
    must(item.fault.found == (wanted >= 300));
    weir_item_answer_release(&item);
    if (wanted == 204 && plan->kind != WEIR_REQUEST_DELETE) {
        must(weir_guid_parse(text(plan->id), &own));
        must(weir_answer_entity_id(part->headers, part->header_count, &id));
        must(weir_guid_equal(&id, &own));
    }
    char name[32];
    snprintf(name, sizeof(name), "\"<%d>\"", model->name[plan->row]);
    must(wanted != 200 || memmem(part->body.ptr, part->body.len, name, strlen(name)));
}

START_TEST(random_batches_do_what_the_model_says)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 12, (uint64_t)_i);
    struct web web = web_new(NULL);
    struct model model = { 0 };
    for (int run = 0; run < 60; run++) {
        struct plan plans[PARTS];
        size_t count = 1 + (size_t)weir_rng_below(&rng, PARTS);
        bool go_on = weir_rng_below(&rng, 2);
        for (size_t i = 0; i < count; i++)
            make_plan(&rng, &plans[i]);
        send_plans(&web, plans, count, go_on);
        struct weir_batch_answer answer;
        must(weir_batch_answer_read(answer_body(&web), outer_type(&web), count, &answer, NULL) ==
             WEIR_OK);
        must(answer.complete);
        bool stopped = false;
        size_t answered = 0;
        for (size_t i = 0; i < count && !stopped; i++, answered++) {
            int wanted = play(&model, &plans[i]);
            check_part(&model, &plans[i], &answer.parts[i], wanted);
            stopped = wanted >= 300 && !go_on;
        }
        must(answer.answered == answered);
        for (size_t i = answered; i < count; i++)
            must(answer.parts[i].status == 0);
        weir_batch_answer_release(&answer);
    }
    web_free(&web);
}
END_TEST

/* ---- partitions ---- */

#define ONE_ID "00000000-0000-4000-8000-000000000001"

static const char *const partitions[] = { "", "p", "q", "O'Brien ''", "Zo\xc3\xab (1), a=b" };

#define PARTITIONS COUNT(partitions)

/* One part for the row of the one id in a partition; the status of its answer. */
static int do_one(struct web *web, enum weir_request_kind kind, size_t partition,
                  const char *members)
{
    struct weir_batch_part part = { .kind = kind,
                                    .table = readings(),
                                    .target = { .id = text(ONE_ID),
                                                .members = text(members),
                                                .partition = text(partitions[partition]) } };
    struct weir_batch_answer answer;
    send_parts(web, &part, 1, true);
    must(weir_batch_answer_read(answer_body(web), outer_type(web), 1, &answer, NULL) == WEIR_OK);
    int status = answer.parts[0].status;
    weir_batch_answer_release(&answer);
    return status;
}

/* Read the row back; the status, and with 200 what the answer says. */
static int read_back(struct web *web, size_t partition, struct weir_readback *ret)
{
    struct weir_target target = { .id = text(ONE_ID), .partition = text(partitions[partition]) };
    struct weir_batch_answer answer;
    struct weir_buf path;
    weir_buf_init(&path, 1000);
    must(weir_readback_path(readings(), &target, &path, NULL) == WEIR_OK);
    struct weir_batch_part part = { .kind = WEIR_REQUEST_READ,
                                    .path = weir_str(path.ptr, path.len) };
    send_parts(web, &part, 1, true);
    must(weir_batch_answer_read(answer_body(web), outer_type(web), 1, &answer, NULL) == WEIR_OK);
    int status = answer.parts[0].status;
    if (status == 200)
        must(weir_readback_read(answer.parts[0].body, readings(), ret, NULL) == WEIR_OK);
    weir_batch_answer_release(&answer);
    weir_buf_release(&path);
    return status;
}

/* Exactly the rows of `there` are: asked one by one, and counted. */
static void check_there(struct web *web, const bool *there)
{
    char count[16];
    size_t rows = 0;
    struct weir_guid id;
    must(weir_guid_parse(text(ONE_ID), &id));
    for (size_t i = 0; i < PARTITIONS; i++) {
        struct weir_readback row = { .created_us = 0 };
        int status = read_back(web, i, &row);
        if (status != (there[i] ? 200 : 404))
            ck_abort_msg("%d for \"%s\"", status, partitions[i]);
        must(!there[i] || (weir_guid_equal(&row.id, &id) && row.created_known &&
                           row.created_us == WEB_WALL_US / WEIR_US_PER_S * WEIR_US_PER_S));
        rows += there[i];
    }
    snprintf(count, sizeof(count), "%zu", rows);
    must_have(web, "sensorreadings/$count", count);
}

/* One id in several partitions is several rows, whichever way they are written and deleted. */
START_TEST(rows_of_one_id_in_different_partitions_are_different_rows)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 24, (uint64_t)_i);
    struct web web = web_new(NULL);
    struct weir_request_options options = { 0 };
    bool there[PARTITIONS] = { false };
    for (int run = 0; run < 120; run++) {
        size_t at = (size_t)weir_rng_below(&rng, PARTITIONS);
        struct weir_target target = { .id = text(ONE_ID), .partition = text(partitions[at]) };
        const char *name = "\"name\":\"n\"";
        bool found = there[at];
        int status, wanted = 204;
        switch (weir_rng_below(&rng, 8)) {
        case 0:
            status = do_one(&web, WEIR_REQUEST_CREATE, at, name);
            there[at] = true;
            break;
        case 1:
            status = do_one(&web, WEIR_REQUEST_UPDATE, at, name);
            wanted = found ? 204 : 404;
            break;
        case 2:
            status = do_one(&web, WEIR_REQUEST_UPSERT, at, name);
            there[at] = true;
            break;
        case 3:
            status = do_one(&web, WEIR_REQUEST_DELETE, at, "");
            wanted = found ? 204 : 404;
            there[at] = false;
            break;
        case 4:
            status = send_bulk(&web, WEIR_BULK_CREATE, readings(), &options, &target, 1);
            wanted = 200;
            there[at] = true;
            break;
        case 5:
            status = send_bulk(&web, WEIR_BULK_UPDATE, readings(), &options, &target, 1);
            wanted = found ? 204 : 404;
            break;
        case 6:
            status = send_bulk(&web, WEIR_BULK_UPSERT, readings(), &options, &target, 1);
            there[at] = true;
            break;
        default:
            status = send_bulk(&web, WEIR_BULK_DELETE, readings(), &options, &target, 1);
            wanted = found ? 204 : 404;
            there[at] = false;
        }
        if (status != wanted)
            ck_abort_msg("run %d, \"%s\": %d, not %d: %s", run, partitions[at], status, wanted,
                         web_body(&web));
        check_there(&web, there);
    }
    web_free(&web);
}
END_TEST

START_TEST(who_am_i_is_understood)
{
    struct web web = web_new(NULL);
    struct weir_whoami who;
    char id[WEIR_GUID_TEXT];
    ck_assert_int_eq(web_send(&web, "GET WhoAmI", NULL, NULL), 200);
    ck_assert_int_eq(weir_answer_whoami(answer_body(&web), &who, NULL), WEIR_OK);
    ck_assert_str_eq(weir_guid_print(&who.user_id, id), sim_api_user_id(web.api, 0));
    web_free(&web);
}
END_TEST

START_TEST(refusals_of_both_shapes_are_understood)
{
    struct web web = web_new(NULL);
    struct weir_fault fault;
    web_send(&web, "GET accounts(00000000-0000-4000-8000-000000000bad)", NULL, NULL);
    weir_fault_read(answer_body(&web), &fault);
    ck_assert(fault.found);
    ck_assert_str_eq(fault.code, "0x80040217");
    weir_fault_release(&fault);
    web_send(&web, "GET accounts", "Prefer: odata.include-annotations=\"", NULL);
    weir_fault_read(answer_body(&web), &fault);
    ck_assert(fault.found);
    ck_assert_str_eq(fault.code, "0x80097303");
    ck_assert(fault.message[0]);
    weir_fault_release(&fault);
    web_free(&web);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("protocol_sim");
    suite_add(&s, bulk_messages_are_executed_as_meant);
    suite_add(&s, elastic_rows_are_deleted_and_failures_are_told_row_by_row);
    suite_add(&s, keys_with_everything_in_them_find_their_row);
    suite_add_loop(&s, "random_batches_do_what_the_model_says",
                   random_batches_do_what_the_model_says, 8);
    suite_add_loop(&s, "rows_of_one_id_in_different_partitions_are_different_rows",
                   rows_of_one_id_in_different_partitions_are_different_rows, 4);
    suite_add(&s, who_am_i_is_understood);
    suite_add(&s, refusals_of_both_shapes_are_understood);
    return suite_run(&s);
}
