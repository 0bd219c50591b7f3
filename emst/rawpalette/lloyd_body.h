/* Lloyd's method (1982) over cells of colours: rounds of assigning colours to centres and moving the centres. */
/*
 * Centre j is excluded for a whole cell if another centre m is nearer to all points of the cell's box:
 *
 *	|x - j|^2 - |x - m|^2 = |j|^2 - |m|^2 + 2 x (m - j) > 0 at the corner of the box where it is least
 *
 * m is the centre nearest to the middle of the box. On photographs, a few of 256 centres remain. The sums are whole numbers,
 * so they do not depend on the number of threads.
 */
/* A bound on the rounding error of the difference above, in squared units. Centres within it stay. */
static const float SLACK = .05f;

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t marks __attribute__((vector_size(LANES * sizeof(float)))); /* -1: yes, 0: no */

/* LANES numbers at any address, read as *(const loose *)x. */
typedef float loose __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));

CPU_INLINE void
keep_smaller(lanes *to, const lanes *x)
{
	const marks less = *x < *to;

	*to = (lanes)((less & (marks)*x) | (~less & (marks)*to));
}

/*
 * Centres that may be the nearest ones, by twice their coordinates. LANES places after the last are too far away for every
 * colour.
 */
struct rivals {
	size_t n;
	float x2[DIMS][PALETTE_MOST + LANES], square[PALETTE_MOST + LANES];
	int32_t id[PALETTE_MOST + LANES];
};

enum { SHARE = 2048, MOST_SHARES = 64 }; /* colours in a share, as long as the shares are few */

struct lloyd {
	const struct cells *cells;
	size_t k;
	int threads;
	bool thorough; /* swaps are to be thorough; false after lloyd_new() */
	/*
	 * Opaque colours go to opaque classes only, and the clear colour to the class `clear` unless this is k. The alpha of an
	 * opaque centre is 255, and the clear centre is the clear colour. False after lloyd_new().
	 */
	bool pinned;
	struct centres c;
	struct sums sum[PALETTE_MOST]; /* of each class in the last round */
	uint8_t *label;		       /* [cells->n], in the order of the cells; owned */
	struct sums *share;	       /* [shares][k]; owned */
	size_t shares; /* the cells are divided into shares, which the threads take in turn */
};

static void
lloyd_free(struct lloyd *l)
{
	weir_free_all(l->label, l->share, l);
}

/* Makes room for k classes; there are none yet. Free it with lloyd_free(). NULL: no memory. */
static struct lloyd *
lloyd_new(const struct cells *cells, int threads, size_t k)
{
	struct lloyd *l = weir_calloc(1, sizeof *l);
	size_t shares = cells->n / SHARE + 1;

	if (!l)
		return NULL;
	shares = shares < MOST_SHARES ? shares : MOST_SHARES;
	*l = (struct lloyd){.cells = cells,
			    .k = k,
			    .threads = threads,
			    .shares = shares,
			    .label = weir_alloc_large(cells->n + LANES, 1),
			    .share = weir_alloc(shares * PALETTE_MOST, sizeof *l->share)};
	if (l->label && l->share)
		return l;
	lloyd_free(l);
	return NULL;
}

/* Fills the places after the last. */
static void
pad(struct rivals *r)
{
	for (size_t i = r->n; i < r->n + LANES; i++) {
		r->square[i] = 1e12f;
		for (int a = 0; a < DIMS; a++)
			r->x2[a][i] = 0;
	}
}

/* Lists all centres, or only the opaque ones. */
static void
list_centres(struct rivals *r, const struct lloyd *l, bool opaque)
{
	r->n = 0;
	for (size_t j = 0; j < l->k; j++) {
		if (opaque && !l->c.opaque[j])
			continue;
		r->square[r->n] = 0;
		for (int a = 0; a < DIMS; a++) {
			r->x2[a][r->n] = 2 * l->c.at[j].x[a];
			r->square[r->n] += l->c.at[j].x[a] * l->c.at[j].x[a];
		}
		r->id[r->n++] = (int32_t)j;
	}
	pad(r);
}

