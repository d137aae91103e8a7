/* The three types of weights. The kind of a type is its size in bytes: 4 for float32, 1 for uint8, 2 for uint16. */
#ifndef TIEAWARE_WEIGHTS_H
#define TIEAWARE_WEIGHTS_H

#include <stdint.h>

/* Define a function for each type, and call the one for a kind. */
#define TIEAWARE_FOR_EACH_KIND(DEFINE, NAME) \
    DEFINE(NAME##_float, float) DEFINE(NAME##_uint8, uint8_t) DEFINE(NAME##_uint16, uint16_t)
#define TIEAWARE_OF_KIND(KIND, NAME, ...)             \
    ((KIND) == 4   ? NAME##_float(__VA_ARGS__)        \
     : (KIND) == 1 ? NAME##_uint8(__VA_ARGS__)        \
                   : NAME##_uint16(__VA_ARGS__))

#endif
