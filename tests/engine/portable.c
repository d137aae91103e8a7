/* Print the results of the functions in portable.h, counting.h, blanks.h and blocks.h for edge cases and for many random numbers.
   test_portable.py compares them with Python's integers. */
#include <inttypes.h>
#include <stdio.h>

#include "inputs/blanks.h"
#include "engine/counting.h"
#include "engine/portable.h"
#include "retrieval/blocks.h"

static uint64_t state = 42;

/* Return a random number (SplitMix64) whose number of bits varies from call to call, so that small numbers occur too. */
static uint64_t any_word(void)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) >> (state >> 32 & 63);
}

static void print_quotient(uint64_t a, uint64_t b)
{
    printf("quotient %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", a, b, tieaware_quotient_62(a, b));
}

static void print_arithmetic(uint64_t a, uint64_t b)
{
    uint64_t high, low = tieaware_product(a, b, &high);
    printf("product %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", a, b, high, low);
    if (a >> 2 < b)
        print_quotient(a, b);
    if (b >> 2 < a)
        print_quotient(b, a);
    if (a)
        printf("bits %" PRIu64 " %d %d\n", a, tieaware_leading_zeros(a), tieaware_lowest_bit(a));
}

static void print_ranks(void)
{
    double scores[TIEAWARE_LANES + 3] = {0};
    int64_t above[TIEAWARE_LANES + 3];
    const ptrdiff_t n = 1 + (ptrdiff_t)(any_word() % TIEAWARE_LANES);
    for (ptrdiff_t i = 0; i < n; i++)
        scores[i] = (double)(any_word() % 5) - 2.0;
    tieaware_rank(scores, n, above);
    printf("rank");
    for (ptrdiff_t i = 0; i < n; i++)
        printf(" %g:%" PRId64, scores[i], above[i]);
    printf("\n");
}

static void print_masks(void)
{
    uint8_t bytes[64];
    uint64_t blanks, ends;
    for (int i = 0; i < 64; i++)
        bytes[i] = (uint8_t)(any_word() % (i % 2 ? 256 : 40));
    byte_masks(bytes, &blanks, &ends);
    printf("masks ");
    for (int i = 0; i < 64; i++)
        printf("%02x", bytes[i]);
    printf(" %" PRIu64 " %" PRIu64 "\n", blanks, ends);
}

/* Print sixteen numbers, which of them are at least another number, and the sums after two additions. */
static void print_lanes(void)
{
    const uint16_t least = (uint16_t)any_word(), has = (uint16_t)any_word(), added = (uint16_t)any_word();
    const int j = (int)(any_word() & 15);
    uint16_t numbers[TIEAWARE_BLOCK], marks;
    tieaware_lanes lanes;
    for (int i = 0; i < TIEAWARE_BLOCK; i++)
        numbers[i] = any_word() & 1 ? (uint16_t)any_word() : (uint16_t)(least - i % 2);
    printf("lanes %d %d %d %d", least, has, added, j);
    for (int i = 0; i < TIEAWARE_BLOCK; i++)
        printf(" %d", numbers[i]);
    TIEAWARE_LOAD(lanes, numbers);
    TIEAWARE_WHERE_AT_LEAST(marks, lanes, least);
    printf(" %d", marks);
    TIEAWARE_ADD_WHERE(lanes, has, added);
    TIEAWARE_ADD_UP_TO_LARGEST(lanes, j, added);
    memcpy(numbers, &lanes, sizeof(numbers));
    for (int i = 0; i < TIEAWARE_BLOCK; i++)
        printf(" %d", numbers[i]);
    printf("\n");
}

int main(void)
{
    const uint64_t edges[] = {
        0, 1, 2, 3, UINT64_C(0xffffffff), UINT64_C(0x100000000), UINT64_C(0x100000001), UINT64_C(0x3fffffffffffffff),
        UINT64_C(0x7fffffffffffffff), UINT64_C(0x8000000000000000), UINT64_C(0x8000000000000001),
        UINT64_C(0x80000000ffffffff), UINT64_C(0xffffffff00000000), UINT64_C(0xffffffffffffffff),
    };
    const int n = (int)(sizeof edges / sizeof edges[0]);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            print_arithmetic(edges[i], edges[j]);
    for (int i = 0; i < 4000; i++) {
        const uint64_t a = any_word(), b = any_word();
        print_arithmetic(a, b);
    }
    for (int i = 0; i < 200; i++) {
        print_ranks();
        print_masks();
        print_lanes();
    }
    return 0;
}
