/* SPDX-License-Identifier: MIT */
/*
 * weir explain: what a code of the service means and what to do. The words are those that decide
 * what happens to a row: the catalogue of codes, the numbers of the login, and what an answer with
 * an HTTP status and no code is read as.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "auth/token_refusal.h"
#include "command.h"
#include "exit_code.h"
#include "http_status.h"
#include "output.h"
#include "throttle/catalogue.h"
#include "wrap.h"

#define AADSTS        "AADSTS"
#define HEX_DIGITS    8
#define CODE_MIN      INT64_C(0x80000000) /* from here on it is a code, below a number of the login */
#define LOGIN_DIGITS  9
#define LABEL_COLUMNS 15
#define MEANING_MAX   512

/* What somebody asks about. */
struct question {
    enum {
        CODE,
        LOGIN,
        STATUS
    } kind;
    int64_t number;
};

/* --- reading ---------------------------------------------------------------------------------- */

static bool read_hex(struct weir_str digits, int64_t *ret)
{
    uint32_t code = 0;
    if (digits.len == 0 || digits.len > HEX_DIGITS)
        return false;
    for (size_t i = 0; i < digits.len; i++) {
        int digit = weir_str_hex_digit(digits.ptr[i]);
        if (digit < 0)
            return false;
        code = code << 4 | (uint32_t)digit;
    }
    *ret = code;
    return true;
}

static bool read_login(struct weir_str digits, struct question *ret)
{
    ret->kind = LOGIN;
    return digits.len <= LOGIN_DIGITS && weir_str_to_int64(digits, &ret->number) && ret->number > 0;
}

/* Signed, as .NET prints codes, or not. */
static bool read_decimal(struct weir_str text, struct question *ret)
{
    int64_t number;
    if (!weir_str_to_int64(text, &number) || number < INT32_MIN || number > UINT32_MAX)
        return false;
    if (number >= HTTP_STATUS_MIN && number <= HTTP_STATUS_MAX) /* no login has such a number */
        ret->kind = STATUS;
    else if (number > 0 && number < CODE_MIN)
        ret->kind = LOGIN;
    ret->number = ret->kind == CODE ? (int64_t)(uint32_t)number : number;
    return true;
}

static bool read_question(struct weir_str text, struct question *ret)
{
    *ret = (struct question){ 0 };
    if (weir_str_starts_nocase(text, AADSTS))
        return read_login(weir_str(text.ptr + strlen(AADSTS), text.len - strlen(AADSTS)), ret);
    if (weir_str_starts_nocase(text, "0x"))
        return read_hex(weir_str(text.ptr + 2, text.len - 2), &ret->number);
    if (text.len == HEX_DIGITS && text.ptr[0] == '8') /* without its 0x */
        return read_hex(text, &ret->number);
    return read_decimal(text, ret);
}

/* --- answering -------------------------------------------------------------------------------- */

static const char *what_weir_does(enum weir_class class_)
{
    static const char *const words[WEIR_CLASS_COUNT] = {
        [WEIR_CLASS_OK] = "its rows are done, once the journal has them",
        [WEIR_CLASS_THROTTLE] = "the connection rests for as long as the service asks; the rows go "
                                "again, through another one if it can",
        [WEIR_CLASS_TRANSIENT] = "the rows go again, after waits that grow",
        [WEIR_CLASS_RACE] = "the rows go again after a short wait",
        [WEIR_CLASS_TOO_BIG] = "the rows go again in smaller requests",
        [WEIR_CLASS_BAD_ROWS] = "the row is rejected; the others of its request go again",
        [WEIR_CLASS_BAD_CREDENTIALS] = "a new token is asked for once; then the connection is set "
                                       "aside",
        [WEIR_CLASS_PRIVILEGE] = "the rows go through other connections that may; if none may, the "
                                 "command ends with exit code 4",
        [WEIR_CLASS_OTHER] = "another try would not help: the rows are rejected, or sent another "
                             "way",
        [WEIR_CLASS_UNSENT] = "nothing",
    };
    return words[class_];
}

