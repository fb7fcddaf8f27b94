/* SPDX-License-Identifier: MIT */
/*
 * Texts as a database compares them; see fold.h. Whatever is not ASCII is looked up in one table of
 * runs of characters, ascending, each with one way to fold all of its characters.
 */
#include "records/fold.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum way {
    TO,   /* all are `arg` */
    TWO,  /* all are the two ASCII letters of `arg` */
    ADD,  /* `arg` further on */
    EVEN, /* pairs: an even one is the capital of the next */
    ODD,  /* likewise, odd ones */
    GONE,
};

struct run {
    uint32_t first;
    uint32_t last;
    enum way way;
    int32_t arg;
};

#define PAIR(a, b) ((a) << 8 | (b))

static const struct run runs[] = {
    /* Latin-1 */
    { 0x00a0, 0x00a0, TO, ' ' },
    { 0x00aa, 0x00aa, TO, 'a' },
    { 0x00ad, 0x00ad, GONE, 0 },
    { 0x00b2, 0x00b2, TO, '2' },
    { 0x00b3, 0x00b3, TO, '3' },
    { 0x00b5, 0x00b5, TO, 0x03bc },
    { 0x00b9, 0x00b9, TO, '1' },
    { 0x00ba, 0x00ba, TO, 'o' },
    { 0x00c0, 0x00c5, TO, 'a' },
    { 0x00c6, 0x00c6, TWO, PAIR('a', 'e') },
    { 0x00c7, 0x00c7, TO, 'c' },
    { 0x00c8, 0x00cb, TO, 'e' },
    { 0x00cc, 0x00cf, TO, 'i' },
    { 0x00d0, 0x00d0, TO, 'd' },
    { 0x00d1, 0x00d1, TO, 'n' },
    { 0x00d2, 0x00d6, TO, 'o' },
    { 0x00d8, 0x00d8, TO, 'o' },
    { 0x00d9, 0x00dc, TO, 'u' },
    { 0x00dd, 0x00dd, TO, 'y' },
    { 0x00de, 0x00de, TWO, PAIR('t', 'h') },
    { 0x00df, 0x00df, TWO, PAIR('s', 's') },
    { 0x00e0, 0x00e5, TO, 'a' },
    { 0x00e6, 0x00e6, TWO, PAIR('a', 'e') },
    { 0x00e7, 0x00e7, TO, 'c' },
    { 0x00e8, 0x00eb, TO, 'e' },
    { 0x00ec, 0x00ef, TO, 'i' },
    { 0x00f0, 0x00f0, TO, 'd' },
    { 0x00f1, 0x00f1, TO, 'n' },
    { 0x00f2, 0x00f6, TO, 'o' },
    { 0x00f8, 0x00f8, TO, 'o' },
    { 0x00f9, 0x00fc, TO, 'u' },
    { 0x00fd, 0x00fd, TO, 'y' },
    { 0x00fe, 0x00fe, TWO, PAIR('t', 'h') },
    { 0x00ff, 0x00ff, TO, 'y' },
    /* Latin, extended */
    { 0x0100, 0x0105, TO, 'a' },
    { 0x0106, 0x010d, TO, 'c' },
    { 0x010e, 0x0111, TO, 'd' },
    { 0x0112, 0x011b, TO, 'e' },
    { 0x011c, 0x0123, TO, 'g' },
    { 0x0124, 0x0127, TO, 'h' },
    { 0x0128, 0x0131, TO, 'i' },
    { 0x0132, 0x0133, TWO, PAIR('i', 'j') },
    { 0x0134, 0x0135, TO, 'j' },
    { 0x0136, 0x0138, TO, 'k' },
    { 0x0139, 0x0142, TO, 'l' },
    { 0x0143, 0x014b, TO, 'n' },
    { 0x014c, 0x0151, TO, 'o' },
    { 0x0152, 0x0153, TWO, PAIR('o', 'e') },
    { 0x0154, 0x0159, TO, 'r' },
    { 0x015a, 0x0161, TO, 's' },
    { 0x0162, 0x0167, TO, 't' },
    { 0x0168, 0x0173, TO, 'u' },
    { 0x0174, 0x0175, TO, 'w' },
    { 0x0176, 0x0178, TO, 'y' },
    { 0x0179, 0x017e, TO, 'z' },
    { 0x017f, 0x017f, TO, 's' },
    { 0x01a0, 0x01a1, TO, 'o' },
    { 0x01af, 0x01b0, TO, 'u' },
    { 0x01c4, 0x01c6, TWO, PAIR('d', 'z') },
    { 0x01c7, 0x01c9, TWO, PAIR('l', 'j') },
    { 0x01ca, 0x01cc, TWO, PAIR('n', 'j') },
    { 0x01cd, 0x01ce, TO, 'a' },
    { 0x01cf, 0x01d0, TO, 'i' },
    { 0x01d1, 0x01d2, TO, 'o' },
    { 0x01d3, 0x01dc, TO, 'u' },
    { 0x01de, 0x01e1, TO, 'a' },
    { 0x01e2, 0x01e3, TWO, PAIR('a', 'e') },
    { 0x01e4, 0x01e7, TO, 'g' },
    { 0x01e8, 0x01e9, TO, 'k' },
    { 0x01ea, 0x01ed, TO, 'o' },
    { 0x01f0, 0x01f0, TO, 'j' },
    { 0x01f1, 0x01f3, TWO, PAIR('d', 'z') },
    { 0x01f4, 0x01f5, TO, 'g' },
    { 0x01f8, 0x01f9, TO, 'n' },
    { 0x01fa, 0x01fb, TO, 'a' },
    { 0x01fc, 0x01fd, TWO, PAIR('a', 'e') },
    { 0x01fe, 0x01ff, TO, 'o' },
    { 0x0200, 0x0203, TO, 'a' },
    { 0x0204, 0x0207, TO, 'e' },
    { 0x0208, 0x020b, TO, 'i' },
    { 0x020c, 0x020f, TO, 'o' },
    { 0x0210, 0x0213, TO, 'r' },
    { 0x0214, 0x0217, TO, 'u' },
    { 0x0218, 0x0219, TO, 's' },
    { 0x021a, 0x021b, TO, 't' },
    { 0x021e, 0x021f, TO, 'h' },
    { 0x0226, 0x0227, TO, 'a' },
    { 0x0228, 0x0229, TO, 'e' },
    { 0x022a, 0x0231, TO, 'o' },
    { 0x0232, 0x0233, TO, 'y' },
    { 0x0246, 0x024f, EVEN, 0 },
    /* marks */
    { 0x0300, 0x036f, GONE, 0 },
    /* Greek */
    { 0x0386, 0x0386, TO, 0x03b1 },
    { 0x0388, 0x0388, TO, 0x03b5 },
    { 0x0389, 0x0389, TO, 0x03b7 },
    { 0x038a, 0x038a, TO, 0x03b9 },
    { 0x038c, 0x038c, TO, 0x03bf },
    { 0x038e, 0x038e, TO, 0x03c5 },
    { 0x038f, 0x038f, TO, 0x03c9 },
    { 0x0390, 0x0390, TO, 0x03b9 },
    { 0x0391, 0x03a1, ADD, 0x20 },
    { 0x03a3, 0x03a9, ADD, 0x20 },
    { 0x03aa, 0x03aa, TO, 0x03b9 },
    { 0x03ab, 0x03ab, TO, 0x03c5 },
    { 0x03ac, 0x03ac, TO, 0x03b1 },
    { 0x03ad, 0x03ad, TO, 0x03b5 },
    { 0x03ae, 0x03ae, TO, 0x03b7 },
    { 0x03af, 0x03af, TO, 0x03b9 },
    { 0x03b0, 0x03b0, TO, 0x03c5 },
    { 0x03c2, 0x03c2, TO, 0x03c3 },
    { 0x03ca, 0x03ca, TO, 0x03b9 },
    { 0x03cb, 0x03cb, TO, 0x03c5 },
    { 0x03cc, 0x03cc, TO, 0x03bf },
    { 0x03cd, 0x03cd, TO, 0x03c5 },
    { 0x03ce, 0x03ce, TO, 0x03c9 },
    { 0x03d8, 0x03ef, EVEN, 0 },
    /* Cyrillic */
    { 0x0400, 0x0401, TO, 0x0435 },
    { 0x0402, 0x0402, ADD, 0x50 },
    { 0x0403, 0x0403, TO, 0x0433 },
    { 0x0404, 0x0406, ADD, 0x50 },
    { 0x0407, 0x0407, TO, 0x0456 },
    { 0x0408, 0x040b, ADD, 0x50 },
    { 0x040c, 0x040c, TO, 0x043a },
    { 0x040d, 0x040d, TO, 0x0438 },
    { 0x040e, 0x040e, TO, 0x0443 },
    { 0x040f, 0x040f, ADD, 0x50 },
    { 0x0410, 0x0418, ADD, 0x20 },
    { 0x0419, 0x0419, TO, 0x0438 },
    { 0x041a, 0x042f, ADD, 0x20 },
    { 0x0439, 0x0439, TO, 0x0438 },
    { 0x0450, 0x0451, TO, 0x0435 },
    { 0x0453, 0x0453, TO, 0x0433 },
    { 0x0457, 0x0457, TO, 0x0456 },
    { 0x045c, 0x045c, TO, 0x043a },
    { 0x045d, 0x045d, TO, 0x0438 },
    { 0x045e, 0x045e, TO, 0x0443 },
    { 0x0460, 0x0481, EVEN, 0 },
    { 0x048a, 0x04bf, EVEN, 0 },
    { 0x04c0, 0x04c0, TO, 0x04cf },
    { 0x04c1, 0x04ce, ODD, 0 },
    { 0x04d0, 0x052f, EVEN, 0 },
    /* Armenian; points of Hebrew and Arabic; Georgian */
    { 0x0531, 0x0556, ADD, 0x30 },
    { 0x0591, 0x05bd, GONE, 0 },
    { 0x0640, 0x0640, GONE, 0 },
    { 0x064b, 0x065f, GONE, 0 },
    { 0x10a0, 0x10c5, ADD, 0x1c60 },
    { 0x1c90, 0x1cbf, ADD, -0x0bc0 },
    /* Latin, additional */
    { 0x1e00, 0x1e01, TO, 'a' },
    { 0x1e02, 0x1e07, TO, 'b' },
    { 0x1e08, 0x1e09, TO, 'c' },
    { 0x1e0a, 0x1e13, TO, 'd' },
    { 0x1e14, 0x1e1d, TO, 'e' },
    { 0x1e1e, 0x1e1f, TO, 'f' },
    { 0x1e20, 0x1e21, TO, 'g' },
    { 0x1e22, 0x1e2b, TO, 'h' },
    { 0x1e2c, 0x1e2f, TO, 'i' },
    { 0x1e30, 0x1e35, TO, 'k' },
    { 0x1e36, 0x1e3d, TO, 'l' },
    { 0x1e3e, 0x1e43, TO, 'm' },
    { 0x1e44, 0x1e4b, TO, 'n' },
    { 0x1e4c, 0x1e53, TO, 'o' },
    { 0x1e54, 0x1e57, TO, 'p' },
    { 0x1e58, 0x1e5f, TO, 'r' },
    { 0x1e60, 0x1e69, TO, 's' },
    { 0x1e6a, 0x1e71, TO, 't' },
    { 0x1e72, 0x1e7b, TO, 'u' },
    { 0x1e7c, 0x1e7f, TO, 'v' },
    { 0x1e80, 0x1e89, TO, 'w' },
    { 0x1e8a, 0x1e8d, TO, 'x' },
    { 0x1e8e, 0x1e8f, TO, 'y' },
    { 0x1e90, 0x1e95, TO, 'z' },
    { 0x1e96, 0x1e96, TO, 'h' },
    { 0x1e97, 0x1e97, TO, 't' },
    { 0x1e98, 0x1e98, TO, 'w' },
    { 0x1e99, 0x1e99, TO, 'y' },
    { 0x1e9a, 0x1e9a, TO, 'a' },
    { 0x1e9b, 0x1e9d, TO, 's' },
    { 0x1e9e, 0x1e9e, TWO, PAIR('s', 's') },
    { 0x1ea0, 0x1eb7, TO, 'a' },
    { 0x1eb8, 0x1ec7, TO, 'e' },
    { 0x1ec8, 0x1ecb, TO, 'i' },
    { 0x1ecc, 0x1ee3, TO, 'o' },
    { 0x1ee4, 0x1ef1, TO, 'u' },
    { 0x1ef2, 0x1ef9, TO, 'y' },
    /* blanks and what has no width; signs that are letters */
    { 0x2000, 0x200a, TO, ' ' },
    { 0x200b, 0x200f, GONE, 0 },
    { 0x202f, 0x202f, TO, ' ' },
    { 0x205f, 0x205f, TO, ' ' },
    { 0x2060, 0x2060, GONE, 0 },
    { 0x212a, 0x212a, TO, 'k' },
    { 0x212b, 0x212b, TO, 'a' },
    { 0x2160, 0x216f, ADD, 0x10 },
    { 0x24b6, 0x24cf, ADD, 0x1a },
    { 0x2c00, 0x2c2f, ADD, 0x30 },
    { 0x2c80, 0x2ce3, EVEN, 0 },
    /* kana */
    { 0x3000, 0x3000, TO, ' ' },
    { 0x3099, 0x309a, GONE, 0 },
    { 0x30a1, 0x30f6, ADD, -0x60 },
    { 0xa640, 0xa66d, EVEN, 0 },
    /* ligatures, marks, wide ASCII */
    { 0xfb00, 0xfb00, TWO, PAIR('f', 'f') },
    { 0xfb01, 0xfb01, TWO, PAIR('f', 'i') },
    { 0xfb02, 0xfb02, TWO, PAIR('f', 'l') },
    { 0xfe00, 0xfe0f, GONE, 0 },
    { 0xfeff, 0xfeff, GONE, 0 },
    { 0xff01, 0xff20, ADD, -0xfee0 },
    { 0xff21, 0xff3a, ADD, -0xfec0 },
    { 0xff3b, 0xff5e, ADD, -0xfee0 },
    { 0x10400, 0x10427, ADD, 0x28 },
};

