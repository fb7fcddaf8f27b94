/* SPDX-License-Identifier: MIT */
/* Rows that are not finished; see open_rows.h. Two ordered lists are walked side by side. */
#include "open_rows.h"

#include "journal/place.h"
#include "journal/rejects.h"

/* Where the walk stands. */
struct walk {
    struct weir_spans spans;
    struct weir_span span; /* the one ahead, if there is one */
    bool in_spans;
    struct weir_rejects rejects;
    const struct weir_reject *reject; /* likewise; NULL: none */
    uint64_t next;                    /* all rows before it are accounted for */
};

static uint32_t pass_of(const struct weir_totals *totals)
{
    uint32_t pass = WEIR_JOURNAL_PASSES - 1;
    for (; pass > 0; pass--) {
        const struct weir_pass_totals *it = &totals->pass[pass];
        if (it->done + it->absent + it->skipped + it->rejected > 0)
            break;
    }
    return pass;
}

/* The stretch of finished rows that begins first. False: there is none. */
static enum weir_status take(struct walk *walk, struct open_rows *ret, bool *ret_more,
                             struct weir_error *err)
{
    *ret_more = walk->in_spans || walk->reject;
    if (!*ret_more)
        return WEIR_OK;
    if (walk->reject && (!walk->in_spans || walk->reject->row < walk->span.first)) {
        *ret = (struct open_rows){ walk->reject->row, walk->reject->row };
        return weir_rejects_next(&walk->rejects, &walk->reject, err);
    }
    *ret = (struct open_rows){ walk->span.first, walk->span.last };
    return weir_spans_next(&walk->spans, &walk->span, &walk->in_spans, err);
}

static enum weir_status go(struct walk *walk, open_rows_fn *fn, void *ctx, struct weir_error *err)
{
    struct open_rows finished;
    bool more;
    enum weir_status status = weir_spans_next(&walk->spans, &walk->span, &walk->in_spans, err);
    if (!status)
        status = weir_rejects_next(&walk->rejects, &walk->reject, err);
    while (!status && !(status = take(walk, &finished, &more, err)) && more) {
        if (finished.first > walk->next)
            fn(ctx, (struct open_rows){ walk->next, finished.first - 1 });
        if (finished.last >= walk->next)
            walk->next = finished.last + 1;
    }
    return status;
}

enum weir_status open_rows_each(const struct weir_job_listing *job, uint64_t read, open_rows_fn *fn,
                                void *ctx, uint64_t *ret_behind, struct weir_error *err)
{
    struct weir_path database = weir_path_join(job->path, WEIR_PLACE_DATABASE);
    const struct weir_journal_view source = { .path = database.text, .serial_max = INT64_MAX };
    struct walk walk = { .next = 1 };
    enum weir_status status = weir_spans_init(&walk.spans, &source, pass_of(&job->totals), err);
    if (status)
        return status;
    status = weir_rejects_init(&walk.rejects, &source, err);
    if (!status) {
        status = go(&walk, fn, ctx, err);
        weir_rejects_release(&walk.rejects);
    }
    weir_spans_release(&walk.spans);
    if (!status && walk.next <= read)
        fn(ctx, (struct open_rows){ walk.next, read });
    *ret_behind = walk.next > read ? walk.next - 1 : read;
    return status;
}
