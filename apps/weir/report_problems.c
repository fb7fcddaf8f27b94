/* SPDX-License-Identifier: MIT */
/* Rejected rows, grouped by their cause; see report_problems.h. */
#include "report_problems.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "figures.h"
#include "printable.h"
#include "reasons.h"
#include "report_advice.h"
#include "throttle/catalogue.h"

#define LINE_BYTES    160 /* of a row, as an example */
#define VALUE_BYTES   120
#define MESSAGE_BYTES 160 /* of what is said on a terminal */

/* --- causes ----------------------------------------------------------------------------------- */

/* A code that says it all: its message only names the row. */
static bool tells_all(uint32_t code)
{
    enum weir_fault_kind kind = weir_catalogue_kind(code, NULL);
    return kind == WEIR_FAULT_DUPLICATE || kind == WEIR_FAULT_NOT_FOUND;
}

static char *make_key(const struct weir_reject *reject)
{
    struct weir_str nothing = weir_str("", 0);
    bool short_ = reject->http_status && tells_all(reject->service_code);
    char *reason = reasons_key(reject->column, short_ ? nothing : reject->message);
    struct weir_buf key;
    weir_buf_init(&key, SIZE_MAX);
    weir_buf_printf(&key, "%d %08" PRIx32 " %s", reject->http_status, reject->service_code, reason);
    free(reason);
    return weir_buf_take(&key);
}

static char *copy(struct weir_str text, size_t bytes_max)
{
    struct weir_str cut = weir_str_cut(text, bytes_max);
    return weir_strndup(cut.ptr ? cut.ptr : "", cut.len);
}

/* Of our own reasons, which begin with it: "abc" is no whole number. */
static char *copy_value(const struct weir_reject *reject)
{
    struct weir_str text = reject->message;
    if (reject->http_status || text.len < 2 || text.ptr[0] != '"')
        return copy(weir_str("", 0), 0);
    size_t end = 1;
    while (end < text.len &&
           !(text.ptr[end] == '"' && (end + 1 == text.len || text.ptr[end + 1] == ' ')))
        end++;
    return copy(weir_str(text.ptr + 1, end - 1), VALUE_BYTES);
}

/* Without its end. */
static char *copy_line(struct weir_str bytes)
{
    while (bytes.len > 0 && (bytes.ptr[bytes.len - 1] == '\n' || bytes.ptr[bytes.len - 1] == '\r'))
        bytes.len--;
    return copy(bytes, LINE_BYTES);
}

static struct report_problem make(const struct weir_reject *reject, const char *path, char *key)
{
    return (struct report_problem){
        .key = key,
        .rows = 1,
        .row = reject->row,
        .offset = reject->offset,
        .file = weir_strdup(path),
        .column = copy(reject->column, SIZE_MAX),
        .value = copy_value(reject),
        .line = copy_line(reject->bytes),
        .message = copy(reject->message, SIZE_MAX),
        .class_name = copy(reject->class_name, SIZE_MAX),
        .request_id = copy(reject->request_id, SIZE_MAX),
        .http_status = reject->http_status,
        .service_code = reject->service_code,
        .name = report_advice_name(reject),
        .advice = report_advice(reject),
    };
}

void report_problems_add(struct report_problems *problems, const struct weir_reject *reject,
                         const char *path)
{
    char *key = make_key(reject);
    problems->rejects++;
    problems->superseded += reject->superseded;
    problems->there += reject->pass > 0;
    problems->withheld += reject->pass > 0 && reject->bytes.len == 0;
    for (size_t i = 0; i < problems->count; i++) {
        if (strcmp(problems->list[i].key, key) == 0) {
            problems->list[i].rows++;
            free(key);
            return;
        }
    }
    if (problems->count < REPORT_PROBLEMS_MAX) {
        problems->list[problems->count++] = make(reject, path, key);
        return;
    }
    problems->others++;
    free(key);
}

static int compare(const void *a, const void *b)
{
    const struct report_problem *left = a, *right = b;
    if (left->rows != right->rows)
        return left->rows < right->rows ? 1 : -1;
    return left->row < right->row ? -1 : left->row > right->row;
}

void report_problems_sort(struct report_problems *problems)
{
    qsort(problems->list, problems->count, sizeof(problems->list[0]), compare);
}

void report_problems_release(struct report_problems *problems)
{
    for (size_t i = 0; i < problems->count; i++) {
        struct report_problem *it = &problems->list[i];
        char *texts[] = { it->key,  it->file,    it->column,     it->value,
                          it->line, it->message, it->class_name, it->request_id };
        for (size_t j = 0; j < sizeof(texts) / sizeof(texts[0]); j++)
            free(texts[j]);
    }
    *problems = (struct report_problems){ 0 };
}

static void on_reject(void *ctx, const struct weir_reject *reject, const char *path)
{
    report_problems_add(ctx, reject, path);
}

void report_problems_of(struct report_problems *problems, struct weir_job *job)
{
    weir_job_walk_rejects(job, on_reject, problems, NULL);
    report_problems_sort(problems);
}

/* --- lines ------------------------------------------------------------------------------------ */

static void add_words(struct weir_buf *text, const char *words, size_t bytes_max)
{
    struct weir_str all = weir_str_from(words);
    struct weir_str cut = weir_str_cut(all, bytes_max);
    printable_add(text, cut);
    if (cut.len < all.len)
        weir_buf_add_text(text, "...");
}

static void print_place(struct weir_buf *text, const struct report_problem *it)
{
    weir_buf_printf(text, "%13s first: row %s", "", figure_count(it->row).text);
    if (it->file[0]) {
        weir_buf_add_text(text, " of ");
        add_words(text, it->file, MESSAGE_BYTES);
    }
    if (it->column[0]) {
        weir_buf_add_text(text, ", column ");
        add_words(text, it->column, MESSAGE_BYTES);
    }
    weir_buf_add_char(text, '\n');
}

static void print_problem(struct weir_buf *text, const struct report_problem *it)
{
    weir_buf_printf(text, "%12s  %s", figure_count(it->rows).text, it->name);
    if (it->service_code)
        weir_buf_printf(text, " (0x%08" PRIX32 ")", it->service_code);
    if (it->message[0]) {
        weir_buf_add_text(text, ": ");
        add_words(text, it->message, MESSAGE_BYTES);
    }
    weir_buf_add_char(text, '\n');
    print_place(text, it);
    weir_buf_printf(text, "%13s %s\n", "", it->advice);
}

static void print_rest(struct weir_buf *text, size_t more, const char *report)
{
    weir_buf_printf(text, "%13s and %s more", "", figure_count(more).text);
    if (report) {
        weir_buf_add_text(text, ": see ");
        printable_add(text, weir_str_from(report));
    }
    weir_buf_add_char(text, '\n');
}

void report_problems_print(const struct report_problems *problems, const char *report,
                           struct weir_buf *text)
{
    size_t said = problems->count < REPORT_PROBLEMS_SAID ? problems->count : REPORT_PROBLEMS_SAID;
    if (problems->rejects == 0)
        return;
    weir_buf_printf(text, "%s reject%s = %s%zu problem%s\n", figure_count(problems->rejects).text,
                    problems->rejects == 1 ? "" : "s", problems->others ? "more than " : "",
                    problems->count, problems->count == 1 ? "" : "s");
    for (size_t i = 0; i < said; i++)
        print_problem(text, &problems->list[i]);
    if (said < problems->count)
        print_rest(text, problems->count - said, report);
}
