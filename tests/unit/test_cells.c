/* SPDX-License-Identifier: MIT */
/* Cells by the type of their column: a table; dates and GUIDs are in test_cells_dates.c. */
#include <stdio.h>

#include "base/buf.h"
#include "base/limits.h"
#include "support/cell_rig.h"

#define CHOICES(list) .choices = (list), .choice_count = COUNT(list)

/* Ten letters of two bytes each; six times that is longer than what is quoted. */
#define LONG   "\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc"
#define LONG_6 LONG LONG LONG LONG LONG LONG

/* ---- columns ---- */

static struct weir_choice colors[] = {
    { 1, -1, "Red" }, { 2, -1, "Green" },     { 3, -1, "Dark red" },      { 4, -1, "Black, white" },
    { 5, -1, "red" }, { 6, -1, "Gr\u00fcn" }, { -7, -1, " No; not so " }, { 8, -1, NULL },
};
static struct weir_choice reverse[] = {
    { 1, -1, "3" }, { 2, -1, "2" }, { 3, -1, "1" }, { 100, -1, "4" }
};
static struct weir_choice silent[] = { { 1, -1, "\u00ad" } };
static struct weir_choice statuses[] = {
    { 1, 0, "Open" }, { 2, 0, "Cancelled" }, { 3, 1, "Done" }, { 4, 1, "Cancelled" }
};
static struct weir_choice mail[] = { { 0, -1, "Allow" }, { 1, -1, "Do Not Allow" } };
static struct weir_choice twisted[] = { { 0, -1, "Yes" }, { 1, -1, "No" } };
static struct weir_choice nameless[] = { { 0, -1, NULL }, { 1, -1, NULL } };

static struct weir_column name = { .name = "name", .type = WEIR_COLUMN_STRING, .length_max = 10 };
static struct weir_column notes = { .name = "notes", .type = WEIR_COLUMN_MEMO };
static struct weir_column table_of = { .name = "table", .type = WEIR_COLUMN_ENTITY_NAME };
static struct weir_column pieces = {
    .name = "pieces", .type = WEIR_COLUMN_INTEGER, .min = "0", .max = "1000000", .precision = -1
};
static struct weir_column any = { .name = "any", .type = WEIR_COLUMN_INTEGER, .precision = -1 };
static struct weir_column big = {
    .name = "big", .type = WEIR_COLUMN_BIGINT, .min = "-1e40", .max = "1e40", .precision = -1
};
static struct weir_column weight = { .name = "weight",
                                     .type = WEIR_COLUMN_DECIMAL,
                                     .min = "-100000000000.0",
                                     .max = "100000000000.0",
                                     .precision = 4 };
static struct weir_column loose = { .name = "loose", .type = WEIR_COLUMN_DECIMAL, .precision = -1 };
static struct weir_column price = { .name = "price",
                                    .type = WEIR_COLUMN_MONEY,
                                    .min = "-922337203685477.0",
                                    .max = "922337203685477.0",
                                    .precision = 2 };
static struct weir_column latitude = {
    .name = "latitude", .type = WEIR_COLUMN_DOUBLE, .min = "-90", .max = "90", .precision = 5
};
static struct weir_column real = { .name = "real", .type = WEIR_COLUMN_DOUBLE, .precision = -1 };
static struct weir_column flag = { .name = "flag", .type = WEIR_COLUMN_BOOLEAN, CHOICES(mail) };
static struct weir_column odd = { .name = "odd", .type = WEIR_COLUMN_BOOLEAN, CHOICES(twisted) };
static struct weir_column bare = { .name = "bare", .type = WEIR_COLUMN_BOOLEAN, CHOICES(nameless) };
static struct weir_column color = { .name = "color",
                                    .type = WEIR_COLUMN_PICKLIST,
                                    CHOICES(colors) };
static struct weir_column rank = { .name = "rank", .type = WEIR_COLUMN_PICKLIST, CHOICES(reverse) };
static struct weir_column hush = { .name = "hush", .type = WEIR_COLUMN_PICKLIST, CHOICES(silent) };
static struct weir_column open = { .name = "open", .type = WEIR_COLUMN_PICKLIST };
static struct weir_column state = { .name = "state", .type = WEIR_COLUMN_STATE, CHOICES(mail) };
static struct weir_column status = { .name = "status",
                                     .type = WEIR_COLUMN_STATUS,
                                     CHOICES(statuses) };
