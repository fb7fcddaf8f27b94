/* SPDX-License-Identifier: MIT */
/* Input files for tests: written into a directory that goes at the end, plain or as gzip. */
#ifndef WEIR_TESTS_INPUT_RIG_H
#define WEIR_TESTS_INPUT_RIG_H

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "records/reader.h"
#include "support/suite.h"

#define RIG_FILES 8

struct input_rig {
    char folder[64];
    char paths[RIG_FILES][128];
    int count;
};

static inline void input_rig_init(struct input_rig *rig)
{
    *rig = (struct input_rig){ 0 };
    snprintf(rig->folder, sizeof(rig->folder), "/tmp/weir-test-input-XXXXXX");
    must(mkdtemp(rig->folder));
}

static inline void input_rig_release(struct input_rig *rig)
{
    for (int i = 0; i < rig->count; i++)
        unlink(rig->paths[i]);
    rmdir(rig->folder);
}

/* The path of a file of that name with these bytes; one that was there is replaced. */
static inline const char *input_rig_write(struct input_rig *rig, const char *name,
                                          struct weir_str bytes)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", rig->folder, name);
    int at = 0;
    while (at < rig->count && strcmp(rig->paths[at], path))
        at++;
    if (at == rig->count) {
        must(rig->count < RIG_FILES);
        memcpy(rig->paths[rig->count++], path, sizeof(path));
    }
    FILE *file = fopen(path, "wb");
    must(file);
    must(!bytes.len || fwrite(bytes.ptr, bytes.len, 1, file) == 1);
    must(!fclose(file));
    return rig->paths[at];
}

/* One more member of gzip, behind what `to` has. */
static inline void gzip_add(struct weir_buf *to, struct weir_str bytes)
{
    z_stream stream = { .next_in = (Bytef *)(uintptr_t)bytes.ptr, .avail_in = (uInt)bytes.len };
    must(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    uLong room = deflateBound(&stream, bytes.len);
    char *out = weir_calloc(room, 1);
    stream.next_out = (Bytef *)out;
    stream.avail_out = (uInt)room;
    must(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    weir_buf_add(to, out, stream.total_out);
    deflateEnd(&stream);
    free(out);
}

static inline const char *input_rig_gzip(struct input_rig *rig, const char *name,
                                         struct weir_str bytes, size_t members)
{
    struct weir_buf packed;
    weir_buf_init(&packed, (size_t)64 << 20);
    for (size_t i = 0; i < members; i++) {
        size_t from = bytes.len * i / members;
        gzip_add(&packed, weir_str(bytes.ptr + from, bytes.len * (i + 1) / members - from));
    }
    const char *path = input_rig_write(rig, name, weir_str(packed.ptr, packed.len));
    weir_buf_release(&packed);
    return path;
}

/* Rows "N,text of N" from `first` on, below a header. */
static inline struct weir_buf make_rows(uint64_t first, uint64_t count, size_t width)
{
    struct weir_buf text;
    weir_buf_init(&text, (size_t)64 << 20);
    weir_buf_add_text(&text, "number,text\n");
    for (uint64_t i = first; i < first + count; i++)
        weir_buf_printf(&text, "%llu,\"%0*llu\n\"\n", (unsigned long long)i, (int)(i % width) + 1,
                        (unsigned long long)(i * 7919));
    return text;
}

static inline struct weir_str str_of(const struct weir_buf *buf)
{
    return weir_str(buf->ptr, buf->len);
}

#endif
