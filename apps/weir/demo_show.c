/* SPDX-License-Identifier: MIT */
/* What weir demo shows; see demo_show.h. From the first scene to the last. */
#include "demo_show.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "demo_world.h"
#include "exit_code.h"
#include "figures.h"
#include "journal/place.h"
#include "resume_line.h"
#include "text_table.h"
#include "wrap.h"

#define NEIGHBOUR_REQUESTS 110                      /* of DEMO_REQUESTS */
#define AT_A_TIME          "12"                     /* so that there is time to watch */
#define LOOK_US            (WEIR_US_PER_S / 4)      /* between two looks at the books */
#define PATIENCE_US        (5 * WEIR_US_PER_MINUTE) /* for a command */
#define COMMAND_GRACE_US   (10 * WEIR_US_PER_S)
#define SIM_GRACE_US       (WEIR_US_PER_S / 2)
#define SIM_PATIENCE_MS    30000           /* until the simulator serves */
#define MORE               " \\"           /* of a command */
#define EARLY_ROWS         (DEMO_ROWS / 4) /* when app1 has been throttled … */
#define LATE_ROWS          (DEMO_ROWS / 2) /* … and in any case */

/* --- words ------------------------------------------------------------------------------------ */

/* Of standard output, where all of it is shown. */
static size_t width(void)
{
    size_t columns = wrap_columns(STDOUT_FILENO);
    return columns ? columns : WRAP_COLUMNS;
}

/* A paragraph, and an empty line after it. */
WEIR_PRINTF(2, 3)
static void tell(const char *number, const char *format, ...)
{
    char text[PATH_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    wrap_print(stdout, number, strlen(number), width(), text);
    putchar('\n');
}

static struct weir_path path_of(const struct demo_show *show, const char *name)
{
    return weir_path_join(show->folder, name);
}

static enum weir_status cancelled(struct weir_error *err)
{
    return weir_fail(err, WEIR_E_CANCELLED, "interrupted");
}

/* --- 1. the world ----------------------------------------------------------------------------- */

/* The first line that the simulator prints: "listening URL". */
static enum weir_status read_listening(int fd, char url[64], struct weir_error *err)
{
    char line[128] = "";
    size_t len = 0;
    struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
    while (len < sizeof(line) - 1 && !memchr(line, '\n', len)) {
        ssize_t got = poll(&poll_fd, 1, SIM_PATIENCE_MS) == 1
                          ? read(fd, line + len, sizeof(line) - 1 - len)
                          : 0;
        if (got <= 0)
            return weir_fail(err, WEIR_E_INVALID, "weir-sim does not start");
        len += (size_t)got;
    }
    line[len] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "listening %63s", url) != 1 || !strrchr(url, ':'))
        return weir_fail(err, WEIR_E_INVALID, "weir-sim says \"%.60s\", not where it listens",
                         line);
    return WEIR_OK;
}

