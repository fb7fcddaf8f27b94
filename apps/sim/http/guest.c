/* SPDX-License-Identifier: MIT */
/* One HTTP request on its way through the shell; see guest.h. */
#include "sim/http/guest.h"

#include "base/mem.h"

#define TARGET_BYTES_MAX ((size_t)128 * 1024)
#define BLOCK_MAX        ((size_t)16 * 1024) /* of headers that are handed over in one piece */

struct sim_guest *sim_guest_new(struct sim_guests *guests, const char *target)
{
    struct sim_guest *guest = guests->free;
    if (guest) {
        guests->free = guest->next;
    } else {
        guest = weir_calloc(1, sizeof(*guest));
        weir_buf_init(&guest->target, TARGET_BYTES_MAX);
        weir_buf_init(&guest->body, SIM_BODY_BYTES_MAX);
        sim_answer_init(&guest->answer);
    }
    guest->stage = SIM_GUEST_HEAD;
    guest->header_count = 0;
    guest->headers_overflow = false;
    guest->place = SIM_NO_PLACE;
    guest->delivery = (struct sim_delivery){ .kind = SIM_DELIVER };
    weir_buf_add_text(&guest->target, target);
    return guest;
}

void sim_guest_free(struct sim_guests *guests, struct sim_guest *guest)
{
    sim_visit_free(guest->visit);
    guest->visit = NULL;
    guest->connection = NULL;
    sim_raw_release(&guest->raw);
    weir_buf_reset(&guest->target);
    sim_answer_reset(&guest->answer);
    weir_buf_reset(&guest->body);
    if (guest->body.capacity > SIM_BODY_KEPT_MAX)
        weir_buf_release(&guest->body);
    if (guest->answer.body.capacity > SIM_BODY_KEPT_MAX)
        weir_buf_release(&guest->answer.body);
    guest->next = guests->free;
    guests->free = guest;
}

void sim_guests_release(struct sim_guests *guests)
{
    while (guests->free) {
        struct sim_guest *guest = guests->free;
        guests->free = guest->next;
        weir_buf_release(&guest->target);
        weir_buf_release(&guest->body);
        sim_answer_release(&guest->answer);
        free(guest);
    }
}

static enum MHD_Result take_header(void *ctx, enum MHD_ValueKind kind, const char *key,
                                   size_t key_len, const char *value, size_t value_len)
{
    (void)kind;
    struct sim_guest *guest = ctx;
    if (guest->header_count == SIM_HEADERS_MAX) {
        guest->headers_overflow = true;
        return MHD_NO;
    }
    guest->headers[guest->header_count++] =
        (struct sim_header){ weir_str(key, key_len), weir_str(value ? value : "", value_len) };
    return MHD_YES;
}

void sim_guest_read_headers(struct sim_guest *guest)
{
    MHD_get_connection_values_n(guest->connection, MHD_HEADER_KIND, take_header, guest);
}

struct sim_http_request sim_guest_request(const struct sim_guest *guest, const char *method)
{
    return (struct sim_http_request){
        .method = weir_str_from(method),
        .target = weir_str(weir_buf_text(&guest->target), guest->target.len),
        .headers = guest->headers,
        .header_count = guest->header_count,
        .body = weir_str(weir_buf_text(&guest->body), guest->body.len),
    };
}

/* The lines "Name: value\r\n" one by one; the text is taken apart in place. */
static void add_each(struct MHD_Response *response, char *line, size_t len)
{
    char *end = line + len;
    while (line < end) {
        char *colon = memchr(line, ':', (size_t)(end - line));
        char *stop = memchr(line, '\r', (size_t)(end - line));
        if (!stop)
            return;
        *stop = '\0';
        if (colon && colon < stop) {
            *colon++ = '\0';
            MHD_add_response_header(response, line, *colon == ' ' ? colon + 1 : colon);
        }
        line = stop + 2;
    }
}

/* `len` times x, terminated; len up to BLOCK_MAX. */
static const char *filler(size_t len)
{
    static char xs[BLOCK_MAX + 1];
    if (!xs[0])
        memset(xs, 'x', BLOCK_MAX);
    return xs + BLOCK_MAX - len;
}

/* A line of these two: libmicrohttpd wants to know of them. */
static bool is_of_note(const char *line, size_t len)
{
    static const char *const names[] = { "Date:", "Connection:" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t name_len = strlen(names[i]);
        if (line[0] == names[i][0] && len >= name_len && memcmp(line, names[i], name_len) == 0)
            return true;
    }
    return false;
}

static bool has_line_of_note(const char *text, size_t len)
{
    const char *end = text + len;
    for (const char *line = text, *next; line < end; line = next) {
        next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next + 1 : end;
        if (is_of_note(line, (size_t)(next - line)))
            return true;
    }
    return false;
}

/*
 * All lines as the value of the first one. libmicrohttpd allocates three times for every header,
 * which for our twenty of them is a quarter of the time of an answer; and it refuses line ends in a
 * value. So it is given a value of the right length, and its copy is then written over. False: it
 * cannot be done.
 */
static bool add_block(struct MHD_Response *response, char *text, size_t len)
{
    char *colon = memchr(text, ':', len);
    if (!colon || len > BLOCK_MAX || has_line_of_note(text, len))
        return false;
    char *value = colon + 2;
    size_t value_len = (size_t)(text + len - value) - 2; /* the last line end is not ours */
    *colon = '\0';
    bool added = MHD_add_response_header(response, text, filler(value_len)) == MHD_YES;
    char *copy = added ? (char *)(uintptr_t)MHD_get_response_header(response, text) : NULL;
    *colon = ':';
    if (!copy || strlen(copy) != value_len)
        return false;
    memcpy(copy, value, value_len);
    return true;
}

enum MHD_Result sim_guest_queue_answer(struct sim_guest *guest)
{
    struct sim_answer *answer = &guest->answer;
    /* Not copied: the guest outlives the response. */
    struct MHD_Response *response =
        MHD_create_response_from_buffer(answer->body.len, answer->body.ptr, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    if (answer->headers.ptr && answer->headers.len &&
        !add_block(response, answer->headers.ptr, answer->headers.len))
        add_each(response, answer->headers.ptr, answer->headers.len);
    enum MHD_Result result =
        MHD_queue_response(guest->connection, (unsigned)answer->status, response);
    MHD_destroy_response(response);
    return result;
}

int sim_guest_fd(const struct sim_guest *guest)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(guest->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info->connect_fd;
}

void *sim_guest_tls(const struct sim_guest *guest)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(guest->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info ? info->tls_session : NULL;
}
