/* SPDX-License-Identifier: MIT */
/*
 * The metadata of a table, asked of a running weir-sim in one request: the addresses as parts of a
 * $batch, its answer taken apart and judged part by part, as a client does it.
 */
#include "protocol/batch.h"
#include "protocol/item_answer.h"
#include "protocol/metadata.h"
#include "protocol/metadata_text.h"
#include "support/gathered.h"
#include "support/sim_process.h"

#define PARTS WEIR_METADATA_PARTS

static struct weir_table *table;
static struct weir_error err;

/* ---- one $batch ---- */

static const struct weir_request_options options = { .continue_on_error = true };

static void make_batch(struct weir_batch_request *batch, char *const *paths)
{
    ck_assert_int_eq(
        weir_batch_request_init(batch, weir_str_from("parts"), &options, BYTES_MAX, &err), WEIR_OK);
    for (size_t i = 0; i < PARTS; i++) {
        struct weir_batch_part part = { .kind = WEIR_REQUEST_READ,
                                        .path = weir_str_from(paths[i]) };
        ck_assert_int_eq(weir_batch_request_add(batch, &part, &err), WEIR_OK);
    }
    ck_assert_int_eq(weir_batch_request_finish(batch, &err), WEIR_OK);
}

static void send_batch(int fd, char *const *paths)
{
    struct weir_batch_request batch;
    struct weir_request_lines lines;
    struct weir_buf head;
    make_batch(&batch, paths);
    weir_request_lines_init_batch(&lines, &options, batch.boundary);
    weir_buf_init(&head, BYTES_MAX);
    weir_buf_printf(&head,
                    "POST " WEIR_BATCH_PATH " HTTP/1.1\r\nHost: sim\r\n"
                    "Authorization: Bearer %s\r\nContent-Length: %zu\r\n",
                    sim.token, batch.body.bytes);
    for (size_t i = 0; i < lines.count; i++)
        weir_buf_printf(&head, "%s\r\n", lines.lines[i]);
    weir_buf_add_text(&head, "\r\n");
    char *body = gathered(&batch.body);
    ck_assert(send_bytes(fd, head.ptr, head.len) && send_bytes(fd, body, batch.body.bytes));
    free(body);
    weir_buf_release(&head);
    weir_request_lines_release(&lines);
    weir_batch_request_release(&batch);
}

static struct weir_metadata_part judge(const struct weir_part_answer *part)
{
    struct weir_item_answer item;
    struct weir_answer answer;
    weir_item_answer_init_part(&item, part, NULL, 0);
    weir_answer_read(&item.http, WEIR_US_PER_S, &answer);
    weir_item_answer_release(&item);
    return (struct weir_metadata_part){ .status = part->status,
                                        .body = part->body,
                                        .class_ = answer.verdict.class_ };
}

/* The type of the answer in `bytes`. */
static const char *content_type(void)
{
    static char type[128];
    const char *line = strcasestr(weir_buf_text(&bytes), "\r\nContent-Type:");
    ck_assert_ptr_nonnull(line);
    line = strchr(line, ':') + 1;
    snprintf(type, sizeof(type), "%.*s", (int)strcspn(line, "\r\n"), line);
    return type;
}

/* `limit`: as if only so many parts had been answered. */
static enum weir_status describe_some(const char *name, size_t limit)
{
    char *paths[PARTS];
    struct weir_metadata_part parts[PARTS] = { 0 };
    struct weir_batch_answer answer;
    ck_assert_int_eq(weir_metadata_paths(name, paths, &err), WEIR_OK);
    int fd = dial();
    send_batch(fd, paths);
    ck_assert_int_eq(receive_answer(fd, &bytes), 200);
    close(fd);
    weir_metadata_paths_free(paths);
    const char *body = body_of(&bytes);
    size_t len = bytes.len - (size_t)(body - weir_buf_text(&bytes));
    ck_assert_int_eq(
        weir_batch_answer_read(weir_str(body, len), content_type(), PARTS, &answer, &err), WEIR_OK);
    ck_assert_msg(answer.complete && answer.answered == PARTS, "%s", answer.problem);
    for (size_t i = 0; i < limit; i++)
        parts[i] = judge(&answer.parts[i]);
    weir_table_free(table);
    table = NULL;
    enum weir_status status = weir_metadata_read(name, parts, PARTS, &table, &err);
    weir_batch_answer_release(&answer);
    return status;
}