static struct weir_column tags = { .name = "tags",
                                   .type = WEIR_COLUMN_MULTI_PICKLIST,
                                   CHOICES(colors) };
static struct weir_column seen = { .name = "seen", .type = WEIR_COLUMN_DATETIME };
static struct weir_column id = { .name = "id", .type = WEIR_COLUMN_ID };

/* ---- the table ---- */

#define WHOLE(cell, column)                                                                        \
    "\"" cell "\" is no whole number; \"" column "\" takes digits without separators"
#define NUMBER(cell, column)                                                                       \
    "\"" cell "\" is no number; \"" column                                                         \
    "\" takes digits without separators, and a point before decimals"
#define EXPONENT(cell, column)                                                                     \
    "\"" cell "\" has an exponent, behind which digits may have been lost; \"" column              \
    "\" takes the number in full"
#define ONE_OF                                                                                     \
    "\" is no choice; \"color\" takes 1 (Red), 2 (Green), 3 (Dark red), 4 (Black, white), 5 "      \
    "(red), "                                                                                      \
    "6 (Gr\u00fcn) and 2 more"
#define GAP(cell)                                                                                  \
    "\"" cell                                                                                      \
    "\" has an empty place in its list; \"tags\" takes choices with one comma or semicolon "       \
    "between them"
static const struct row texts[] = {
    { &name, "Contoso", "\"Contoso\"", NULL },
    { &name, " a ", "\" a \"", NULL },
    { &name, " ", "\" \"", NULL },
    { &name, "007", "\"007\"", NULL },
    { &name, "say \"hi\"", "\"say \\\"hi\\\"\"", NULL },
    { &name, "a\\b", "\"a\\\\b\"", NULL },
    { &name, "a\tb\r\nc", "\"a\\tb\\r\\nc\"", NULL },
    { &name, "\x7f", "\"\x7f\"", NULL },
    { &name, "\xc2\x85\u2028", "\"\xc2\x85\u2028\"", NULL },
    { &name, "1234567890", "\"1234567890\"", NULL },
    { &name, LONG, "\"" LONG "\"", NULL },
    { &name, "\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600",
      "\"\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\"", NULL },
    { &name, "\ufffd\ufeff\uefbf", "\"\ufffd\ufeff\uefbf\"", NULL },
    { &name, "\U0001fffe", "\"\U0001fffe\"", NULL },
    { &name, "null", "\"null\"", NULL },
    { &name, "12345678901", NULL,
      "\"12345678901\" has 11 characters, counted in UTF-16 units; \"name\" takes up to 10" },
    { &name, "\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600.", NULL,
      "\"\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600.\" has 11 characters, counted in "
      "UTF-16 units; \"name\" takes up to 10" },
    { &name, LONG_6, NULL,
      "\"" LONG LONG LONG
      "\" has 60 characters, counted in UTF-16 units; \"name\" takes up to 10" },
    { &name, "ab\vc", NULL,
      "character 3 of the text is U+000B, which the service refuses; \"name\" takes no control "
      "characters but tabs and line ends" },
    { &name, "\x7f\xc2\x80\xc2\x85\xc2\x9f", "\"\x7f\xc2\x80\xc2\x85\xc2\x9f\"", NULL },
    { &name, "\u00fc\x1f", NULL,
      "character 2 of the text is U+001F, which the service refuses; \"name\" takes no control "
      "characters but tabs and line ends" },
    { &name, "\x01", NULL,
      "character 1 of the text is U+0001, which the service refuses; \"name\" takes no control "
      "characters but tabs and line ends" },
    { &name, "\uffff", NULL,
      "character 1 of the text is U+FFFF, which the service refuses; \"name\" takes no control "
      "characters but tabs and line ends" },
    { &name, "abcdefgh\ufffe", NULL,
      "character 9 of the text is U+FFFE, which the service refuses; \"name\" takes no control "
      "characters but tabs and line ends" },
    { &notes, LONG_6, "\"" LONG_6 "\"", NULL },
    { &notes, "12345678\x08xxxxxxxxxxxx", NULL,
      "character 9 of the text is U+0008, which the service refuses; \"notes\" takes no control "
      "characters but tabs and line ends" },
    { &table_of, "account", "\"account\"", NULL },
};

