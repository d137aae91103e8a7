/* Functions of _noise.pyx: the chances that documents are above a place, and products of the polynomials of documents.
 *
 * A polynomial holds the chances of each number of documents above, and is stored backwards: `zero` points at the
 * coefficient of z^0, that of z^r is zero[-r], and those after it are 0. So each loop reads only numbers that it has not yet
 * overwritten, and any vectorisation gives the same bits.
 */
#ifndef TIEAWARE_NOISE_H
#define TIEAWARE_NOISE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/counting.h"
#include "engine/portable.h"

/* A cell of a table has the coefficients of a polynomial of degree 7; the argument is -1/2 … 1/2 inside the cell. */
enum { TIEAWARE_TERMS_OF_CELL = 8 };

/* The nested rules of Patterson (1968) on -1 … 1, with 1, 3, 7, 15 and 31 nodes: each has the nodes of the one before.
 * Node 0 is the middle; the others come in pairs ±x, those of each rule after those of the one before.
 */
enum { TIEAWARE_RULES = 5, TIEAWARE_HALF_NODES = 16, TIEAWARE_NODES = 31 };

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

/* Where in a table the argument x of a document is: the number of the cell, and the place in the cell. */
typedef struct {
    const double *table;
    double low, per_cell, n_cells;
} tieaware_noise_table;

TIEAWARE_INLINED int32_t tieaware_cell(const tieaware_noise_table *t, double z, double *d)
{
    double y = (z - t->low) * t->per_cell;
    y = y > 0.0 ? y : 0.0;
    y = y < t->n_cells ? y : t->n_cells;
    const int32_t whole = (int32_t)(y < t->n_cells ? y : t->n_cells - 1.0);
    *d = y - (double)whole - 0.5;
    return TIEAWARE_TERMS_OF_CELL * whole;
}

/* above: writes the chance that each document, with its noise, is above x.
 *
 * Without TIEAWARE_CLONES: vector gathers from the table take 20 % longer than scalar loads.
 */
TIEAWARE_INLINED void tieaware_above(const tieaware_noise_table *t, double x, const double *place,
                                     const double *per_size, ptrdiff_t n, double *restrict above)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        double d;
        const double *c = t->table + tieaware_cell(t, (x - place[i]) * per_size[i], &d);
        const double d2 = d * d, d4 = d2 * d2;
        above[i] = ((c[0] + c[1] * d) + (c[2] + c[3] * d) * d2) + ((c[4] + c[5] * d) + (c[6] + c[7] * d) * d2) * d4;
    }
}

/* densities: writes the density of each document at x, which is the negative derivative of the chance to be above. */
TIEAWARE_INLINED void tieaware_densities(const tieaware_noise_table *t, double x, const double *place,
                                         const double *per_size, ptrdiff_t n, double *restrict density)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        double d;
        const double *c = t->table + tieaware_cell(t, (x - place[i]) * per_size[i], &d);
        const double d2 = d * d, d4 = d2 * d2;
        const double low = (c[1] + 2.0 * c[2] * d) + (3.0 * c[3] + 4.0 * c[4] * d) * d2;
        density[i] = -(low + ((5.0 * c[5] + 6.0 * c[6] * d) + 7.0 * c[7] * d2) * d4) * t->per_cell * per_size[i];
    }
}

/* A polynomial without the negligible coefficients at both ends: those from z^low to z^(size-1) are kept, and zero[-r]
 * is 0 for r < low.
 */
typedef struct {
    double *zero;
    ptrdiff_t low, size;
} tieaware_polynomial;

/* How many documents are multiplied at once; as many numbers after that of z^0 are 0. */
enum { TIEAWARE_AT_ONCE = 4 };

/* A coefficient below this is left out. The coefficients are chances, so the sum of all that is left out is small. */
static const double TIEAWARE_NEGLIGIBLE = 1e-16;

/* trim: leaves out negligible coefficients at both ends. */
TIEAWARE_INLINED void tieaware_trim(tieaware_polynomial *polynomial)
{
    double *zero = polynomial->zero;
    while (polynomial->size > polynomial->low + 1 && zero[1 - polynomial->size] < TIEAWARE_NEGLIGIBLE) {
        polynomial->size--;
    }
    while (polynomial->size > polynomial->low + 1 && zero[-polynomial->low] < TIEAWARE_NEGLIGIBLE) {
        zero[-polynomial->low++] = 0.0;
    }
}

