/* SPDX-License-Identifier: MIT */
/* The short cut for plain cells: it never says anything else than the long way, and is taken. */
#include "base/rng.h"
#include "support/cell_rig.h"

#define TRIES   200000
#define LEN_MAX 20

#define CHOICES(list) .choices = (list), .choice_count = COUNT(list)

static struct weir_choice colors[] = { { 1, -1, "Red" }, { 12, -1, "Green" }, { -7, -1, "Blue" } };
static struct weir_choice crossed[] = { { 1, -1, "2" }, { 2, -1, "1" } };
static struct weir_choice words[] = { { 0, -1, "Allow" }, { 1, -1, "Do Not Allow" } };
static struct weir_choice twisted[] = { { 0, -1, "true" }, { 1, -1, "false" } };

static struct weir_column columns[] = {
    { .name = "name", .type = WEIR_COLUMN_STRING, .length_max = 12 },
    { .name = "notes", .type = WEIR_COLUMN_MEMO },
    { .name = "pieces", .type = WEIR_COLUMN_INTEGER, .min = "0", .max = "120", .precision = -1 },
    { .name = "any", .type = WEIR_COLUMN_INTEGER, .precision = -1 },
    { .name = "above", .type = WEIR_COLUMN_INTEGER, .min = "5", .max = "90", .precision = -1 },
    { .name = "below", .type = WEIR_COLUMN_INTEGER, .min = "-9", .max = "-1", .precision = -1 },
    { .name = "big", .type = WEIR_COLUMN_BIGINT, .min = "-1e40", .max = "1e40", .precision = -1 },
    { .name = "price", .type = WEIR_COLUMN_MONEY, .min = "0", .max = "210.5", .precision = 2 },
    { .name = "loose", .type = WEIR_COLUMN_DECIMAL, .precision = -1 },
    { .name = "latitude", .type = WEIR_COLUMN_DOUBLE, .min = "-90", .max = "90", .precision = 5 },
    { .name = "flag", .type = WEIR_COLUMN_BOOLEAN, CHOICES(words) },
    { .name = "twisted", .type = WEIR_COLUMN_BOOLEAN, CHOICES(twisted) },
    { .name = "color", .type = WEIR_COLUMN_PICKLIST, CHOICES(colors) },
    { .name = "crossed", .type = WEIR_COLUMN_PICKLIST, CHOICES(crossed) },
    { .name = "open", .type = WEIR_COLUMN_PICKLIST },
    { .name = "day", .type = WEIR_COLUMN_DATETIME, .behavior = WEIR_DATE_ONLY },
    { .name = "moment", .type = WEIR_COLUMN_DATETIME, .behavior = WEIR_DATE_USER_LOCAL },
};

/* Of what cells are made of, so that many are right, and some nearly so. */
static size_t make_cell(struct weir_rng *rng, char *cell)
{
    static const char *const pieces[] = { "0", "1",  "2",  "9",    "12",    "00",      ".",
                                          "-", "e",  " ",  "true", "false", "2024-02", "-29",
                                          "-", "\"", "\\", "\x1f", "\x7f",  "\u00fc",  "Text",
                                          "1", "2",  "5",  "-28",  "1753",  "-01",     "a" };
    size_t len = 0;
    for (uint64_t left = 1 + weir_rng_below(rng, 4); left; left--) {
        const char *piece = pieces[weir_rng_below(rng, COUNT(pieces))];
        memcpy(cell + len, piece, strlen(piece));
        len += strlen(piece);
    }
    return len;
}

/* What the long way makes of it; NULL: nothing. The caller frees it. */
static char *convert(const struct weir_cell_rule *rule, struct weir_str cell)
{
    struct weir_error err;
    size_t bytes;
    if (weir_cell_rule_measure(rule, cell, &bytes, &err))
        return NULL;
    char *json = weir_calloc(bytes + 1, 1);
    weir_cell_rule_write(rule, cell, json);
    return json;
}

/* Returns whether it was plain. */
static bool compare(const struct weir_cell_rule *rule, struct weir_str cell)
{
    char *json = convert(rule, cell);
    try_plain(rule, cell, json, json ? NULL : "refused");
    free(json);
    return weir_cell_rule_plain(rule, cell) != WEIR_CELL_NOT_PLAIN;
}

START_TEST(what_is_plain_is_what_the_long_way_makes_of_it)
{
    struct weir_rng rng;
    size_t plain = 0;
    for (size_t column = 0; column < COUNT(columns); column++) {
        struct weir_cell_rule rule;
        weir_rng_init(&rng, 7, column);
        weir_cell_rule_init(&rule, &columns[column], NULL, WEIR_CELL_EMPTY_OMIT);
        for (int i = 0; i < TRIES / (int)COUNT(columns); i++) {
            char cell[8 * LEN_MAX];
            size_t len = make_cell(&rng, cell);
            char *own = weir_calloc(len, 1); /* a byte read behind it is noticed */
            memcpy(own, cell, len);
            plain += compare(&rule, weir_str(own, len));
            free(own);
        }
        weir_cell_rule_release(&rule);
    }
    ck_assert_uint_gt(plain, TRIES / 50);
}
END_TEST

static bool is_plain(const char *column, const char *cell)
{
    bool plain = false;
    for (size_t i = 0; i < COUNT(columns); i++) {
        struct weir_cell_rule rule;
        if (strcmp(columns[i].name, column) != 0)
            continue;
        weir_cell_rule_init(&rule, &columns[i], NULL, WEIR_CELL_EMPTY_OMIT);
        plain = compare(&rule, weir_str_from(cell));
        weir_cell_rule_release(&rule);
    }
    return plain;
}

START_TEST(ordinary_cells_take_the_short_cut)
{
    ck_assert(is_plain("name", "Contoso 12"));
    ck_assert(is_plain("notes", "a text that is longer than a few words of the machine"));
    ck_assert(is_plain("pieces", "120"));
    ck_assert(is_plain("any", "2147483647"));
    ck_assert(is_plain("price", "209.50"));
    ck_assert(is_plain("loose", "0.125"));
    ck_assert(is_plain("latitude", "52.52"));
    ck_assert(is_plain("flag", "true"));
    ck_assert(is_plain("color", "12"));
    ck_assert(is_plain("day", "2024-02-29"));
}
END_TEST

START_TEST(what_could_mean_something_else_does_not)
{
    ck_assert(!is_plain("twisted", "true"));
    ck_assert(!is_plain("crossed", "1"));
    ck_assert(!is_plain("open", "1"));
    ck_assert(!is_plain("color", "3"));
    ck_assert(!is_plain("pieces", "121"));
    ck_assert(!is_plain("pieces", "007"));
    ck_assert(!is_plain("above", "4"));
    ck_assert(!is_plain("below", "1"));
    ck_assert(!is_plain("price", "210.51"));
    ck_assert(!is_plain("price", "1.005"));
    ck_assert(!is_plain("day", "2023-02-29"));
    ck_assert(!is_plain("day", "1752-12-31"));
    ck_assert(!is_plain("name", "thirteen char"));
    ck_assert(!is_plain("notes", "a \"quoted\" word"));
}
END_TEST

int main(void)
{
    struct suite s = suite_new("cells_plain");
    suite_add(&s, what_is_plain_is_what_the_long_way_makes_of_it);
    suite_add(&s, ordinary_cells_take_the_short_cut);
    suite_add(&s, what_could_mean_something_else_does_not);
    return suite_run(&s);
}