static enum weir_status start_simulator(struct demo_show *show, char url[64],
                                        struct weir_error *err)
{
    struct weir_path scenario = path_of(show, DEMO_SCENARIO);
    const char *words[] = { "weir-sim", "--port", "0", "--scenario", scenario.text, NULL };
    int log = open(path_of(show, DEMO_SIM_LOG).text, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    int fds[2];
    if (log < 0 || pipe2(fds, O_CLOEXEC)) {
        if (log >= 0)
            close(log);
        return weir_fail(err, WEIR_E_IO, "weir-sim cannot be started: %s", strerror(errno));
    }
    struct demo_start start = {
        .path = show->sim, .words = words, .out_fd = fds[1], .err_fd = log
    };
    enum weir_status status = demo_process_start(&show->simulator, &start, err);
    close(fds[1]);
    close(log);
    if (!status)
        status = read_listening(fds[0], url, err);
    close(fds[0]);
    return status;
}

/* How to log in, as the simulator itself says it: there are secrets in it. */
static enum weir_status write_settings(struct demo_show *show, const char *url, const char *users,
                                       const char *name, struct weir_error *err)
{
    struct weir_path scenario = path_of(show, DEMO_SCENARIO);
    const char *words[] = { "weir-sim",   "--port",         strrchr(url, ':') + 1,
                            "--scenario", scenario.text,    "--users",
                            users,        "--print-config", NULL };
    int fd = open(path_of(show, name).text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return weir_fail(err, WEIR_E_IO, "the settings cannot be written: %s", strerror(errno));
    struct demo_start start = {
        .path = show->sim, .words = words, .out_fd = fd, .err_fd = STDERR_FILENO
    };
    enum weir_status status = demo_process_start(&show->command, &start, err);
    close(fd);
    if (status)
        return status;
    status = demo_process_wait(&show->command, PATIENCE_US);
    if (status == WEIR_E_CANCELLED)
        return cancelled(err);
    if (status || show->command.code)
        return weir_fail(err, WEIR_E_INVALID, "weir-sim does not say how to log in");
    return WEIR_OK;
}

static enum weir_status make_world(struct demo_show *show, struct weir_error *err)
{
    char url[64];
    enum weir_status status = demo_world_write(show->folder, err);
    if (!status)
        status = start_simulator(show, url, err);
    if (!status)
        status = write_settings(show, url, "3", DEMO_SETTINGS, err);
    if (!status)
        status = write_settings(show, url, "1", DEMO_OTHER, err);
    if (status)
        return status;
    tell("1. ",
         "The world. weir-sim, a Dataverse of our own, listens on %s. Its application users app1, "
         "app2 and app3 may each send %d requests in any %d s, as they may send 6,000 in 300 s to "
         "the real one. A file has %s accounts: text, money, numbers, choices, dates, and a lookup "
         "to their currency.",
         url, DEMO_REQUESTS, DEMO_WINDOW_S, figure_count(DEMO_ROWS).text);
    return WEIR_OK;
}

/* --- 2. the neighbour ------------------------------------------------------------------------- */

static enum weir_status meet_neighbour(struct demo_show *show, struct weir_error *err)
{
    enum weir_status status = demo_books_init(&show->books, path_of(show, DEMO_OTHER).text, err);
    if (!status)
        status = demo_books_spend(&show->books, NEIGHBOUR_REQUESTS, err);
    if (!status)
        tell("2. ",
             "A neighbour. Another program works as app1, too, and has just sent %d of its %d.",
             NEIGHBOUR_REQUESTS, DEMO_REQUESTS);
    return status;
}

/* --- 3. and 4. commands ----------------------------------------------------------------------- */

/* As it would be typed; a line that is too wide goes on in the next. */
static void show_command(const char *const *words)
{
    size_t columns = width(), at = 1;
    struct weir_buf text;
    weir_buf_init(&text, (size_t)5 * PATH_MAX);
    putchar('$');
    for (const char *const *word = words; *word; word++) {
        weir_buf_reset(&text);
        resume_line_quote(&text, *word);
        bool fits = at + 1 + text.len + strlen(MORE) <= columns || word == words;
        printf("%s%s", fits ? " " : MORE "\n    ", weir_buf_text(&text));
        at = text.len + (fits ? at + 1 : 4);
    }
    putchar('\n');
    weir_buf_release(&text);
}

static enum weir_status start_command(struct demo_show *show, const char *const *words,
                                      struct weir_error *err)
{
    struct demo_start start = { .path = show->weir,
                                .words = words,
                                .out_fd = STDOUT_FILENO,
                                .err_fd = STDOUT_FILENO,
                                .folder = show->folder };
    show_command(words);
    if (fflush(stdout) || ferror(stdout)) /* what it says comes after this */
        return weir_fail(err, WEIR_E_IO, "standard output cannot be written");
    return demo_process_start(&show->command, &start, err);
}

static enum weir_status is_time_for_ctrl_c(struct demo_show *show, bool *ret,
                                           struct weir_error *err)
{
    struct demo_ledger ledger;
    int64_t throttles[DEMO_USERS];
    enum weir_status status = demo_books_ledger(&show->books, &ledger, err);
    if (!status)
        status = demo_books_throttles(&show->books, throttles, err);
    if (!status)
        *ret = ledger.rows >= (throttles[0] ? EARLY_ROWS : LATE_ROWS);
    return status;
}

/* Until the command ends; `interrupt`: by Ctrl-C, when there is something to see. */
static enum weir_status attend(struct demo_show *show, bool interrupt, struct weir_error *err)
{
    int64_t until_us = weir_clock_now_us() + PATIENCE_US;
    enum weir_status status;
    while ((status = demo_process_wait(&show->command, LOOK_US)) == WEIR_E_WOULD_WAIT) {
        bool now = false;
        if (interrupt && is_time_for_ctrl_c(show, &now, err))
            return err->status;
        if (now)
            demo_process_interrupt(&show->command);
        interrupt = interrupt && !now;
        if (weir_clock_now_us() > until_us)
            return weir_fail(err, WEIR_E_INVALID, "a command does not end");
    }
    return status == WEIR_E_CANCELLED ? cancelled(err) : status;
}

static enum weir_status load(struct demo_show *show, struct weir_error *err)
{
    const char *words[] = { "weir",           "create",    "account", DEMO_INPUT, "--owner",
                            "caller",         "--job-dir", DEMO_JOB,  "--report", DEMO_FIRST,
                            "--max-parallel", AT_A_TIME,   NULL };
    const char *go[] = { "cd", show->folder, NULL };
    tell(
        "3. ",
        "The load. app1 runs into its limit, app2 and app3 take over its work; then comes Ctrl-C.");
    show_command(go);
    enum weir_status status = start_command(show, words, err);
    if (!status)
        status = attend(show, true, err);
    if (!status && show->command.code != EXIT_INTERRUPTED)
        status = weir_fail(err, WEIR_E_INVALID, "weir create ended with %d, not %d (interrupted)",
                           show->command.code, EXIT_INTERRUPTED);
    return status;
}

static enum weir_status resume(struct demo_show *show, struct weir_error *err)
{
    /* NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one word, of a directory and a name */
    const char *words[] = { "weir",      "resume",         "./" DEMO_JOB, "--report",
                            DEMO_SECOND, "--max-parallel", AT_A_TIME,     NULL };
    putchar('\n');
    tell("4. ", "The resume. What was on its way came home, and the journal knows it.");
    enum weir_status status = start_command(show, words, err);
    if (!status)
        status = attend(show, false, err);
    if (!status && show->command.code != EXIT_DONE)
        status = weir_fail(err, WEIR_E_INVALID, "weir resume ended with %d", show->command.code);
    return status;
}

/* --- 5. the proof ----------------------------------------------------------------------------- */

static void show_users(const int64_t *before, const int64_t *after, const int64_t *throttles)
{
    static const struct text_table_column columns[] = { { "user", false, 0 },
                                                        { "rows before Ctrl-C", true, 0 },
                                                        { "rows after it", true, 0 },
                                                        { "throttled", true, 0 } };
    struct text_table table;
    text_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < DEMO_USERS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "app%zu", i + 1);
        text_table_add(&table, name);
        text_table_add(&table, figure_count((uint64_t)before[i]).text);
        text_table_add(&table, figure_count((uint64_t)after[i]).text);
        text_table_add(&table, figure_count((uint64_t)throttles[i]).text);
    }
    text_table_print(&table, stdout);
    text_table_release(&table);
}

