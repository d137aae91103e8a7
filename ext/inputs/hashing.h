/* A hash function for identifiers, which depends on secret keys that are new in each process.
 *
 * An attacker who could predict hashes could send many identifiers with the same hash, which would make searches slow.
 * So hashes must not be predictable without the keys. The function multiplies words of the text and folds the product
 * as foldhash and rapidhash do. No factor depends on the text alone: each also depends on a key. (With SipHash-1-3,
 * the evaluation of a file would take a fifth more time.) */
#ifndef TIEAWARE_HASHING_H
#define TIEAWARE_HASHING_H

#include <Python.h>

#include "inputs/identifier.h"
#include "engine/portable.h"

static uint64_t identifier_keys[4];

/* Set the keys. Every module that hashes calls this function when it is loaded. The keys are hashes that Python
 * computes by SipHash with a secret, which is new in each process unless the environment variable PYTHONHASHSEED sets
 * it. */
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

/* Fold the 128-bit product of a and b: combine both halves by exclusive or. Each bit of the result then depends on
 * nearly every bit of a and b. */
static inline uint64_t identifier_mix(uint64_t a, uint64_t b)
{
    uint64_t high, low = tieaware_product(a, b, &high);
    return low ^ high;
}

/* Return the hash of the n bytes at p. It depends on n, so that an appended NUL byte changes the hash. */
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