static const struct row wholes[] = {
    { &pieces, "0", "0", NULL },
    { &pieces, "42", "42", NULL },
    { &pieces, "+42", "42", NULL },
    { &pieces, " 42 ", "42", NULL },
    { &pieces, "0042", "42", NULL },
    { &pieces, "000", "0", NULL },
    { &pieces, "-0", "0", NULL },
    { &pieces, "1000000", "1000000", NULL },
    { &pieces, "42.0", "42", NULL },
    { &pieces, "-0.000", "0", NULL },
    { &pieces, "1000001", NULL, RANGE("1000001", "pieces", "0 to 1000000") },
    { &pieces, "-1", NULL, RANGE("-1", "pieces", "0 to 1000000") },
    { &pieces, "1,234", NULL, WHOLE("1,234", "pieces") },
    { &pieces, "1 234", NULL, WHOLE("1 234", "pieces") },
    { &pieces, "1.5", NULL, WHOLE("1.5", "pieces") },
    { &pieces, "42.", NULL, WHOLE("42.", "pieces") },
    { &pieces, "4-", NULL, WHOLE("4-", "pieces") },
    { &pieces, "0x10", NULL, WHOLE("0x10", "pieces") },
    { &pieces, "twelve", NULL, WHOLE("twelve", "pieces") },
    { &pieces, "-", NULL, WHOLE("-", "pieces") },
    { &pieces, " ", NULL, WHOLE(" ", "pieces") },
    { &pieces, "\u0663", NULL, WHOLE("\u0663", "pieces") },
    { &pieces, "1E+05", NULL, EXPONENT("1E+05", "pieces") },
    { &any, "2147483647", "2147483647", NULL },
    { &any, "-2147483648", "-2147483648", NULL },
    { &any, "2147483648", NULL, RANGE("2147483648", "any", "-2147483648 to 2147483647") },
    { &any, "-2147483649", NULL, RANGE("-2147483649", "any", "-2147483648 to 2147483647") },
    { &big, "9223372036854775807", "9223372036854775807", NULL },
    { &big, "-9223372036854775808", "-9223372036854775808", NULL },
    { &big, "9223372036854775808", NULL,
      RANGE("9223372036854775808", "big", "-9223372036854775808 to 9223372036854775807") },
    { &big, "99999999999999999999999999999999999999999999999999999999999999", NULL,
      RANGE("999999999999999999999999999999999999999999999999999999999999", "big",
            "-9223372036854775808 to 9223372036854775807") },
};

