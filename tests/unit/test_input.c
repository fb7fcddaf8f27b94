/* SPDX-License-Identifier: MIT */
/* Files in a row, gzip, streams, and entering them again; what is wrong with a file as a whole. */
#include <sys/wait.h>

#include "base/rng.h"
#include "support/input_rig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ROWS         60000 /* more than two blocks of them */
#define WIDTH        200

static void must_fail(const struct weir_reader_options *options, const char *message)
{
    struct weir_reader *reader = NULL;
    struct weir_error err = { 0 };
    ck_assert_int_ne(weir_reader_new(options, &reader, &err), WEIR_OK);
    ck_assert_str_eq(err.message, message);
    ck_assert_ptr_null(reader);
}

static struct weir_reader *must_open(const struct weir_reader_options *options)
{
    struct weir_reader *reader = NULL;
    struct weir_error err = { 0 };
    enum weir_status status = weir_reader_new(options, &reader, &err);
    ck_assert_msg(status == WEIR_OK, "%s", err.message);
    return reader;
}

/* Records from `first` on are the rows of make_rows(), to `last`; fills `kept` if it is there. */
static void must_read(struct weir_reader *reader, uint64_t first, uint64_t last,
                      struct weir_record *kept)
{
    struct weir_arena *arena = weir_arena_new(WEIR_BATCH_BYTES_ENOUGH);
    struct weir_record record;
    struct weir_error err = { 0 };
    uint64_t number = first;
    enum weir_step step;
    while ((step = weir_reader_next(reader, arena, &record, &err)) != WEIR_STEP_END) {
        if (step == WEIR_STEP_FULL) {
            weir_arena_reset(arena);
            continue;
        }
        ck_assert_msg(step == WEIR_STEP_RECORD, "row %llu: %s", (unsigned long long)number,
                      err.message);
        char expected[32];
        snprintf(expected, sizeof(expected), "%llu", (unsigned long long)number);
        must(!record.problem && record.number == number && record.cell_count == 2);
        must(weir_str_equal(record.cells[0], weir_str_from(expected)));
        must(record.cells[1].len == number % WIDTH + 2 || record.cells[1].len < 14);
        if (kept)
            kept[number] = record;
        number++;
    }
    must(number == last + 1);
    weir_arena_unref(arena);
}

START_TEST(rows_run_through_over_plain_and_gzip_files)
{
    struct input_rig rig;
    input_rig_init(&rig);
    struct weir_buf a = make_rows(1, 1000, WIDTH);
    struct weir_buf b = make_rows(1001, 1000, WIDTH);
    struct weir_buf c = make_rows(2001, 1, WIDTH);
    const char *paths[] = { input_rig_write(&rig, "a.csv", str_of(&a)),
                            input_rig_gzip(&rig, "b.CSV.gz", str_of(&b), 5),
                            input_rig_gzip(&rig, "named_plain.csv", str_of(&c), 1) };
    struct weir_reader_options options = { .paths = paths, .path_count = 3 };
    struct weir_reader *reader = must_open(&options);
    static struct weir_record kept[2002];
    must_read(reader, 1, 2001, kept);
    ck_assert_ptr_eq(weir_reader_format(reader), &weir_format_csv);
    ck_assert_uint_eq(weir_reader_columns(reader).count, 2);
    ck_assert_uint_eq(kept[1000].place.file, 0);
    ck_assert_uint_eq(kept[1000].place.end, a.len);
    ck_assert_uint_eq(kept[1001].place.file, 1);
    ck_assert_uint_eq(kept[1001].place.offset, 12);
    ck_assert_uint_eq(kept[1001].place.line, 2);
    ck_assert_uint_eq(kept[2001].place.file, 2);
    ck_assert_uint_eq(kept[2001].place.end, c.len);
    weir_reader_free(reader);
    weir_buf_release(&a);
    weir_buf_release(&b);
    weir_buf_release(&c);
    input_rig_release(&rig);
}
END_TEST

enum way {
    PLAIN,
    GZIP,
    STDIN,
    STDIN_GZIP,
    WAYS
};

