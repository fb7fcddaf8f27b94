/* SPDX-License-Identifier: MIT */
/* The last lines of a run; see job_report.h. */
#include "job_report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "figures.h"
#include "job_place.h"
#include "journal/place.h"
#include "resume_line.h"
#include "say.h"

#define PROBLEMS_BYTES_MAX ((size_t)64 * 1024)

static void say_balance(const struct weir_job_result *result)
{
    say_wrapped("read %s = done %s + rejected %s + skipped %s + unknown %s + not sent %s",
                figure_count(result->read).text, figure_count(result->done).text,
                figure_count(result->rejected).text, figure_count(result->skipped).text,
                figure_count(result->unknown).text, figure_count(result->not_sent).text);
    if (result->absent > 0)
        say_wrapped("%s of the rows done were not there any more",
                    figure_count(result->absent).text);
    if (result->halfway > 0)
        say_wrapped(
            "%s of the rows not sent are written; their lookups or states are still to come",
            figure_count(result->halfway).text);
    if (!result->read_to_end && result->ends)
        say_wrapped("the input was not read to its end");
}

#define COST_BYTES_MAX 512

static void say_cost(const struct weir_job *job, const struct weir_job_result *result)
{
    struct weir_buf line;
    weir_buf_init(&line, COST_BYTES_MAX);
    weir_buf_printf(&line, "%s, %s request%s, %s throttle%s", figure_span(result->elapsed_s).text,
                    figure_count(result->requests).text, result->requests == 1 ? "" : "s",
                    figure_count(result->throttles).text, result->throttles == 1 ? "" : "s");
    if (result->throttle_wait_s > 0)
        weir_buf_printf(&line, " (connections closed for %s, added up)",
                        figure_span(result->throttle_wait_s).text);
    if (weir_job_options(job)->batch_size == WEIR_BATCH_SIZE_AUTO)
        weir_buf_printf(&line, ", %s rows in each at the end",
                        figure_count(result->batch_rows).text);
    if (result->rows_again > 0)
        weir_buf_printf(&line, ", %s row%s sent again", figure_count(result->rows_again).text,
                        result->rows_again == 1 ? "" : "s");
    say_wrapped("%s", weir_buf_text(&line));
    weir_buf_release(&line);
}

/* --- rejected rows ---------------------------------------------------------------------------- */

/* Why the rejects file has fewer rows than were rejected. */
static void say_superseded(uint64_t rows)
{
    if (rows > 0)
        say_wrapped(
            "%s of the rejected rows %s superseded: a later row with the same key comes after %s, "
            "so the rejects file does not have %s",
            figure_count(rows).text, rows == 1 ? "is" : "are", rows == 1 ? "it" : "them",
            rows == 1 ? "it" : "them");
}

/* What a later pass refused is created all the same: to create it again is no cure. */
static void say_there(const struct report_problems *problems)
{
    uint64_t again = problems->there - problems->withheld;
    if (problems->withheld > 0)
        say_wrapped(
            "%s of the rejected rows %s created without their lookups or states, under ids that "
            "were made for them: ids.csv has those, the rejects file does not have the rows",
            figure_count(problems->withheld).text, problems->withheld == 1 ? "is" : "are");
    if (again > 0)
        say_wrapped(
            "%s of the rejected rows %s created without their lookups or states: when the cause is "
            "mended, load the rejects file with weir upsert and the same options",
            figure_count(again).text, again == 1 ? "is" : "are");
}

static bool has_file(const char *directory, const char *name)
{
    struct weir_path path = weir_path_join(directory, name);
    return access(path.text, F_OK) == 0;
}

/* Those that are there: a disk that is full has kept some from being written. */
static void say_files(const struct weir_job *job, const struct weir_job_result *result,
                      const struct report_problems *problems)
{
    const char *directory = weir_job_directory(job);
    uint64_t kept = problems->superseded + problems->withheld;
    char *rejects = result->rejected > kept ? job_place_rejects(directory) : NULL;
    bool reasons = result->rejected > 0 && has_file(directory, "errors.jsonl");
    bool created = result->done + result->halfway + problems->there > 0 &&
                   weir_job_options(job)->operation == WEIR_OPERATION_CREATE;
    if (rejects)
        say_part("rejected rows: %s%s", rejects, reasons ? ", " : "");
    if (reasons)
        say_part("reasons: %s/errors.jsonl", directory);
    if (rejects || reasons)
        say("%s", "");
    free(rejects);
    if (created && has_file(directory, "ids.csv"))
        say("ids of the created rows: %s/ids.csv", directory);
}

/* What a job of an earlier day has left undone is not this one's affair. */
static void say_skipped(struct weir_job *job, const struct weir_job_result *result)
{
    struct weir_job_progress progress;
    weir_job_progress(job, &progress);
    if (result->skipped > 0 && progress.passes > 1)
        say_wrapped("%s row%s there from an earlier job and left as %s; weir upsert with the same "
                    "--id-from sets lookups and states, too",
                    figure_count(result->skipped).text, result->skipped == 1 ? " was" : "s were",
                    result->skipped == 1 ? "it was" : "they were");
}