static const struct row decimals[] = {
    { &weight, "12.5", "12.5", NULL },
    { &weight, "12.50", "12.50", NULL },
    { &weight, "-12.5000", "-12.5000", NULL },
    { &weight, "+012.5", "12.5", NULL },
    { &weight, ".5", "0.5", NULL },
    { &weight, "-.5", "-0.5", NULL },
    { &weight, "-0.0", "-0.0", NULL },
    { &weight, "7", "7", NULL },
    { &weight, "0.12340", "0.1234", NULL },
    { &weight, "12.30000000000000000000000000000000000000", "12.3000", NULL },
    { &weight, "100000000000", "100000000000", NULL },
    { &weight, "100000000000.0000", "100000000000.0000", NULL },
    { &weight, "-100000000000", "-100000000000", NULL },
    { &weight, "100000000000.0001", NULL,
      RANGE("100000000000.0001", "weight", "-100000000000.0 to 100000000000.0") },
    { &weight, "-100000000000.0001", NULL,
      RANGE("-100000000000.0001", "weight", "-100000000000.0 to 100000000000.0") },
    { &weight, "0.12345", NULL,
      "\"0.12345\" has 5 digits behind the point; \"weight\" takes up to 4" },
    { &weight, "12,5", NULL, NUMBER("12,5", "weight") },
    { &weight, "1,200.50", NULL, NUMBER("1,200.50", "weight") },
    { &weight, "1.200.5", NULL, NUMBER("1.200.5", "weight") },
    { &weight, "12.", NULL, NUMBER("12.", "weight") },
    { &weight, ".", NULL, NUMBER(".", "weight") },
    { &weight, "--1", NULL, NUMBER("--1", "weight") },
    { &weight, "(5)", NULL, NUMBER("(5)", "weight") },
    { &weight, "\u22125", NULL, NUMBER("\u22125", "weight") },
    { &weight, "NaN", NULL, NUMBER("NaN", "weight") },
    { &weight, "1.23457E+11", NULL, EXPONENT("1.23457E+11", "weight") },
    { &loose, "0.1234567890123456789012345678901234567", "0.1234567890123456789012345678901234567",
      NULL },
    { &loose, "79228162514264337593543950336", NULL,
      RANGE("79228162514264337593543950336", "loose",
            "-79228162514264337593543950335 to 79228162514264337593543950335") },
    { &price, "922337203685477", "922337203685477", NULL },
    { &price, "922337203685477.01", NULL,
      RANGE("922337203685477.01", "price", "-922337203685477.0 to 922337203685477.0") },
    { &price, "19.99", "19.99", NULL },
    { &price, "19.999", NULL, "\"19.999\" has 3 digits behind the point; \"price\" takes up to 2" },
    { &price, "$19.99", NULL, NUMBER("$19.99", "price") },
    { &price, "19.99 EUR", NULL, NUMBER("19.99 EUR", "price") },
};

static const struct row floats[] = {
    { &latitude, "52.5200065999", "52.5200065999", NULL },
    { &latitude, "-90", "-90", NULL },
    { &latitude, "9e1", "9e1", NULL },
    { &latitude, "900e-1", "900e-1", NULL },
    { &latitude, "90.00000000000000000001", NULL,
      RANGE("90.00000000000000000001", "latitude", "-90 to 90") },
    { &latitude, "-91", NULL, RANGE("-91", "latitude", "-90 to 90") },
    { &real, "6.02214076E+23", "6.02214076E+23", NULL },
    { &real, "1.7976931348623157e308", "1.7976931348623157e308", NULL },
    { &real, "4.9406564584124654e-324", "4.9406564584124654e-324", NULL },
    { &real, "0e999999999999999999999", "0e999999999999999999999", NULL },
    { &real, "-0", "-0", NULL },
    { &real, "1e400", NULL,
      RANGE("1e400", "real", "-1.7976931348623157e308 to 1.7976931348623157e308") },
    { &real, "-1e99999999999999999999", NULL,
      RANGE("-1e99999999999999999999", "real",
            "-1.7976931348623157e308 to 1.7976931348623157e308") },
    { &real, "1e-400", NULL,
      "\"1e-400\" is too near to zero; \"real\" takes 0, or 4.9406564584124654e-324 and more" },
    { &real, "1e", NULL, NUMBER("1e", "real") },
    { &real, "1e5.5", NULL, NUMBER("1e5.5", "real") },
    { &real, "e5", NULL, NUMBER("e5", "real") },
    { &real, "Infinity", NULL, NUMBER("Infinity", "real") },
    { &real, "1,5", NULL, NUMBER("1,5", "real") },
};

static const struct row booleans[] = {
    { &flag, "true", "true", NULL },
    { &flag, "FALSE", "false", NULL },
    { &flag, "Yes", "true", NULL },
    { &flag, "no", "false", NULL },
    { &flag, "1", "true", NULL },
    { &flag, " 0 ", "false", NULL },
    { &flag, "Allow", "false", NULL },
    { &flag, "do not allow", "true", NULL },
    { &flag, "2", NULL,
      "\"2\" is neither true nor false; \"flag\" takes true (Do Not Allow) or false (Allow), yes "
      "or "
      "no, 1 or 0" },
    { &flag, "ja", NULL,
      "\"ja\" is neither true nor false; \"flag\" takes true (Do Not Allow) or false (Allow), yes "
      "or no, 1 or 0" },
    { &flag, "t", NULL,
      "\"t\" is neither true nor false; \"flag\" takes true (Do Not Allow) or false (Allow), yes "
      "or "
      "no, 1 or 0" },
    { &odd, "true", "true", NULL },
    { &odd, "0", "false", NULL },
    { &odd, "yes", NULL,
      "\"yes\" is a word for true and the label of false; \"odd\" takes what can only mean one" },
    { &odd, "No", NULL,
      "\"No\" is a word for false and the label of true; \"odd\" takes what can only mean one" },
    { &bare, "Yes", "true", NULL },
    { &bare, "maybe", NULL,
      "\"maybe\" is neither true nor false; \"bare\" takes true or false, yes or no, 1 or 0" },
};

