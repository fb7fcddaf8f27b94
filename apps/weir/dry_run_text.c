/* SPDX-License-Identifier: MIT */
/* What a dry run has found, in words; see dry_run.h. */
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "dry_run.h"
#include "figures.h"
#include "job_warning.h"
#include "printable.h"
#include "reasons.h"

/* Rejected rows that are shown one by one. */
#define SHOWN_MAX 20

/* A message is as long as the value in it; this is enough to know which one it is. */
#define MESSAGE_BYTES_MAX 400

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* Words of the input: nothing in them may steer a terminal. */
static void put_words(FILE *out, struct weir_str words)
{
    struct weir_buf shown;
    struct weir_str cut = weir_str_cut(words, MESSAGE_BYTES_MAX);
    weir_buf_init(&shown, MESSAGE_BYTES_MAX);
    printable_add(&shown, cut);
    fprintf(out, "%s%s", weir_buf_text(&shown), cut.len < words.len ? "…" : "");
    weir_buf_release(&shown);
}

/* --- rows ------------------------------------------------------------------------------------- */

/* What is wrong, and, if it is not known already, what the column takes instead. */
static void put_refusal(FILE *out, const struct weir_check_refusal *refusal, bool whole)
{
    struct weir_str message = weir_str_from(refusal->message);
    if (refusal->column[0]) {
        char takes[WEIR_NAME_BYTES_MAX + 16];
        put_words(out, weir_str_from(refusal->column));
        fputs(": ", out);
        snprintf(takes, sizeof(takes), "; \"%.*s\" ", WEIR_NAME_BYTES_MAX, refusal->column);
        const char *found = whole ? NULL : strstr(refusal->message, takes);
        if (found)
            message.len = (size_t)(found - refusal->message);
    }
    put_words(out, message);
    fputc('\n', out);
}

static void print_reasons(FILE *out, const struct weir_job_check *check)
{
    struct reasons reasons;
    reasons_init(&reasons, check->refusals, check->refusal_count);
    fputs("\n    ROWS  REASON, AS IN ITS FIRST ROW\n", out);
    for (size_t i = 0; i < reasons.count; i++) {
        fprintf(out, "%8s  ", figure_count(reasons.list[i].rows).text);
        put_refusal(out, reasons.list[i].first, true);
    }
    if (reasons.others > 0)
        fprintf(out, "%8s  for other reasons\n", figure_count(reasons.others).text);
    if (check->refused > check->refusal_count)
        fprintf(out, "%8s  not looked at: only the first %s are told apart\n",
                figure_count(check->refused - check->refusal_count).text,
                figure_count(check->refusal_count).text);
    reasons_release(&reasons);
}

/* Below the working directory, where most are, the rest of the path says it. */
static const char *path_from_here(const char *path)
{
    char here[PATH_MAX];
    size_t len = getcwd(here, sizeof(here)) ? strlen(here) : 0;
    return len > 1 && strncmp(path, here, len) == 0 && path[len] == '/' ? path + len + 1 : path;
}

static void print_refusals(FILE *out, const struct weir_job_check *check)
{
    uint32_t shown = check->refusal_count < SHOWN_MAX ? check->refusal_count : SHOWN_MAX;
    fputc('\n', out);
    for (uint32_t i = 0; i < shown; i++) {
        const struct weir_check_refusal *refusal = &check->refusals[i];
        put_words(out, weir_str_from(path_from_here(refusal->path)));
        fprintf(out, ":%" PRIu64 ": row %s: ", refusal->line, figure_count(refusal->row).text);
        put_refusal(out, refusal, false);
    }
    if (check->refused > shown)
        fprintf(out, "and %s more\n", figure_count(check->refused - shown).text);
}

/* Of two rows with the same key: what becomes of the later one. */
static const char *fate_of_repeats(const struct weir_job_options *options,
                                   const struct weir_table *table)
{
    if (options->operation != WEIR_OPERATION_CREATE)
        return "they are applied in this order";
    return table->type == WEIR_TABLE_ELASTIC ? "the later one replaces the earlier"
                                             : "the service refuses the later one";
}

/* `label` stands in front of the first of them only. */
static void print_repeats(FILE *out, const char *label, const struct weir_check_key *key,
                          const char *fate)
{
    fprintf(out, "%-13s  %s row%s, the first is row %s with the ", label,
            figure_count(key->repeated).text, plural(key->repeated),
            figure_count(key->repeated_row).text);
    for (uint32_t i = 0; key->key && i < key->key->column_count; i++)
        fprintf(out, "%s%s", i ? "," : "", key->key->columns[i]);
    fprintf(out, "%s of row %s; %s\n", key->key ? "" : "key",
            figure_count(key->repeated_first).text, fate);
}

static void print_keys(FILE *out, const struct weir_job_check *check,
                       const struct weir_job_options *options, const struct weir_table *table)
{
    const struct weir_check_key own = { .repeated = check->repeated,
                                        .repeated_row = check->repeated_row,
                                        .repeated_first = check->repeated_first };
    const char *label = "repeated keys";
    const char *fate = fate_of_repeats(options, table);
    for (uint32_t i = 0; i <= check->key_count; i++) {
        const struct weir_check_key *key = i ? &check->keys[i - 1] : &own;
        if (key->repeated == 0)
            continue;
        print_repeats(out, label, key, fate);
        label = "";
    }
    if (label[0])
        fprintf(out, "%-13s  none%s\n", label,
                check->ids_made ? "; every row gets an id of its own" : "");
    if (check->keys_forgotten)
        fputs("               there are too many keys to remember all: later repeats are not "
              "seen\n",
              out);
}

