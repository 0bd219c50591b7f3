/* The samples of a picture or volume in the order of their values, and the neighbours of each. Pure. */
#ifndef WEIR_PICTURE_ORDER_H
#define WEIR_PICTURE_ORDER_H

#include <stddef.h>
#include <stdint.h>

enum { ORDER_NEIGHBOURS = 26 };

struct order_shape {
	size_t w, h, depth;
	int connectivity; /* 4, 8; 6, 18, 26 */
};

struct order_entry {
	uint64_t key;
	uint32_t at; /* the number of the sample */
};

/* Lists the chosen samples with keys that ascend where values descend. No chosen sample is NaN. Returns their number. */
size_t order_list(const double *v, const uint8_t *chosen, size_t n, struct order_entry *e);

/* Sorts by key; entries of equal keys keep their order. Returns the array with the result: e or other. */
struct order_entry *order_sort(struct order_entry *e, struct order_entry *other, size_t n);

/* Lists the neighbours of sample i, in the order of rows. Returns their number. */
size_t order_neighbours(const struct order_shape *s, size_t i, size_t near[ORDER_NEIGHBOURS]);

#endif
