/* SPDX-License-Identifier: MIT */
/* Rows of cells as rows of a table: what they become, and what is refused before and on the way. */
#include "support/mapping_rig.h"

#define MADE_1 "01020304-0506-8708-890a-6553f1000001"

/* ---- cells ---- */

START_TEST(cells_become_members_in_the_order_of_their_columns)
{
    rig_open("name,notes,pieces");
    rig_row("Contoso", "tall", "5");
    is_target(MADE_1, "", "", "\"name\":\"Contoso\",\"notes\":\"tall\",\"pieces\":5");
    rig_row("", "tall", "");
    is_target("01020304-0506-8708-890a-6553f1000002", "", "", "\"notes\":\"tall\"");
    rig_row("", "", "");
    is_refused("", "every cell of the row is empty");
    rig_row("a\"b\\c\n\t", "", " 007 ");
    is_target("01020304-0506-8708-890a-6553f1000004", "", "",
              "\"name\":\"a\\\"b\\\\c\\n\\t\",\"pieces\":7");
    ck_assert_uint_eq(draft.key_hash, 0);
    ck_assert_uint_eq(draft.shape, 0);
    ck_assert(weir_mapping_allows_bulk(mapping, WEIR_PASS_ROWS));
    ck_assert(!weir_mapping_takes_ids(mapping));
}
END_TEST

/* What stands below the last row of a spreadsheet is no row; what names one, or is worth a word to
 * the mapping file, is. */
START_TEST(a_row_of_nothing_is_not_created)
{
    static const char reason[] = "every cell of the row is empty";
    struct weir_spec spec = { 0 };
    must(weir_spec_add_with(&spec, weir_str_from("notes=always"), &err) == WEIR_OK);
    must(weir_spec_ignore(&spec, weir_str_from("remark"), &err) == WEIR_OK);
    rig_options.spec = &spec;
    rig_options.organisation = ID_2;
    for (int empty = WEIR_CELL_EMPTY_OMIT; empty <= WEIR_CELL_EMPTY_NULL; empty++) {
        rig_options.empty = (enum weir_cell_empty)empty;
        rig_options.operation = WEIR_OPERATION_CREATE;
        rig_options.id_from = NULL;
        rig_open("name,pieces,remark");
        rig_row("", "", "");
        is_refused("", reason);
        rig_row("", "  ", "\t");
        is_refused("", reason);
        rig_row("", "", "x");
        is_refused("", "every cell of the row that is not passed over is empty");
        rig_row("", "0", "");
        is_fine();
        rig_row(" ", "", "");
        is_fine();
        rig_options.id_from = "code";
        rig_open("name,code,remark");
        rig_row("", "c", "");
        is_fine();
        rig_row("", " ", "");
        is_refused("", reason);
        rig_options.id_from = NULL;
        rig_open("gadgetid,name,remark");
        rig_row(ID_1, "", "");
        is_fine();
        rig_options.operation = WEIR_OPERATION_UPSERT;
        rig_open("gadgetid,name,remark");
        rig_row(ID_1, "", "");
        is_fine();
        rig_row("", "", "");
        is_refused("", reason);
        rig_options.operation = WEIR_OPERATION_UPDATE;
        rig_open("gadgetid,name,remark");
        rig_row(ID_1, "", "");
        is_fine();
        rig_row("", "", "");
        must(draft.column.len > 0); /* it is its name that is missed */
    }
    rig_options.spec = NULL;
    weir_spec_release(&spec);
}
END_TEST

/* A control character but for tabs and line ends, U+FFFE or U+FFFF. */
static bool has_refused(struct weir_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') ||
            (i + 2 < text.len && !memcmp(text.ptr + i, "\xef\xbf", 2) &&
             (unsigned char)text.ptr[i + 2] >= 0xbe))
            return true;
    }
    return false;
}

/* Every text arrives as it was, in whichever column, in memory of its own size; or the service
 * would not have it, and the row is refused. */