static const struct row choices[] = {
    { &color, "2", "2", NULL },
    { &color, "-7", "-7", NULL },
    { &color, "+2", "2", NULL },
    { &color, "08", "8", NULL },
    { &color, "Green", "2", NULL },
    { &color, " GREEN ", "2", NULL },
    { &color, "Red", "1", NULL },
    { &color, "red", "5", NULL },
    { &color, "Dark Red", "3", NULL },
    { &color, "grun", "6", NULL },
    { &color, "No; not so", "-7", NULL },
    { &color, "RED", NULL,
      "\"RED\" is the label of several choices; \"color\" takes the value of one, such as 1" },
    { &color, "Gren", NULL, "\"Gren\" is no choice of \"color\"; did you mean 2 (Green)?" },
    { &color, "99", NULL, "\"99" ONE_OF },
    { &color, "Violet", NULL, "\"Violet" ONE_OF },
    { &color, "1.0", NULL, "\"1.0" ONE_OF },
    { &color, "99999999999999999999", NULL, "\"99999999999999999999" ONE_OF },
    { &color, "  ", NULL, "\"" ONE_OF },
    { &rank, "4", "100", NULL },
    { &rank, "100", "100", NULL },
    { &rank, "2", "2", NULL },
    { &rank, "3", NULL,
      "\"3\" is the value of one choice and the label of another; \"rank\" takes what can only "
      "mean "
      "one" },
    { &hush, "\u00ad", "1", NULL },
    { &hush, " ", NULL, "\"\" is no choice; \"hush\" takes 1 (\u00ad)" },
    { &open, "100000007", "100000007", NULL },
    { &open, "Blue", NULL, "\"Blue\" is no choice; \"open\" takes the value of one" },
    { &open, "0", "0", NULL },
    { &open, "100", "100", NULL },
    { &open, "2147483647", "2147483647", NULL },
    { &open, "-2147483648", "-2147483648", NULL },
    { &open, "2147483648", NULL, "\"2147483648\" is no choice; \"open\" takes the value of one" },
    { &state, "1", "1", NULL },
    { &state, "Allow", "0", NULL },
    { &status, "Done", "3", NULL },
    { &status, "4", "4", NULL },
    { &status, "cancelled", NULL,
      "\"cancelled\" is the label of several choices; \"status\" takes the value of one, such as "
      "2" },
};

static const struct row lists[] = {
    { &tags, "1", "\"1\"", NULL },
    { &tags, "1,2,3", "\"1,2,3\"", NULL },
    { &tags, " 3 , 1 ", "\"3,1\"", NULL },
    { &tags, "Red, Green", "\"1,2\"", NULL },
    { &tags, "Green; Red", "\"2,1\"", NULL },
    { &tags, "Green,2,-7", "\"2,-7\"", NULL },
    { &tags, "Black, white", "\"4\"", NULL },
    { &tags, "black, WHITE; 2", "\"4,2\"", NULL },
    { &tags, "1,,2", NULL, GAP("1,,2") },
    { &tags, "1,", NULL, GAP("1,") },
    { &tags, ";", NULL, GAP(";") },
    { &tags, "1,Gren", NULL, "\"Gren\" is no choice of \"tags\"; did you mean 2 (Green)?" },
    { &tags, "RED,1", NULL,
      "\"RED\" is the label of several choices; \"tags\" takes the value of one, such as 1" },
};