static const char *whether_executed(enum weir_outcome outcome)
{
    static const char *const words[] = {
        [WEIR_OUTCOME_NOT_EXECUTED] =
            "no; of an elastic table other rows of the same request may be written",
        [WEIR_OUTCOME_EXECUTED] = "yes",
        [WEIR_OUTCOME_UNKNOWN] = "not known: weir looks before a created row goes again",
    };
    return words[outcome];
}

/* --- printing --------------------------------------------------------------------------------- */

static void print_line(const char *label, const char *text)
{
    char first[LABEL_COLUMNS + 1];
    size_t columns = wrap_columns(STDOUT_FILENO);
    snprintf(first, sizeof(first), "  %-*s", LABEL_COLUMNS - 2, label);
    wrap_print(stdout, first, LABEL_COLUMNS, columns ? columns : WRAP_COLUMNS, text);
}

/* Where words that mean this end, and what can be done begins; NULL: nothing is said of that. */
static const char *find_advice(const char *words, const char *separator)
{
    const char *rest = strstr(words, separator);
    rest = rest ? rest + strlen(separator) : NULL;
    if (!rest || strncmp(rest, "weir ", 5) != 0 || strncmp(rest, "weir describe", 13) == 0)
        return rest;
    const char *next = strstr(rest, "; "), *and = strstr(rest, ", and ");
    return next ? next + strlen("; ") : and? and+strlen(", and ") : NULL;
}

/* What it means and what somebody can do, which the catalogue has in one sentence. */
static void print_meaning(const char *words, const char *separator, const char *otherwise)
{
    const char *end = strstr(words, separator);
    const char *advice = find_advice(words, separator);
    char meaning[MEANING_MAX];
    snprintf(meaning, sizeof(meaning), "%.*s", end ? (int)(end - words) : (int)strlen(words),
             words);
    print_line("means", meaning);
    print_line("you can", advice ? advice : otherwise);
}

#define GOES_ON "wait: weir goes on by itself"

static const char *what_else(const struct weir_catalogue_entry *entry)
{
    bool goes_again = entry->class_ == WEIR_CLASS_THROTTLE || entry->class_ == WEIR_CLASS_RACE ||
                      entry->class_ == WEIR_CLASS_TRANSIENT || entry->class_ == WEIR_CLASS_TOO_BIG;
    return goes_again && !entry->by_status ? GOES_ON : "see what the message says";
}

static void print_condition(const struct weir_catalogue_entry *entry)
{
    if (entry->sql_number)
        printf("  if           the message has \"Sql Number: %" PRId32 "\"\n", entry->sql_number);
    if (entry->phrase)
        printf("  if           the message has \"%s\"\n", entry->phrase);
}

static void print_entry(const struct weir_catalogue_entry *entry)
{
    static const char by_status[] = "that depends on the HTTP status";
    printf("0x%08" PRIX32 "  %s\n", entry->code, entry->name);
    print_condition(entry);
    printf("  number       %" PRId32 "\n", (int32_t)entry->code);
    print_meaning(entry->advice, "; ", what_else(entry));
    print_line("executed", entry->by_status ? by_status : whether_executed(entry->outcome));
    print_line("weir does", entry->by_status ? by_status : what_weir_does(entry->class_));
}

/* One entry, or several that the message tells apart. */
static bool explain_code(uint32_t code)
{
    bool found = false;
    for (size_t i = 0; i < weir_catalogue_count(); i++) {
        const struct weir_catalogue_entry *entry = weir_catalogue_at(i);
        if (entry->code != code)
            continue;
        if (found)
            putchar('\n');
        print_entry(entry);
        found = true;
    }
    return found;
}

static bool explain_login(int64_t number)
{
    const char *meaning = weir_aadsts_meaning(number);
    if (!meaning)
        return false;
    printf(AADSTS "%" PRId64 "  the login was refused\n", number);
    print_meaning(meaning, ": ", "check the settings of the connection");
    print_line("executed", "no: no request was sent");
    print_line("weir does", "the connection is set aside; without any the exit code is 4");
    return true;
}

