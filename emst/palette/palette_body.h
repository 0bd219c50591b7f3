/*
 * Runs the steps of palette.h. Few classes are made from three starts, and the best result is taken, since with few classes
 * the result depends most on the start. All numbers here were tuned on the twelve odd photographs of Kodak's set; the man page
 * reports the even ones. FINE between 1/64 and 1/8 changes the mean error by less than .01 dB; a larger one is faster.
 */

enum { MOST_ROUNDS = 1000, FAILURES = 10, STARTS = 3, FEW = 16, MANY = 64, SEEDS = 4 };
/* A picture of so few colours is looked at more thoroughly. */
enum { HANDFUL = 256 };
static const double GAIN = .001; /* dB */
static const double FINE = 1. / 16;

/* The classes that one start leads to. */
struct choice {
	size_t k;
	bool pinned;
	struct centres c;
	double sse; /* negative: memory has run out */
};

/*
 * Makes the colours fewer. A node of side s and w pixels becomes one colour when w s^2 is at most FINE times the mean SSE of the
 * classes h. The weights of the classes are floats, so the SSE has an error of less than 1e-6 of the sum of squares.
 */
static int
make_thin(struct cells *thin, const struct cells *cells, const struct choice *h)
{
	uint32_t *start = weir_alloc_large(cells->n + 1, sizeof *start);
	double sse = cells->squares * (1 - 1e-6), most[TOP + 1];
	int err = -ENOMEM;

	*thin = (struct cells){0};
	for (size_t j = 0; j < h->k; j++)
		for (int a = 0; a < DIMS; a++)
			sse -= (double)h->c.at[j].w * (double)h->c.at[j].x[a] *
			       (double)h->c.at[j].x[a];
	for (int s = 0; s <= TOP; s++)
		most[s] = fmax(ldexp(FINE * sse / (double)h->k, -2 * s), 1);
	if (start)
		err = cells_thin(thin, cells, start, cells_cut(cells, most, start));
	weir_free(start);
	return err;
}

/* Makes the class of the clear colour clear. It may hold little else: then the class that costs least makes room. */
static void
pin_clear(struct lloyd *l)
{
	const uint32_t p = l->cells->clear;
	const size_t own = l->label[p];

	l->c.clear = own;
	if (2 * cells_w(l->cells, p) < l->sum[own].v[DIMS])
		l->c.clear = swaps_vacate(l);
}

/* Makes classes opaque that hold more opaque pixels than others. There is at least one. */
static void
pin_opaque(struct lloyd *l)
{
	int64_t opaque[PALETTE_MOST] = {0};
	size_t most = l->c.clear ? 0 : 1;

	for (const struct cell *q = l->cells->cell; q < l->cells->cell + l->cells->ncell; q++)
		for (size_t p = q->start; l->cells->block[q->block].opaque && p < q[1].start; p++)
			opaque[l->label[p]] += cells_w(l->cells, p);
	for (size_t j = 0; j < l->k; j++) {
		l->c.opaque[j] = j != l->c.clear && 2 * opaque[j] > l->sum[j].v[DIMS];
		if (j != l->c.clear && opaque[j] > opaque[most])
			most = j;
	}
	l->c.opaque[most] = true;
}

/* Keeps opaque colours opaque and the clear colour clear from now on. One class for both becomes opaque. */
static void
pin(struct lloyd *l)
{
	lloyd_assign(l);
	l->c.clear = l->k;
	if (l->cells->has_clear && l->k > 1)
		pin_clear(l);
	if (l->cells->has_opaque)
		pin_opaque(l);
	l->pinned = true;
	pin_centres(l);
}

/* Runs rounds, and makes many swaps at once between them. */
static void
swap_classes(struct lloyd *l)
{
	for (int i = 0; i < 10; i++) {
		lloyd_run(l, 2, GAIN);
		if (!swaps_make(l, l->k / 8 + 1))
			break;
	}
}

