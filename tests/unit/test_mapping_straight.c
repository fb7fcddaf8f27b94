/* SPDX-License-Identifier: MIT */
/* Rows that go straight through, against what the long way makes of them. */
#include "records/mapping_parts.h"
#include "support/mapping_rig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define COLUMNS      "name,notes,pieces,serial,weight,angle,price,sold,kind,tags,built,plain"

/* What cells of each column may be: as it is sent, to be changed first, empty, blank, wrong. */
static const char *const pools[][10] = {
    { "Contoso", "M\u00fcller", "a \"b\"", "", " x", "\t", "0", "a\\b", "x\x01y", "7" },
    { "a\nb", "plain words that are longer than thirty-two bytes", "", " ", "\xc3\xa4", "q" },
    { "7", "007", "-3", "1,000", "", " 5", "many", "2147483648", "0", "12" },
    { "5", "9007199254740993", "", "05", "x", "-1" },
    { "1.50", "1.5", "", "0.000001", "1e3", "abc", "-2.25" },
    { "6.5e1", "65", "", "1.25", "nan", "400" },
    { "12.00", "12", "", "0.5", ".5", "x", "$5" },
    { "yes", "true", "false", "", "1", "perhaps", "No" },
    { "Gizmo", "1", "", "7", "gizmo", "no such kind", " Gizmo" },
    { "Red; Blue", "", "Red", "1;2", "Purple" },
    { "2024-02-29", "2024-02-29T10:00:00Z", "", "29.02.2024", "2023-02-29", "1600-01-01" },
    { "x", "", "y", " ", "\x7f" },
};

static struct weir_record record;
static struct weir_str cells[CELLS];

static void choose_cells(struct weir_rng *rng, uint64_t oddness)
{
    for (size_t i = 0; i < COUNT(pools); i++) {
        size_t known = 0;
        while (known < COUNT(pools[i]) && pools[i][known])
            known++;
        bool odd = weir_rng_below(rng, 10) < oddness;
        cells[i] = weir_str_from(pools[i][odd ? weir_rng_below(rng, known) : 0]);
    }
    record = (struct weir_record){ .number = ++rig_number,
                                   .place = { .file = 3, .offset = 100, .end = 107 },
                                   .raw = weir_str_from("as read"),
                                   .cells = cells,
                                   .cell_count = COUNT(pools) };
}

static void expect_text(struct weir_str one, struct weir_str other)
{
    ck_assert_msg(weir_str_equal(one, other), "\"%.*s\" instead of \"%.*s\"", (int)one.len,
                  one.ptr ? one.ptr : "", (int)other.len, other.ptr ? other.ptr : "");
}

/* The record as a draft, in an arena of its own; by the long way, or as it comes. */
static struct weir_draft draft_by(struct weir_arena *arena, bool long_way)
{
    struct weir_draft it;
    struct weir_straight *straight = mapping->straight;
    mapping->straight = long_way ? NULL : straight;
    memset(&it, 0xee, sizeof(it));
    must(weir_mapping_record(mapping, WEIR_PASS_ROWS, &record, arena, &it));
    mapping->straight = straight;
    return it;
}

static void expect_same(void)
{
    struct weir_arena *other = weir_arena_new(WEIR_DRAFT_BYTES_ENOUGH);
    weir_arena_reset(rig_arena);
    struct weir_draft one = draft_by(rig_arena, false);
    struct weir_draft two = draft_by(other, true);
    expect_text(one.refusal, two.refusal);
    expect_text(one.column, two.column);
    expect_text(one.raw, two.raw);
    expect_text(one.target.id, two.target.id);
    must(one.number == two.number && one.file == two.file && one.idle == two.idle);
    must(one.offset == two.offset && one.end == two.end && one.shape == two.shape);
    must(one.key_hash == two.key_hash && one.named_by_input == two.named_by_input);
    must(one.id_known == two.id_known && weir_guid_equal(&one.id, &two.id));
    if (!two.refusal.len) {
        expect_text(one.target.members, two.target.members);
        expect_text(one.target.key, two.target.key);
        expect_text(one.target.partition, two.target.partition);
    }
    weir_arena_unref(other);
}

