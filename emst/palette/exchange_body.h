/*
 * Moves single colours between classes (Hartigan 1975). This leaves many local minima of Lloyd's method where classes have few
 * colours. Moving colour x of weight w from class i to class j changes the SSE by
 *
 *	w W[j] / (W[j] + w) |x - c[j]|^2 - w W[i] / (W[i] - w) |x - c[i]|^2	c means, W weights of the classes
 */

enum { SWEEPS = 50 };

struct mean {
	double x[DIMS];
};

static void
find_mean(struct mean *m, const struct sums *s, double unit)
{
	for (int a = 0; a < DIMS; a++)
		m->x[a] = s->v[DIMS] ? (double)s->v[a] * unit / (double)s->v[DIMS] : 0;
}

/* Returns |x - m|^2 for colour p. */
static double
distance(const struct cells *c, size_t p, const struct mean *m)
{
	double d2 = 0;

	for (int a = 0; a < DIMS; a++) {
		const double d = (double)cells_x(c, a, p) - m->x[a];
		d2 += d * d;
	}
	return d2;
}

/* Returns the class to which colour p should move, which may be its own. */
static size_t
best_class(const struct lloyd *l, const struct mean *m, size_t p)
{
	const size_t own = l->label[p];
	const double w = (double)cells_w(l->cells, p), rest = (double)l->sum[own].v[DIMS] - w;
	double least =
	    rest > 0 ? (1 - 1e-9) * (rest + w) / rest * distance(l->cells, p, &m[own]) : 0;
	size_t best = own;

	for (size_t j = 0; j < l->k && least > 0; j++) {
		const double all = (double)l->sum[j].v[DIMS],
			     cost = all / (all + w) * distance(l->cells, p, &m[j]);
		if (j != own && cost < least) {
			least = cost;
			best = j;
		}
	}
	return best;
}

/* Moves colours until no move lowers the SSE. label[] and sum[] are those of the last round; the centres become the means. */
static void
exchange_run(struct lloyd *l)
{
	const double unit = (double)l->cells->unit;
	struct mean m[PALETTE_MOST];
	bool moved = true;

	for (size_t j = 0; j < l->k; j++)
		find_mean(&m[j], &l->sum[j], unit);
	for (int sweep = 0; sweep < SWEEPS && moved; sweep++) {
		moved = false;
		for (size_t p = 0; p < l->cells->n; p++) {
			const size_t from = l->label[p], to = best_class(l, m, p);
			if (to == from)
				continue;
			struct sums s = {{0}};
			cells_add(&s, l->cells, p);
			for (int a = 0; a <= DIMS; a++) {
				l->sum[from].v[a] -= s.v[a];
				l->sum[to].v[a] += s.v[a];
			}
			l->label[p] = (uint8_t)to;
			find_mean(&m[from], &l->sum[from], unit);
			find_mean(&m[to], &l->sum[to], unit);
			moved = true;
		}
	}
	lloyd_update(l);
}
