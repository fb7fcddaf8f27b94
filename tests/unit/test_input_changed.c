/* SPDX-License-Identifier: MIT */
/* Input that has changed since it was first read, and gzip that is cut or damaged. */
#include "base/rng.h"
#include "records/hash.h"
#include "support/input_rig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BLOCK        WEIR_INPUT_BLOCK_BYTES
#define BLOCKS_MAX   16

/* What a run left behind. */
struct run {
    struct weir_block blocks[BLOCKS_MAX];
    size_t block_count;
    struct weir_block partial;
    bool has_partial;
    struct weir_file_identity identity;
    uint64_t records;
    uint64_t end; /* of the last record */
    enum weir_step ended;
    struct weir_error err;
};

static void read_records(struct weir_reader *reader, uint64_t records_max, struct run *run)
{
    struct weir_arena *arena = weir_arena_new(WEIR_BATCH_BYTES_ENOUGH);
    struct weir_record record;
    do {
        run->ended = weir_reader_next(reader, arena, &record, &run->err);
        if (run->ended == WEIR_STEP_FULL)
            weir_arena_reset(arena);
        if (run->ended == WEIR_STEP_RECORD) {
            run->records++;
            run->end = record.place.end;
        }
    } while ((run->ended == WEIR_STEP_RECORD && run->records < records_max) ||
             run->ended == WEIR_STEP_FULL);
    weir_arena_unref(arena);
}

static struct run run_with(struct weir_reader_options options, uint64_t records_max)
{
    struct run run = { 0 };
    struct weir_reader *reader;
    if (weir_reader_new(&options, &reader, &run.err)) {
        run.ended = WEIR_STEP_BROKEN;
        return run;
    }
    read_records(reader, records_max, &run);
    while (weir_reader_take_block(reader, &run.blocks[run.block_count]))
        must(++run.block_count < BLOCKS_MAX);
    run.has_partial = weir_reader_partial_block(reader, &run.partial);
    run.identity = weir_reader_identities(reader)[0];
    weir_reader_free(reader);
    return run;
}

static struct weir_reader_options options_for(const char *const *path)
{
    return (
        struct weir_reader_options){ .paths = path, .path_count = 1, .format = &weir_format_csv };
}

/* Exactly `len` bytes of CSV. */
static struct weir_buf make_text(size_t len)
{
    struct weir_buf text = make_rows(1, len / 40 + 2, 90);
    must(text.len >= len);
    text.len = len;
    text.ptr[len] = '\0';
    return text;
}

START_TEST(blocks_tell_where_an_input_differs_before_a_row_of_them_is_read)
{
    struct input_rig rig;
    input_rig_init(&rig);
    struct weir_buf text = make_text(3 * BLOCK + 12345);
    const char *path = input_rig_gzip(&rig, "a.csv.gz", str_of(&text), 1 + (size_t)_i);
    struct run first = run_with(options_for(&path), UINT64_MAX);
    ck_assert_int_eq(first.ended, WEIR_STEP_END);
    ck_assert_uint_eq(first.block_count, 4);
    ck_assert(!first.has_partial);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(first.blocks[i].index, i);
        ck_assert_uint_eq(first.blocks[i].bytes, i < 3 ? BLOCK : 12345);
        ck_assert_int_eq(first.blocks[i].last, i == 3);
    }
    struct weir_reader_options again = options_for(&path);
    again.blocks = first.blocks;
    again.block_count = first.block_count;
    struct run same = run_with(again, UINT64_MAX);
    ck_assert_int_eq(same.ended, WEIR_STEP_END);
    ck_assert_uint_eq(same.records, first.records);

    static const struct {
        size_t at;
        const char *what;
    } rows[] = {
        { 100, "block 0 (bytes 0 to 4194303) differs" },
        { BLOCK - 1, "block 0 (bytes 0 to 4194303) differs" },
        { BLOCK, "block 1 (bytes 4194304 to 8388607) differs" },
        { 3 * BLOCK + 12344, "block 3 (bytes 12582912 to 12595256) differs" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        text.ptr[rows[i].at] ^= 1;
        input_rig_gzip(&rig, "a.csv.gz", str_of(&text), 1);
        text.ptr[rows[i].at] ^= 1;
        struct run changed = run_with(again, UINT64_MAX);
        char message[512];
        snprintf(message, sizeof(message), "input \"%s\" has changed since the job began: %s", path,
                 rows[i].what);
        ck_assert_int_eq(changed.ended, WEIR_STEP_BROKEN);
        ck_assert_str_eq(changed.err.message, message);
        ck_assert_int_eq(changed.err.status, WEIR_E_INVALID);
        ck_assert_uint_le(changed.end, rows[i].at / BLOCK * BLOCK);
    }
    weir_buf_release(&text);
    input_rig_release(&rig);
}
END_TEST