START_TEST(what_a_parser_reads_is_what_stood_in_the_cell)
{
    static const char *const names[] = { "name", "notes", "plain" };
    enum {
        LENGTH = 40
    };
    struct weir_rng rng;
    weir_rng_init(&rng, 11, 0);
    rig_open("name,notes,plain");
    int refusals = 0;
    for (int i = 0; i < 20000; i++) {
        char *texts[COUNT(names)];
        struct weir_str cells[COUNT(names)];
        uint32_t filled = 0;
        bool refused = false;
        for (size_t k = 0; k < COUNT(names); k++) {
            char text[4 * LENGTH];
            struct weir_str made = random_text(&rng, text, weir_rng_below(&rng, LENGTH));
            texts[k] = weir_calloc(made.len, 1);
            memcpy(texts[k], made.ptr, made.len);
            cells[k] = weir_str(texts[k], made.len);
            filled += made.len > 0;
            refused = refused || has_refused(made);
        }
        refused = refused || !filled;
        rig_cells(cells);
        must(refused == (draft.refusal.len > 0));
        refusals += refused;
        if (refused) {
            for (size_t k = 0; k < COUNT(names); k++)
                free(texts[k]);
            continue;
        }
        struct weir_json *json = rig_parse(WEIR_BULK_CREATE);
        const struct weir_json_node *row = rig_target(json);
        must(row->count == filled + 2); /* type and id */
        for (size_t k = 0; k < COUNT(names); k++) {
            const struct weir_json_node *node = weir_json_find(row, names[k]);
            must((node != NULL) == (cells[k].len > 0));
            must(!node || (node->type == WEIR_JSON_STRING && weir_str_equal(node->text, cells[k])));
            free(texts[k]);
        }
        weir_json_free(json);
    }
    must(refusals > 1000 && refusals < 19000);
}
END_TEST

START_TEST(each_byte_alone_at_each_place_is_escaped_if_it_must_be)
{
    rig_open("name");
    for (unsigned byte = 1; byte < 0x80; byte++) {
        for (size_t at = 0; at < 20; at++) {
            char text[20];
            memset(text, 'x', sizeof(text));
            text[at] = (char)byte;
            struct weir_str cell = weir_str(text, sizeof(text));
            rig_cells(&cell);
            must(has_refused(cell) == (draft.refusal.len > 0));
            if (draft.refusal.len)
                continue;
            struct weir_json *json = rig_parse(WEIR_BULK_CREATE);
            must(weir_str_equal(weir_json_find(rig_target(json), "name")->text, cell));
            weir_json_free(json);
        }
    }
}
END_TEST

/* ---- columns ---- */

START_TEST(columns_that_are_not_there_are_refused_with_the_nearest)
{
    static const char *const rows[][2] = {
        { "name,nmae", "the table \"gadget\" has no column \"nmae\"; did you mean \"name\", or is "
                       "it to be passed over with --ignore-columns nmae?" },
        { "Name", "the table \"gadget\" has no column \"Name\"; did you mean \"name\", or is it to "
                  "be passed over with --ignore-columns Name?" },
        { "GadgetId", "the table \"gadget\" has no column \"GadgetId\"; did you mean \"gadgetid\", "
                      "or is it to be passed over with --ignore-columns GadgetId?" },
        { "name,the colour", "the table \"gadget\" has no column \"the colour\"; columns go by "
                             "their logical names, or are passed over with --ignore-columns 'the "
                             "colour'" },
        { " name", "the table \"gadget\" has no column \" name\"; did you mean \"name\", or is it "
                   "to be passed over with a mapping file, which \"weir map gadget FILE\" "
                   "writes?" },
        { "name;pieces", "the table \"gadget\" has no column \"name;pieces\"; cells are separated "
                         "by commas, or by tabs with --format tsv" },
        { "it's", "the table \"gadget\" has no column \"it's\"; columns go by their logical names, "
                  "or are passed over with a mapping file, which \"weir map gadget FILE\" writes" },
        { "partitionid", "the table \"gadget\" has no column \"partitionid\"; columns go by their "
                         "logical names, or are passed over with --ignore-columns partitionid" },
        { "name,0123456789012345678901234567890123456789012345678901234567890123456789",
          "the table \"gadget\" has no column "
          "\"012345678901234567890123456789012345678901234567890123456789\"; columns go by their "
          "logical names, or are passed over with --ignore-columns "
          "0123456789012345678901234567890123456789012345678901234567890123456789" },
    };
    for (int operation = WEIR_OPERATION_CREATE; operation <= WEIR_OPERATION_DELETE; operation++) {
        rig_options.operation = (enum weir_operation)operation;
        for (size_t i = 0; i < COUNT(rows); i++)
            rig_refused(rows[i][0], rows[i][1]);
    }
}
END_TEST

