/* Functions of _noise.pyx: the chances that documents are above a place, and products of the polynomials of documents.
 *
 * Some nodes x are computed at once: each number of a node is a vector with an element for each of them. So every CPU
 * gives the same bits, and no vector is read that was written in parts.
 *
 * A polynomial holds the chances of each number of documents above, from that of none.
 */
#ifndef TIEAWARE_NOISE_H
#define TIEAWARE_NOISE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/counting.h"
#include "engine/portable.h"

/* A cell of a table has the coefficients of a polynomial of degree 7; the argument is -1/2 … 1/2 inside the cell. */
enum { TIEAWARE_TERMS_OF_CELL = 8 };

/* The nested rules of Patterson (1968) on -1 … 1, with 1, 3, 7, 15 and 31 nodes: each has the nodes of the one before.
 * Node 0 is the middle; the others come in pairs ±x, those of each rule after those of the one before.
 */
enum { TIEAWARE_RULES = 5, TIEAWARE_HALF_NODES = 16, TIEAWARE_N_VALUES = 32 };

static const double TIEAWARE_NODE[TIEAWARE_HALF_NODES] = {
    0.0, 0.774596669241483377, 0.434243749346802558, 0.960491268708020283, 0.223386686428966882, 0.621102946737226403,
    0.888459232872256999, 0.993831963212755022, 0.112488943133186626, 0.331135393257976833, 0.531319743644375624,
    0.702496206491527079, 0.836725938168868736, 0.929654857429740057, 0.981531149553740107, 0.999098124967667598,
};

static const double TIEAWARE_NODE_WEIGHT[TIEAWARE_RULES][TIEAWARE_HALF_NODES] = {
    {2.0},
    {0.888888888888888889, 0.555555555555555556},
    {0.450916538658474142, 0.268488089868333441, 0.401397414775962223, 0.104656226026467265},
    {0.225510499798206687, 0.13441525524378422, 0.200628529376989021, 0.0516032829970797397, 0.219156858401587496,
     0.171511909136391381, 0.0929271953151245377, 0.0170017196299402603},
    {0.112755256720768692, 0.0672077542959907035, 0.100314278611795579, 0.0258075980961766536, 0.109578421055924638,
     0.0857559200499903512, 0.0464628932617579865, 0.00843456573932110625, 0.111956873020953457, 0.10566989358023481,
     0.0936271099812644736, 0.076879620499003531, 0.0569795094941233574, 0.0359571033071293221, 0.0164460498543878109,
     0.00254478079156187442},
};

/* The highest degree of a polynomial that each rule integrates exactly. */
static const int TIEAWARE_DEGREE[TIEAWARE_RULES] = {1, 5, 11, 23, 47};

/* How many nodes are computed at once, and the numbers of these nodes. Without vector types, it is one node, so that
 * all expressions are those of one number; then a negligible coefficient may be left out at one node only.
 */
#if defined(TIEAWARE_GNU_C) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define TIEAWARE_FOUR_NODES
#endif
#endif
#if defined(TIEAWARE_FOUR_NODES)
enum { TIEAWARE_AT_ONCE = 4 };
typedef double tieaware_numbers __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t tieaware_words __attribute__((vector_size(32), aligned(8), may_alias));
typedef double tieaware_pair __attribute__((vector_size(16), aligned(8), may_alias));
#define TIEAWARE_EACH(x) {x, x, x, x}
/* The numbers where a condition holds, and otherwise others. */
#define TIEAWARE_WHERE(condition, x, y) \
    ((tieaware_numbers)(((tieaware_words)(condition) & (tieaware_words)(x)) | \
                        (~(tieaware_words)(condition) & (tieaware_words)(y))))
#else
enum { TIEAWARE_AT_ONCE = 1 };
typedef double tieaware_numbers;
#define TIEAWARE_EACH(x) x
#define TIEAWARE_WHERE(condition, x, y) ((condition) ? (x) : (y))
#endif

/* A table of a function of z: a polynomial in each cell, and in one after the end of the table. */
typedef struct {
    const double *table;
    double low, per_cell, n_cells;
} tieaware_noise_table;

/* To this number, a double adds integers: in the sum of both, the lowest bits are the integer. */
static const double TIEAWARE_INTEGERS = 6755399441055744.0;

/* terms: writes the coefficients of the cells of arguments, and the places in the cells. An argument is in cells, from
 * the middle of the first one. (Vectors are not passed by value: that depends on the instruction set.)
 */
