/* SPDX-License-Identifier: MIT */
/* multipart/mixed, cut into its parts; see multipart.h. */
#include "protocol/multipart.h"

#include "base/limits.h"

static struct weir_str behind(struct weir_str text, size_t len)
{
    return weir_str(text.ptr + len, text.len - len);
}

static size_t find_char(struct weir_str text, char c)
{
    const char *found = text.len ? memchr(text.ptr, c, text.len) : NULL;
    return found ? (size_t)(found - text.ptr) : text.len;
}

/* ---- Content-Type ---- */

/* Up to the semicolon that ends a parameter; quotes protect one. */
static size_t parameter_len(struct weir_str text)
{
    bool quoted = false;
    size_t at = 0;
    for (; at < text.len && (quoted || text.ptr[at] != ';'); at++)
        quoted ^= text.ptr[at] == '"';
    return at;
}

static struct weir_str take_parameter(struct weir_str *text)
{
    size_t len = parameter_len(*text);
    struct weir_str parameter = weir_str_trim(weir_str(text->ptr, len));
    *text = behind(*text, len < text->len ? len + 1 : len);
    return parameter;
}

/* `name=value` or `name="value"`: the value, if it has that name. */
static bool read_parameter(struct weir_str parameter, const char *name, struct weir_str *ret)
{
    size_t equals = find_char(parameter, '=');
    if (equals == parameter.len ||
        !weir_str_equal_nocase(weir_str_trim(weir_str(parameter.ptr, equals)), weir_str_from(name)))
        return false;
    struct weir_str value = weir_str_trim(behind(parameter, equals + 1));
    if (value.len >= 2 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"')
        value = weir_str(value.ptr + 1, value.len - 2);
    *ret = value;
    return find_char(value, '"') == value.len;
}

bool weir_multipart_boundary(struct weir_str content_type, struct weir_str *ret)
{
    if (content_type.len == 0)
        return false;
    struct weir_str type = take_parameter(&content_type);
    if (!weir_str_equal_nocase(type, weir_str_from("multipart/mixed")))
        return false;
    while (content_type.len) {
        struct weir_str boundary;
        if (!read_parameter(take_parameter(&content_type), "boundary", &boundary))
            continue;
        *ret = boundary;
        return boundary.len > 0 && boundary.len <= WEIR_BOUNDARY_BYTES_MAX;
    }
    return false;
}

/* ---- delimiters ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Bytes of the delimiter that the line at the beginning of `text` is; 0: it is none. */
static size_t delimiter_len(const struct weir_multipart *m, struct weir_str text, bool *ret_last)
{
    size_t len = 2 + m->boundary.len;
    if (text.len < len || memcmp(text.ptr, "--", 2) != 0 ||
        memcmp(text.ptr + 2, m->boundary.ptr, m->boundary.len) != 0)
        return 0;
    *ret_last = text.len >= len + 2 && memcmp(text.ptr + len, "--", 2) == 0;
    if (*ret_last) {
        len += 2;
        return len == text.len || is_space(text.ptr[len]) ? len : 0;
    }
    while (len < text.len && (text.ptr[len] == ' ' || text.ptr[len] == '\t'))
        len++;
    if (len < text.len && text.ptr[len] == '\r')
        len++;
    return len < text.len && text.ptr[len] == '\n' ? len + 1 : 0;
}

/* Without the line end that belongs to the delimiter behind it. */
static struct weir_str without_line_end(struct weir_str text)
{
    if (text.len && text.ptr[text.len - 1] == '\n')
        text.len--;
    if (text.len && text.ptr[text.len - 1] == '\r')
        text.len--;
    return text;
}

/* Move behind the next delimiter; *ret is what stands in front of it. */
static bool pass_delimiter(struct weir_multipart *m, struct weir_str *ret)
{
    size_t line = 0;
    while (line < m->rest.len) {
        struct weir_str text = behind(m->rest, line);
        bool last;
        size_t len = delimiter_len(m, text, &last);
        if (len) {
            *ret = without_line_end(weir_str(m->rest.ptr, line));
            m->rest = behind(text, len);
            m->complete = last;
            return true;
        }
        line += find_char(text, '\n') + 1;
    }
    return false;
}

bool weir_multipart_open(struct weir_multipart *multipart, struct weir_str body,
                         struct weir_str boundary)
{
    struct weir_str preamble;
    *multipart = (struct weir_multipart){ .rest = body, .boundary = boundary };
    return pass_delimiter(multipart, &preamble);
}

bool weir_multipart_next(struct weir_multipart *multipart, struct weir_str *ret)
{
    return !multipart->complete && pass_delimiter(multipart, ret);
}

bool weir_multipart_take_line(struct weir_str *text, struct weir_str *ret)
{
    size_t end = find_char(*text, '\n');
    if (end == text->len)
        return false;
    *ret = weir_str(text->ptr, end && text->ptr[end - 1] == '\r' ? end - 1 : end);
    *text = behind(*text, end + 1);
    return true;
}
