/* SPDX-License-Identifier: MIT */
/*
 * The metadata of a table, asked of a running weir-sim in one request: a $batch of all addresses,
 * written and taken apart by hand here, so that what is tested is the questions and the reading of
 * the answers.
 */
#include "protocol/metadata.h"
#include "support/sim_process.h"

#define PARTS WEIR_METADATA_PARTS

static struct weir_table *table;
static struct weir_error err;

/* ---- one $batch ---- */

static void print_batch(struct weir_buf *body, char *const *paths)
{
    for (size_t i = 0; i < PARTS; i++)
        weir_buf_printf(body,
                        "--parts\r\nContent-Type: application/http\r\n"
                        "Content-Transfer-Encoding: binary\r\n\r\n"
                        "GET %s HTTP/1.1\r\nAccept: application/json\r\n\r\n",
                        paths[i]);
    weir_buf_add_text(body, "--parts--\r\n");
}

static void send_batch(int fd, char *const *paths)
{
    struct weir_buf body, text;
    weir_buf_init(&body, BYTES_MAX);
    weir_buf_init(&text, BYTES_MAX);
    print_batch(&body, paths);
    weir_buf_printf(&text,
                    "POST " API "$batch HTTP/1.1\r\nHost: sim\r\nAuthorization: Bearer %s\r\n"
                    "Content-Type: multipart/mixed; boundary=\"parts\"\r\n"
                    "Prefer: odata.continue-on-error\r\nContent-Length: %zu\r\n\r\n%s",
                    sim.token, body.len, weir_buf_text(&body));
    ck_assert(send_bytes(fd, text.ptr, text.len));
    weir_buf_release(&text);
    weir_buf_release(&body);
}

/* The parts of the answer in `bytes`; returns how many. A body ends where the next boundary is. */
static size_t take_parts(struct weir_metadata_part *parts)
{
    size_t count = 0;
    const char *at = strstr(body_of(&bytes), "--batchresponse_");
    while (at && (at = strstr(at, "HTTP/1.1 "))) {
        ck_assert_uint_lt(count, PARTS);
        const char *body = strstr(at, "\r\n\r\n");
        const char *end = strstr(at, "\r\n--batchresponse_");
        ck_assert(body && end && body < end);
        parts[count].status = (int)strtol(at + 9, NULL, 10);
        parts[count++].body = weir_str(body + 4, (size_t)(end - body - 4));
        at = end;
    }
    return count;
}

static enum weir_status describe(const char *name)
{
    char *paths[PARTS];
    struct weir_metadata_part parts[PARTS];
    ck_assert_int_eq(weir_metadata_paths(name, paths, &err), WEIR_OK);
    int fd = dial();
    send_batch(fd, paths);
    ck_assert_int_eq(receive_answer(fd, &bytes), 200);
    close(fd);
    weir_metadata_paths_free(paths);
    weir_table_free(table);
    table = NULL;
    return weir_metadata_read(name, parts, take_parts(parts), &table, &err);
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

int main(void)
{
    struct suite s = suite_new("metadata_sim");
    suite_add(&s, an_account_is_described_in_one_request);
    suite_add(&s, columns_have_lengths_ranges_dates_choices_and_targets);
    suite_add(&s, no_column_is_left_without_what_its_kind_has);
    suite_add(&s, elastic_tables_and_tables_without_bulk_messages_are_told_apart);
    suite_add(&s, a_name_that_is_none_is_explained);
    return suite_run(&s);
}
