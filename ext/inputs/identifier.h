/* Loading and comparing identifiers, which are sequences of bytes.
 *
 * An identifier is given by its address p and its length n. No function reads bytes outside the identifiers. */
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

/* Return the first eight bytes of an identifier as a big-endian number; missing bytes count as zeros. If two such
 * numbers differ, the identifiers have the same order as the numbers. */
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

/* Return a negative number, zero or a positive number if the first identifier is less than, equal to or greater than
 * the second. Bytes are compared as unsigned numbers. A proper prefix of an identifier is less than the identifier. */
static inline int identifier_compare(const uint8_t *p, size_t n, const uint8_t *q, size_t m)
{
    size_t least = n < m ? n : m;
    int order = least ? memcmp(p, q, least) : 0;
    return order ? order : (n > m) - (n < m);
}

#endif