/* Returns the place of the centre nearest to the middle of a box. */
CPU_INLINE size_t
nearest_to_middle(const struct rivals *r, const struct box *b)
{
	float x[DIMS], d[PALETTE_MOST + LANES], least[LANES];
	lanes low = (lanes){0} + 1e30f;
	size_t m = 0;

	for (int a = 0; a < DIMS; a++)
		x[a] = (b->lo[a] + b->hi[a]) / 2;
	for (size_t j = 0; j < r->n; j += LANES) {
		lanes e = *(const loose *)(r->square + j);
		for (int a = 0; a < DIMS; a++)
			e -= x[a] * *(const loose *)(r->x2[a] + j);
		memcpy(d + j, &e, sizeof e);
		keep_smaller(&low, &e);
	}
	memcpy(least, &low, sizeof low);
	for (size_t i = 1; i < LANES; i++)
		least[0] = least[i] < least[0] ? least[i] : least[0];
	while (d[m] != least[0])
		m++;
	return m;
}

/* Fills `left` with the rivals that are not excluded for a box. */
CPU_INLINE void
narrow(const struct rivals *r, const struct box *b, struct rivals *left)
{
	const size_t m = nearest_to_middle(r, b);
	float f[PALETTE_MOST + LANES];
	uint32_t at[PALETTE_MOST + 1];

	for (size_t j = 0; j < r->n; j++) {
		float sum = r->square[j] - r->square[m];
		for (int a = 0; a < DIMS; a++) {
			const float v = r->x2[a][m] - r->x2[a][j], low = v * b->lo[a],
				    high = v * b->hi[a];
			sum += low < high ? low : high;
		}
		f[j] = sum;
	}
	left->n = 0;
	for (size_t j = 0; j < r->n; j++) {
		at[left->n] = (uint32_t)j;
		left->n += f[j] <= SLACK;
	}
	for (size_t i = 0; i < left->n; i++) {
		for (int a = 0; a < DIMS; a++)
			left->x2[a][i] = r->x2[a][at[i]];
		left->square[i] = r->square[at[i]];
		left->id[i] = r->id[at[i]];
	}
}

/* Loads coordinate a of the LANES colours from p on. */
CPU_INLINE void
load_lanes(lanes *to, const struct cells *c, int a, size_t p)
{
	float x[LANES];

	if (c->x[a]) {
		*to = *(const loose *)(c->x[a] + p);
		return;
	}
	for (size_t i = 0; i < LANES; i++)
		x[i] = (float)c->u[a][p + i] * c->unit;
	memcpy(to, x, sizeof x);
}

/* Finds the nearest rival for each of the LANES colours from p on. */
CPU_INLINE void
nearest_rivals(const struct cells *c, size_t p, const struct rivals *r, uint8_t at[LANES])
{
	lanes x[DIMS], best = (lanes){0} + 1e30f;
	marks id = {0};

	for (int a = 0; a < DIMS; a++)
		load_lanes(&x[a], c, a, p);
	for (size_t j = 0; j < r->n; j++) {
		lanes d = r->square[j] - x[0] * r->x2[0][j];
		for (int a = 1; a < DIMS; a++)
			d -= x[a] * r->x2[a][j];
		const marks less = d < best;
		id = (less & r->id[j]) | (~less & id);
		keep_smaller(&best, &d);
	}
	for (size_t i = 0; i < LANES; i++)
		at[i] = (uint8_t)id[i];
}

/*
 * Assigns the colours of the cells from..to-1, and adds them to sum[k]. all[1] lists the centres for opaque colours. Cells of
 * few colours do not repay a test.
 */
WEIR_CLONES(assign_cells,
	    (const struct cells *c, const struct rivals *all, size_t from, size_t to,
	     uint8_t *label, struct sums *sum),
	    (c, all, from, to, label, sum))
{
	struct rivals near, nearer;
	uint32_t block = UINT32_MAX;

	for (const struct cell *q = c->cell + from; q < c->cell + to; q++) {
		const struct rivals *r = &near;
		if (q->block != block) {
			block = q->block;
			narrow(&all[c->block[block].opaque], &c->block[block].box, &near);
			pad(&near);
		}
		if (q[1].start - q->start > LANES) {
			narrow(&near, &q->box, &nearer);
			r = &nearer;
		}
		if (r->n == 1) {
			sums_add(&sum[r->id[0]], &q->sum);
			memset(label + q->start, (int)r->id[0], q[1].start - q->start);
			continue;
		}
		for (size_t p = q->start; p < q[1].start; p += LANES) {
			const size_t n = q[1].start - p < LANES ? q[1].start - p : LANES;
			uint8_t at[LANES];
			nearest_rivals(c, p, r, at);
			for (size_t i = 0; i < n; i++) {
				label[p + i] = at[i];
				cells_add(&sum[at[i]], c, p + i);
			}
		}
	}
}