/* One file of ROWS rows, entered at many places in each way it can come. */
START_TEST(a_reader_enters_at_the_place_of_any_record)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 5, (uint64_t)_i);
    struct input_rig rig;
    input_rig_init(&rig);
    struct weir_buf text = make_rows(1, ROWS, WIDTH);
    const char *path = _i == PLAIN || _i == STDIN
                           ? input_rig_write(&rig, "a.csv", str_of(&text))
                           : input_rig_gzip(&rig, "a.csv.gz", str_of(&text), 3);
    bool is_stdin = _i == STDIN || _i == STDIN_GZIP;
    const char *paths[] = { is_stdin ? "-" : path };
    struct weir_reader_options options = { .paths = paths, .path_count = 1 };
    options.format = &weir_format_csv;
    static struct weir_record kept[ROWS + 1];
    for (int n = 0; n < 12; n++) {
        options.stdin_fd = is_stdin ? open(path, O_RDONLY) : -1;
        uint64_t from = n == 0 ? 0 : n == 1 ? 1 : n == 2 ? ROWS : 1 + weir_rng_below(&rng, ROWS);
        options.enter_number = from;
        options.enter = kept[from].place;
        struct weir_reader *reader = must_open(&options);
        must_read(reader, from ? from : 1, ROWS, from ? NULL : kept);
        weir_reader_free(reader);
        if (is_stdin)
            close(options.stdin_fd);
    }
    weir_buf_release(&text);
    input_rig_release(&rig);
}
END_TEST

START_TEST(a_later_file_is_entered_with_the_columns_of_the_first)
{
    struct input_rig rig;
    input_rig_init(&rig);
    struct weir_buf a = make_rows(1, 50, WIDTH);
    struct weir_buf b = make_rows(51, 50, WIDTH);
    const char *paths[] = { input_rig_write(&rig, "a.csv", str_of(&a)),
                            input_rig_write(&rig, "b.csv", str_of(&b)) };
    struct weir_reader_options options = { .paths = paths, .path_count = 2 };
    static struct weir_record kept[101];
    struct weir_reader *reader = must_open(&options);
    must_read(reader, 1, 100, kept);
    weir_reader_free(reader);
    for (uint64_t from = 1; from <= 100; from += 7) {
        options.enter_number = from;
        options.enter = kept[from].place;
        reader = must_open(&options);
        must_read(reader, from, 100, NULL);
        weir_reader_free(reader);
    }
    input_rig_write(&rig, "a.csv", weir_str_from("number,other\n"));
    char message[512];
    snprintf(message, sizeof(message),
             "input \"%s\" has a header that names column 2 \"text\"; it must be \"other\", as in "
             "the first file",
             paths[1]);
    must_fail(&options, message);
    options.enter.file = 2;
    must_fail(&options, "the next row stands in file number 3; only 2 are named");
    weir_buf_release(&a);
    weir_buf_release(&b);
    input_rig_release(&rig);
}
END_TEST

/* A child that writes a few bytes at a time; standard input is a pipe. */
START_TEST(a_pipe_that_drips_is_read_like_a_file)
{
    struct weir_buf text = make_rows(1, 300, WIDTH);
    int ends[2];
    ck_assert(!pipe(ends));
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        for (size_t at = 0; at < text.len;) {
            size_t len = text.len - at < 1 + at % 37 ? text.len - at : 1 + at % 37;
            if (write(ends[1], text.ptr + at, len) != (ssize_t)len)
                _exit(1);
            at += len;
        }
        _exit(0);
    }
    close(ends[1]);
    const char *paths[] = { "-" };
    struct weir_reader_options options = {
        .paths = paths, .path_count = 1, .stdin_fd = ends[0], .format = &weir_format_csv
    };
    struct weir_reader *reader = must_open(&options);
    ck_assert_str_eq(weir_reader_name(reader, 0), "standard input");
    ck_assert(!weir_reader_identities(reader)[0].on_disk);
    must_read(reader, 1, 300, NULL);
    weir_reader_free(reader);
    close(ends[0]);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    weir_buf_release(&text);
}
END_TEST

/* ---- what is wrong with a file as a whole ---- */