static void must_say(struct input_rig *rig, struct weir_reader_options again, struct weir_str bytes,
                     const char *what)
{
    const char *path = input_rig_gzip(rig, "a.csv.gz", bytes, 1);
    struct run run = run_with(again, UINT64_MAX);
    char message[512];
    snprintf(message, sizeof(message), "input \"%s\" has changed since the job began: %s", path,
             what);
    ck_assert_int_eq(run.ended, WEIR_STEP_BROKEN);
    ck_assert_str_eq(run.err.message, message);
}

START_TEST(an_input_that_became_shorter_or_longer_is_noticed)
{
    struct input_rig rig;
    input_rig_init(&rig);
    struct weir_buf text = make_text(2 * BLOCK + 1);
    /* One that ends with a full block, and so with an empty one. */
    const char *path = input_rig_gzip(&rig, "a.csv.gz", weir_str(text.ptr, 2 * BLOCK), 1);
    struct run first = run_with(options_for(&path), UINT64_MAX);
    ck_assert_uint_eq(first.block_count, 3);
    ck_assert_uint_eq(first.blocks[2].bytes, 0);
    struct weir_reader_options again = options_for(&path);
    again.blocks = first.blocks;
    again.block_count = first.block_count;
    must_say(&rig, again, str_of(&text), "it goes on behind byte 8388608, where it ended before");
    must_say(&rig, again, weir_str(text.ptr, 2 * BLOCK - 1),
             "it ends at byte 8388607 and reached byte 8388608 before");
    must_say(&rig, again, weir_str(text.ptr, BLOCK),
             "it ends at byte 4194304 and reached byte 8388608 before");
    weir_buf_release(&text);
    input_rig_release(&rig);
}
END_TEST

START_TEST(a_block_of_which_only_a_part_was_read_is_compared_so_far)
{
    struct input_rig rig;
    input_rig_init(&rig);
    struct weir_buf text = make_text(BLOCK + 1000000);
    const char *path = input_rig_gzip(&rig, "a.csv.gz", str_of(&text), 1);
    struct run first = run_with(options_for(&path), 3);
    ck_assert(first.has_partial && first.block_count == 0);
    uint32_t bytes = first.partial.bytes;
    ck_assert(bytes > 0 && bytes < BLOCK && !first.partial.last);
    struct weir_reader_options again = options_for(&path);
    again.blocks = &first.partial;
    again.block_count = 1;
    text.ptr[bytes] ^= 1; /* nobody had seen this one */
    input_rig_gzip(&rig, "a.csv.gz", str_of(&text), 1);
    ck_assert_int_eq(run_with(again, UINT64_MAX).ended, WEIR_STEP_END);
    text.ptr[bytes - 1] ^= 1;
    char what[100];
    snprintf(what, sizeof(what), "block 0 (bytes 0 to %u) differs", bytes - 1);
    must_say(&rig, again, str_of(&text), what);
    weir_buf_release(&text);
    input_rig_release(&rig);
}
END_TEST

