/* SPDX-License-Identifier: MIT */
/*
 * Inflating gzip; see gzip.h.
 *
 *     BETWEEN ── any byte but 0 ──▶ MEMBER ── its end ──▶ BETWEEN
 *        └────── a 0, after a member ──▶ PADDING (zeros only, to the end)
 */
#include "records/gzip.h"

#include <inttypes.h>
#include <limits.h>
#include <zlib.h>

#include "base/error.h"
#include "base/mem.h"

/* zlib's way to say: a window of 32 KiB, gzip's head and check sum only. */
#define GZIP_WINDOW_BITS (15 + 16)

enum state {
    BETWEEN,
    MEMBER,
    PADDING,
};

struct weir_gunzip {
    z_stream stream;
    enum state state;
    uint64_t members; /* that have begun */
    uint64_t used;    /* compressed bytes */
};

bool weir_gzip_is(struct weir_str bytes)
{
    return bytes.len >= 2 && !memcmp(bytes.ptr, "\x1f\x8b", 2);
}

static void *zlib_alloc(void *opaque, uInt count, uInt size)
{
    (void)opaque;
    return weir_calloc(count, size);
}

static void zlib_free(void *opaque, void *memory)
{
    (void)opaque;
    free(memory);
}

struct weir_gunzip *weir_gunzip_new(void)
{
    struct weir_gunzip *gunzip = weir_calloc(1, sizeof(*gunzip));
    gunzip->stream.zalloc = zlib_alloc;
    gunzip->stream.zfree = zlib_free;
    int failed = inflateInit2(&gunzip->stream, GZIP_WINDOW_BITS);
    if (failed) /* no memory, which does not return, or another zlib than it was built with */
        abort();
    return gunzip;
}

void weir_gunzip_free(struct weir_gunzip *gunzip)
{
    if (!gunzip)
        return;
    inflateEnd(&gunzip->stream);
    free(gunzip);
}

static void use(struct weir_gunzip *gunzip, struct weir_str *in, size_t len)
{
    in->ptr += len;
    in->len -= len;
    gunzip->used += len;
}

/* Outside of a member: pass over padding, or begin the next member. */
static enum weir_status begin(struct weir_gunzip *gunzip, struct weir_str *in,
                              struct weir_error *err)
{
    if (gunzip->state == BETWEEN && gunzip->members && in->len && !in->ptr[0])
        gunzip->state = PADDING;
    if (gunzip->state == PADDING) {
        size_t zeros = 0;
        while (zeros < in->len && !in->ptr[zeros])
            zeros++;
        use(gunzip, in, zeros);
        if (in->len)
            return weir_fail(err, WEIR_E_DAMAGED,
                             "has something else behind its compressed data, at byte %" PRIu64,
                             gunzip->used);
    } else if (in->len) {
        inflateReset(&gunzip->stream);
        gunzip->state = MEMBER;
        gunzip->members++;
    }
    return WEIR_OK;
}

static enum weir_status inflate_some(struct weir_gunzip *gunzip, struct weir_str *in, char *out,
                                     size_t out_bytes, size_t *made, struct weir_error *err)
{
    z_stream *stream = &gunzip->stream;
    stream->next_in = (Bytef *)(uintptr_t)in->ptr; /* zlib does not write there */
    stream->avail_in = in->len > UINT_MAX ? UINT_MAX : (uInt)in->len;
    stream->next_out = (Bytef *)out + *made;
    size_t room = out_bytes - *made;
    stream->avail_out = room > UINT_MAX ? UINT_MAX : (uInt)room;
    int result = inflate(stream, Z_NO_FLUSH);
    use(gunzip, in, (size_t)((const char *)stream->next_in - in->ptr));
    *made = (size_t)((char *)stream->next_out - out);
    if (result == Z_STREAM_END)
        gunzip->state = BETWEEN;
    else if (result != Z_OK && result != Z_BUF_ERROR)
        return weir_fail(err, WEIR_E_DAMAGED, "is damaged at byte %" PRIu64 ": %s", gunzip->used,
                         stream->msg ? stream->msg : "not what gzip makes");
    return WEIR_OK;
}

enum weir_status weir_gunzip_step(struct weir_gunzip *gunzip, struct weir_str *in, bool in_last,
                                  char *out, size_t out_bytes, size_t *ret_len,
                                  struct weir_error *err)
{
    size_t made = 0;
    enum weir_status status = WEIR_OK;
    /* Also with nothing left to take in: zlib may hold back what did not fit before. */
    do {
        if (gunzip->state != MEMBER)
            status = begin(gunzip, in, err);
        if (!status && gunzip->state == MEMBER)
            status = inflate_some(gunzip, in, out, out_bytes, &made, err);
    } while (!status && in->len && made < out_bytes);
    if (!status && !made && !in->len && in_last && gunzip->state == MEMBER)
        status =
            weir_fail(err, WEIR_E_DAMAGED,
                      "is cut: it ends within its compressed data, at byte %" PRIu64, gunzip->used);
    /* What was made before it failed comes first; it will fail again. */
    if (status && !made)
        return status;
    *ret_len = made;
    return WEIR_OK;
}
