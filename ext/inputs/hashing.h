/* A hash of identifiers, keyed with a secret of the process.
 *
 * Identifiers may come from an attacker, who could send many with the same hash to make searches slow. Without the keys
 * such identifiers must not be predictable. Products are folded as in foldhash and rapidhash, and no factor depends on
 * the text alone. (With SipHash-1-3, evaluating a file would take a fifth more time.) */
#ifndef TIEAWARE_HASHING_H
#define TIEAWARE_HASHING_H

#include <Python.h>

#include "inputs/identifier.h"
#include "engine/portable.h"

static uint64_t identifier_keys[4];

/* Set the keys, when a module that hashes is loaded. The keys are hashes by Python, which uses SipHash with a secret
 * that is new in each process unless PYTHONHASHSEED sets it. */
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

/* Combine both halves of the product, so that each bit of the result depends on nearly every bit of a and b. */
static inline uint64_t identifier_mix(uint64_t a, uint64_t b)
{
    uint64_t high, low = tieaware_product(a, b, &high);
    return low ^ high;
}

/* The hash includes the length, so that a prefix, and an identifier with NUL bytes at its end, get other hashes. */
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
