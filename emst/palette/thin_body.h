/* Makes the colours of cells_body.h fewer, along the nodes of their tree. */

/* Cuts the node of side 2^s that holds the colours from..to-1 and w pixels. Returns the place after the last start. */
static uint32_t *
cut_node(const struct cells *c, const double *most, int s, uint32_t from, uint32_t to, int64_t w,
	 uint32_t *start)
{
	if (to - from == 1 || (double)w < most[s]) {
		*start = from;
		return start + 1;
	}
	if (s == 0) {
		for (w = 0; from < to; w += c->w[from++])
			if (w == 0 || (double)w >= most[0]) {
				*start++ = from;
				w = 0;
			}
		return start;
	}
	while (from < to) {
		const uint32_t part = c->key[from] >> DIMS * (s - 1);
		uint32_t p = from;
		for (w = 0; p < to && c->key[p] >> DIMS * (s - 1) == part; p++)
			w += c->w[p];
		start = cut_node(c, most, s - 1, from, p, w, start);
		from = p;
	}
	return start;
}

/*
 * Cuts the tree. A node of side 2^s and of most[s] pixels or more is split, as long as it has two colours; a node of side 1
 * falls into runs of colours, which end when they have most[0] pixels. Fills start [n + 1] with the first colours of the nodes
 * that are left, and with n after them. Returns the number of these nodes.
 */
static size_t
cells_cut(const struct cells *c, const double most[TOP + 1], uint32_t *start)
{
	uint32_t *end = cut_node(c, most, TOP, 0, (uint32_t)c->n, (int64_t)c->pixels, start);

	*end = (uint32_t)c->n;
	return (size_t)(end - start);
}

/* Joins the colours from..to-1 of c to one at place p. */
static void
join_run(struct cells *t, size_t p, const struct cells *c, uint32_t from, uint32_t to)
{
	struct sums sum = {{0}};
	struct square q = {{0}};

	for (uint32_t i = from; i < to; i++) {
		cells_add(&sum, c, i);
		for (int a = 0, at = 0; a < DIMS; a++) {
			const double wx = (double)(c->w[i] * c->u[a][i]) * (double)c->unit;
			for (int b = a; b < DIMS; b++)
				q.v[at++] += wx * (double)cells_x(c, b, i);
		}
	}
	for (int a = 0; a < DIMS; a++)
		t->x[a][p] = (float)((double)sum.v[a] / (double)sum.v[DIMS]) * c->unit;
	t->key[p] = c->key[from];
	t->sum[p] = sum;
	t->square[p] = q;
}

/* Makes `to`: the colours of each of n runs become one, which is their mean. 0 or -ENOMEM; call cells_free() in either case. */
static int
cells_thin(struct cells *to, const struct cells *c, const uint32_t *start, size_t n)
{
	*to = (struct cells){.n = n,
			     .key = weir_alloc_large(n, sizeof *to->key),
			     .sum = weir_alloc_large(n, sizeof *to->sum),
			     .square = weir_alloc_large(n, sizeof *to->square),
			     .unit = c->unit,
			     .has_opaque = c->has_opaque,
			     .has_clear = c->has_clear,
			     .solid = c->solid,
			     .pixels = c->pixels,
			     .squares = c->squares};
	if (!to->key || !to->sum || !to->square)
		return -ENOMEM;
	for (int a = 0; a < DIMS; a++) {
		to->x[a] = weir_alloc_large(n + LANES, sizeof *to->x[a]);
		if (!to->x[a])
			return -ENOMEM;
		memset(to->x[a] + n, 0, LANES * sizeof *to->x[a]);
	}
	for (size_t p = 0; p < n; p++) {
		join_run(to, p, c, start[p], start[p + 1]);
		if (start[p] <= c->clear && c->clear < start[p + 1])
			to->clear = (uint32_t)p;
	}
	return list_cells(to);
}