/* The words that pass over all of them can be copied, with those that were said before. */
START_TEST(all_columns_that_cannot_be_written_are_named_at_once)
{
    struct weir_spec spec = { 0 };
    rig_refused("kindname,name,manual,photo",
                "3 columns of the input cannot be written by a create; pass over them with "
                "--ignore-columns kindname,manual,photo");
    must(weir_spec_ignore(&spec, weir_str_from("x y, manual"), &err) == WEIR_OK);
    rig_options.spec = &spec;
    rig_refused("kindname,x y,name,manual,photo",
                "2 columns of the input cannot be written by a create; pass over them with "
                "--ignore-columns 'x y,manual,kindname,photo'");
    must(weir_spec_ignore(&spec, weir_str_from("kindname,photo"), &err) == WEIR_OK);
    rig_open("kindname,x y,name,manual,photo");
    weir_spec_release(&spec);
    rig_options.spec = NULL;
    char columns[900];
    int len = snprintf(columns, sizeof(columns), "%0690d,kindname,photo", 0);
    must(len < (int)sizeof(columns));
    must(weir_spec_ignore(&spec, weir_str(columns, 690), &err) == WEIR_OK);
    rig_options.spec = &spec;
    rig_refused(columns,
                "2 columns of the input cannot be written by a create; pass over them with "
                "a mapping file, which \"weir map gadget FILE\" writes");
    weir_spec_release(&spec);
    rig_options.spec = NULL;
}
END_TEST

START_TEST(the_file_is_named_with_its_columns)
{
    static const char *const rows[][2] = {
        { "nmae", "input \"a.csv\": the table \"gadget\" has no column \"nmae\"; did you mean "
                  "\"name\", or is it to be passed over with --ignore-columns nmae?" },
        { "kindname", "input \"a.csv\": the column \"kindname\" of the table \"gadget\" cannot be "
                      "written by a create; pass over it with --ignore-columns kindname" },
        { "kindname,photo", "2 columns of input \"a.csv\" cannot be written by a create; pass over "
                            "them with --ignore-columns kindname,photo" },
        { "name:account", "input \"a.csv\": the column \"name\" is of the type text and points to "
                          "no table; leave out \":account\"" },
        { "maker:", "input \"a.csv\": \"maker:\" says no column; a lookup is written column:table, "
                    "column:table(key) or column:table(#column)" },
        { "_buyer_value", "input \"a.csv\": \"_buyer_value\" may point to several tables, and no "
                          "\"_buyer_value@Microsoft.Dynamics.CRM.lookuplogicalname\" beside it "
                          "says to which; say it in a mapping file, as \"buyer:account\", or pass "
                          "over it with --ignore-columns" },
        { "name,name", "input \"a.csv\" has the column \"name\" twice; the table \"gadget\" takes "
                       "it once" },
    };
    rig_options.input = "a.csv";
    for (size_t i = 0; i < COUNT(rows); i++)
        rig_refused(rows[i][0], rows[i][1]);
    rig_options.operation = WEIR_OPERATION_UPDATE;
    rig_refused("name",
                "input \"a.csv\" has no column \"gadgetid\", by which an update names its rows");
    rig_refused("gadgetid", "input \"a.csv\" has no column for an update to write, only those that "
                            "name rows");
    rig_options.operation = WEIR_OPERATION_CREATE;
    rig_options.named = true;
    rig_refused("nmae",
                "input \"a.csv\", row 1: the table \"gadget\" has no column \"nmae\"; did "
                "you mean \"name\", or is it to be passed over with --ignore-columns nmae?");
}
END_TEST

