/* SPDX-License-Identifier: MIT */
/* The head of an answer; see head.h. */
#include "net/head.h"

#include "base/limits.h"

static enum weir_head_result fail(struct weir_head *head, enum weir_head_result result,
                                  const char *problem)
{
    head->problem = problem;
    return result;
}

static enum weir_head_result malformed(struct weir_head *head, const char *problem)
{
    return fail(head, WEIR_HEAD_MALFORMED, problem);
}

/* --- beginning and end ------------------------------------------------------------------------ */

void weir_head_init(struct weir_head *head)
{
    *head = (struct weir_head){ .length = -1 };
    /* Each line becomes a name and a value, which with their terminators are no longer. */
    weir_buf_init_secret(&head->text, WEIR_ANSWER_HEAD_BYTES_MAX + 2);
}

void weir_head_release(struct weir_head *head)
{
    weir_buf_release(&head->text);
    *head = (struct weir_head){ .length = -1 };
}

void weir_head_reset(struct weir_head *head)
{
    struct weir_buf text = head->text;
    weir_buf_reset(&text);
    *head = (struct weir_head){ .length = -1, .text = text };
}

/* Another head follows a 1xx; the bytes go on counting. */
static void forget(struct weir_head *head)
{
    size_t bytes = head->bytes;
    weir_head_reset(head);
    head->bytes = bytes;
}

/* --- lines ------------------------------------------------------------------------------------ */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Letters, digits and those of RFC 9110 5.6.2. */
static const bool token_bytes[256] = {
    ['!'] = true,         ['#'] = true,         ['$'] = true,         ['%'] = true, ['&'] = true,
    ['\''] = true,        ['*'] = true,         ['+'] = true,         ['-'] = true, ['.'] = true,
    ['^'] = true,         ['_'] = true,         ['`'] = true,         ['|'] = true, ['~'] = true,
    ['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true,
};

bool weir_head_is_token(struct weir_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!token_bytes[(unsigned char)text.ptr[i]])
            return false;
    }
    return text.len > 0;
}

static bool is_text_byte(char c)
{
    return ((unsigned char)c >= 0x20 || c == '\t') && c != 0x7f;
}

/* Eight bytes, none of which is a control byte; one that is may be taken for more. */
static bool is_plain_word(const char *at)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t word;
    memcpy(&word, at, sizeof(word));
    uint64_t other = word ^ ones * 0x7f;
    uint64_t low = (word - ones * 0x20) & ~word;
    uint64_t deleted = (other - ones) & ~other;
    return ((low | deleted) & ones * 0x80) == 0;
}

bool weir_head_is_text(struct weir_str text)
{
    size_t i = 0;
    while (i < text.len) {
        if (text.len - i >= sizeof(uint64_t) && is_plain_word(text.ptr + i))
            i += sizeof(uint64_t);
        else if (is_text_byte(text.ptr[i]))
            i++;
        else
            return false;
    }
    return true;
}

/* "HTTP/1.1 200 OK"; the phrase and the blank before it may be missing. */
static enum weir_head_result status_line(struct weir_head *head, struct weir_str line)
{
    static const char version[] = "HTTP/1.";
    size_t len = strlen(version);
    if (line.len < len + 5 || memcmp(line.ptr, version, len) != 0 || !weir_head_is_text(line))
        return malformed(head, "no status line of HTTP/1");
    const char *rest = line.ptr + len;
    bool good = (rest[0] == '0' || rest[0] == '1') && rest[1] == ' ' && rest[2] >= '1' &&
                rest[2] <= '5' && is_digit(rest[3]) && is_digit(rest[4]) &&
                (line.len == len + 5 || rest[5] == ' ');
    if (!good)
        return malformed(head, "no status line of HTTP/1");
    head->old = rest[0] == '0';
    head->status = (rest[2] - '0') * 100 + (rest[3] - '0') * 10 + (rest[4] - '0');
    if (head->status == 101)
        return malformed(head, "a change of protocol that nobody asked for");
    return WEIR_HEAD_GOOD;
}

static enum weir_head_result content_length(struct weir_head *head, struct weir_str value)
{
    int64_t length;
    if (value.len == 0 || !is_digit(value.ptr[0]) || !weir_str_to_int64(value, &length))
        return malformed(head, "a content-length that is no number");
    if (head->length >= 0 && head->length != length)
        return malformed(head, "two different content-lengths");
    head->length = length;
    return WEIR_HEAD_GOOD;
}