static enum weir_status describe(const char *name)
{
    return describe_some(name, PARTS);
}

static void describe_well(const char *name)
{
    enum weir_status status = describe(name);
    ck_assert_msg(status == WEIR_OK, "%s", err.message);
    ck_assert_str_eq(table->name, name);
}

static void end(void)
{
    weir_table_free(table);
    table = NULL;
    weir_buf_release(&bytes);
    stop();
}

static const struct weir_column *column(const char *name)
{
    const struct weir_column *found = weir_table_column(table, weir_str_from(name));
    ck_assert_msg(found, "%s", name);
    return found;
}

static const char *navigation(const char *name, const char *to)
{
    const struct weir_lookup_target *target = weir_column_target(column(name), weir_str_from(to));
    ck_assert_msg(target && target->navigation, "%s to %s", name, to);
    return target->navigation;
}

/* ---- tables ---- */

START_TEST(an_account_is_described_in_one_request)
{
    start("--no-limits", NULL);
    describe_well("account");
    ck_assert_str_eq(table->set_name, "accounts");
    ck_assert_str_eq(table->primary_id, "accountid");
    ck_assert_str_eq(table->primary_name, "name");
    ck_assert_int_eq(table->type, WEIR_TABLE_STANDARD);
    ck_assert_int_eq(table->ownership, WEIR_OWNERSHIP_USER);
    ck_assert(table->bulk_known);
    ck_assert(table->bulk[WEIR_BULK_CREATE] && table->bulk[WEIR_BULK_UPDATE]);
    ck_assert(table->bulk[WEIR_BULK_UPSERT] && !table->bulk[WEIR_BULK_DELETE]);
    const struct weir_alternate_key *key = &table->keys[0];
    ck_assert_uint_eq(table->key_count, 1);
    ck_assert_str_eq(key->columns[0], "accountnumber");
    ck_assert_int_eq(key->status, WEIR_KEY_STATUS_ACTIVE);
    ck_assert_int_eq(ask("GET", "/sim/stats", NULL), 200);
    ck_assert_msg(has(&bytes, "\"requests\":1,"), "%s", weir_buf_text(&bytes));
    end();
}
END_TEST

START_TEST(columns_have_lengths_ranges_dates_choices_and_targets)
{
    start("--no-limits", NULL);
    describe_well("account");
    ck_assert_uint_eq(column("name")->length_max, 160);
    ck_assert_int_eq(column("name")->required, WEIR_REQUIRED_APPLICATION);
    ck_assert_uint_eq(column("description")->length_max, 2000);
    ck_assert_int_eq(column("creditlimit")->precision, 4);
    ck_assert_str_eq(column("creditlimit")->max, "100000000000");
    ck_assert_str_eq(column("weir_sequence")->min, "-9223372036854775808");
    ck_assert_int_eq(column("weir_founded")->behavior, WEIR_DATE_ONLY);
    ck_assert_int_eq(column("weir_opening")->behavior, WEIR_DATE_ZONE_INDEPENDENT);
    ck_assert_int_eq(column("lastonholdtime")->behavior, WEIR_DATE_USER_LOCAL);
    ck_assert_int_eq(column("weir_channels")->type, WEIR_COLUMN_MULTI_PICKLIST);
    ck_assert_uint_gt(column("weir_channels")->choice_count, 1);
    ck_assert_uint_gt(column("industrycode")->choice_count, 1);
    ck_assert_ptr_nonnull(column("industrycode")->choices[0].label);
    ck_assert_uint_eq(column("donotemail")->choice_count, 2);
    ck_assert_int_ge(column("statuscode")->choices[0].state, 0);
    ck_assert_int_eq(column("statecode")->choices[0].state, -1);
    ck_assert(!column("createdon")->for_create && column("createdon")->for_read);
    ck_assert_str_eq(navigation("primarycontactid", "contact"), "primarycontactid");
    ck_assert_str_eq(navigation("ownerid", "systemuser"), "ownerid");
    ck_assert_str_eq(navigation("ownerid", "team"), "ownerid");
    describe_well("contact");
    ck_assert_str_eq(navigation("parentcustomerid", "account"), "parentcustomerid_account");
    ck_assert_str_eq(navigation("parentcustomerid", "contact"), "parentcustomerid_contact");
    end();
}
END_TEST

