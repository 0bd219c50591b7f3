#include <stdbool.h>
#include <string.h>

#include "common/picture/order.h"

static uint64_t
key_of(double v)
{
	uint64_t u;

	v += 0; /* -0 becomes 0 */
	memcpy(&u, &v, sizeof u);
	return u >> 63 ? u : ~u & INT64_MAX;
}

size_t
order_list(const double *v, const uint8_t *chosen, size_t n, struct order_entry *e)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		e[k] = (struct order_entry){key_of(v[i]), (uint32_t)i};
		k += chosen[i] != 0;
	}
	return k;
}

struct order_entry *
order_sort(struct order_entry *e, struct order_entry *other, size_t n)
{
	for (int shift = 0; shift < 64; shift += 8) {
		size_t start[257] = {0};
		bool alike = false;

		for (size_t i = 0; i < n; i++)
			start[(e[i].key >> shift & 255) + 1]++;
		for (int d = 0; d < 256; d++) {
			alike |= start[d + 1] == n;
			start[d + 1] += start[d];
		}
		if (alike)
			continue;
		for (size_t i = 0; i < n; i++)
			other[start[e[i].key >> shift & 255]++] = e[i];
		struct order_entry *t = e;
		e = other;
		other = t;
	}
	return e;
}

size_t
order_neighbours(const struct order_shape *s, size_t i, size_t near[ORDER_NEIGHBOURS])
{
	const int c = s->connectivity;
	const int most = c == 4 || c == 6    ? 1
			 : c == 8 || c == 18 ? 2
					     : 3; /* axes along which one differs */
	const size_t x = i % s->w, y = i / s->w % s->h, z = i / s->w / s->h;
	size_t n = 0;

	for (int dz = c > 8 || c == 6 ? -1 : 0; dz <= (c > 8 || c == 6); dz++)
		for (int dy = -1; dy <= 1; dy++)
			for (int dx = -1; dx <= 1; dx++) {
				const int axes = (dx != 0) + (dy != 0) + (dz != 0);
				const size_t X = x + (size_t)dx, Y = y + (size_t)dy,
					     Z = z + (size_t)dz;

				/* Below 0 they are huge. */
				if (axes && axes <= most && X < s->w && Y < s->h && Z < s->depth)
					near[n++] = (Z * s->h + Y) * s->w + X;
			}
	return n;
}
