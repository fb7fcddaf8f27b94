/* SPDX-License-Identifier: MIT */
/* Multipart bodies; the form stands in multipart.h. */
#include "sim/service/multipart.h"

static struct weir_str tail(struct weir_str text, size_t from)
{
    return weir_str(text.ptr + from, text.len - from);
}

static size_t find_char(struct weir_str text, char c)
{
    const char *at = text.len ? memchr(text.ptr, c, text.len) : NULL;
    return at ? (size_t)(at - text.ptr) : text.len;
}

/* ---- Content-Type ---- */

/* One parameter of a header, "; name=value" or "; name=\"value\"", taken off *text. */
static bool take_parameter(struct weir_str *text, struct weir_str *name, struct weir_str *value)
{
    size_t start = find_char(*text, ';');
    if (start == text->len)
        return false;
    *text = tail(*text, start + 1);
    size_t equals = find_char(*text, '=');
    if (equals == text->len)
        return false;
    *name = weir_str_trim(weir_str(text->ptr, equals));
    *text = weir_str_trim(tail(*text, equals + 1));
    if (text->len && text->ptr[0] == '"') {
        *text = tail(*text, 1);
        size_t quote = find_char(*text, '"');
        *value = weir_str(text->ptr, quote);
        *text = tail(*text, quote);
        return text->len > 0;
    }
    *value = weir_str_trim(weir_str(text->ptr, find_char(*text, ';')));
    return true;
}

bool sim_multipart_boundary(struct weir_str content_type, struct weir_str *ret)
{
    struct weir_str type = weir_str(content_type.ptr, find_char(content_type, ';'));
    if (!weir_str_equal_nocase(weir_str_trim(type), weir_str_from("multipart/mixed")))
        return false;
    struct weir_str name, value;
    while (take_parameter(&content_type, &name, &value)) {
        if (weir_str_equal_nocase(name, weir_str_from("boundary"))) {
            *ret = value;
            return value.len > 0 && value.len <= SIM_BOUNDARY_MAX;
        }
    }
    return false;
}

/* ---- delimiters ---- */

struct delimiter {
    size_t start; /* where the content in front of it ends */
    size_t end;   /* behind its line */
    bool last;    /* --boundary-- */
};

enum found {
    FOUND_NONE,
    FOUND_ONE,
    FOUND_BAD,
};

/* Is there a delimiter at `at`, which begins a line? `ret->start` is not set. */
static enum found match_delimiter(const struct sim_multipart *m, size_t at, struct delimiter *ret)
{
    struct weir_str rest = tail(m->body, at);
    size_t len = m->boundary.len + 2;
    if (rest.len < len || memcmp(rest.ptr, "--", 2) != 0 ||
        memcmp(rest.ptr + 2, m->boundary.ptr, m->boundary.len) != 0)
        return FOUND_NONE;
    rest = tail(rest, len);
    ret->last = rest.len >= 2 && !memcmp(rest.ptr, "--", 2);
    if (ret->last)
        rest = tail(rest, 2);
    while (rest.len && (rest.ptr[0] == ' ' || rest.ptr[0] == '\t'))
        rest = tail(rest, 1);
    ret->end = m->body.len - rest.len;
    if (rest.len >= 2 && !memcmp(rest.ptr, "\r\n", 2)) {
        ret->end += 2;
        return FOUND_ONE;
    }
    if (!rest.len)
        return ret->last && m->nested ? FOUND_ONE : FOUND_BAD;
    /* "--boundaryX" is another boundary that begins like this one. */
    return rest.ptr[0] == '\n' || rest.ptr[0] == '\r' ? FOUND_BAD : FOUND_NONE;
}

/* The next delimiter line from m->at, which begins a line, on. */
static enum found find_delimiter(const struct sim_multipart *m, struct delimiter *ret)
{
    size_t line = m->at;
    while (line <= m->body.len) {
        enum found found = match_delimiter(m, line, ret);
        if (found != FOUND_NONE) {
            bool first = line == m->at;
            bool crlf = !first && line >= m->at + 2 && m->body.ptr[line - 2] == '\r';
            ret->start = crlf ? line - 2 : line;
            return found == FOUND_ONE && (first || crlf) ? FOUND_ONE : FOUND_BAD;
        }
        line += find_char(tail(m->body, line), '\n') + 1;
    }
    return FOUND_NONE;
}

/* ---- lines and headers ---- */

