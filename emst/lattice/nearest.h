/* Finds the nearest colour of another tree by the index of blocks.h. */
#ifndef EMST_NEAREST_H
#define EMST_NEAREST_H

#include "emst/lattice/blocks.h"

/* The active colours from, from + step .. below `to` search, and improve best[] of their trees. */
void nearest_search(struct blocks *k, size_t from, size_t to, size_t step);

#endif