static enum weir_head_result transfer_encoding(struct weir_head *head, struct weir_str value)
{
    if (head->chunked || !weir_str_equal_nocase(value, weir_str_from("chunked")))
        return malformed(head, "a transfer-encoding other than chunked");
    head->chunked = true;
    return WEIR_HEAD_GOOD;
}

/* A list of words; does one of them say that the connection ends? */
static void note_connection(struct weir_head *head, struct weir_str value)
{
    while (value.len) {
        const char *comma = memchr(value.ptr, ',', value.len);
        size_t len = comma ? (size_t)(comma - value.ptr) : value.len;
        if (weir_str_equal_nocase(weir_str_trim(weir_str(value.ptr, len)), weir_str_from("close")))
            head->close = true;
        len += comma != NULL;
        value = weir_str(value.ptr + len, value.len - len);
    }
}

static enum weir_head_result note_framing(struct weir_head *head, struct weir_str name,
                                          struct weir_str value)
{
    if (weir_str_equal_nocase(name, weir_str_from("Connection")))
        note_connection(head, value);
    if (weir_str_equal_nocase(name, weir_str_from("Content-Length")))
        return content_length(head, value);
    if (weir_str_equal_nocase(name, weir_str_from("Transfer-Encoding")))
        return transfer_encoding(head, value);
    return WEIR_HEAD_GOOD;
}

static enum weir_head_result header_line(struct weir_head *head, struct weir_str line)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    size_t len = colon ? (size_t)(colon - line.ptr) : 0;
    struct weir_str name = weir_str(line.ptr, len);
    if (!weir_head_is_token(name))
        return malformed(head, "a header line without a name");
    struct weir_str value = weir_str_trim(weir_str(colon + 1, line.len - len - 1));
    if (!weir_head_is_text(value))
        return malformed(head, "a control byte in a header");
    if (head->count == WEIR_ANSWER_HEADERS_MAX)
        return fail(head, WEIR_HEAD_TOO_BIG, "too many headers");
    head->count++;
    weir_buf_add(&head->text, name.ptr, name.len);
    weir_buf_add_char(&head->text, '\0');
    weir_buf_add(&head->text, value.ptr, value.len);
    weir_buf_add_char(&head->text, '\0');
    return note_framing(head, name, value);
}

/* One that is announced must not come, and may: what does is not the next answer. */
static bool is_without_body(struct weir_head *head)
{
    bool without = head->status == 204 || head->status == 304;
    if (without && (head->chunked || head->length > 0))
        head->close = true;
    return without;
}

static enum weir_head_result blank_line(struct weir_head *head)
{
    if (head->status < 200) {
        forget(head);
        return WEIR_HEAD_GOOD;
    }
    if (head->chunked && (head->length >= 0 || head->old))
        return malformed(head, "chunked where it must not be");
    if (is_without_body(head))
        head->framing = WEIR_FRAMING_NONE;
    else if (head->chunked)
        head->framing = WEIR_FRAMING_CHUNKED;
    else if (head->length >= 0)
        head->framing = WEIR_FRAMING_LENGTH;
    else
        return malformed(head, "a body whose end only the end of the connection would tell");
    head->whole = true;
    return WEIR_HEAD_GOOD;
}

static struct weir_str without_end(struct weir_str line)
{
    if (line.len && line.ptr[line.len - 1] == '\n')
        line.len--;
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    return line;
}

enum weir_head_result weir_head_line(struct weir_head *head, struct weir_str line)
{
    head->bytes += line.len;
    if (line.len > WEIR_ANSWER_LINE_MAX)
        return fail(head, WEIR_HEAD_TOO_BIG, "a header line over its bound");
    if (head->bytes > WEIR_ANSWER_HEAD_BYTES_MAX)
        return fail(head, WEIR_HEAD_TOO_BIG, "headers over their bound");
    line = without_end(line);
    if (head->status == 0)
        return status_line(head, line);
    return line.len ? header_line(head, line) : blank_line(head);
}

void weir_head_list(const struct weir_head *head, struct weir_http_header *headers)
{
    const char *at = head->text.ptr;
    for (size_t i = 0; i < head->count; i++) {
        headers[i].name = at;
        at += strlen(at) + 1;
        headers[i].value = at;
        at += strlen(at) + 1;
    }
}
