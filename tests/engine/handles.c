/* Threads that use, release and replace handles: every call sees its own evaluator, or that it was released. */
#include <pthread.h>
#include <stdio.h>

#include "engine/handles.h"

enum { THREADS = 4, HANDLES = 8, TURNS = 20000 };

static volatile uint64_t handles[HANDLES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t calls = 0, released = 0, emptied = 0, filled = 0, wrong = 0;

/* The first engine stands for the evaluator, the second is its negative. */
static uint64_t fill(uint64_t number)
{
    pthread_mutex_lock(&lock);
    const uint64_t handle = tieaware_fill_slot((void *)(uintptr_t)(number + 1), (void *)(uintptr_t)(0 - number - 1),
                                               NULL, NULL, 0);
    filled++;
    pthread_mutex_unlock(&lock);
    return handle;
}

static void empty(tieaware_slot *slot, uint64_t handle)
{
    slot->engine[0] = slot->engine[1] = NULL;
    pthread_mutex_lock(&lock);
    tieaware_empty_slot(slot, handle);
    emptied++;
    pthread_mutex_unlock(&lock);
}

static void *work(void *argument)
{
    uint64_t seed = (uint64_t)(uintptr_t)argument, mine = 0, gone = 0, bad = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        const int at = (int)(seed >> 33) % HANDLES;
        const uint64_t handle = tieaware_load(&handles[at]);
        tieaware_slot *slot = tieaware_enter(handle);
        if (slot == NULL) {
            gone++;
            continue;
        }
        mine++;
        bad += (uintptr_t)slot->engine[0] + (uintptr_t)slot->engine[1] != 0 || slot->engine[0] == NULL;
        if (seed >> 60 == 0 && tieaware_retire(slot, handle))
            tieaware_store(&handles[at], fill(seed >> 1));
        if (tieaware_leave(slot))
            empty(slot, handle);
    }
    pthread_mutex_lock(&lock);
    calls += mine;
    released += gone;
    wrong += bad;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < HANDLES; i++)
        handles[i] = fill((uint64_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d %d %d\n", wrong == 0, filled - emptied == HANDLES, calls > 0 && calls + released == THREADS * TURNS);
    return 0;
}