/* ---- tests ---- */

START_TEST(texts_are_sent_as_they_are_or_refused)
{
    TRY(texts);
}
END_TEST

/* Each of them, wherever it stands. */
START_TEST(control_characters_are_found_at_every_place)
{
    struct weir_cell_rule rule;
    weir_cell_rule_init(&rule, &notes, NULL, WEIR_CELL_EMPTY_OMIT);
    for (size_t len = 1; len < 40; len++) {
        for (size_t i = 0; i < len * 0x21; i++) {
            char text[40];
            char place[20];
            struct weir_error err;
            size_t bytes;
            char c = (char)(i / len);
            memset(text, i % 2 ? ' ' : '~', len);
            text[i % len] = c;
            bool fine = c == '\t' || c == '\n' || c == '\r' || c == ' ';
            enum weir_status got = weir_cell_rule_measure(&rule, weir_str(text, len), &bytes, &err);
            must(got == (fine ? WEIR_OK : WEIR_E_INVALID));
            snprintf(place, sizeof(place), "character %zu ", i % len + 1);
            must(fine || strncmp(err.message, place, strlen(place)) == 0);
        }
    }
    weir_cell_rule_release(&rule);
}
END_TEST

START_TEST(numbers_keep_their_digits_or_are_refused)
{
    TRY(wholes);
    TRY(decimals);
    TRY(floats);
}
END_TEST

START_TEST(choices_are_found_by_value_or_label_or_refused)
{
    TRY(booleans);
    TRY(choices);
    TRY(lists);
}
END_TEST

/* Forty bytes, and one more, which is half a letter. */
START_TEST(a_label_that_is_cut_in_a_message_has_a_mark)
{
    struct weir_choice sizes[] = {
        { 1, -1, "0123456789012345678901234567890123456789" },
        { 2, -1, "01234567890123456789012345678901234567890" },
        { 3, -1, "123456789012345678901234567890123456789\u00fc" },
    };
    struct weir_column size = { .name = "size", .type = WEIR_COLUMN_PICKLIST, CHOICES(sizes) };
    struct weir_cell_rule rule;
    weir_cell_rule_init(&rule, &size, NULL, WEIR_CELL_EMPTY_OMIT);
    try_cell(&rule, weir_str_from("small"), NULL,
             "\"small\" is no choice; \"size\" takes 1 (0123456789012345678901234567890123456789), "
             "2 (0123456789012345678901234567890123456789\u2026), "
             "3 (123456789012345678901234567890123456789\u2026)");
    try_cell(
        &rule, weir_str_from("01234567890123456789012345678901234567890x"), NULL,
        "\"01234567890123456789012345678901234567890x\" is no choice of \"size\"; did you mean "
        "2 (0123456789012345678901234567890123456789\u2026)?");
    weir_cell_rule_release(&rule);
}
END_TEST

START_TEST(empty_cells_are_left_out_cleared_or_refused)
{
    const struct weir_column *all[] = { &name, &pieces, &weight, &flag, &color, &tags, &seen, &id };
    char message[200];
    for (size_t i = 0; i < COUNT(all); i++) {
        struct weir_cell_rule rule;
        snprintf(message, sizeof(message), "the cell is empty; \"%s\" takes a value in every row",
                 all[i]->name);
        weir_cell_rule_init(&rule, all[i], NULL, WEIR_CELL_EMPTY_OMIT);
        ck_assert(weir_cell_rule_omits(&rule, weir_str("", 0)));
        rule.empty = WEIR_CELL_EMPTY_NULL;
        ck_assert(!weir_cell_rule_omits(&rule, weir_str("", 0)));
        try_cell(&rule, weir_str("", 0), "null", NULL);
        rule.empty = WEIR_CELL_EMPTY_REJECT;
        ck_assert(!weir_cell_rule_omits(&rule, weir_str("", 0)));
        try_cell(&rule, weir_str("", 0), NULL, message);
        weir_cell_rule_release(&rule);
    }
}
END_TEST

