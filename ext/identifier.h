/* Identifiers are runs of bytes: how to load, hash and compare them.
 *
 * Nothing here reads a byte outside [p, p + n). */
#ifndef TIEAWARE_IDENTIFIER_H
#define TIEAWARE_IDENTIFIER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t load_8(const uint8_t *p)
{
    uint64_t word;
    memcpy(&word, p, 8);
    return word;
}

static inline uint64_t load_4(const uint8_t *p)
{
    uint32_t word;
    memcpy(&word, p, 4);
    return word;
}

/* The first eight bytes (padded with zeros) as a number that orders as they do. */
static inline uint64_t load_prefix(const uint8_t *p, size_t n)
{
    uint64_t word = 0;
    if (n >= 8) {
        for (int i = 0; i < 8; i++)
            word = word << 8 | p[i];
        return word;
    }
    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)p[i] << (56 - 8 * i);
    return word;
}

/* Both halves of the product: each bit of the result depends on nearly every bit of a and of b. */
static inline uint64_t identifier_mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The length takes part, so that a prefix, or an identifier that ends in NUL bytes, hashes differently. */
static inline uint64_t identifier_hash(const uint8_t *p, size_t n)
{
    /* Odd constants with as many zeros as ones, from the digits of pi, e and the square root of two. */
    const uint64_t k0 = UINT64_C(0x243f6a8885a308d3), k1 = UINT64_C(0xb7e151628aed2a6b),
                   k2 = UINT64_C(0x6a09e667f3bcc909);
    uint64_t state = k0, a, b;
    if (n > 16) {
        size_t i = 0;
        for (; i + 16 < n; i += 16)
            state = identifier_mix(load_8(p + i) ^ k1, load_8(p + i + 8) ^ state);
        a = load_8(p + n - 16);
        b = load_8(p + n - 8);
    } else if (n >= 8) {
        a = load_8(p);
        b = load_8(p + n - 8);
    } else if (n >= 4) {
        a = load_4(p);
        b = load_4(p + n - 4);
    } else if (n > 0) {
        a = (uint64_t)p[0] << 16 | (uint64_t)p[n / 2] << 8 | p[n - 1];
        b = 0;
    } else {
        a = b = 0;
    }
    return identifier_mix(identifier_mix(a ^ k1, b ^ state) ^ k2, k1 ^ n);
}

static inline int identifier_equal(const uint8_t *p, const uint8_t *q, size_t n)
{
    if (n >= 8) {
        for (size_t i = 0; i + 8 < n; i += 8)
            if (load_8(p + i) != load_8(q + i))
                return 0;
        return load_8(p + n - 8) == load_8(q + n - 8);
    }
    if (n >= 4)
        return load_4(p) == load_4(q) && load_4(p + n - 4) == load_4(q + n - 4);
    for (size_t i = 0; i < n; i++)
        if (p[i] != q[i])
            return 0;
    return 1;
}

/* Bytes in order, as unsigned numbers; a proper prefix comes before what it begins. */
static inline int identifier_compare(const uint8_t *p, size_t n, const uint8_t *q, size_t m)
{
    size_t least = n < m ? n : m;
    int order = least ? memcmp(p, q, least) : 0;
    return order ? order : (n > m) - (n < m);
}

#endif
