/* SPDX-License-Identifier: MIT */
/*
 * Rate and ETA; see progress.h. Slots are counted from the beginning, so a window reaches from the
 * beginning of a slot to now and is exact: 29.75 to 30 s long.
 *
 *     all       ├──┬──┬──┬─ … ─┬──┬──┬──┬┤ now
 *     working   ├──┬──┬─ … ─┬──┤         ├──┬──┬┤ now      the wait is cut out
 */
#include "bulk/progress.h"

#include "base/clock.h"

/* --- a window --------------------------------------------------------------------------------- */

static void count(struct weir_progress_window *window, int64_t since_us, uint64_t rows)
{
    int64_t number = since_us / WEIR_PROGRESS_SLOT_US;
    int64_t at = number % WEIR_PROGRESS_SLOTS;
    if (window->slots[at].number != number)
        window->slots[at].rows = 0;
    window->slots[at].number = number;
    window->slots[at].rows += rows;
}

static double rate_of(const struct weir_progress_window *window, int64_t since_us)
{
    int64_t oldest = since_us / WEIR_PROGRESS_SLOT_US - (WEIR_PROGRESS_SLOTS - 1);
    oldest = oldest > 0 ? oldest : 0;
    uint64_t rows = 0;
    for (int i = 0; i < WEIR_PROGRESS_SLOTS; i++)
        rows += window->slots[i].number >= oldest ? window->slots[i].rows : 0;
    int64_t span_us = since_us - oldest * WEIR_PROGRESS_SLOT_US;
    return span_us > 0 ? (double)rows * 1e6 / (double)span_us : 0;
}

/* --- clocks ----------------------------------------------------------------------------------- */

static int64_t later(int64_t a_us, int64_t b_us)
{
    return a_us > b_us ? a_us : b_us;
}

/* How much of the known wait is over by now. */
static int64_t waited_now(const struct weir_progress *progress, int64_t now_us)
{
    int64_t end_us = progress->wait_until_us < now_us ? progress->wait_until_us : now_us;
    return later(end_us - progress->wait_begun_us, 0);
}

static int64_t working_us(const struct weir_progress *progress, int64_t now_us)
{
    return now_us - progress->begun_us - progress->waited_us - waited_now(progress, now_us);
}

/* From now on the wait is so long, or there is none. What was waited until now stays. */
static void set_wait(struct weir_progress *progress, int64_t wait_us, int64_t now_us)
{
    progress->waited_us += waited_now(progress, now_us);
    progress->wait_begun_us = now_us;
    progress->wait_until_us = now_us + wait_us;
}

/* --- the face --------------------------------------------------------------------------------- */

void weir_progress_init(struct weir_progress *progress, int64_t now_us)
{
    *progress = (struct weir_progress){
        .begun_us = now_us,
        .last_us = now_us,
        .wait_begun_us = now_us,
        .wait_until_us = now_us,
    };
}

void weir_progress_note(struct weir_progress *progress, uint64_t rows_ended, int64_t now_us)
{
    if (rows_ended <= progress->rows_ended)
        return;
    uint64_t rows = rows_ended - progress->rows_ended;
    now_us = later(now_us, progress->last_us);
    count(&progress->all, now_us - progress->begun_us, rows);
    count(&progress->working, working_us(progress, now_us), rows);
    progress->rows_ended = rows_ended;
    progress->last_us = now_us;
}

double weir_progress_rate(const struct weir_progress *progress, int64_t now_us)
{
    return rate_of(&progress->all, later(now_us, progress->last_us) - progress->begun_us);
}

/* Rows of the input; negative: not known. What is unread is taken to be like what was read. */
static double input_rows(const struct weir_progress_view *view)
{
    double rows = (double)view->rows_read;
    if (view->rows_total > 0)
        return (double)view->rows_total;
    if (view->bytes_total == 0 || view->bytes_read == 0)
        return -1;
    if (view->bytes_read < view->bytes_total)
        rows *= (double)view->bytes_total / (double)view->bytes_read;
    return rows > (double)view->rows_known ? rows : (double)view->rows_known;
}

/* Rows to go; negative: not known. A run that does not end its pass begins no other. */
static double remaining(const struct weir_progress_view *view)
{
    double rows = input_rows(view);
    double open = rows - (double)view->rows_ended;
    double allowed = (double)view->rows_max - (double)view->rows_ended_now;
    if (view->rows_max > 0 && (rows < 0 || open > allowed))
        open = allowed;
    else if (rows < 0)
        return -1;
    else
        open += view->passes_after * rows;
    return open > 0 ? open : 0;
}

double weir_progress_eta_s(struct weir_progress *progress, const struct weir_progress_view *view,
                           int64_t now_us)
{
    double rows = remaining(view);
    progress->last_us = later(now_us, progress->last_us);
    set_wait(progress, later(view->throttled_for_us, 0), progress->last_us);
    if (rows <= 0)
        return rows;
    double rate = rate_of(&progress->working, working_us(progress, progress->last_us));
    if (rate <= 0)
        return -1;
    return rows / rate + (double)later(view->throttled_for_us, 0) / (double)WEIR_US_PER_S;
}