TIEAWARE_INLINED void tieaware_terms(const tieaware_noise_table *t, const tieaware_numbers *y,
                                     tieaware_numbers *restrict term, tieaware_numbers *restrict place)
{
    const tieaware_numbers integers = TIEAWARE_EACH(TIEAWARE_INTEGERS), sum = *y + integers;
    int64_t bits[TIEAWARE_AT_ONCE];
    memcpy(bits, &sum, sizeof bits);
#if defined(TIEAWARE_FOUR_NODES)
    /* Pairs of terms, so that most of the work is done by loads: shuffles are slow. */
    for (int k = 0; k < TIEAWARE_TERMS_OF_CELL; k += 2) {
        tieaware_pair pair[TIEAWARE_AT_ONCE];
        for (int i = 0; i < TIEAWARE_AT_ONCE; i++) {
            pair[i] = *(const tieaware_pair *)(t->table + TIEAWARE_TERMS_OF_CELL * (ptrdiff_t)(int32_t)bits[i] + k);
        }
        const tieaware_numbers even = __builtin_shufflevector(pair[0], pair[2], 0, 1, 2, 3);
        const tieaware_numbers odd = __builtin_shufflevector(pair[1], pair[3], 0, 1, 2, 3);
        term[k] = __builtin_shufflevector(even, odd, 0, 4, 2, 6);
        term[k + 1] = __builtin_shufflevector(even, odd, 1, 5, 3, 7);
    }
#else
    memcpy(term, t->table + TIEAWARE_TERMS_OF_CELL * (int32_t)bits[0], TIEAWARE_TERMS_OF_CELL * sizeof(double));
#endif
    *place = *y - (sum - integers);
}

/* above: writes the chance that each document, with its noise, is above each x, and from document `first` on also its
 * density there, the negative derivative of the chance. A table of one cell has a polynomial of degree 1.
 */
static TIEAWARE_CLONES void tieaware_above(const tieaware_noise_table *t, const double *x, const double *place,
                                           const double *per_size, ptrdiff_t n, ptrdiff_t first, double *restrict above,
                                           double *restrict density)
{
    const tieaware_numbers at = *(const tieaware_numbers *)x, none = TIEAWARE_EACH(0.0);
    const tieaware_numbers lowest = TIEAWARE_EACH(-0.5), highest = TIEAWARE_EACH(t->n_cells - 0.5);
    tieaware_numbers *chance = (tieaware_numbers *)above;
    for (ptrdiff_t i = 0; i < n; i++) {
        tieaware_numbers c[TIEAWARE_TERMS_OF_CELL], d, slope;
        tieaware_numbers y = ((at - place[i]) * per_size[i] - t->low) * t->per_cell - 0.5;
        y = TIEAWARE_WHERE(y > lowest, y, lowest);
        y = TIEAWARE_WHERE(y < highest, y, highest);
        if (t->n_cells == 1.0) {
            chance[i] = t->table[0] + t->table[1] * y;
            slope = none + t->table[1];
        } else {
            tieaware_terms(t, &y, c, &d);
            const tieaware_numbers d2 = d * d, d4 = d2 * d2;
            chance[i] = (c[0] + c[1] * d) + (c[2] + c[3] * d) * d2;
            chance[i] += ((c[4] + c[5] * d) + (c[6] + c[7] * d) * d2) * d4;
            if (i < first) continue;
            slope = (c[1] + 2.0 * c[2] * d) + (3.0 * c[3] + 4.0 * c[4] * d) * d2;
            slope += ((5.0 * c[5] + 6.0 * c[6] * d) + 7.0 * c[7] * d2) * d4;
        }
        if (i >= first) ((tieaware_numbers *)density)[i] = -slope * t->per_cell * per_size[i];
    }
}

/* A polynomial without the negligible coefficients at both ends: those from z^low to z^(size-1) are kept. Those below
 * are 0, as are TIEAWARE_FACTORS numbers before that of z^0.
 */
typedef struct {
    tieaware_numbers *of;
    ptrdiff_t low, size;
} tieaware_polynomial;

/* How many factors are multiplied at once: a processor is slow to read numbers that it has just written. */
enum { TIEAWARE_FACTORS = 4 };

/* A coefficient below this is left out. The coefficients are chances, so the sum of all that is left out is small. */
static const double TIEAWARE_NEGLIGIBLE = 1e-16;

/* is_negligible: returns whether a coefficient is negligible at all nodes. */
TIEAWARE_INLINED int tieaware_is_negligible(const tieaware_numbers *coefficient)
{
    const double *at = (const double *)coefficient;
    int negligible = 1;
    for (int k = 0; k < TIEAWARE_AT_ONCE; k++) negligible &= at[k] < TIEAWARE_NEGLIGIBLE;
    return negligible;
}