/* An answer of the service with some words, but no code. */
static struct weir_verdict read_status(int status)
{
    const struct weir_http_answer http = { .status = status, .sent = true, .error_message = "" };
    struct weir_answer answer;
    weir_answer_read(&http, 0, &answer);
    return answer.verdict;
}

static bool explain_status(int number)
{
    const struct http_status *status = http_status_find(number);
    if (!status)
        return false;
    struct weir_verdict verdict = read_status(number);
    printf("HTTP %d  %s\n", number, status->name);
    print_line("means", status->meaning);
    print_line("you can", status->advice ? status->advice : GOES_ON);
    print_line("executed", whether_executed(verdict.outcome));
    print_line("weir does", what_weir_does(verdict.class_));
    if (verdict.class_ != WEIR_CLASS_OK)
        print_line("but", "if the answer has a code that weir knows, the code decides");
    return true;
}

static bool explain_question(const struct question *question)
{
    switch (question->kind) {
    case LOGIN:
        return explain_login(question->number);
    case STATUS:
        return explain_status((int)question->number);
    default:
        return explain_code((uint32_t)question->number);
    }
}

/* Why nothing was said. */
static void print_unknown(const struct question *question, char *ret, size_t size)
{
    switch (question->kind) {
    case LOGIN:
        snprintf(ret, size, AADSTS "%" PRId64 " is not known here", question->number);
        break;
    case STATUS:
        snprintf(ret, size, "HTTP %" PRId64 " is no status that the service gives",
                 question->number);
        break;
    default:
        snprintf(ret, size,
                 "0x%08" PRIX32 " is not known here: the message that came with it says more",
                 (uint32_t)question->number);
    }
}

static int explain(const char *text)
{
    struct question question;
    char message[200];
    if (!read_question(weir_str_from(text), &question)) {
        snprintf(message, sizeof(message),
                 "\"%.60s\" is no code: it must be like 0x80040237, -2147220937, " AADSTS
                 "7000215 or 429",
                 text);
        return command_refuse(&command_explain, message);
    }
    if (explain_question(&question))
        return output_end(&command_explain);
    print_unknown(&question, message, sizeof(message));
    return command_refuse(&command_explain, message);
}

/* --- the command ------------------------------------------------------------------------------ */

static size_t list_args(bool *help, struct arg *ret)
{
    const struct arg args[] = {
        ARGS_HELP(help),
    };
    memcpy(ret, args, sizeof(args));
    return sizeof(args) / sizeof(args[0]);
}

/* A signed code would be taken for an option. */
static bool is_negative(const char *word)
{
    return word[0] == '-' && word[1] >= '0' && word[1] <= '9';
}

static int run(int argc, char **argv)
{
    bool help = false;
    struct arg args[ARGS_MAX];
    int code;
    if (argc == 1 && is_negative(argv[0]))
        return explain(argv[0]);
    if (!command_parse(&command_explain, args, list_args(&help, args), &argc, argv, &code))
        return code;
    if (argc != 1)
        return command_refuse(&command_explain, "it takes one code; see weir help explain");
    return explain(argv[0]);
}

static size_t options(struct arg *ret)
{
    static bool none;
    return list_args(&none, ret);
}

const struct command command_explain = {
    .name = "explain",
    .summary = "what a code of the service means and what to do",
    .run = run,
    .options = options,
    /* clang-format off */
    .help =
        "usage: weir explain CODE\n"
        "\n"
        "Says what a code of the service means, whether the request was executed, what\n"
        "weir does with its rows, and what you can do. CODE is one of errors.jsonl or of\n"
        "a message:\n"
        "\n"
        "  0x80040237          hexadecimal, with 0x or without\n"
        "  -2147220937         the same as a signed number, or as 2147746359\n"
        "  AADSTS7000215       a number of the login, with AADSTS or without\n"
        "  429                 an HTTP status: what it means if no code comes with it\n"
        "\n"
        "Of some codes the message has to tell which of several things it means; then\n"
        "all of them are printed, each with its condition. No service is asked.\n"
        "\n"
        "exit code: 0 explained, 2 usage, or a code that is not known, 7 local I/O\n"
        "\n"
        "example:\n"
        "  weir explain 0x80040237\n",
    /* clang-format on */
};
