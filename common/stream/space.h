/* NRRD's fields of the space in which an item lies: space, space directions, space origin, measurement frame. Pure. */
#ifndef WEIR_STREAM_SPACE_H
#define WEIR_STREAM_SPACE_H

#include <stdio.h>

#include "common/stream/img.h"

/* Return NULL, or a sentence that says what is wrong. s: the text after the colon of the field. */
const char *space_take_directions(struct img *x, char *s);
const char *space_take_origin(struct img *x, char *s);

/* Adds the line `name: value` to x->space.fields. */
void space_keep(struct img *x, const char *name, const char *value);

/* Writes all fields of the space, in the order that other readers need. */
void space_put(FILE *f, const struct img *x);

#endif