/* However long its path is, the sentence behind it is whole. */
START_TEST(of_a_long_path_the_end_is_named)
{
    char path[4001], columns[500];
    struct weir_spec spec = { 0 };
    for (size_t i = 0; i + 2 < sizeof(path); i += 2)
        memcpy(path + i, "ä", 2);
    memcpy(path + 3994, "b.csv", sizeof("b.csv"));
    snprintf(columns, sizeof(columns), "%0400d,kindname,photo", 0);
    must(weir_spec_ignore(&spec, weir_str(columns, 400), &err) == WEIR_OK);
    rig_options.input = path;
    rig_options.spec = &spec;
    ck_assert_int_eq(rig_try(columns), WEIR_E_INVALID);
    must(strncmp(err.message, "2 columns of input \"…ä", strlen("2 columns of input \"…ä")) == 0);
    ck_assert_ptr_nonnull(
        strstr(err.message, "äb.csv\" cannot be written by a create; pass over them with a mapping "
                            "file, which \"weir map gadget FILE\" writes"));
    ck_assert_uint_lt(strlen(err.message), 500);
    weir_spec_release(&spec);
    rig_options.spec = NULL;
}
END_TEST

START_TEST(columns_that_cannot_be_written_are_refused)
{
    static const struct {
        enum weir_operation operation;
        const char *columns;
        const char *message;
    } rows[] = {
        { WEIR_OPERATION_CREATE, "name,kindname",
          "the column \"kindname\" of the table \"gadget\" cannot be written by a create; pass "
          "over it with --ignore-columns kindname" },
        { WEIR_OPERATION_UPDATE, "gadgetid,plain",
          "the column \"plain\" of the table \"gadget\" cannot be written by an update; pass over "
          "it with --ignore-columns plain" },
        { WEIR_OPERATION_UPSERT, "gadgetid,plain",
          "the column \"plain\" of the table \"gadget\" cannot be written by an upsert, only by a "
          "create; pass over it with --ignore-columns plain" },
        { WEIR_OPERATION_UPSERT, "gadgetid,kindname",
          "the column \"kindname\" of the table \"gadget\" cannot be written by an upsert; pass "
          "over it with --ignore-columns kindname" },
        { WEIR_OPERATION_CREATE, "notes",
          "the column \"notes\" of the table \"gadget\" cannot be written by a create; pass over "
          "it with --ignore-columns notes" },
        { WEIR_OPERATION_UPSERT, "gadgetid,notes",
          "the column \"notes\" of the table \"gadget\" cannot be written by an upsert, only by an "
          "update; pass over it with --ignore-columns notes" },
        { WEIR_OPERATION_CREATE, "manual",
          "the column \"manual\" of the table \"gadget\" is of the type file, which no row can "
          "carry; pass over it with --ignore-columns manual" },
        { WEIR_OPERATION_UPDATE, "gadgetid,photo",
          "the column \"photo\" of the table \"gadget\" is of the type image, which no row can "
          "carry; pass over it with --ignore-columns photo" },
        { WEIR_OPERATION_CREATE, "name,pieces,name",
          "the input has the column \"name\" twice; the table \"gadget\" takes it once" },
        { WEIR_OPERATION_DELETE, "gadgetid,gadgetid",
          "the input has the column \"gadgetid\" twice; the table \"gadget\" takes it once" },
        { WEIR_OPERATION_UPDATE, "name",
          "the input has no column \"gadgetid\", by which an update names its rows" },
        { WEIR_OPERATION_UPSERT, "name",
          "the input has no column \"gadgetid\", by which an upsert names its rows" },
        { WEIR_OPERATION_DELETE, "name",
          "the input has no column \"gadgetid\", by which a delete names its rows" },
        { WEIR_OPERATION_UPDATE, "gadgetid",
          "the input has no column for an update to write, only those that name rows" },
    };
    rig_table(CREATE_ONLY, UPDATE_ONLY, VIRTUAL, NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        rig_options.operation = rows[i].operation;
        rig_refused(rows[i].columns, rows[i].message);
    }
    rig_options.operation = WEIR_OPERATION_CREATE;
    rig_open("plain");
    rig_options.operation = WEIR_OPERATION_UPDATE;
    rig_open("gadgetid,notes");
}
END_TEST