static bool goes_straight(void)
{
    struct weir_draft it = { .number = record.number };
    weir_arena_reset(rig_arena);
    return weir_mapping_straight(mapping, &record, rig_arena, &it);
}

START_TEST(what_goes_straight_comes_to_the_same)
{
    struct weir_rng rng;
    int straight = 0, other = 0;
    weir_rng_init(&rng, 1, 0);
    for (int run = 0; run < 6000; run++) {
        if (run % 1000 == 0) {
            rig_options.empty = (enum weir_cell_empty)(run / 1000 % 3);
            rig_options.owner = run / 1000 % 2 ? "systemuser:" ID_1 : NULL;
            rig_open(COLUMNS);
            ck_assert_ptr_nonnull(mapping->straight);
        }
        choose_cells(&rng, (uint64_t)run % 4);
        expect_same();
        if (goes_straight())
            straight++;
        else
            other++;
    }
    ck_assert_int_gt(straight, 1500);
    ck_assert_int_gt(other, 600);
}
END_TEST

/* Each value of each pool by itself, in a row that is fine otherwise. */
START_TEST(each_odd_cell_comes_to_the_same)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 1, 0);
    for (int empty = WEIR_CELL_EMPTY_OMIT; empty <= WEIR_CELL_EMPTY_REJECT; empty++) {
        rig_options.empty = (enum weir_cell_empty)empty;
        rig_open(COLUMNS);
        for (size_t i = 0; i < COUNT(pools); i++) {
            for (size_t k = 0; k < COUNT(pools[i]) && pools[i][k]; k++) {
                choose_cells(&rng, 0);
                cells[i] = weir_str_from(pools[i][k]);
                expect_same();
            }
        }
    }
}
END_TEST

/* Cells that become much longer, and rows that are long themselves. */
START_TEST(long_rows_come_to_the_same)
{
    static char text[200 * 1024];
    struct weir_rng rng;
    weir_rng_init(&rng, 2, 0);
    rig_unbounded();
    rig_open(COLUMNS);
    for (size_t len = 1; len < sizeof(text); len = len * 3 / 2 + 1) {
        for (int fill = 0; fill < 3; fill++) {
            memset(text, "a\"\x01"[fill], len);
            choose_cells(&rng, 0);
            cells[1] = weir_str(text, len);
            expect_same();
        }
    }
}
END_TEST

START_TEST(a_row_of_nothing_or_of_too_few_cells_does_not_go_straight)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 3, 0);
    rig_open(COLUMNS);
    choose_cells(&rng, 0);
    ck_assert(goes_straight());
    record.cell_count--;
    ck_assert(!goes_straight());
    record.cell_count++;
    for (size_t i = 0; i < COUNT(pools); i++)
        cells[i] = weir_str("", 0);
    ck_assert(!goes_straight());
    expect_same();
}
END_TEST

/* What names a row, points elsewhere or depends on another cell. */
START_TEST(only_values_go_straight)
{
    static const char *const headers[] = { "gadgetid,name", "name,statuscode", "name,statecode",
                                           "name,maker:account", "name,ownerid:systemuser" };
    for (size_t i = 0; i < COUNT(headers); i++) {
        rig_open(headers[i]);
        ck_assert_msg(!mapping->straight, "%s", headers[i]);
    }
    rig_open("name,plain");
    ck_assert_ptr_nonnull(mapping->straight);
    rig_options.organisation = ID_2;
    rig_options.id_from = "name";
    rig_open("name,plain");
    ck_assert_ptr_null(mapping->straight);
    rig_options.id_from = NULL;
    rig_options.operation = WEIR_OPERATION_UPDATE;
    rig_open("gadgetid,name");
    ck_assert_ptr_null(mapping->straight);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("mapping_straight");
    rig_add(&s, what_goes_straight_comes_to_the_same);
    rig_add(&s, each_odd_cell_comes_to_the_same);
    rig_add(&s, long_rows_come_to_the_same);
    rig_add(&s, a_row_of_nothing_or_of_too_few_cells_does_not_go_straight);
    rig_add(&s, only_values_go_straight);
    return suite_run(&s);
}