START_TEST(a_plain_file_is_compared_at_the_block_it_is_entered_in)
{
    struct input_rig rig;
    input_rig_init(&rig);
    struct weir_buf text = make_text(4 * BLOCK);
    const char *path = input_rig_write(&rig, "a.csv", str_of(&text));
    struct run first = run_with(options_for(&path), UINT64_MAX);
    struct run half = run_with(options_for(&path), first.records / 2);
    struct weir_reader_options again = options_for(&path);
    again.blocks = first.blocks;
    again.block_count = first.block_count;
    again.enter.offset = half.end;
    again.enter_number = half.records + 1;
    struct run rest = run_with(again, UINT64_MAX);
    ck_assert_int_eq(rest.ended, WEIR_STEP_END);
    ck_assert_uint_eq(rest.records + half.records, first.records);
    size_t block = half.end / BLOCK;
    ck_assert_uint_ge(block, 1);
    text.ptr[half.end - 1] ^= 1; /* not to be read again, but in the block */
    input_rig_write(&rig, "a.csv", str_of(&text));
    rest = run_with(again, UINT64_MAX);
    ck_assert_int_eq(rest.ended, WEIR_STEP_BROKEN);
    ck_assert_uint_eq(rest.records, 0);
    weir_buf_release(&text);
    input_rig_release(&rig);
}
END_TEST