/* multiply: multiplies a polynomial by 1 - p + p z for each chance p. Powers from z^most on are left out.
 *
 * The factors of four documents are multiplied first: a processor is slow to read numbers that it has just written.
 */
static TIEAWARE_CLONES void tieaware_multiply(tieaware_polynomial *polynomial, ptrdiff_t most, const double *chance,
                                              ptrdiff_t n)
{
    double *restrict zero = polynomial->zero;
    ptrdiff_t j = 0;
    for (; j + TIEAWARE_AT_ONCE <= n; j += TIEAWARE_AT_ONCE) {
        const double p0 = chance[j], p1 = chance[j + 1], p2 = chance[j + 2], p3 = chance[j + 3];
        const double q0 = 1.0 - p0, q1 = 1.0 - p1, q2 = 1.0 - p2, q3 = 1.0 - p3;
        const double a0 = q0 * q1, a1 = q0 * p1 + p0 * q1, a2 = p0 * p1;
        const double b0 = q2 * q3, b1 = q2 * p3 + p2 * q3, b2 = p2 * p3;
        const double c0 = a0 * b0, c1 = a0 * b1 + a1 * b0, c2 = (a0 * b2 + a2 * b0) + a1 * b1;
        const double c3 = a1 * b2 + a2 * b1, c4 = a2 * b2;
        for (int k = 0; k < TIEAWARE_AT_ONCE && polynomial->size < most; k++) zero[-polynomial->size++] = 0.0;
        for (ptrdiff_t i = 1 - polynomial->size; i <= -polynomial->low; i++) {
            zero[i] = ((zero[i] * c0 + zero[i + 1] * c1) + (zero[i + 2] * c2 + zero[i + 3] * c3)) + zero[i + 4] * c4;
        }
        tieaware_trim(polynomial);
    }
    for (; j < n; j++) {
        const double p = chance[j], q = 1.0 - p;
        if (polynomial->size < most) zero[-polynomial->size++] = 0.0;
        for (ptrdiff_t i = 1 - polynomial->size; i <= -polynomial->low; i++) zero[i] = zero[i] * q + zero[i + 1] * p;
        tieaware_trim(polynomial);
    }
}

/* join: adds a document to A, the product of the factors q + pz of all documents, and to B, the sum over documents of
 * their density f times the product of the factors of the others.
 */
TIEAWARE_INLINED void tieaware_join(double *restrict a, double *restrict b, ptrdiff_t size, double q, double p,
                                    double f)
{
    for (ptrdiff_t i = 1 - size; i <= 0; i++) {
        b[i] = (b[i] * q + b[i + 1] * p) + f * a[i];
        a[i] = a[i] * q + a[i + 1] * p;
    }
}

/* combine: returns Σ_i Σ_r factor[-i] slot[i + r] c_r, the mean weight of the rank after i documents of one polynomial
 * and r of another. `spare` is memory for as many numbers as the other polynomial has.
 */
static TIEAWARE_CLONES double tieaware_combine(const double *factor, ptrdiff_t size, const double *slot,
                                               ptrdiff_t n_slots, const tieaware_polynomial *other,
                                               double *restrict spare)
{
    const ptrdiff_t low = other->low, end = other->size < n_slots ? other->size : n_slots, n = end - low;
    double lanes[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    ptrdiff_t r;
    if (n <= 0) return 0.0;
    for (r = 0; r < n; r++) spare[r] = factor[0] * slot[low + r];
    for (ptrdiff_t i = 1; i < size; i++) {
        const ptrdiff_t inside = n_slots - i - low < n ? n_slots - i - low : n;
        const double f = factor[-i];
        const double *of_rank = slot + low + i;
        for (r = 0; r < inside; r++) spare[r] += f * of_rank[r];
    }
    for (r = 0; r + 8 <= n; r += 8) {
        for (int lane = 0; lane < 8; lane++) lanes[lane] += spare[r + lane] * other->zero[-(low + r + lane)];
    }
    for (int lane = 0; r < n; r++, lane++) lanes[lane] += spare[r] * other->zero[-(low + r)];
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

#endif