static void
assign_share(const struct lloyd *l, const struct rivals *all, size_t s)
{
	const size_t n = l->cells->ncell;

	assign_cells(l->cells, all, n * s / l->shares, n * (s + 1) / l->shares, l->label,
		     l->share + s * l->k);
}

/* Returns the SSE: sum w |x - c|^2 = sum w |x|^2 - 2 c sum w x + |c|^2 sum w. */
static double
sse_of(const struct lloyd *l)
{
	double sse = l->cells->squares;

	for (size_t j = 0; j < l->k; j++)
		for (int a = 0; a < DIMS; a++) {
			const double x = (double)l->c.at[j].x[a],
				     sum = (double)l->sum[j].v[a] * (double)l->cells->unit;
			sse += x * (x * (double)l->sum[j].v[DIMS] - 2 * sum);
		}
	return sse;
}

/* Puts the clear colour into the clear class. */
static void
assign_clear(struct lloyd *l)
{
	const uint32_t p = l->cells->clear;
	struct sums s = {{0}};

	cells_add(&s, l->cells, p);
	for (int a = 0; a <= DIMS; a++) {
		l->sum[l->label[p]].v[a] -= s.v[a];
		l->sum[l->c.clear].v[a] += s.v[a];
	}
	l->label[p] = (uint8_t)l->c.clear;
}

/* Assigns every colour to its nearest centre in label[], and fills sum[]. Returns the SSE of the present centres. */
static double
lloyd_assign(struct lloyd *l)
{
	struct rivals all[2];

	list_centres(&all[0], l, false);
	list_centres(&all[1], l, l->pinned);
	memset(l->share, 0, l->shares * l->k * sizeof *l->share);
	/* Even a team of one thread costs some microseconds, as much as a round on a small picture. */
	if (l->threads == 1 || l->shares == 1)
		for (size_t s = 0; s < l->shares; s++)
			assign_share(l, all, s);
	else
#pragma omp parallel for schedule(dynamic, 1) num_threads(l->threads)
		for (size_t s = 0; s < l->shares; s++)
			assign_share(l, all, s);
	memset(l->sum, 0, sizeof l->sum);
	for (size_t s = 0; s < l->shares; s++)
		for (size_t j = 0; j < l->k; j++)
			sums_add(&l->sum[j], &l->share[s * l->k + j]);
	if (l->pinned && l->c.clear < l->k)
		assign_clear(l);
	return sse_of(l);
}

/* Gives the pinned centres their fixed coordinates. */
static void
pin_centres(struct lloyd *l)
{
	for (size_t j = 0; j < l->k; j++)
		if (l->c.opaque[j])
			l->c.at[j].x[DIMS - 1] = l->cells->solid;
	if (l->c.clear < l->k)
		for (int a = 0; a < DIMS; a++)
			l->c.at[l->c.clear].x[a] = cells_x(l->cells, a, l->cells->clear);
}

/* Moves the centres to the means of their classes. The centre of a class without colours stays, with weight 0. */
static void
lloyd_update(struct lloyd *l)
{
	for (size_t j = 0; j < l->k; j++)
		if (l->sum[j].v[DIMS])
			l->c.at[j] = centre_of(&l->sum[j], l->cells->unit);
		else
			l->c.at[j].w = 0;
	if (l->pinned)
		pin_centres(l);
}

static void
overshoot(struct lloyd *l, const struct centre *old)
{
	for (size_t j = 0; j < l->k; j++)
		for (int a = 0; a < DIMS; a++)
			l->c.at[j].x[a] += .9f * (l->c.at[j].x[a] - old[j].x[a]);
}

/*
 * Runs rounds until one gains less than `gain` dB, or `most` rounds. Except in the last round, each centre moves to the mean
 * of its class and past it by .9 of the distance moved. Returns the SSE.
 */
static double
lloyd_run(struct lloyd *l, int most, double gain)
{
	struct centre old[PALETTE_MOST];
	double before = INFINITY, sse = 0;

	for (int round = 0; round < most; round++) {
		sse = lloyd_assign(l);
		memcpy(old, l->c.at, sizeof old);
		lloyd_update(l);
		/* Where the classes fit the colours exactly, the SSE is the rounding error, which may be negative. */
		if (round == most - 1 || !(10 * log10(before / sse) >= gain))
			break;
		overshoot(l, old);
		before = sse;
	}
	return sse;
}