START_TEST(size_and_both_ends_of_a_file_on_disk_are_compared)
{
    struct input_rig rig;
    input_rig_init(&rig);
    size_t len = 3 * WEIR_INPUT_EDGE_BYTES;
    struct weir_buf text = make_text(len + 1);
    const char *path = input_rig_write(&rig, "a.csv", weir_str(text.ptr, len));
    struct run first = run_with(options_for(&path), 1);
    ck_assert(first.identity.on_disk);
    struct weir_reader_options again = options_for(&path);
    again.identities = &first.identity;
    ck_assert_int_eq(run_with(again, UINT64_MAX).ended, WEIR_STEP_END);
    static const struct {
        size_t flip;
        size_t len_more;
        const char *what; /* NULL: cannot be noticed this way */
    } rows[] = {
        { 500, 0, "its first MiB differs" },
        { WEIR_INPUT_EDGE_BYTES - 1, 0, "its first MiB differs" },
        { WEIR_INPUT_EDGE_BYTES, 0, NULL },
        { 2 * WEIR_INPUT_EDGE_BYTES - 1, 0, NULL },
        { 2 * WEIR_INPUT_EDGE_BYTES, 0, "its last MiB differs" },
        { 3 * WEIR_INPUT_EDGE_BYTES - 1, 0, "its last MiB differs" },
        { 3 * WEIR_INPUT_EDGE_BYTES, 1, "it had 3145728 bytes and has 3145729 now" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        text.ptr[rows[i].flip] ^= 1;
        input_rig_write(&rig, "a.csv", weir_str(text.ptr, len + rows[i].len_more));
        text.ptr[rows[i].flip] ^= 1;
        struct run run = run_with(again, 1);
        ck_assert_int_eq(run.ended == WEIR_STEP_BROKEN, rows[i].what != NULL);
        if (rows[i].what)
            ck_assert_msg(strstr(run.err.message, rows[i].what) != NULL, "%s", run.err.message);
    }
    first.identity = (struct weir_file_identity){ 0 };
    struct run run = run_with(again, 1);
    ck_assert_msg(strstr(run.err.message, "it was a stream and is a file now") != NULL, "%s",
                  run.err.message);
    weir_buf_release(&text);
    input_rig_release(&rig);
}
END_TEST

/* ---- gzip ---- */

static struct weir_buf pack(const char *a, const char *b)
{
    struct weir_buf packed;
    weir_buf_init(&packed, 100000);
    gzip_add(&packed, weir_str_from(a));
    gzip_add(&packed, weir_str_from(b));
    return packed;
}

#define PART_ONE "a,b\n1,some text to be compressed, compressed, compressed\n"
#define PART_TWO "3,4\n5,6\n7,8\n"

START_TEST(gzip_that_is_cut_anywhere_says_at_which_byte)
{
    struct input_rig rig;
    input_rig_init(&rig);
    struct weir_buf packed = pack(PART_ONE, PART_TWO);
    struct weir_buf one = pack(PART_ONE, "");
    weir_buf_reset(&one);
    gzip_add(&one, weir_str_from(PART_ONE));
    for (size_t len = 2; len <= packed.len; len++) {
        const char *path = input_rig_write(&rig, "a.csv.gz", weir_str(packed.ptr, len));
        struct run run = run_with(options_for(&path), UINT64_MAX);
        bool whole = len == packed.len || len == one.len; /* a member less is no cut */
        char message[512];
        snprintf(message, sizeof(message),
                 "input \"%s\" is cut: it ends within its compressed data, at byte %zu", path, len);
        ck_assert_int_eq(run.ended, whole ? WEIR_STEP_END : WEIR_STEP_BROKEN);
        if (!whole)
            ck_assert_str_eq(run.err.message, message);
    }
    weir_buf_release(&packed);
    weir_buf_release(&one);
    input_rig_release(&rig);
}
END_TEST

/*
 * What is wrong may come out before the check sum behind it tells; but then there is no good end.
 * (Flags, time and the like of gzip's head say nothing about the contents.)
 */
START_TEST(gzip_with_a_wrong_bit_never_comes_to_a_good_end_as_something_else)
{
    struct input_rig rig;
    input_rig_init(&rig);
    struct weir_buf packed = pack(PART_ONE, PART_TWO);
    const char *path = input_rig_write(&rig, "a.csv.gz", str_of(&packed));
    struct run good = run_with(options_for(&path), UINT64_MAX);
    ck_assert_uint_eq(good.block_count, 1);
    size_t noticed = 0;
    for (size_t bit = 16; bit < 8 * packed.len; bit++) {
        packed.ptr[bit / 8] ^= (char)(1 << bit % 8);
        input_rig_write(&rig, "a.csv.gz", str_of(&packed));
        packed.ptr[bit / 8] ^= (char)(1 << bit % 8);
        struct run run = run_with(options_for(&path), UINT64_MAX);
        noticed += run.ended == WEIR_STEP_BROKEN;
        if (run.ended == WEIR_STEP_END)
            must(run.block_count == 1 && run.blocks[0].hash == good.blocks[0].hash);
    }
    ck_assert_uint_gt(noticed, 4 * packed.len);
    weir_buf_release(&packed);
    input_rig_release(&rig);
}
END_TEST

START_TEST(gzip_may_be_padded_with_zeros_and_with_nothing_else)
{
    struct input_rig rig;
    input_rig_init(&rig);
    struct weir_buf packed = pack(PART_ONE, PART_TWO);
    size_t len = packed.len;
    weir_buf_add(&packed, "\0\0\0\0\0", 5);
    const char *path = input_rig_write(&rig, "a.csv.gz", str_of(&packed));
    struct run run = run_with(options_for(&path), UINT64_MAX);
    ck_assert_int_eq(run.ended, WEIR_STEP_END);
    ck_assert_uint_eq(run.records, 4);
    weir_buf_add_char(&packed, 'x');
    input_rig_write(&rig, "a.csv.gz", str_of(&packed));
    run = run_with(options_for(&path), UINT64_MAX);
    char message[512];
    snprintf(message, sizeof(message),
             "input \"%s\" has something else behind its compressed data, at byte %zu", path,
             len + 5);
    ck_assert_int_eq(run.ended, WEIR_STEP_BROKEN);
    ck_assert_str_eq(run.err.message, message);
    ck_assert_uint_eq(run.records, 4); /* what was good comes first */
    packed.ptr[len] = 'x';
    input_rig_write(&rig, "a.csv.gz", str_of(&packed));
    run = run_with(options_for(&path), UINT64_MAX);
    ck_assert_int_eq(run.ended, WEIR_STEP_BROKEN);
    ck_assert_msg(strstr(run.err.message, "is damaged at byte") != NULL, "%s", run.err.message);
    weir_buf_release(&packed);
    input_rig_release(&rig);
}
END_TEST

/* Rows that compress well: far more comes out than goes in, over many blocks. */
START_TEST(gzip_that_grows_a_thousandfold_is_read_in_the_same_memory)
{
    struct input_rig rig;
    input_rig_init(&rig);
    struct weir_buf text;
    weir_buf_init(&text, (size_t)64 << 20);
    weir_buf_add_text(&text, "a\n");
    for (int i = 0; i < 40000; i++)
        weir_buf_printf(&text, "%0500d\n", 0);
    const char *path = input_rig_gzip(&rig, "a.csv.gz", str_of(&text), 1);
    struct run run = run_with(options_for(&path), UINT64_MAX);
    ck_assert_int_eq(run.ended, WEIR_STEP_END);
    ck_assert_uint_eq(run.records, 40000);
    ck_assert_uint_eq(run.end, text.len);
    weir_buf_release(&text);
    input_rig_release(&rig);
}
END_TEST

/* ---- the hash ---- */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

START_TEST(the_hash_notices_every_bit_the_length_and_the_order)
{
    enum {
        HASHES = 200000
    };
    struct weir_rng rng;
    weir_rng_init(&rng, 9, 0);
    static uint64_t hashes[HASHES];
    static unsigned char bytes[300];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)weir_rng_u64(&rng);
    size_t count = 0;
    for (size_t len = 0; len <= sizeof(bytes); len++) { /* all beginnings, all bits of some */
        hashes[count++] = weir_hash64(bytes, len);
        for (size_t bit = 0; len % 37 == 0 && bit < 8 * len; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
            hashes[count++] = weir_hash64(bytes, len);
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
    }
    for (size_t a = 0; a < 32; a++) { /* words that change places */
        for (size_t b = a + 1; b < 32; b++) {
            unsigned char other[256];
            memcpy(other, bytes, sizeof(other));
            memcpy(other + 8 * a, bytes + 8 * b, 8);
            memcpy(other + 8 * b, bytes + 8 * a, 8);
            hashes[count++] = weir_hash64(other, sizeof(other));
        }
    }
    static const unsigned char zeros[5000];
    for (size_t len = 1; len < sizeof(zeros); len++) /* zeros differ from padding */
        hashes[count++] = weir_hash64(zeros, len);
    for (uint64_t i = 1; count < HASHES; i++) /* numbers, as rows have them */
        hashes[count++] = weir_hash64(&i, sizeof(i));
    qsort(hashes, count, sizeof(hashes[0]), by_value);
    for (size_t i = 1; i < count; i++)
        must(hashes[i] != hashes[i - 1]);
}
END_TEST

START_TEST(the_hash_of_bytes_that_become_more_is_that_of_all_of_them)
{
    struct weir_rng rng;
    unsigned char bytes[2000];
    weir_rng_init(&rng, 11, 0);
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)weir_rng_u64(&rng);
    for (int round = 0; round < 200; round++) {
        struct weir_hash_run run;
        weir_hash_run_init(&run);
        for (size_t len = 0; len <= sizeof(bytes); len += weir_rng_below(&rng, 200))
            ck_assert_uint_eq(weir_hash_run_to(&run, bytes, len), weir_hash64(bytes, len));
    }
}
END_TEST

