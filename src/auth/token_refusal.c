/* SPDX-License-Identifier: MIT */
/* Refusals of token endpoints; see token_refusal.h. */
#include "auth/token_refusal.h"

#include <stdio.h>

#include "auth/secret.h"
#include "base/json.h"
#include "base/limits.h"
#include "config/quote.h"

#define WORD_BYTES_MAX 80 /* a longer one is no word: it might be an assertion or a token */

static const struct {
    int64_t number;
    const char *meaning;
} meanings[] = {
    { 50027, "the assertion is malformed" },
    { 70003, "the tenant does not allow applications to log in by themselves" },
    { 70011,
      "the scope is wrong: it must be the address of the environment followed by /.default" },
    { 90002, "there is no such tenant: check TenantId and Cloud" },
    { 90014, "a field is missing in the request: check ClientId, TenantId and Scope" },
    { 500011, "the tenant does not know this environment: check Url, TenantId and Scope" },
    { 700016, "the tenant does not know this application: check ClientId and TenantId" },
    { 700021, "the assertion is for another application: check ClientId" },
    { 700023, "the assertion is for another token endpoint: check Authority and TenantId" },
    { 700024, "the assertion is not valid at this time: check the clock of this machine" },
    { 700027, "the certificate is not the one that is registered for the application, or it has "
              "expired" },
    { 1002012, "the scope is wrong: it must end in /.default" },
    { 7000112, "the application is disabled in the tenant" },
    { 7000215, "the client secret is wrong: give its value, not its id" },
    { 7000218, "the application logged in with neither a secret nor an assertion" },
    { 7000222, "the client secret has expired: make a new one" },
};

const char *weir_aadsts_meaning(int64_t number)
{
    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
        if (meanings[i].number == number)
            return meanings[i].meaning;
    }
    return NULL;
}

static struct weir_str text_of(const struct weir_json_node *root, const char *name)
{
    const struct weir_json_node *node = weir_json_find(root, name);
    return node && node->type == WEIR_JSON_STRING ? node->text : weir_str("", 0);
}

/* An identifier: letters, digits, _ and -; anything else is left out. */
static void copy_name(struct weir_str text, char *name, size_t bytes)
{
    size_t len = 0;
    for (; len < text.len && len + 1 < bytes; len++) {
        char c = text.ptr[len];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
              c == '_' || c == '-'))
            break;
        name[len] = c;
    }
    name[len < text.len ? 0 : len] = '\0';
}

static struct weir_str after(struct weir_str text, size_t len)
{
    return weir_str(text.ptr + len, text.len - len);
}

static size_t digits_len(struct weir_str text)
{
    size_t len = 0;
    while (len < text.len && text.ptr[len] >= '0' && text.ptr[len] <= '9')
        len++;
    return len;
}

/* The number behind "AADSTS" at the beginning, which is taken off together with it. */
static int64_t take_number(struct weir_str *words)
{
    int64_t number = 0;
    if (!weir_str_starts_nocase(*words, "AADSTS"))
        return 0;
    struct weir_str rest = after(*words, strlen("AADSTS"));
    size_t len = digits_len(rest);
    if (len > 9 || !weir_str_to_int64(weir_str(rest.ptr, len), &number))
        return 0;
    rest = after(rest, len);
    *words = weir_str_trim(after(rest, rest.len && rest.ptr[0] == ':'));
    return number;
}

static int64_t listed_number(const struct weir_json_node *root)
{
    const struct weir_json_node *codes = weir_json_find(root, "error_codes");
    int64_t number = 0;
    if (codes && codes->type == WEIR_JSON_ARRAY && codes->first &&
        codes->first->type == WEIR_JSON_NUMBER)
        weir_str_to_int64(codes->first->text, &number);
    return number > 0 ? number : 0;
}

/* Up to the marks that every description ends with, or the end of the line. */
static struct weir_str first_part(struct weir_str words)
{
    size_t trace = weir_str_find_nocase(words, "Trace ID:");
    words.len = trace;
    for (size_t i = 0; i < words.len; i++) {
        if (words.ptr[i] == '\r' || words.ptr[i] == '\n')
            words.len = i;
    }
    return weir_str_trim(words);
}

/* One word, clean and short; how much of `words` it was. */
static size_t add_word(struct weir_str words, struct weir_buf *out)
{
    size_t len = 0;
    while (len < words.len && words.ptr[len] != ' ')
        len++;
    if (out->len)
        weir_buf_add_char(out, ' ');
    if (len > WORD_BYTES_MAX)
        weir_buf_add_text(out, "…");
    size_t control;
    for (size_t i = 0; i < len && len <= WORD_BYTES_MAX; i += control ? control : 1) {
        control = weir_control_bytes(words, i);
        weir_buf_add_char(out, control ? '?' : words.ptr[i] == '"' ? '\'' : words.ptr[i]);
    }
    return len;
}

static void copy_words(struct weir_str words, struct weir_token_refusal *ret)
{
    struct weir_buf out;
    weir_buf_init(&out, 4 * WEIR_TOKEN_ANSWER_BYTES_MAX);
    while (words.len) {
        words = after(words, add_word(words, &out));
        words = weir_str_trim(words);
    }
    size_t len = out.len;
    if (len >= sizeof(ret->words)) {
        len = sizeof(ret->words) - sizeof("…");
        while (len && (out.ptr[len] & 0xC0) == 0x80)
            len--;
    }
    snprintf(ret->words, sizeof(ret->words), "%.*s%s", (int)len, weir_buf_text(&out),
             len < out.len ? "…" : "");
    weir_buf_release(&out);
}

static bool echoes(const struct weir_json_node *root, struct weir_str secret)
{
    return weir_secret_occurs(secret, text_of(root, "error_description")) ||
           weir_secret_occurs(secret, text_of(root, "error")) ||
           weir_secret_occurs(secret, text_of(root, "trace_id"));
}

/* Of an answer that repeats the secret nothing is kept but the number. */
static void read_root(const struct weir_json_node *root, struct weir_str secret,
                      struct weir_token_refusal *ret)
{
    struct weir_str words = text_of(root, "error_description");
    *ret = (struct weir_token_refusal){ 0 };
    ret->number = take_number(&words);
    if (!ret->number)
        ret->number = listed_number(root);
    ret->meaning = weir_aadsts_meaning(ret->number);
    if (echoes(root, secret))
        return;
    copy_name(text_of(root, "error"), ret->error, sizeof(ret->error));
    copy_name(text_of(root, "trace_id"), ret->trace_id, sizeof(ret->trace_id));
    copy_words(first_part(words), ret);
    ret->passing = strcmp(ret->error, "temporarily_unavailable") == 0 ||
                   strcmp(ret->error, "server_error") == 0;
}

bool weir_token_refusal_read(struct weir_str body, struct weir_str secret,
                             struct weir_token_refusal *ret)
{
    struct weir_json *json;
    if (body.len > WEIR_TOKEN_ANSWER_BYTES_MAX || weir_json_parse(body, &json, NULL) != WEIR_OK)
        return false;
    const struct weir_json_node *root = weir_json_root(json);
    bool known = text_of(root, "error").len > 0;
    if (known)
        read_root(root, secret, ret);
    weir_json_free(json);
    return known;
}