/* trim: leaves out negligible coefficients at both ends. */
TIEAWARE_INLINED void tieaware_trim(tieaware_polynomial *a)
{
    const tieaware_numbers none = TIEAWARE_EACH(0.0);
    while (a->size > a->low + 1 && tieaware_is_negligible(a->of + a->size - 1)) a->size--;
    while (a->size > a->low + 1 && tieaware_is_negligible(a->of + a->low)) a->of[a->low++] = none;
}

/* multiply: multiplies a polynomial by 1 - p + p z for each chance p. Powers from z^most on are left out. A polynomial
 * of size 0 stands for 1.
 */
static TIEAWARE_CLONES void tieaware_multiply(tieaware_polynomial *a, ptrdiff_t most, const double *chances,
                                              ptrdiff_t n)
{
    const tieaware_numbers none = TIEAWARE_EACH(0.0), one = TIEAWARE_EACH(1.0);
    tieaware_numbers *of = a->of;
    if (a->size == 0) of[a->size++] = one;
    for (ptrdiff_t j = 0; j < n; j += TIEAWARE_FACTORS) {
        const tieaware_numbers *chance = (const tieaware_numbers *)chances + j;
        const tieaware_numbers p0 = chance[0], p1 = j + 1 < n ? chance[1] : none;
        const tieaware_numbers p2 = j + 2 < n ? chance[2] : none, p3 = j + 3 < n ? chance[3] : none;
        const tieaware_numbers q0 = 1.0 - p0, q1 = 1.0 - p1, q2 = 1.0 - p2, q3 = 1.0 - p3;
        const tieaware_numbers a0 = q0 * q1, a1 = q0 * p1 + p0 * q1, a2 = p0 * p1;
        const tieaware_numbers b0 = q2 * q3, b1 = q2 * p3 + p2 * q3, b2 = p2 * p3;
        const tieaware_numbers c0 = a0 * b0, c1 = a0 * b1 + a1 * b0, c2 = (a0 * b2 + a2 * b0) + a1 * b1;
        const tieaware_numbers c3 = a1 * b2 + a2 * b1, c4 = a2 * b2;
        for (int k = 0; k < TIEAWARE_FACTORS && a->size < most; k++) of[a->size++] = none;
        for (ptrdiff_t r = a->size - 1; r >= a->low; r--) {
            of[r] = ((of[r] * c0 + of[r - 1] * c1) + (of[r - 2] * c2 + of[r - 3] * c3)) + of[r - 4] * c4;
        }
        tieaware_trim(a);
    }
}

/* join: adds a document to A, the product of the factors q + pz of all documents, and to B, the sum over documents of
 * their density f times the product of the factors of the others. Powers from z^most on are left out. Returns the new
 * size; at first, it is 0. The coefficients before those of z^0 are 0.
 */
static TIEAWARE_CLONES ptrdiff_t tieaware_join(tieaware_numbers *restrict a, tieaware_numbers *restrict b,
                                               ptrdiff_t size, ptrdiff_t most, const double *chance, double stays,
                                               const double *density, double gain)
{
    const tieaware_numbers none = TIEAWARE_EACH(0.0), one = TIEAWARE_EACH(1.0);
    const tieaware_numbers above = *(const tieaware_numbers *)chance, f = gain * *(const tieaware_numbers *)density;
    const tieaware_numbers q = 1.0 - above, p = stays * above;
    if (size == 0) a[size] = one, b[size++] = none;
    if (size < most && stays > 0.0) a[size] = none, b[size++] = none;
    for (ptrdiff_t r = size - 1; r >= 0; r--) {
        b[r] = (b[r] * q + b[r - 1] * p) + f * a[r];
        a[r] = a[r] * q + a[r - 1] * p;
    }
    return size;
}

/* combine: writes Σ_i Σ_r (first + i each) factor_i other_r slot[i + r], the mean weight of the rank after i documents
 * of one polynomial and r of another. The factors are overwritten.
 */
static TIEAWARE_CLONES void tieaware_combine(tieaware_numbers *factor, ptrdiff_t size, double first, double each,
                                             const double *slot, ptrdiff_t n_slots, const tieaware_polynomial *other,
                                             double *restrict values)
{
    const ptrdiff_t end = other->size < n_slots ? other->size : n_slots;
    tieaware_numbers total = TIEAWARE_EACH(0.0);
    for (ptrdiff_t i = 0; i < size; i++) factor[i] *= first + (double)i * each;
    for (ptrdiff_t r = other->low; r < end; r++) {
        const ptrdiff_t inside = n_slots - r < size ? n_slots - r : size;
        tieaware_numbers sum = TIEAWARE_EACH(0.0);
        for (ptrdiff_t i = 0; i < inside; i++) sum += factor[i] * slot[r + i];
        total += sum * other->of[r];
    }
    *(tieaware_numbers *)values = total;
}

#endif
