#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "common/base/mem.h"
#include "common/picture/distance.h"
#include "common/picture/label.h"

/* The nearest label, and the square of the distance to it. */
struct nearest {
	double square;
	int32_t label;
};

/* Replaces n samples along an axis, of these squared steps, by the nearest of all that lie on it. */
static void
grow_line(const struct nearest *line, size_t n, double step, double most, struct nearest *to,
	  size_t stride)
{
	for (size_t x = 0; x < n; x++) {
		struct nearest best = line[x];
		for (size_t k = 1; k < n; k++) {
			const double apart = (double)k * (double)k * step;
			if (apart > best.square || apart > most)
				break;
			for (int side = -1; side <= 1; side += 2) {
				const size_t at = side < 0 ? x - k : x + k; /* below 0 it is huge */
				const double d = at < n ? line[at].square + apart : INFINITY;
				if (d < best.square || (d == best.square && d < INFINITY &&
							line[at].label < best.label))
					best = (struct nearest){d, line[at].label};
			}
		}
		to[x * stride] = best;
	}
}

int
grow_labels(const struct distance_shape *s, double most, int32_t *map)
{
	const size_t size[3] = {s->w, s->h, s->depth}, n = s->w * s->h * s->depth;
	const size_t stride[3] = {1, s->w, s->w * s->h};
	const double limit = most / s->step[0] * (most / s->step[0]) * (1 + 1e-9);
	struct nearest *p = weir_alloc_large(n, sizeof *p), *line = NULL;
	size_t longest = s->w > s->h ? s->w : s->h;

	longest = longest > s->depth ? longest : s->depth;
	line = weir_alloc(longest, sizeof *line);
	for (size_t i = 0; p && line && i < n; i++)
		p[i] = (struct nearest){map[i] ? 0 : INFINITY, map[i]};
	for (int a = 0; p && line && a < 3; a++) {
		const double step = s->step[a] / s->step[0];
		for (size_t i = 0; i < n; i++) {
			if (i / stride[a] % size[a])
				continue;
			for (size_t x = 0; x < size[a]; x++)
				line[x] = p[i + x * stride[a]];
			grow_line(line, size[a], step * step, limit, p + i, stride[a]);
		}
	}
	for (size_t i = 0; p && line && i < n; i++)
		map[i] = p[i].square <= limit ? p[i].label : 0;
	weir_free_all(p, line);
	return p && line ? 0 : -ENOMEM;
}

int
label_fill_holes(const struct label *l, const double *values, uint8_t *chosen)
{
	const int c = l->connectivity, other = c == 4 ? 8 : c == 8 ? 4 : c == 6 ? 26 : 6;
	const size_t w = l->w, rows = l->h * l->depth;
	uint8_t *rest = weir_alloc(w, 1);
	int32_t *hole = weir_alloc(w + LABEL_PAD, sizeof *hole);
	struct label holes;
	int r = label_open(&holes, w, l->h, l->depth, other);

	r = rest && hole ? r : -ENOMEM;
	holes.inside = true;
	for (size_t i = 0; !r && i < rows; i++) {
		for (size_t k = 0; k < w; k++)
			rest[k] = !chosen[i * w + k];
		r = label_row(&holes, rest, values + i * w);
	}
	r = r ? r : label_close(&holes, 1);
	for (size_t i = 0; !r && i < rows; i++) {
		label_write(&holes, i, hole);
		for (size_t k = 0; k < w; k++)
			chosen[i * w + k] |= hole[k] && !isnan(values[i * w + k]);
	}
	label_free(&holes);
	weir_free_all(rest, hole);
	return r;
}

void
label_steps(const struct img *x, size_t dims, double step[3])
{
	const struct img_axis *a = x->axis + img_row_axis(x);

	for (size_t i = 0; i < dims; i++)
		step[i] = isnan(a[i].spacing) ? 1 : fabs(a[i].spacing);
}

int
label_grow(struct label *l, const struct img *x, size_t dims, double most, const double *values,
	   bool named)
{
	const size_t pad = l->depth > 1;
	struct distance_shape s = {l->w + 2, l->h + 2, l->depth + 2 * pad, {1, 1, 1}};
	int32_t *map = label_map(l, pad);
	struct label g;

	label_steps(x, dims, s.step);
	int r = map ? grow_labels(&s, most, map) : -ENOMEM;
	r = r ? r : label_open(&g, l->w, l->h, l->depth, l->connectivity);
	for (size_t i = 0; !r && i < l->rows; i++) {
		uint32_t *row = (uint32_t *)map + ((i / l->h + pad) * s.h + i % l->h + 1) * s.w + 1;
		for (size_t k = 0; named && k < l->w; k++)
			row[k] = row[k] ? l->name[row[k] - 1] : 0;
		r = label_parts(&g, row, values ? values + i * l->w : NULL);
	}
	r = r ? r : label_close(&g, 1);
	weir_free(map);
	if (r)
		return r;
	label_free(l);
	*l = g;
	return 0;
}