static enum weir_status judge(const struct demo_ledger *ledger, const int64_t *before,
                              const int64_t *throttles, struct weir_error *err)
{
    if (ledger->rows != DEMO_ROWS || ledger->distinct != DEMO_ROWS || ledger->duplicates != 0)
        return weir_fail(err, WEIR_E_INVALID, "the ledger should have %s rows and no duplicate",
                         figure_count(DEMO_ROWS).text);
    if (throttles[0] == 0)
        return weir_fail(err, WEIR_E_INVALID, "app1 was never throttled");
    if (before[0] >= before[1] || before[0] >= before[2])
        return weir_fail(err, WEIR_E_INVALID, "the others did not take over");
    return WEIR_OK;
}

static enum weir_status prove(struct demo_show *show, const int64_t *before, struct weir_error *err)
{
    struct demo_ledger ledger;
    int64_t after[DEMO_USERS], throttles[DEMO_USERS];
    enum weir_status status = demo_books_ledger(&show->books, &ledger, err);
    if (!status)
        status = demo_books_throttles(&show->books, throttles, err);
    if (!status)
        status = demo_books_rows(path_of(show, DEMO_JOB).text, after, err);
    if (status)
        return status;
    putchar('\n');
    tell("5. ", "The proof, by the simulator's own books.");
    tell("", "the ledger has %s rows, %s different account numbers, %" PRId64 " duplicates",
         figure_count((uint64_t)ledger.rows).text, figure_count((uint64_t)ledger.distinct).text,
         ledger.duplicates);
    show_users(before, after, throttles);
    return judge(&ledger, before, throttles, err);
}

static enum weir_status show_files(const struct demo_show *show, struct weir_error *err)
{
    static const struct {
        const char *name;
        const char *what;
        bool report;
    } files[] = {
        { DEMO_FIRST, "the report of the load, a page for a browser", true },
        { DEMO_SECOND, "the report of its resume", true },
        { DEMO_INPUT, "the rows that were loaded", false },
        { DEMO_JOB "/summary.json", "all figures", false },
        { DEMO_JOB "/ids.csv", "the id of every row", false },
        { DEMO_JOB "/journal.db", "the journal: from it the resume knew what was done", false },
    };
    printf("\nTo look at, in %s:\n", show->folder);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (!files[i].report && !show->kept)
            continue;
        if (access(path_of(show, files[i].name).text, R_OK))
            return weir_fail(err, WEIR_E_INVALID, "there is no %s", files[i].name);
        printf("  %-18s  %s\n", files[i].name, files[i].what);
    }
    return WEIR_OK;
}

enum weir_status demo_show_run(struct demo_show *show, struct weir_error *err)
{
    int64_t began_us = weir_clock_now_us(), before[DEMO_USERS];
    enum weir_status status = make_world(show, err);
    if (!status)
        status = meet_neighbour(show, err);
    if (!status)
        status = load(show, err);
    if (!status)
        status = demo_books_rows(path_of(show, DEMO_JOB).text, before, err);
    if (!status)
        status = resume(show, err);
    if (!status)
        status = prove(show, before, err);
    if (!status)
        status = show_files(show, err);
    if (!status)
        printf("\n%s rows, none lost, none doubled, in %.0f s.\n", figure_count(DEMO_ROWS).text,
               (double)(weir_clock_now_us() - began_us) / WEIR_US_PER_S);
    return status;
}

void demo_show_release(struct demo_show *show, bool at_once)
{
    if (at_once) /* its service goes, and perhaps its folder: how to go on with it is no use */
        demo_process_kill(&show->command);
    demo_process_end(&show->command, COMMAND_GRACE_US);
    demo_books_release(&show->books);
    demo_process_end(&show->simulator, SIM_GRACE_US); /* nothing of it is needed any more */
}
