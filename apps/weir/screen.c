/* SPDX-License-Identifier: MIT */
/* Standard error with something that stays at its bottom; see screen.h. */
#include "screen.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"

#define PATIENCE_MS 1000
#define COLUMNS_MAX 10000u /* a terminal that says more is not believed */
#define BYTES_MAX   ((size_t)1024 * 1024)
#define CURSOR_HIDE "\033[?25l"
#define CURSOR_SHOW "\033[?25h"
#define ERASE_LINE  "\033[K" /* from the cursor on */
#define ERASE_BELOW "\033[J"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. */
static struct weir_buf standing; /* the lines as they were written */
static unsigned standing_columns;
static bool ended;

/* Set by SIGCONT: a shell has written meanwhile, nobody knows where the cursor is. */
static volatile sig_atomic_t continued;

/* --- the descriptor --------------------------------------------------------------------------- */

/* Standard error may be one that does not wait; whoever shares it may have made it so. */
static bool wait_for_room(int timeout_ms)
{
    struct pollfd out = { .fd = STDERR_FILENO, .events = POLLOUT };
    return poll(&out, 1, timeout_ms) == 1 && out.revents & POLLOUT;
}

bool screen_has_room(void)
{
    return wait_for_room(0);
}

static void write_all(const char *text, size_t len)
{
    while (len > 0) {
        ssize_t written = write(STDERR_FILENO, text, len);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EAGAIN && wait_for_room(PATIENCE_MS))
            continue;
        if (written <= 0)
            return; /* there is nobody to tell */
        text += written;
        len -= (size_t)written;
    }
}

bool screen_is_possible(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

void screen_size(unsigned *ret_columns, unsigned *ret_lines)
{
    struct winsize size = { 0 };
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0;
    *ret_columns = known && size.ws_col > 0 && size.ws_col < COLUMNS_MAX ? size.ws_col : 80;
    *ret_lines = known && size.ws_row > 0 && size.ws_row < COLUMNS_MAX ? size.ws_row : 24;
}

static bool take_lock(void)
{
    struct timespec until;
    weir_clock_deadline(PATIENCE_MS * WEIR_US_PER_MS, &until);
    return pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, &until) == 0;
}

static void on_continued(int number)
{
    (void)number;
    continued = 1;
}

void screen_begin(void)
{
    struct sigaction action = { .sa_handler = on_continued, .sa_flags = SA_RESTART };
    sigemptyset(&action.sa_mask);
    sigaction(SIGCONT, &action, NULL);
}

/* --- lines ------------------------------------------------------------------------------------ */

/* The first line without its end; *text goes on after it. */
static struct weir_str next_line(struct weir_str *text)
{
    const char *end = memchr(text->ptr, '\n', text->len);
    size_t len = end ? (size_t)(end - text->ptr) : text->len;
    struct weir_str line = weir_str(text->ptr, len);
    size_t skip = end ? len + 1 : len;
    *text = weir_str(text->ptr + skip, text->len - skip);
    return line;
}

/* Columns of a line of ours: every character is one, sequences that colour are none. */
static unsigned columns_of(struct weir_str line)
{
    unsigned columns = 0;
    bool escaped = false;
    for (size_t i = 0; i < line.len; i++) {
        unsigned char c = (unsigned char)line.ptr[i];
        if (escaped)
            escaped = c != 'm';
        else if (c == '\033')
            escaped = true;
        else
            columns += (c & 0xc0) != 0x80;
    }
    return columns;
}

/* Lines of the terminal that what stands takes, which has folded it if it has become narrower. */
static unsigned height(unsigned columns)
{
    struct weir_str rest = weir_str(weir_buf_text(&standing), standing.len);
    unsigned lines = 0;
    assert(columns > 0); /* screen_size() never says so */
    while (rest.len > 0) {
        unsigned wide = columns_of(next_line(&rest));
        lines += wide > columns ? (wide + columns - 1) / columns : 1;
    }
    return lines;
}

static void add_up(struct weir_buf *out, unsigned lines)
{
    weir_buf_add_char(out, '\r');
    if (lines > 0)
        weir_buf_printf(out, "\033[%uA", lines);
}

/* What stands is somewhere above, and new lines begin where the cursor is. Under the lock. */
static void forget_if_continued(void)
{
    if (!continued)
        return;
    continued = 0;
    weir_buf_reset(&standing);
}

/* From the top of what stands: what differs is written, the rest is passed. */
static void add_changes(struct weir_buf *out, struct weir_str lines)
{
    struct weir_str old = weir_str(weir_buf_text(&standing), standing.len);
    while (lines.len > 0) {
        bool is_new = old.len == 0;
        struct weir_str was = next_line(&old);
        struct weir_str now = next_line(&lines);
        if (is_new || was.len != now.len || memcmp(was.ptr, now.ptr, now.len) != 0) {
            weir_buf_add(out, now.ptr, now.len);
            weir_buf_add_text(out, ERASE_LINE);
        }
        weir_buf_add_text(out, "\r\n");
    }
    weir_buf_add_text(out, ERASE_BELOW); /* also what a key has echoed */
}

/* --- writing ---------------------------------------------------------------------------------- */

static void write_above(const char *text, size_t len)
{
    struct weir_buf out;
    unsigned columns, lines;
    screen_size(&columns, &lines);
    weir_buf_init(&out, BYTES_MAX + len);
    weir_buf_add_text(&out, CURSOR_HIDE);
    add_up(&out, height(columns));
    weir_buf_add_text(&out, ERASE_BELOW);
    weir_buf_add(&out, text, len);
    if (columns >= standing_columns)
        weir_buf_add(&out, weir_buf_text(&standing), standing.len);
    else
        weir_buf_reset(&standing); /* it is too wide now; the next one will fit */
    weir_buf_add_text(&out, CURSOR_SHOW);
    write_all(weir_buf_text(&out), out.len);
    weir_buf_release(&out);
}

void screen_write(const char *text, size_t len)
{
    bool taken = take_lock();
    if (taken)
        forget_if_continued();
    if (taken && standing.len > 0)
        write_above(text, len);
    else
        write_all(text, len);
    if (taken)
        pthread_mutex_unlock(&lock);
}

static void stand(const char *lines, size_t len, unsigned columns)
{
    if (!standing.ptr)
        weir_buf_init(&standing, BYTES_MAX);
    weir_buf_reset(&standing);
    weir_buf_add(&standing, lines, len);
    standing_columns = columns;
}

/* Under the lock. */
static void show(const char *lines, size_t len, unsigned columns)
{
    struct weir_buf out;
    bool same = standing.len == len && memcmp(weir_buf_text(&standing), lines, len) == 0;
    if (same && columns == standing_columns)
        return;
    weir_buf_init(&out, BYTES_MAX);
    weir_buf_add_text(&out, CURSOR_HIDE);
    add_up(&out, height(columns));
    if (columns != standing_columns) {
        weir_buf_add_text(&out, ERASE_BELOW);
        weir_buf_reset(&standing);
    }
    add_changes(&out, weir_str(lines, len));
    weir_buf_add_text(&out, CURSOR_SHOW);
    write_all(weir_buf_text(&out), out.len);
    stand(lines, len, columns);
    weir_buf_release(&out);
}

void screen_show(const char *lines, size_t len, unsigned columns)
{
    if (!take_lock())
        return;
    forget_if_continued();
    if (!ended)
        show(lines, len, columns);
    pthread_mutex_unlock(&lock);
}

void screen_end(void)
{
    if (!take_lock())
        return;
    ended = true;
    weir_buf_release(&standing);
    pthread_mutex_unlock(&lock);
}
