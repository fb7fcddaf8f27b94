/* SPDX-License-Identifier: MIT */
/* Why a row was refused, and how the service says it; see record.h. */
#include <stdarg.h>
#include <stdio.h>

#include "sim/service/record.h"

#define PREAMBLE                                                                                   \
    "Error identified in Payload provided by the user for Entity :'%s', For more information on "  \
    "this error please follow this help link https://go.microsoft.com/fwlink/?linkid=2195293  "    \
    "---->  InnerException : Microsoft.OData.ODataException: "

static void set(struct sim_rejection *why, int status, const char *code)
{
    why->status = status;
    snprintf(why->code, sizeof(why->code), "%s", code);
    why->message[0] = '\0';
    why->key_name = NULL;
    why->duplicate_attributes[0] = '\0';
}

bool sim_reject(struct sim_rejection *why, int status, const char *code, const char *format, ...)
{
    va_list args;
    set(why, status, code);
    va_start(args, format);
    vsnprintf(why->message, sizeof(why->message), format, args);
    va_end(args);
    return false;
}

bool sim_reject_payload(struct sim_rejection *why, const struct sim_table *table,
                        const char *format, ...)
{
    va_list args;
    set(why, 400, "0x80048d19");
    int len = snprintf(why->message, sizeof(why->message), PREAMBLE, table->set);
    va_start(args, format);
    vsnprintf(why->message + len, sizeof(why->message) - (size_t)len, format, args);
    va_end(args);
    return false;
}

bool sim_reject_absent(struct sim_rejection *why, const struct sim_table *table, struct sim_guid id)
{
    char text[SIM_GUID_TEXT];
    return sim_reject(why, 404, "0x80040217", "%s With Id = %s Does Not Exist", table->name,
                      sim_guid_print(id, text));
}

/* A message that filled its room may have been cut inside a character. */
static struct weir_str whole(const char *message)
{
    struct weir_str text = weir_str_from(message);
    return text.len < SIM_REJECTION_TEXT_MAX - 1 ? text : sim_text_cut(text, text.len - 1);
}

void sim_rejection_answer(const struct sim_rejection *why, bool details, struct sim_answer *answer)
{
    struct weir_str message = whole(why->message);
    sim_answer_error(answer, why->status, why->code, "%.*s", (int)message.len, message.ptr);
    if (!details || !why->duplicate_attributes[0])
        return;
    struct weir_buf *body = &answer->body;
    body->len -= 2; /* the annotation goes inside the error, before its two braces */
    weir_buf_add_text(body, ",\"@Microsoft.PowerApps.CDS.ErrorDetails.DuplicateAttributes\":");
    weir_buf_add_json_string(body, whole(why->duplicate_attributes));
    weir_buf_add_text(body, "}}");
}