START_TEST(columns_that_point_somewhere_have_no_kind)
{
    static const enum weir_column_type none[] = {
        WEIR_COLUMN_OTHER, WEIR_COLUMN_LOOKUP,     WEIR_COLUMN_CUSTOMER, WEIR_COLUMN_OWNER,
        WEIR_COLUMN_FILE,  WEIR_COLUMN_PARTY_LIST, WEIR_COLUMN_IMAGE,
    };
    size_t without = 0;
    for (int type = 0; type < WEIR_COLUMN_TYPES; type++) {
        struct weir_column column = { .name = "x", .type = (enum weir_column_type)type };
        without += !weir_typed_kind_of(&column);
    }
    ck_assert_uint_eq(without, COUNT(none));
    for (size_t i = 0; i < COUNT(none); i++) {
        struct weir_column column = { .name = "x", .type = none[i] };
        ck_assert_ptr_null(weir_typed_kind_of(&column));
    }
}
END_TEST

/* ---- many choices ---- */

START_TEST(a_list_has_as_many_choices_as_the_service_allows)
{
    struct weir_cell_rule rule;
    struct weir_buf cell, json;
    weir_buf_init(&cell, 10000);
    weir_buf_init(&json, 10000);
    weir_cell_rule_init(&rule, &(struct weir_column){ .name = "tags", .type = tags.type }, NULL,
                        WEIR_CELL_EMPTY_OMIT);
    for (int i = 0; i < WEIR_MULTI_CHOICES_MAX; i++) {
        weir_buf_printf(&cell, "%s%d, %d", i ? "," : "", i, i);
        weir_buf_printf(&json, "%s%d", i ? "," : "\"", i);
    }
    weir_buf_add_char(&json, '"');
    try_cell(&rule, weir_str(cell.ptr, cell.len), json.ptr, NULL);
    weir_buf_add_text(&cell, ",1000");
    try_cell(&rule, weir_str(cell.ptr, cell.len), NULL,
             "the cell has more choices than the service allows; \"tags\" takes up to 150");
    weir_buf_release(&cell);
    weir_buf_release(&json);
    weir_cell_rule_release(&rule);
}
END_TEST

/* Labels in pairs that differ in case only: each is found by its spelling, none in other letters.
 */
START_TEST(among_many_choices_each_is_found)
{
    enum {
        MANY = 2000
    };
    struct weir_choice *many = weir_calloc(MANY, sizeof(*many));
    struct weir_column column = { "many", .type = WEIR_COLUMN_PICKLIST, .choices = many,
                                  .choice_count = MANY };
    struct weir_cell_rule rule;
    char text[40];
    char json[40];
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof(text), "%s %d", i % 2 ? "label" : "LABEL", i / 2);
        many[i] = (struct weir_choice){ i * 7919 % 65536 - 30000, -1, weir_strdup(text) };
    }
    weir_cell_rule_init(&rule, &column, NULL, WEIR_CELL_EMPTY_OMIT);
    for (int i = 0; i < MANY; i++) {
        size_t bytes;
        snprintf(json, sizeof(json), "%d", many[i].value);
        try_cell(&rule, weir_str_from(many[i].label), json, NULL);
        try_cell(&rule, weir_str_from(json), json, NULL);
        snprintf(text, sizeof(text), "Label %d", i / 2);
        must(weir_cell_rule_measure(&rule, weir_str_from(text), &bytes, NULL) == WEIR_E_INVALID);
    }
    weir_cell_rule_release(&rule);
    for (int i = 0; i < MANY; i++)
        free((char *)many[i].label);
    free(many);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("cells");
    suite_add(&s, texts_are_sent_as_they_are_or_refused);
    suite_add(&s, control_characters_are_found_at_every_place);
    suite_add(&s, numbers_keep_their_digits_or_are_refused);
    suite_add(&s, choices_are_found_by_value_or_label_or_refused);
    suite_add(&s, a_label_that_is_cut_in_a_message_has_a_mark);
    suite_add(&s, empty_cells_are_left_out_cleared_or_refused);
    suite_add(&s, columns_that_point_somewhere_have_no_kind);
    suite_add(&s, a_list_has_as_many_choices_as_the_service_allows);
    suite_add(&s, among_many_choices_each_is_found);
    return suite_run(&s);
}