/* Improves the classes h, by swaps and rounds over the fewer colours. */
static int
improve(struct choice *h, const struct cells *thin, bool few)
{
	struct lloyd *l = weir_calloc(1, sizeof *l);
	int err = l ? lloyd_init(l, thin, 1) : -ENOMEM;

	if (!err) {
		l->k = h->k;
		l->few = few;
		l->c = h->c;
		swap_classes(l);
		if (thin->has_opaque || thin->has_clear) {
			pin(l);
			swap_classes(l);
		}
		h->sse = lloyd_run(l, MOST_ROUNDS, GAIN);
		h->sse = swaps_try(l, few ? 2 * FAILURES : FAILURES, h->sse);
		h->sse = lloyd_run(l, MOST_ROUNDS, GAIN);
		h->pinned = l->pinned;
		h->c = l->c;
	}
	if (l)
		lloyd_free(l);
	weir_free(l);
	return err;
}

/* Makes k classes, starting from an octree whose nodes are split from pixels/parts pixels on. */
static void
settle(struct choice *h, const struct cells *cells, size_t k, unsigned parts)
{
	struct centre *seed = NULL;
	struct ward *w = NULL;
	struct cells thin = {0};
	size_t n;
	int err = seeds_make(cells, (double)cells->pixels / parts, SEEDS * k, &seed, &n);

	if (!err)
		err = ward_make(&w, seed, n);
	if (!err) {
		h->k = k < n ? k : n;
		ward_cut(w, h->k, h->c.at);
		err = make_thin(&thin, cells, h);
	}
	if (!err)
		err = improve(h, &thin, cells->n <= HANDFUL);
	if (err)
		h->sse = -1;
	cells_free(&thin);
	ward_free(w);
	weir_free(seed);
}

/* Rounds the centres to whole numbers, since the output has these. */
static void
round_centres(struct lloyd *l)
{
	for (size_t j = 0; j < l->k; j++)
		for (int a = 0; a < DIMS; a++)
			l->c.at[j].x[a] = rintf(fminf(fmaxf(l->c.at[j].x[a], 0), 255));
}

/* Runs all starts. h[0] gets the best result. */
static int
settle_best(struct choice h[STARTS], const struct cells *cells, size_t k, int threads)
{
	/* With fewer colours, all starts have every colour as a seed. */
	const size_t starts = k <= FEW && cells->n > SEEDS * k ? STARTS : 1;
	const unsigned parts[STARTS] = {k <= FEW ? 300 : k <= MANY ? 250 : 500, 200, 150};

#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (starts > 1)
	for (size_t i = 0; i < starts; i++)
		settle(&h[i], cells, k, parts[i]);
	for (size_t i = 0; i < starts; i++)
		if (h[i].sse < 0)
			return -ENOMEM;
	for (size_t i = 1; i < starts; i++)
		if (h[i].sse < h[0].sse)
			h[0] = h[i];
	return 0;
}

/* Ends with rounds over all colours, and labels them. */
static int
find_labels(const struct cells *cells, const struct choice *h, int threads, uint32_t *label)
{
	struct lloyd *l = weir_calloc(1, sizeof *l);
	int err = l ? lloyd_init(l, cells, threads) : -ENOMEM;

	if (!err) {
		l->k = h->k;
		l->pinned = h->pinned;
		l->c = h->c;
		lloyd_run(l, MOST_ROUNDS, GAIN);
		if (cells->n <= HANDFUL && !l->pinned)
			exchange_run(l);
		if (l->cells->unit == 1)
			round_centres(l);
		lloyd_assign(l);
		for (size_t p = 0; p < cells->n; p++)
			label[cells->from[p]] = l->label[p];
	}
	if (l)
		lloyd_free(l);
	weir_free(l);
	return err;
}

int
RUN(const struct palette_colours *p, size_t k, int threads, uint32_t *label)
{
	struct cells cells;

	if (p->n <= k) {
		for (uint32_t i = 0; i < p->n; i++)
			label[i] = i;
		return 0;
	}
	struct choice *h = weir_alloc(STARTS, sizeof *h);
	int err = cells_make(&cells, p);
	if (!err)
		err = h ? settle_best(h, &cells, k, threads) : -ENOMEM;
	if (!err) {
		weir_free(cells.key);
		cells.key = NULL;
		err = find_labels(&cells, h, threads, label);
	}
	cells_free(&cells);
	weir_free(h);
	return err;
}
