/* A clock that counts cycles of the processor, for bench_files.py. */
#include <stdint.h>

/* Add `steps` times, each time to the last sum. No processor begins an addition before it has the sum that it adds to,
 * so each takes one cycle.
 */
uint64_t cycles(uint64_t steps, uint64_t step)
{
    uint64_t sum = step;
    for (uint64_t i = 0; i < steps; i++) {
        sum += step;
        __asm__ volatile("" : "+r"(sum)); /* so that the compiler does not multiply instead */
    }
    return sum;
}