/* People feed the export of a whole table to a delete. */
START_TEST(a_delete_passes_over_columns_that_the_table_has)
{
    rig_options.operation = WEIR_OPERATION_DELETE;
    rig_options.connections = 5;
    rig_open("name,kindname,gadgetid,manual,ownerid");
    rig_row("Contoso", "x", ID_1X, "y", "nobody at all");
    is_target(ID_1, "", "", "");
    ck_assert_uint_ne(draft.key_hash, 0);
    ck_assert_uint_eq(draft.shape, 0);
    ck_assert(weir_mapping_allows_bulk(mapping, WEIR_PASS_ROWS));
    ck_assert(weir_mapping_takes_ids(mapping));
}
END_TEST

/* ---- shapes ---- */

/* Equal exactly if the same columns have a value, in whichever order the columns stand. */
START_TEST(the_shape_is_the_set_of_columns_that_have_a_value)
{
    static const char *const orders[] = { "gadgetid,name,notes,plain,pieces,price",
                                          "price,pieces,plain,notes,name,gadgetid" };
    for (int operation = WEIR_OPERATION_CREATE; operation <= WEIR_OPERATION_UPSERT; operation++) {
        uint64_t shapes[32];
        rig_options.operation = (enum weir_operation)operation;
        for (unsigned order = 0; order < 2; order++) {
            rig_open(orders[order]);
            for (unsigned set = 0; set < 32; set++) {
                const char *cells[CELLS] = { NULL };
                cells[order ? 5 : 0] = ID_1;
                for (unsigned i = 0; i < 5; i++) {
                    if (set >> i & 1)
                        cells[order ? 4 - i : 1 + i] = (set + i) % 3 ? "1" : "22";
                }
                rig_texts(cells);
                is_fine();
                if (order)
                    ck_assert_uint_eq(draft.shape, shapes[set]);
                shapes[set] = draft.shape;
            }
        }
        for (unsigned a = 0; a < 32; a++) {
            for (unsigned b = 0; b < a; b++)
                must((shapes[a] == shapes[b]) == (operation == WEIR_OPERATION_CREATE));
        }
        must(operation != WEIR_OPERATION_CREATE || shapes[31] == 0);
    }
}
END_TEST

/* ---- records with a problem ---- */

START_TEST(a_record_with_a_problem_is_refused_with_it)
{
    struct weir_record record = {
        .number = 9,
        .place = { .file = 1, .offset = 50, .end = 61 },
        .raw = weir_str_from("abcde\xff,g\r\n"),
        .problem = WEIR_RECORD_NOT_UTF8,
        .column = 2,
        .bad_at = 55,
    };
    rig_open("name,notes");
    ck_assert(weir_mapping_record(mapping, WEIR_PASS_ROWS, &record, rig_arena, &draft));
    is_refused("notes",
               "column 2 (\"notes\") is not UTF-8: the byte \"0xFF\" at offset 55 does not "
               "belong there");
    ck_assert_uint_eq(draft.number, 9);
    ck_assert_uint_eq(draft.file, 1);
    ck_assert_uint_eq(draft.end, 61);
    ck_assert_ptr_eq(draft.raw.ptr, record.raw.ptr);
    record.problem = WEIR_RECORD_RAGGED;
    record.column = 0;
    record.cell_count = 3;
    record.bound = 2;
    ck_assert(weir_mapping_record(mapping, WEIR_PASS_ROWS, &record, rig_arena, &draft));
    is_refused("", "the row has 3 cells where the header names 2");
    record.problem = WEIR_RECORD_UNCLOSED;
    record.column = 3; /* more than there are */
    record.bound = 0;
    ck_assert(weir_mapping_record(mapping, WEIR_PASS_ROWS, &record, rig_arena, &draft));
    is_refused("",
               "column 3 opens a quote at offset 55 that is not closed before the end of the file");
}
END_TEST

/* ---- bounds ---- */