/* Line by line: one may be longer than what is said at once. */
static void say_problems(const struct report_problems *problems, const char *report)
{
    struct weir_buf text;
    weir_buf_init(&text, PROBLEMS_BYTES_MAX);
    report_problems_print(problems, report, &text);
    const char *at = weir_buf_text(&text);
    for (const char *end; (end = strchr(at, '\n')); at = end + 1)
        say_wrapped("%.*s", (int)(end - at), at);
    weir_buf_release(&text);
}

bool job_report_can_go_on(const struct weir_job_result *result)
{
    return weir_job_result_can_resume(result);
}

/* What was given up is not gone: the service goes on executing after its client has left. */
static void say_late(const struct weir_job_result *result)
{
    if (result->requests_unknown > 0 && result->requests_unknown_for_s > 0)
        say_wrapped("%s request%s of unknown outcome may still be executed until %s",
                    figure_count(result->requests_unknown).text,
                    result->requests_unknown == 1 ? "" : "s",
                    figure_clock(result->requests_unknown_for_s).text);
}

/* Which they are, and how to find out what became of them. */
static void say_unknown(const struct weir_job *job, const struct weir_job_result *result)
{
    struct weir_buf line;
    if (result->unknown == 0)
        return;
    char *name = job_place_name(weir_job_directory(job));
    weir_buf_init(&line, SAY_LINE_MAX - 256);
    resume_line_quote(&line, name);
    say_wrapped(
        "what became of %s row%s is not known: weir jobs show %s lists what is not finished, and "
        "going on finds out",
        figure_count(result->unknown).text, result->unknown == 1 ? "" : "s", weir_buf_text(&line));
    weir_buf_release(&line);
    free(name);
}

#define ASIDE_LINES_MAX 10
#define REASON_MAX      200

/* Who was no help, and why: a load that was slower than it should be has its reason here. */
static void say_set_aside(struct weir_job *job)
{
    size_t count = 0;
    for (size_t i = 0; i < weir_job_connection_count(job); i++) {
        struct weir_job_connection connection;
        weir_job_connection(job, i, &connection);
        if (!connection.set_aside || ++count > ASIDE_LINES_MAX)
            continue;
        char *why = weir_job_refusal(job, i);
        say_wrapped("%s was set aside%s%.*s", connection.name, why ? ": " : "", REASON_MAX,
                    why ? why : "");
        free(why);
    }
    if (count > ASIDE_LINES_MAX)
        say_wrapped("and so were %s others", figure_count(count - ASIDE_LINES_MAX).text);
}

/* --- going on --------------------------------------------------------------------------------- */

/* What is mended is another file than the job's. */
static void say_beyond_resume(const struct weir_job *job)
{
    static const char before[] =
        "not finished, and weir resume cannot go on, because a mended file "
        "is another one: mend it and load it as a new job";
    const struct weir_job_options *options = weir_job_options(job);
    if (options->operation != WEIR_OPERATION_CREATE)
        say_wrapped("%s; rows that are done are then written once more", before);
    else if (options->id_from)
        say_wrapped("%s; with the same --id-from, weir upsert writes the rows that are there once "
                    "more, and weir create skips them",
                    before);
    else
        say_wrapped("%s; leave out the rows whose numbers are in %s/ids.csv, which are there and "
                    "would be created twice",
                    before, weir_job_directory(job));
}

/* One that has had enough rejected rows has had enough of them from the beginning. */
static void say_resume(const struct weir_job_result *result, const char *resume_line)
{
    if (result->ends & WEIR_END_ERRORS)
        say("not finished; rejected rows of all runs count: with a --max-errors that allows more "
            "than "
            "%s, go on with\n  %s",
            figure_count(result->rejected).text, resume_line);
    else
        say("not finished; go on with\n  %s", resume_line);
}

void job_report(struct weir_job *job, const struct weir_job_result *result,
                const struct report_problems *problems, const char *report, const char *resume_line)
{
    const char *trouble = weir_job_trouble(job);
    say_balance(result);
    say_cost(job, result);
    say_set_aside(job);
    say_problems(problems, report);
    say_files(job, result, problems);
    say_superseded(problems->superseded);
    if (weir_job_options(job)->operation == WEIR_OPERATION_CREATE)
        say_there(problems);
    say_skipped(job, result);
    if (report)
        say("report: %s", report);
    say_unknown(job, result);
    say_late(result);
    if (trouble[0])
        say_wrapped("%s", trouble);
    if (result->ends & WEIR_END_DAMAGED)
        say_beyond_resume(job);
    else if (job_report_can_go_on(result))
        say_resume(result, resume_line);
}