START_TEST(what_cannot_be_read_is_said_before_anything_is)
{
    struct input_rig rig;
    input_rig_init(&rig);
    const char *good = input_rig_write(&rig, "a.csv", weir_str_from("a,b\n1,2\n"));
    const char *tabs = input_rig_write(&rig, "a.tsv", weir_str_from("a\tb\n1\t2\n"));
    const char *gz = input_rig_write(&rig, "b.csv.gz", weir_str_from("a,b\n1,2\n"));
    const char *empty = input_rig_write(&rig, "e.csv", weir_str_from(""));
    const char *data = input_rig_write(&rig, "a.dat", weir_str_from("a,b\n1,2\n"));
    char missing[128];
    char message[512];
    struct weir_reader_options options = { 0 };
    must_fail(&options, "no input file is named");

    snprintf(missing, sizeof(missing), "%s/missing.csv", rig.folder);
    options =
        (struct weir_reader_options){ .paths = (const char *[]){ good, missing }, .path_count = 2 };
    snprintf(message, sizeof(message), "input \"%s\" cannot be opened: No such file or directory",
             missing);
    must_fail(&options, message);

    options = (struct weir_reader_options){ .paths = (const char *[]){ rig.folder },
                                            .path_count = 1,
                                            .format = &weir_format_csv };
    snprintf(message, sizeof(message), "input \"%s\" is a directory; it must be a file",
             rig.folder);
    must_fail(&options, message);

    options.paths = (const char *[]){ gz };
    snprintf(message, sizeof(message), "input \"%s\" is named .gz but does not begin as gzip does",
             gz);
    must_fail(&options, message);

    options.paths = (const char *[]){ empty };
    snprintf(message, sizeof(message),
             "input \"%s\" has no header; its first line must name the columns", empty);
    must_fail(&options, message);

    options =
        (struct weir_reader_options){ .paths = (const char *[]){ good, tabs }, .path_count = 2 };
    snprintf(message, sizeof(message),
             "input \"%s\" is tsv by its name; all files must be csv as the first is", tabs);
    must_fail(&options, message);

    options.paths = (const char *[]){ good, data };
    snprintf(message, sizeof(message),
             "the format of input \"%s\" cannot be told from its name; say it with --format "
             "csv, tsv or jsonl, or name the file .csv, .tsv, .jsonl or .ndjson, with .gz if it is "
             "packed",
             data);
    must_fail(&options, message);

    options.paths = (const char *[]){ "-", "-" };
    must_fail(&options, "standard input (\"-\") is named 2 times; it can be read once");

    static const char *many[WEIR_INPUT_FILES_MAX + 1];
    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = good;
    options = (struct weir_reader_options){ .paths = many, .path_count = COUNT(many) };
    must_fail(&options, "\"10001\" input files are named; at most 10000 may be");
    input_rig_release(&rig);
}
END_TEST

/* The first file has one row; then the second is wrong, for good. */
static void must_break_off(const struct weir_reader_options *options, const char *message)
{
    struct weir_reader *reader = must_open(options);
    struct weir_arena *arena = weir_arena_new(1000);
    struct weir_record record;
    struct weir_error err;
    ck_assert_int_eq(weir_reader_next(reader, arena, &record, &err), WEIR_STEP_RECORD);
    for (int again = 0; again < 2; again++) {
        ck_assert_int_eq(weir_reader_next(reader, arena, &record, &err), WEIR_STEP_BROKEN);
        ck_assert_str_eq(err.message, message);
    }
    weir_arena_unref(arena);
    weir_reader_free(reader);
}

START_TEST(a_later_header_that_differs_is_refused_and_the_difference_named)
{
    static const struct {
        const char *header;
        const char *sentence;
    } rows[] = {
        { "a,c\n",
          "has a header that names column 2 \"c\"; it must be \"b\", as in the first file" },
        { "b,a\n",
          "has a header that names column 1 \"b\"; it must be \"a\", as in the first file" },
        { "a\n", "has a header that names 1 columns; there must be 2, as in the first file" },
        { "a,b,c\n", "has a header that names 3 columns; there must be 2, as in the first file" },
        { "", "has no header; its first line must name the columns" },
    };
    struct input_rig rig;
    input_rig_init(&rig);
    const char *first = input_rig_write(&rig, "a.csv", weir_str_from("\"a\",b\n1,2\n"));
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *paths[] = { first,
                                input_rig_write(&rig, "b.csv", weir_str_from(rows[i].header)) };
        struct weir_reader_options options = { .paths = paths, .path_count = 2 };
        char message[512];
        snprintf(message, sizeof(message), "input \"%s\" %s", paths[1], rows[i].sentence);
        must_fail(&options, message); /* before anything of the first is read */
        paths[1] = "-";
        options.stdin_fd = open(rig.paths[1], O_RDONLY);
        options.format = &weir_format_csv;
        snprintf(message, sizeof(message), "input \"standard input\" %s", rows[i].sentence);
        must_break_off(&options, message);
        close(options.stdin_fd);
    }
    input_rig_release(&rig);
}
END_TEST