/* Whether requests of both kinds take the row alone, with all that options can add. */
static void fits_a_request(enum weir_request_kind kind)
{
    struct weir_table_names names = weir_table_names_of(table);
    static char tag[WEIR_REQUEST_TEXT_MAX + 1];
    memset(tag, '%', sizeof(tag) - 1);
    struct weir_request_options options = { .tag = tag };
    struct weir_batch_request batch;
    struct weir_batch_part part = { .kind = kind, .table = &names, .target = draft.target };
    char boundary[WEIR_BOUNDARY_BYTES_MAX];
    memset(boundary, 'b', sizeof(boundary));
    ck_assert_int_eq(weir_batch_request_init(&batch, weir_str(boundary, sizeof(boundary)), &options,
                                             WEIR_BODY_BYTES_MAX, &err),
                     WEIR_OK);
    enum weir_status status = weir_batch_request_add(&batch, &part, &err);
    ck_assert_msg(status == WEIR_OK, "%s", err.message);
    weir_batch_request_release(&batch);
}

START_TEST(a_row_may_weigh_what_a_request_can_carry_and_no_more)
{
    char message[200];
    snprintf(message, sizeof(message),
             "the row has %zu bytes as JSON, more than the %zu that a request can carry",
             WEIR_ROW_BYTES_MAX + 1, WEIR_ROW_BYTES_MAX);
    char *text = weir_calloc(WEIR_BODY_BYTES_MAX, 1);
    memset(text, 'x', WEIR_BODY_BYTES_MAX);
    memset(text + 100, '"', 1000); /* two bytes each */
    rig_unbounded();
    rig_open("name,notes");
    rig_row("x", "x");
    struct weir_table_names names = weir_table_names_of(table);
    size_t most = WEIR_ROW_BYTES_MAX - weir_bulk_target_bytes(&names, &draft.target) + 2 - 1000;
    for (size_t more = 0; more <= 1; more++) {
        struct weir_str cells[] = { weir_str(text, most / 2),
                                    weir_str(text + 2000, most - most / 2) };
        cells[1].len += more;
        rig_cells(cells);
        if (more) {
            is_refused("", message);
            ck_assert_uint_lt(weir_arena_used(rig_arena), 1000);
            break;
        }
        is_fine();
        ck_assert_uint_eq(weir_bulk_target_bytes(&names, &draft.target), WEIR_ROW_BYTES_MAX);
        weir_json_free(rig_parse(WEIR_BULK_CREATE));
        fits_a_request(WEIR_REQUEST_CREATE);
    }
    free(text);
}
END_TEST

/* The longest name, in the heaviest row. */
START_TEST(a_key_may_be_as_long_as_an_address_can_hold_and_no_longer)
{
    char message[200];
    snprintf(message, sizeof(message),
             "the key of the row is longer than %zu bytes, which no address can hold",
             WEIR_ROW_NAME_BYTES_MAX);
    rig_table(NAME_IS_KEY, NULL);
    rig_unbounded();
    rig_options.operation = WEIR_OPERATION_UPSERT;
    rig_options.key = "name";
    rig_open("name,notes");
    size_t most = WEIR_ROW_NAME_BYTES_MAX - strlen("name=''");
    char *text = weir_calloc(WEIR_ROW_BYTES_MAX, 1);
    memset(text, 'x', WEIR_ROW_BYTES_MAX);
    struct weir_str cells[] = { weir_str(text, most), weir_str(text, 0) };
    rig_cells(cells);
    is_fine();
    struct weir_table_names names = weir_table_names_of(table);
    cells[1].len = WEIR_ROW_BYTES_MAX - weir_bulk_target_bytes(&names, &draft.target) -
                   strlen(",\"notes\":\"\"");
    rig_cells(cells);
    is_fine();
    ck_assert_uint_eq(weir_bulk_target_bytes(&names, &draft.target), WEIR_ROW_BYTES_MAX);
    weir_json_free(rig_parse(WEIR_BULK_UPSERT));
    fits_a_request(WEIR_REQUEST_UPSERT);
    cells[0].len++;
    cells[1].len = 0;
    rig_cells(cells);
    is_refused("name", message);
    cells[0].len = WEIR_FIELD_BYTES_MAX;
    rig_cells(cells);
    is_refused("name", message);
    free(text);
}
END_TEST