/* Journaled values must mean the same tomorrow: these were computed once. */
START_TEST(the_hash_does_not_change_between_versions)
{
    ck_assert_uint_eq(weir_hash64("", 0), UINT64_C(0x7590f97a500a1e42));
    ck_assert_uint_eq(weir_hash64("weir", 4), UINT64_C(0xea536a76382c6156));
    char text[200];
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)i;
    ck_assert_uint_eq(weir_hash64(text, sizeof(text)), UINT64_C(0x756a29763c1bfc62));
}
END_TEST

int main(void)
{
    struct suite s = suite_new("input_changed");
    suite_add_loop(&s, "blocks_tell_where_an_input_differs_before_a_row_of_them_is_read",
                   blocks_tell_where_an_input_differs_before_a_row_of_them_is_read, 2);
    suite_add(&s, an_input_that_became_shorter_or_longer_is_noticed);
    suite_add(&s, a_block_of_which_only_a_part_was_read_is_compared_so_far);
    suite_add(&s, a_plain_file_is_compared_at_the_block_it_is_entered_in);
    suite_add(&s, size_and_both_ends_of_a_file_on_disk_are_compared);
    suite_add(&s, gzip_that_is_cut_anywhere_says_at_which_byte);
    suite_add(&s, gzip_with_a_wrong_bit_never_comes_to_a_good_end_as_something_else);
    suite_add(&s, gzip_may_be_padded_with_zeros_and_with_nothing_else);
    suite_add(&s, gzip_that_grows_a_thousandfold_is_read_in_the_same_memory);
    suite_add(&s, the_hash_notices_every_bit_the_length_and_the_order);
    suite_add(&s, the_hash_of_bytes_that_become_more_is_that_of_all_of_them);
    suite_add(&s, the_hash_does_not_change_between_versions);
    return suite_run(&s);
}