START_TEST(a_third_file_is_looked_at_before_the_first_is_read_on_a_resume_too)
{
    struct input_rig rig;
    input_rig_init(&rig);
    struct weir_buf big = make_rows(1, ROWS, WIDTH);
    struct weir_block block = { .bytes = 1, .hash = 1 }; /* not compared for the head's sake */
    const char *paths[] = { input_rig_write(&rig, "a.csv", str_of(&big)),
                            input_rig_gzip(&rig, "b.csv", str_of(&big), 2),
                            input_rig_write(&rig, "c.csv", weir_str_from("number\n")) };
    struct weir_reader_options options = { .paths = paths, .path_count = 3 };
    options.blocks = &block;
    options.block_count = 1;
    char message[512];
    snprintf(message, sizeof(message),
             "input \"%s\" has a header that names 1 columns; there must be 2, as in the first "
             "file",
             paths[2]);
    must_fail(&options, message);
    weir_buf_release(&big);
    input_rig_release(&rig);
}
END_TEST

/* ---- a stream that falls silent ---- */

struct silence {
    int to;
    int calls;
    struct weir_reader *reader;
    struct weir_block block;
};

/* The second time, it speaks again; then it ends. */
static int on_idle(void *ctx)
{
    struct silence *silence = ctx;
    must(weir_reader_grown_block(silence->reader, 1, &silence->block) == (silence->calls != 1));
    if (++silence->calls == 1)
        return 1;
    if (silence->calls == 2)
        must(write(silence->to, "2,b\n", 4) == 4);
    else
        close(silence->to);
    return -1;
}

START_TEST(whoever_waits_for_a_stream_is_told_and_may_see_how_far_it_came)
{
    int ends[2];
    ck_assert(!pipe(ends));
    const char *paths[] = { "-" };
    struct weir_reader_options options = {
        .paths = paths, .path_count = 1, .stdin_fd = ends[0], .format = &weir_format_csv
    };
    must(write(ends[1], "number,text\n1,a\n", 16) == 16);
    struct weir_reader *reader = must_open(&options);
    struct silence silence = { .to = ends[1], .reader = reader };
    weir_reader_watch(reader, (struct weir_idle){ on_idle, &silence });
    ck_assert(weir_reader_may_wait(reader));
    must_read(reader, 1, 2, NULL);
    ck_assert_int_eq(silence.calls, 3);
    ck_assert_uint_eq(silence.block.bytes, 20);
    ck_assert(!weir_reader_grown_block(reader, 1, &silence.block)); /* it is finished */
    weir_reader_free(reader);
    close(ends[0]);
}
END_TEST

/* Compared as far as it was journaled, a stream need not go on for its first rows to come out. */
START_TEST(a_stream_is_compared_as_far_as_it_was_journaled)
{
    int ends[2];
    ck_assert(!pipe(ends));
    const char *paths[] = { "-" };
    struct weir_block block = weir_block_make(0, 0, weir_str("number,text\n1,a\n", 16), false);
    struct weir_reader_options options = {
        .paths = paths, .path_count = 1, .stdin_fd = ends[0], .format = &weir_format_csv
    };
    options.blocks = &block;
    options.block_count = 1;
    struct weir_arena *arena = weir_arena_new(1000);
    struct weir_record record;
    struct weir_error err;
    must(write(ends[1], _i ? "number,text\n1,x\n2" : "number,text\n1,a\n2", 17) == 17);
    struct weir_reader *reader = NULL;
    enum weir_status status = weir_reader_new(&options, &reader, &err);
    ck_assert_int_eq(status, _i ? WEIR_E_INVALID : WEIR_OK);
    if (!_i)
        ck_assert_int_eq(weir_reader_next(reader, arena, &record, &err), WEIR_STEP_RECORD);
    weir_reader_free(reader);
    weir_arena_unref(arena);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("input");
    suite_add(&s, rows_run_through_over_plain_and_gzip_files);
    suite_add_loop(&s, "a_reader_enters_at_the_place_of_any_record",
                   a_reader_enters_at_the_place_of_any_record, WAYS);
    suite_add(&s, a_later_file_is_entered_with_the_columns_of_the_first);
    suite_add(&s, a_pipe_that_drips_is_read_like_a_file);
    suite_add(&s, what_cannot_be_read_is_said_before_anything_is);
    suite_add(&s, a_later_header_that_differs_is_refused_and_the_difference_named);
    suite_add(&s, a_third_file_is_looked_at_before_the_first_is_read_on_a_resume_too);
    suite_add(&s, whoever_waits_for_a_stream_is_told_and_may_see_how_far_it_came);
    suite_add_loop(&s, "a_stream_is_compared_as_far_as_it_was_journaled",
                   a_stream_is_compared_as_far_as_it_was_journaled, 2);
    return suite_run(&s);
}
