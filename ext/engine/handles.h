/* Handles of the C interface: numbers that stay safe to use after their evaluator was released.
 *
 * A handle is the index of a slot, and above it the generation of the slot: odd while an evaluator is in it, and raised
 * when it is released. The memory of slots is never freed, so that the generation of a released handle can be compared.
 * The word `state` of a slot holds the generation in its upper half and the number of calls in progress in its lower
 * half; the call or the release after which no call is left empties the slot.
 */
#ifndef TIEAWARE_HANDLES_H
#define TIEAWARE_HANDLES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "engine/portable.h"

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#define tieaware_load(word) ((uint64_t)_InterlockedOr64((volatile long long *)(word), 0))
#define tieaware_store(word, value) ((void)_InterlockedExchange64((volatile long long *)(word), (long long)(value)))
#define tieaware_subtract_one(word) ((uint64_t)_InterlockedDecrement64((volatile long long *)(word)))
#define tieaware_swap(place, value) _InterlockedExchangePointer((void *volatile *)(place), (value))
static inline int tieaware_replace(volatile uint64_t *word, uint64_t *expected, uint64_t value)
{
    const uint64_t found = (uint64_t)_InterlockedCompareExchange64((volatile long long *)word, (long long)value,
                                                                   (long long)*expected);
    const int same = found == *expected;
    *expected = found;
    return same;
}
#else
#define tieaware_load(word) __atomic_load_n((word), __ATOMIC_ACQUIRE)
#define tieaware_store(word, value) __atomic_store_n((word), (value), __ATOMIC_RELEASE)
#define tieaware_subtract_one(word) __atomic_sub_fetch((word), 1, __ATOMIC_ACQ_REL)
#define tieaware_swap(place, value) __atomic_exchange_n((place), (value), __ATOMIC_ACQ_REL)
static inline int tieaware_replace(volatile uint64_t *word, uint64_t *expected, uint64_t value)
{
    return __atomic_compare_exchange_n(word, expected, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
#endif

/* A slot keeps the working memory of finished calls for the next ones: for each of two kinds, up to this many. */
enum { TIEAWARE_KINDS = 2, TIEAWARE_ENGINES = 3, TIEAWARE_SPARES = 8 };
enum { TIEAWARE_CHUNK_OF_SLOTS = 256, TIEAWARE_CHUNKS_OF_SLOTS = 1 << 14 };

typedef struct {
    volatile uint64_t state;
    /* The engine of each kind, and that of the measures whose extreme is taken from a spread: references that the slot
     * owns, or NULL. */
    void *engine[TIEAWARE_ENGINES];
    /* For these measures: an array of their columns, which the slot owns, and which output of the spread they take. */
    int64_t *columns;
    int64_t output;
    void *volatile spare[TIEAWARE_KINDS * TIEAWARE_SPARES];
    /* The index + 1 of the next slot in the list of empty ones, 0 at its end. */
    uint32_t next_empty;
} tieaware_slot;

static tieaware_slot *tieaware_slots[TIEAWARE_CHUNKS_OF_SLOTS];
static volatile uint64_t tieaware_n_slots = 0;
static uint32_t tieaware_first_empty = 0;

static inline tieaware_slot *tieaware_slot_at(uint32_t index)
{
    return &tieaware_slots[index / TIEAWARE_CHUNK_OF_SLOTS][index % TIEAWARE_CHUNK_OF_SLOTS];
}

/* Puts engines into an empty slot and returns its handle; 0 if there is no memory. The caller holds the lock. */
static uint64_t tieaware_fill_slot(void *first, void *second, void *third, int64_t *columns, int64_t output)
{
    uint32_t index = (uint32_t)tieaware_n_slots;
    if (tieaware_first_empty != 0) {
        index = tieaware_first_empty - 1;
        tieaware_first_empty = tieaware_slot_at(index)->next_empty;
    } else {
        const uint32_t chunk = index / TIEAWARE_CHUNK_OF_SLOTS;
        if (chunk == TIEAWARE_CHUNKS_OF_SLOTS)
            return 0;
        if (index % TIEAWARE_CHUNK_OF_SLOTS == 0) {
            tieaware_slots[chunk] = (tieaware_slot *)calloc(TIEAWARE_CHUNK_OF_SLOTS, sizeof(tieaware_slot));
            if (tieaware_slots[chunk] == NULL)
                return 0;
        }
        tieaware_store(&tieaware_n_slots, (uint64_t)index + 1);
    }
    tieaware_slot *slot = tieaware_slot_at(index);
    const uint64_t generation = (tieaware_load(&slot->state) >> 32) + 1;
    slot->engine[0] = first;
    slot->engine[1] = second;
    slot->engine[2] = third;
    slot->columns = columns;
    slot->output = output;
    tieaware_store(&slot->state, generation << 32);
    return generation << 32 | index;
}

/* Puts a slot into the list of empty ones. The caller holds the lock. A slot whose generations are used up is lost. */
static void tieaware_empty_slot(tieaware_slot *slot, uint64_t handle)
{
    if (tieaware_load(&slot->state) >> 32 < UINT32_MAX - 1) {
        slot->next_empty = tieaware_first_empty;
        tieaware_first_empty = (uint32_t)handle + 1;
    }
}

/* Begins a call: returns the slot of a handle; NULL if the handle is not that of a prepared evaluator. */
static inline tieaware_slot *tieaware_enter(uint64_t handle)
{
    const uint64_t generation = handle >> 32;
    if ((uint32_t)handle >= tieaware_load(&tieaware_n_slots) || generation % 2 == 0)
        return NULL;
    tieaware_slot *slot = tieaware_slot_at((uint32_t)handle);
    uint64_t state = tieaware_load(&slot->state);
    do {
        if (state >> 32 != generation)
            return NULL;
    } while (!tieaware_replace(&slot->state, &state, state + 1));
    return slot;
}

/* Ends a call; returns whether the slot has to be emptied, because it was released and no other call uses it. */
static inline int tieaware_leave(tieaware_slot *slot)
{
    const uint64_t state = tieaware_subtract_one(&slot->state);
    return (uint32_t)state == 0 && (state >> 32) % 2 == 0;
}

/* Releases the evaluator of a slot, during a call; returns false if another thread has just done so. */
static inline int tieaware_retire(tieaware_slot *slot, uint64_t handle)
{
    uint64_t state = tieaware_load(&slot->state);
    do {
        if (state >> 32 != handle >> 32)
            return 0;
    } while (!tieaware_replace(&slot->state, &state, state + (UINT64_C(1) << 32)));
    return 1;
}

/* Returns the place of the calling thread among the spares. The stacks of threads tell them apart, mostly; two threads
 * at the same place only allocate more often. */
static inline void *volatile *tieaware_place(tieaware_slot *slot, int kind)
{
    int here;
    const uint64_t address = (uint64_t)(uintptr_t)&here >> 16;
    return &slot->spare[kind * TIEAWARE_SPARES + (address * UINT64_C(0x9e3779b97f4a7c15) >> 61)];
}

#endif
