/* SPDX-License-Identifier: MIT */
/* Text that is wiped; see secret.h. */
#include "auth/secret.h"

#include "auth/form.h"
#include "base/mem.h"

void weir_secret_set(struct weir_secret *secret, struct weir_str text)
{
    weir_secret_release(secret);
    secret->text = weir_strndup(text.ptr ? text.ptr : "", text.len);
    secret->len = text.len;
}

void weir_secret_release(struct weir_secret *secret)
{
    if (secret->text)
        explicit_bzero(secret->text, secret->len);
    free(secret->text);
    *secret = (struct weir_secret){ 0 };
}

struct weir_secret weir_secret_take(struct weir_secret *secret)
{
    struct weir_secret taken = *secret;
    *secret = (struct weir_secret){ 0 };
    return taken;
}

struct weir_str weir_secret_str(const struct weir_secret *secret)
{
    return weir_str(secret->text ? secret->text : "", secret->len);
}

void weir_secret_buf_init(struct weir_buf *buf, size_t bytes_max)
{
    weir_buf_init(buf, bytes_max);
    buf->capacity = bytes_max + 1;
    buf->ptr = weir_calloc(buf->capacity, 1);
}

void weir_secret_buf_release(struct weir_buf *buf)
{
    if (buf->ptr)
        explicit_bzero(buf->ptr, buf->capacity);
    weir_buf_release(buf);
}

static bool contains(struct weir_str text, struct weir_str part)
{
    return part.len && part.len <= text.len && memmem(text.ptr, text.len, part.ptr, part.len);
}

bool weir_secret_occurs(struct weir_str secret, struct weir_str text)
{
    if (contains(text, secret))
        return true;
    struct weir_buf encoded;
    weir_secret_buf_init(&encoded, 3 * secret.len);
    weir_form_encode(&encoded, secret);
    bool found = contains(text, weir_str(encoded.ptr, encoded.len));
    weir_secret_buf_release(&encoded);
    return found;
}
