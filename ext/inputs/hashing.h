/* The hash of an identifier, under a secret of the process.
 *
 * Identifiers come from strangers, who could send a table all those of one hash. So whoever does not know the keys
 * must not be able to tell which these are. The products are folded as in foldhash and rapidhash, and no factor is
 * one that only the text decides. (SipHash-1-3 would cost a fifth more time from a file to its result.) */
#ifndef TIEAWARE_HASHING_H
#define TIEAWARE_HASHING_H

#include <Python.h>

#include "inputs/identifier.h"
#include "engine/portable.h"

static uint64_t identifier_keys[4];

/* The keys are hashes of Python's own, SipHash under a secret: a new one in each process, unless PYTHONHASHSEED says
 * which. To be called when a module that hashes is loaded. */
static inline int identifier_seed(void)
{
    for (int i = 0; i < 4; i++) {
        PyObject *name = PyBytes_FromFormat("tieaware's key %d of identifiers", i);
        Py_hash_t hashed = name ? PyObject_Hash(name) : -1;
        Py_XDECREF(name);
        if (hashed == -1)
            return -1;
        identifier_keys[i] = (uint64_t)hashed;
    }
    return 0;
}

/* Both halves of the product: each bit of the result depends on nearly every bit of a and of b. */
static inline uint64_t identifier_mix(uint64_t a, uint64_t b)
{
    uint64_t high, low = tieaware_product(a, b, &high);
    return low ^ high;
}

/* The length takes part, so that a prefix, or an identifier that ends in NUL bytes, hashes differently. */
static inline uint64_t identifier_hash(const uint8_t *p, size_t n)
{
    const uint64_t *keys = identifier_keys;
    uint64_t state = keys[0], a, b;
    if (n > 16) {
        for (size_t i = 0; i + 16 < n; i += 16)
            state = identifier_mix(load_8(p + i) ^ keys[1], load_8(p + i + 8) ^ state);
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
    return identifier_mix(identifier_mix(a ^ keys[1], b ^ state) ^ keys[2], keys[3] ^ n);
}

#endif