/* Whatever is of a kind that has properties of its own has been given them. */
START_TEST(no_column_is_left_without_what_its_kind_has)
{
    static const char *const names[] = { "account", "contact", "sensorreading", "annotation",
                                         "systemuser" };
    start("--no-limits", NULL);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        describe_well(names[i]);
        ck_assert_uint_gt(table->column_count, 5);
        for (uint32_t k = 0; k < table->column_count; k++) {
            const struct weir_column *each = &table->columns[k];
            bool text = each->type == WEIR_COLUMN_STRING || each->type == WEIR_COLUMN_MEMO;
            bool number = each->type >= WEIR_COLUMN_INTEGER && each->type <= WEIR_COLUMN_MONEY;
            bool choice = each->type >= WEIR_COLUMN_BOOLEAN && each->type <= WEIR_COLUMN_STATUS;
            ck_assert_msg(text == (each->length_max > 0), "%s", each->name);
            ck_assert_msg(number == (each->min && each->max), "%s", each->name);
            ck_assert_msg(choice == (each->choice_count > 0), "%s", each->name);
            ck_assert_msg(weir_column_is_lookup(each) == (each->target_count > 0), "%s",
                          each->name);
            ck_assert_msg(each->type != WEIR_COLUMN_OTHER, "%s", each->name);
        }
    }
    end();
}
END_TEST

START_TEST(what_is_kept_of_a_table_is_the_table)
{
    static const char *const names[] = { "account", "contact", "sensorreading", "annotation",
                                         "systemuser" };
    start("--no-limits", NULL);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct weir_table *back = NULL;
        describe_well(names[i]);
        char *text = weir_table_print(table);
        enum weir_status status = weir_table_parse(weir_str_from(text), &back, &err);
        ck_assert_msg(status == WEIR_OK, "%s: %s", names[i], err.message);
        char *again = weir_table_print(back);
        ck_assert_str_eq(again, text);
        ck_assert_uint_eq(back->column_count, table->column_count);
        ck_assert(back->bulk_known && back->type == table->type);
        free(again);
        free(text);
        weir_table_free(back);
    }
    end();
}
END_TEST

START_TEST(elastic_tables_and_tables_without_bulk_messages_are_told_apart)
{
    start("--no-limits", NULL);
    describe_well("sensorreading");
    ck_assert_int_eq(table->type, WEIR_TABLE_ELASTIC);
    for (int i = 0; i < WEIR_BULK_MESSAGES; i++)
        ck_assert(table->bulk[i]);
    describe_well("annotation");
    ck_assert(table->bulk_known);
    for (int i = 0; i < WEIR_BULK_MESSAGES; i++)
        ck_assert(!table->bulk[i]);
    end();
}
END_TEST

START_TEST(a_name_that_is_none_is_explained)
{
    start("--no-limits", NULL);
    ck_assert_int_eq(describe("nosuchtable"), WEIR_E_NOT_FOUND);
    ck_assert_str_eq(err.message, "no table \"nosuchtable\" in this environment");
    ck_assert_int_eq(describe("contacts"), WEIR_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, "entity set of table \"contact\""));
    end();
}
END_TEST

START_TEST(an_answer_that_ends_too_early_is_worth_another_try)
{
    start("--no-limits", NULL);
    for (size_t limit = 0; limit < PARTS - 1; limit += 6) {
        ck_assert_int_eq(describe_some("account", limit), WEIR_E_UNAVAILABLE);
        ck_assert(err.retryable);
    }
    ck_assert_int_eq(describe_some("account", PARTS - 1), WEIR_OK); /* the last is for set names */
    end();
}
END_TEST

int main(void)
{
    struct suite s = suite_new("metadata_sim");
    suite_add(&s, an_account_is_described_in_one_request);
    suite_add(&s, columns_have_lengths_ranges_dates_choices_and_targets);
    suite_add(&s, no_column_is_left_without_what_its_kind_has);
    suite_add(&s, what_is_kept_of_a_table_is_the_table);
    suite_add(&s, elastic_tables_and_tables_without_bulk_messages_are_told_apart);
    suite_add(&s, a_name_that_is_none_is_explained);
    suite_add(&s, an_answer_that_ends_too_early_is_worth_another_try);
    return suite_run(&s);
}