START_TEST(a_partition_may_be_as_long_as_an_address_can_hold_and_no_longer)
{
    char message[200];
    snprintf(message, sizeof(message),
             "the partition of the row is longer than %zu bytes, which no address can hold",
             WEIR_ROW_NAME_BYTES_MAX);
    rig_table(ELASTIC, PARTITIONED, NULL);
    rig_open("partitionid,gadgetid");
    char *text = weir_calloc(WEIR_ROW_NAME_BYTES_MAX, 1);
    memset(text, 'x', WEIR_ROW_NAME_BYTES_MAX);
    text[0] = ' '; /* three bytes */
    struct weir_str cells[] = { weir_str(text, WEIR_ROW_NAME_BYTES_MAX - 2), weir_str_from(ID_1) };
    rig_cells(cells);
    is_fine();
    fits_a_request(WEIR_REQUEST_CREATE);
    fits_a_request(WEIR_REQUEST_UPDATE);
    cells[0].len++;
    rig_cells(cells);
    is_refused("partitionid", message);
    free(text);
}
END_TEST

/* With every amount of memory: refused as a whole, or made as with plenty. */
START_TEST(an_arena_that_is_full_is_said_and_harms_nothing)
{
    static const char *const rows[][4] = { { ID_1, "p", "Contoso\n", "team:" ID_2 },
                                           { "x", "p", "Contoso", "" },
                                           { ID_1, "a/b", "Contoso", "" },
                                           { ID_1, "p", "Contoso", "nobody" } };
    rig_table(ELASTIC, PARTITIONED, NULL);
    rig_options.operation = WEIR_OPERATION_UPSERT;
    rig_open("gadgetid,partitionid,name,ownerid");
    for (size_t i = 0; i < COUNT(rows); i++) {
        rig_texts((const char *const[CELLS]){ rows[i][0], rows[i][1], rows[i][2], rows[i][3] });
        struct weir_draft wanted = draft;
        struct weir_str cells[4];
        for (size_t k = 0; k < 4; k++)
            cells[k] = weir_str_from(rows[i][k]);
        struct weir_record record = { .number = 1, .cells = cells, .cell_count = 4 };
        size_t used = weir_arena_used(rig_arena);
        for (size_t bytes = 0; bytes <= used; bytes++) {
            struct weir_arena *small = weir_arena_new(bytes);
            bool made = weir_mapping_record(mapping, WEIR_PASS_ROWS, &record, small, &draft);
            must(made == (bytes == used));
            must(!made || (weir_str_equal(draft.target.members, wanted.target.members) &&
                           weir_str_equal(draft.refusal, wanted.refusal)));
            weir_arena_unref(small);
        }
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("mapping");
    rig_add(&s, cells_become_members_in_the_order_of_their_columns);
    rig_add(&s, a_row_of_nothing_is_not_created);
    rig_add(&s, what_a_parser_reads_is_what_stood_in_the_cell);
    rig_add(&s, each_byte_alone_at_each_place_is_escaped_if_it_must_be);
    rig_add(&s, columns_that_are_not_there_are_refused_with_the_nearest);
    rig_add(&s, all_columns_that_cannot_be_written_are_named_at_once);
    rig_add(&s, the_file_is_named_with_its_columns);
    rig_add(&s, of_a_long_path_the_end_is_named);
    rig_add(&s, columns_that_cannot_be_written_are_refused);
    rig_add(&s, a_delete_passes_over_columns_that_the_table_has);
    rig_add(&s, the_shape_is_the_set_of_columns_that_have_a_value);
    rig_add(&s, a_record_with_a_problem_is_refused_with_it);
    rig_add(&s, a_row_may_weigh_what_a_request_can_carry_and_no_more);
    rig_add(&s, a_key_may_be_as_long_as_an_address_can_hold_and_no_longer);
    rig_add(&s, a_partition_may_be_as_long_as_an_address_can_hold_and_no_longer);
    rig_add(&s, an_arena_that_is_full_is_said_and_harms_nothing);
    return suite_run(&s);
}
