/* SPDX-License-Identifier: MIT */
/* Writing to the descriptor itself; see raw.h. */
#include "sim/http/raw.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <sys/socket.h>

static void compose(struct weir_buf *bytes, const struct sim_answer *answer, const char *date)
{
    weir_buf_printf(bytes, "HTTP/1.1 %d %s\r\n", answer->status, sim_http_reason(answer->status));
    if (date)
        weir_buf_printf(bytes, "Date: %s\r\n", date);
    weir_buf_add(bytes, weir_buf_text(&answer->headers), answer->headers.len);
    if (answer->status != 204)
        weir_buf_printf(bytes, "Content-Length: %zu\r\n", answer->body.len);
    weir_buf_add_text(bytes, "\r\n");
    weir_buf_add(bytes, weir_buf_text(&answer->body), answer->body.len);
}

void sim_raw_init(struct sim_raw *raw, int fd, void *tls, const struct sim_answer *answer,
                  const char *date, uint64_t byte)
{
    *raw = (struct sim_raw){ .fd = fd, .tls = tls };
    weir_buf_init(&raw->bytes, 2 * SIM_ANSWER_BYTES_MAX);
    compose(&raw->bytes, answer, date);
    if (raw->bytes.len > byte)
        raw->bytes.len = (size_t)byte;
}

void sim_raw_release(struct sim_raw *raw)
{
    weir_buf_release(&raw->bytes);
}

static ssize_t write_some(struct sim_raw *raw, const char *from, size_t len)
{
    if (!raw->tls)
        return send(raw->fd, from, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    ssize_t sent = gnutls_record_send(raw->tls, from, len);
    if (sent == GNUTLS_E_AGAIN || sent == GNUTLS_E_INTERRUPTED)
        errno = EAGAIN;
    else if (sent < 0)
        errno = EPIPE;
    return sent < 0 ? -1 : sent;
}

enum sim_raw_state sim_raw_write(struct sim_raw *raw)
{
    while (raw->sent < raw->bytes.len) {
        ssize_t sent = write_some(raw, raw->bytes.ptr + raw->sent, raw->bytes.len - raw->sent);
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return SIM_RAW_MORE;
        if (sent < 0 && errno != EINTR)
            return SIM_RAW_BROKEN;
        raw->sent += sent > 0 ? (size_t)sent : 0;
    }
    return SIM_RAW_DONE;
}

void sim_raw_arm_reset(int fd)
{
    struct linger at_once = { .l_onoff = 1, .l_linger = 0 };
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}
