/* Prints numbers as printf does, some ten times faster. Pure. */
#ifndef WEIR_PICTURE_NUMBER_H
#define WEIR_PICTURE_NUMBER_H

#include <stddef.h>

enum { NUMBER_ROOM = 24 };

/*
 * Writes v without a zero at the end: whole numbers below 2^53 with all digits, others as %.9g does. Returns the length,
 * less than NUMBER_ROOM.
 */
size_t number_print(char *to, double v);

#endif