static const struct run *find(uint32_t code)
{
    size_t low = 0, high = COUNT(runs);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (code > runs[middle].last)
            low = middle + 1;
        else if (code < runs[middle].first)
            high = middle;
        else
            return &runs[middle];
    }
    return NULL;
}

/* The character that `text` begins with, which is not ASCII, and its bytes; 0: it is none. */
static size_t decode(struct weir_str text, uint32_t *ret)
{
    const unsigned char *at = (const unsigned char *)text.ptr;
    size_t bytes = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (at[0] < 0xc2 || bytes > text.len)
        return 0;
    uint32_t code = at[0] & (0xffu >> (bytes + 1));
    for (size_t i = 1; i < bytes; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3f);
    }
    *ret = code;
    return bytes;
}

static size_t encode(uint32_t code, char out[WEIR_FOLD_BYTES])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = bytes - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)((0xf00 >> bytes & 0xf0) | code);
    return bytes;
}

static size_t fold(uint32_t code, const struct run *run, char ret[WEIR_FOLD_BYTES])
{
    switch (run->way) {
    case TO:
        return encode((uint32_t)run->arg, ret);
    case TWO:
        ret[0] = (char)(run->arg >> 8);
        ret[1] = (char)(run->arg & 0xff);
        return 2;
    case ADD:
        return encode(code + (uint32_t)run->arg, ret);
    case EVEN:
        return encode(code | 1, ret);
    case ODD:
        return encode((code + 1) & ~1u, ret);
    default:
        return 0;
    }
}

static void take(struct weir_str *rest, size_t bytes)
{
    *rest = weir_str(rest->ptr + bytes, rest->len - bytes);
}

size_t weir_fold_other(struct weir_str *rest, char ret[WEIR_FOLD_BYTES])
{
    uint32_t code;
    size_t bytes = decode(*rest, &code);
    if (bytes == 0) {
        ret[0] = rest->ptr[0];
        take(rest, 1);
        return 1;
    }
    const struct run *run = find(code);
    if (!run)
        memcpy(ret, rest->ptr, bytes);
    size_t folded = run ? fold(code, run, ret) : bytes;
    take(rest, bytes);
    return folded;
}