/* One line that ends with CR LF, taken off *text. False: it does not. The last one may lack it. */
static bool take_line(struct weir_str *text, struct weir_str *line)
{
    size_t end = find_char(*text, '\n');
    if (end == text->len) {
        *line = *text;
        *text = tail(*text, end);
        return find_char(*line, '\r') == line->len;
    }
    if (!end || text->ptr[end - 1] != '\r')
        return false;
    *line = weir_str(text->ptr, end - 1);
    *text = tail(*text, end + 1);
    return find_char(*line, '\r') == line->len;
}

/* Headers up to the empty line or the end of the text; both are taken off *text. */
static bool take_headers(struct weir_str *text, struct sim_header *headers, size_t *count)
{
    *count = 0;
    while (text->len) {
        struct weir_str line;
        if (!take_line(text, &line))
            return false;
        if (!line.len)
            return true;
        size_t colon = find_char(line, ':');
        bool folded = line.ptr[0] == ' ' || line.ptr[0] == '\t';
        if (colon == line.len || !colon || folded || *count == SIM_PART_HEADERS_MAX)
            return false;
        headers[(*count)++] = (struct sim_header){ weir_str_trim(weir_str(line.ptr, colon)),
                                                   weir_str_trim(tail(line, colon + 1)) };
    }
    return true;
}

/* ---- parts ---- */

void sim_multipart_init(struct sim_multipart *multipart, struct weir_str body,
                        struct weir_str boundary, bool nested)
{
    *multipart = (struct sim_multipart){ .body = body, .boundary = boundary, .nested = nested };
}

static enum sim_multipart_step begin(struct sim_multipart *m)
{
    struct delimiter delimiter;
    enum found found = find_delimiter(m, &delimiter);
    m->begun = true;
    m->ended = found == FOUND_NONE || delimiter.last;
    if (found == FOUND_BAD)
        return SIM_MULTIPART_BROKEN;
    m->at = m->ended ? m->body.len : delimiter.end;
    return m->ended ? SIM_MULTIPART_END : SIM_MULTIPART_PART;
}

enum sim_multipart_step sim_multipart_next(struct sim_multipart *multipart, struct sim_part *ret)
{
    if (!multipart->begun) {
        enum sim_multipart_step step = begin(multipart);
        if (step != SIM_MULTIPART_PART)
            return step;
    }
    if (multipart->ended)
        return SIM_MULTIPART_END;
    struct delimiter delimiter;
    if (find_delimiter(multipart, &delimiter) != FOUND_ONE)
        return SIM_MULTIPART_BROKEN;
    ret->content = weir_str(multipart->body.ptr + multipart->at, delimiter.start - multipart->at);
    if (!take_headers(&ret->content, ret->headers, &ret->header_count))
        return SIM_MULTIPART_BROKEN;
    multipart->at = delimiter.end;
    multipart->ended = delimiter.last;
    return SIM_MULTIPART_PART;
}

/* ---- the request inside ---- */

static bool take_request_line(struct weir_str line, struct sim_part_request *ret)
{
    size_t first = find_char(line, ' ');
    if (!first || first == line.len)
        return false;
    ret->method = weir_str(line.ptr, first);
    struct weir_str rest = tail(line, first + 1);
    size_t last = rest.len;
    while (last && rest.ptr[last - 1] != ' ')
        last--;
    /* The address has no blanks of its own: one in between makes it no request line. */
    if (last < 2 || find_char(rest, ' ') != last - 1)
        return false;
    ret->target = weir_str(rest.ptr, last - 1);
    struct weir_str version = tail(rest, last);
    return weir_str_equal(version, weir_str_from("HTTP/1.1")) ||
           weir_str_equal(version, weir_str_from("HTTP/1.0"));
}

static struct weir_str until_dashes(struct weir_str body)
{
    for (size_t line = 0; line + 2 <= body.len;) {
        if (!memcmp(body.ptr + line, "--", 2))
            return weir_str(body.ptr, line);
        line += find_char(tail(body, line), '\n') + 1;
    }
    return body;
}

bool sim_part_request_parse(struct weir_str content, struct sim_part_request *ret)
{
    struct weir_str line;
    if (!take_line(&content, &line) || !take_request_line(line, ret))
        return false;
    if (!take_headers(&content, ret->headers, &ret->header_count))
        return false;
    ret->body = until_dashes(content);
    return true;
}