static void print_warnings(FILE *out, const struct weir_job_check *check,
                           const struct weir_job_options *options, const struct weir_table *table)
{
    bool new_ids = options->operation == WEIR_OPERATION_CREATE && check->ids_made;
    const char *elastic = new_ids ? NULL : job_warning_elastic(options, table);
    struct weir_buf owner;
    weir_buf_init(&owner, 1024);
    job_warning_owner(options, &owner);
    if (owner.len)
        fprintf(out, "owner          %s\n", weir_buf_text(&owner));
    if (elastic)
        fprintf(out, "elastic        %s\n", elastic);
    weir_buf_release(&owner);
}

/* Those that the service would refuse for other reasons come on top. */
static bool would_stop(const struct weir_job_options *options, const struct weir_job_check *check)
{
    uint64_t rejected = check->refused + check->duplicates;
    double share = options->rejected_share_max;
    return rejected > options->rejected_max ||
           (share > 0 && (double)rejected > share * (double)check->rows);
}

static void print_rejected(FILE *out, const struct weir_job_check *check)
{
    const char *refused = check->refused ? figure_count(check->refused).text : "none";
    if (check->duplicates == 0)
        fprintf(out, "rejected       %s\n", refused);
    else
        fprintf(out, "rejected       %s before sending, %s by the service for repeated keys\n",
                refused, figure_count(check->duplicates).text);
}

void dry_run_print_rows(FILE *out, const struct weir_job_check *check,
                        const struct weir_job_options *options, const struct weir_table *table)
{
    fprintf(out, "\nrows           %s read%s\n", figure_count(check->rows).text,
            check->limited ? ", as --limit says; there may be more" : "");
    print_rejected(out, check);
    if (would_stop(options, check))
        fputs("               more than --max-errors allows: a run would stop, with exit code 3\n",
              out);
    print_keys(out, check, options, table);
    print_warnings(out, check, options, table);
    if (check->refused == 0)
        return;
    print_reasons(out, check);
    print_refusals(out, check);
}

/* --- work ------------------------------------------------------------------------------------- */

static void print_passes(FILE *out, const struct weir_job_check *check)
{
    static const char *const names[WEIR_PASSES] = {
        [WEIR_PASS_ROWS] = "requests",
        [WEIR_PASS_LOOKUPS] = "then, lookups",
        [WEIR_PASS_STATE] = "then, states",
    };
    for (int i = 0; i < WEIR_PASSES; i++) {
        const struct weir_check_pass *pass = &check->passes[i];
        if (i == WEIR_PASS_ROWS || pass->rows > 0)
            fprintf(out, "%-13s  %s row%s in %s request%s, by %s\n", names[i],
                    figure_count(pass->rows).text, plural(pass->rows),
                    figure_count(pass->requests).text, plural(pass->requests), pass->message);
    }
}

static void print_bound(FILE *out, enum estimate_bound bound, const struct estimate_world *world)
{
    switch (bound) {
    case ESTIMATE_BOUND_EXECUTION:
        fprintf(out, "execution time: 1,200 s in any 300 s for each of %zu connection%s",
                world->connections, plural(world->connections));
        return;
    case ESTIMATE_BOUND_REQUESTS:
        fprintf(out, "requests: 6,000 in any 300 s for each of %zu connection%s",
                world->connections, plural(world->connections));
        return;
    case ESTIMATE_BOUND_PARALLELISM:
        fprintf(out, "parallelism: the service %s %s request%s in flight",
                world->by_limits ? "takes" : "recommends", figure_count(world->in_flight).text,
                plural(world->in_flight));
        return;
    case ESTIMATE_BOUND_USER_PARALLELISM:
        fputs("parallelism, by --max-parallel", out);
        return;
    case ESTIMATE_BOUND_USER_RATE:
        fputs("--max-rate", out);
        return;
    default:
        fputs("nothing but the answers: all requests are in flight at once", out);
    }
}

static void print_duration(FILE *out, const struct weir_job_check *check,
                           const struct weir_job_options *options,
                           const struct estimate_world *world)
{
    struct estimate estimate = { 0 };
    for (int i = 0; i < WEIR_PASSES; i++)
        estimate_add(&estimate, world, check->passes[i].requests, check->passes[i].rows);
    if (estimate.bound == ESTIMATE_BOUND_NONE)
        return;
    bool short_ = estimate.seconds < 0.1;
    fprintf(out,
            "duration       %s %s, if the service takes %.1f s for 100 rows, which is an "
            "assumption\n",
            short_ ? "less than" : "about", figure_span(short_ ? 0.1 : estimate.seconds).text,
            ESTIMATE_HUNDRED_ROWS_S);
    if (options->deadline_us > 0 &&
        estimate.seconds > (double)options->deadline_us / (double)WEIR_US_PER_S)
        fputs("               longer than --deadline: a run would stop there, with exit code 6\n",
              out);
    fputs("bound by       ", out);
    print_bound(out, estimate.bound, world);
    fputc('\n', out);
}

/* Passes are operations of their own. */
static void print_entitlement(FILE *out, const struct weir_job_check *check)
{
    uint64_t operations = 0;
    for (int i = 0; i < WEIR_PASSES; i++)
        operations += check->passes[i].rows;
    if (operations == 0)
        return;
    fprintf(out,
            "entitlement    %s operation%s of the tenant's daily pool for application users: "
            "500,000 and\n"
            "               more with Dynamics 365 licences, 25,000 with Power Apps alone\n",
            figure_count(operations).text, plural(operations));
}

void dry_run_print_work(FILE *out, const struct weir_job_check *check,
                        const struct weir_job_options *options, const struct estimate_world *world)
{
    fputc('\n', out);
    print_passes(out, check);
    print_duration(out, check, options, world);
    print_entitlement(out, check);
}
