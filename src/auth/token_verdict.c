/* SPDX-License-Identifier: MIT */
/* What an answer of a token endpoint comes to; see token_verdict.h. */
#include "auth/token_verdict.h"

#include <inttypes.h>

#include "auth/token_refusal.h"
#include "base/buf.h"
#include "base/error.h"
#include "throttle/signal.h"

bool weir_token_passing(int http_status)
{
    return http_status == 408 || http_status == 429 || http_status >= 500;
}

static bool passing(const struct weir_exchange_answer *answer,
                    const struct weir_token_verdict_ask *ask)
{
    bool updating = ask->machine && (answer->status == 404 || answer->status == 410);
    return updating || weir_token_passing(answer->status);
}

/* The common end of everything that may be tried again. */
static enum weir_status come_again(const struct weir_exchange_answer *answer,
                                   struct weir_error *err)
{
    if (!err)
        return WEIR_E_UNAVAILABLE;
    err->retryable = true;
    err->http_status = answer->status;
    err->retry_after_us = weir_signal_retry_after(answer->headers, answer->header_count, -1).us;
    return WEIR_E_UNAVAILABLE;
}

enum weir_status weir_token_unavailable(const struct weir_exchange_answer *answer, const char *who,
                                        struct weir_error *err)
{
    const char *ending = weir_ending_name(answer->ending);
    bool said = strncmp(answer->detail, ending, strlen(ending)) == 0; /* by the detail itself */
    if (answer->ending != WEIR_ENDING_COMPLETE)
        weir_fail(err, WEIR_E_UNAVAILABLE, "%s gave no answer: %s%s%s", who, said ? "" : ending,
                  said || !answer->detail[0] ? "" : ", ", answer->detail);
    else if (answer->status >= 300 && answer->status < 400)
        weir_fail(err, WEIR_E_UNAVAILABLE,
                  "%s answered %d, a redirect, which is never followed with a credential", who,
                  answer->status);
    else
        weir_fail(err, WEIR_E_UNAVAILABLE, "%s answered %d without a token", who, answer->status);
    return come_again(answer, err);
}

static void print_refusal(const struct weir_token_refusal *refusal, struct weir_buf *text)
{
    if (refusal->number)
        weir_buf_printf(text, "AADSTS%" PRId64 "%s%s%s", refusal->number,
                        refusal->error[0] ? " (" : "", refusal->error,
                        refusal->error[0] ? ")" : "");
    else
        weir_buf_add_text(text, refusal->error[0] ? refusal->error : "no reason that can be shown");
    if (refusal->meaning)
        weir_buf_printf(text, ", %s", refusal->meaning);
    if (refusal->words[0])
        weir_buf_printf(text, "; its words: \"%s\"", refusal->words);
    if (refusal->trace_id[0])
        weir_buf_printf(text, ", trace id %s", refusal->trace_id);
}

static enum weir_status refused(const struct weir_exchange_answer *answer,
                                const struct weir_token_verdict_ask *ask,
                                const struct weir_token_refusal *refusal, struct weir_error *err)
{
    struct weir_buf text;
    weir_buf_init(&text, WEIR_MESSAGE_MAX);
    print_refusal(refusal, &text);
    bool again = refusal->passing || passing(answer, ask);
    enum weir_status status = again ? WEIR_E_UNAVAILABLE : WEIR_E_CREDENTIALS;
    weir_fail(err, status, "%s %s: %s", ask->who, again ? "cannot answer now" : "says no",
              weir_buf_text(&text));
    weir_buf_release(&text);
    if (again)
        return come_again(answer, err);
    if (err)
        err->http_status = answer->status;
    return status;
}

static enum weir_status granted(const struct weir_exchange_answer *answer,
                                const struct weir_token_verdict_ask *ask,
                                struct weir_token_grant *ret, struct weir_error *err)
{
    struct weir_error why;
    if (weir_token_answer_read(answer->body, ask->wall_us, ret, &why) == WEIR_OK)
        return WEIR_OK;
    weir_fail(err, WEIR_E_UNAVAILABLE, "%s gave an answer that cannot be used: %s", ask->who,
              why.message);
    return come_again(answer, err);
}

enum weir_status weir_token_verdict(const struct weir_exchange_answer *answer,
                                    const struct weir_token_verdict_ask *ask,
                                    struct weir_token_grant *ret, int64_t *ret_number,
                                    struct weir_error *err)
{
    struct weir_token_refusal refusal;
    *ret_number = 0;
    if (answer->ending != WEIR_ENDING_COMPLETE)
        return weir_token_unavailable(answer, ask->who, err);
    if (answer->status == 200)
        return granted(answer, ask, ret, err);
    if (answer->status < 400 || !weir_token_refusal_read(answer->body, ask->secret, &refusal))
        return weir_token_unavailable(answer, ask->who, err);
    *ret_number = refusal.number;
    return refused(answer, ask, &refusal, err);
}
