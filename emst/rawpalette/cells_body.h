/*
 * The colours are sorted along the octree, or in four dimensions the tree of 16 branches: by the key whose bits are those of
 * the coordinates in turn. Every node of the tree is then a run of colours. The nodes of side 8 are called cells and those of
 * side 32 are called blocks. One test per node excludes the centres that are nearest to none of its colours.
 *
 *	x[DIMS][n]   coordinates in the order of the keys, 0 .. 255
 *	w            the pixels of a colour
 *	sum          w x / unit for each coordinate, and w, as whole numbers: their sums do not depend on the order of summation
 *	square       the sums of w x_a x_b for a <= b: in three dimensions 00 01 02 11 12 22
 *
 * A picture may have as many colours as pixels, so cells_make() keeps only x / unit, which is a whole number, and w. Of few
 * colours it keeps x and their sums too. cells_thin() joins colours: their x are means, and have sums of their own.
 */

enum { LANES = 8, TOP = 8 }; /* the root of the tree has side 2^TOP */
enum {
	CELL_BITS = 3 * DIMS,
	BLOCK_BITS = 5 * DIMS,
	DIGIT = 4 * DIMS,
	PAIRS = DIMS * (DIMS + 1) / 2
};

struct sums {
	int64_t v[DIMS + 1];
};

struct square {
	double v[PAIRS];
};

CPU_INLINE void
sums_add(struct sums *to, const struct sums *x)
{
	for (int a = 0; a <= DIMS; a++)
		to->v[a] += x->v[a];
}

struct box {
	float lo[DIMS], hi[DIMS];
};

struct cell {
	uint32_t start; /* its first colour; the next cell's start is its end */
	uint32_t block;
	struct box box; /* of its colours */
	struct sums sum;
};

struct block {
	struct box box;
	bool opaque; /* Either all of its colours are opaque or none is. */
};

struct cells {
	size_t n, ncell, nblock;
	uint32_t *key;	     /* [n], ascending; owned. only cells_cut() and cells_thin() read it */
	float unit;	     /* of the sums: 2^-shift of struct palette_colours */
	struct cell *cell;   /* [ncell + 1]; owned */
	struct block *block; /* [nblock]; owned */

	/* Of cells_make(), NULL after cells_thin(); owned. u[DIMS][n] is x / unit, readable up to n + LANES. */
	uint16_t *u[DIMS];
	int64_t *w;
	uint32_t *from; /* [n]: the colour that is at each place */

	/* Of cells_thin(), and of cells_make() where the colours are few, else NULL; owned. x is readable up to n + LANES. */
	float *x[DIMS];
	struct sums *sum;
	struct square *square;

	uint64_t pixels;
	double squares; /* sum of w |x|^2 over all colours */
	/* These follow struct palette_colours; clear is the place of the clear colour, or of the run that holds it. */
	bool has_opaque, has_clear;
	uint32_t clear;
	float solid; /* the last coordinate of opaque colours */
};

CPU_INLINE float
cells_x(const struct cells *c, int a, size_t p)
{
	return c->x[a] ? c->x[a][p] : (float)c->u[a][p] * c->unit;
}

static inline int64_t
cells_w(const struct cells *c, size_t p)
{
	return c->w ? c->w[p] : c->sum[p].v[DIMS];
}

/* Adds the sums of colour p. */
CPU_INLINE void
cells_add(struct sums *to, const struct cells *c, size_t p)
{
	if (c->sum) {
		sums_add(to, &c->sum[p]);
		return;
	}
	for (int a = 0; a < DIMS; a++)
		to->v[a] += c->w[p] * c->u[a][p];
	to->v[DIMS] += c->w[p];
}

/* Frees all. A zeroed struct is free. */
static void
cells_free(struct cells *c)
{
	for (int a = 0; a < DIMS; a++) {
		weir_free_all(c->u[a], c->x[a]);
	}
	weir_free_all(c->key, c->w, c->sum, c->square, c->cell, c->block, c->from);
	*c = (struct cells){0};
}

/* --- the order ------------------------------------------------------------------------------------------------------- */

/* Fills x with the coordinates of a colour in units. */
static inline void
colour_of(const struct palette_colours *p, size_t i, int32_t x[DIMS])
{
	for (int a = 0; a < DIMS; a++)
		x[a] = p->code ? (int32_t)(p->code[i] >> 8 * (DIMS - 1 - a) & 255)
			       : p->x[i * DIMS + (size_t)a];
}

/*
 * Returns the key. The last coordinate of an opaque colour counts as 255, which no other colour reaches: opaque colours share
 * no block with others. Where only the first coordinate varies, all bits of the key are its bits. spread[v] has the bits of v,
 * and DIMS - 1 zero bits between any two.
 */
static uint32_t
key_of(const struct palette_colours *p, size_t i, const uint32_t spread[256])
{
	int32_t x[DIMS];
	uint32_t key = 0;

	colour_of(p, i, x);
	if (p->opaque && p->opaque[i])
		x[DIMS - 1] = 255 << p->shift;
	if (p->gray)
		return (uint32_t)x[0] << (8 * (DIMS - 1) - p->shift);
	for (int a = 0; a < DIMS; a++)
		key |= spread[x[a] >> p->shift] << (DIMS - 1 - a);
	return key;
}

static uint32_t
digit(uint32_t key, int shift)
{
	return key >> shift & ((1 << DIGIT) - 1);
}

/* Fills at[v] with the place of the first key whose digit is v, when keys are sorted by that digit. */
static void
find_places(uint32_t *at, const uint32_t *key, size_t n, int shift)
{
	memset(at, 0, ((1 << DIGIT) + 1) * sizeof *at);
	for (size_t i = 0; i < n; i++)
		at[digit(key[i], shift) + 1]++;
	for (int v = 1; v < 1 << DIGIT; v++)
		at[v] += at[v - 1];
}

/* Sorts by the lower digit of the keys into b, and from there by the upper one into key and from. */
static void
sort_keys(uint32_t *key, uint32_t *from, uint64_t *b, uint32_t *at, size_t n)
{
	find_places(at, key, n, 0);
	for (size_t i = 0; i < n; i++)
		b[at[digit(key[i], 0)]++] = (uint64_t)key[i] << 32 | i;
	find_places(at, key, n, DIGIT);
	for (size_t i = 0; i < n; i++) {
		const uint32_t own = (uint32_t)(b[i] >> 32), to = at[digit(own, DIGIT)]++;
		key[to] = own;
		from[to] = (uint32_t)b[i];
	}
}

static int
sort_colours(struct cells *c, const struct palette_colours *p)
{
	uint64_t *b = weir_alloc_large(c->n, sizeof *b);
	uint32_t spread[256], *at = weir_alloc((1 << DIGIT) + 1, sizeof *at);

	c->key = weir_alloc_large(c->n, sizeof *c->key);
	c->from = weir_alloc_large(c->n, sizeof *c->from);
	const bool room = b && at && c->key && c->from;
	if (room) {
		for (uint32_t v = 0; v < 256; v++) {
			spread[v] = 0;
			for (int bit = 0; bit < 8; bit++)
				spread[v] |= (v >> bit & 1) << DIMS * bit;
		}
		for (size_t i = 0; i < c->n; i++)
			c->key[i] = key_of(p, i, spread);
		sort_keys(c->key, c->from, b, at, c->n);
	}
	weir_free_all(b, at);
	return room ? 0 : -ENOMEM;
}

/* --- cells and blocks ------------------------------------------------------------------------------------------------- */

static size_t
count_runs(const struct cells *c, int bits)
{
	size_t n = c->n > 0;

	for (size_t p = 1; p < c->n; p++)
		n += c->key[p] >> bits != c->key[p - 1] >> bits;
	return n;
}

static void
widen(struct box *b, const struct box *by)
{
	for (int a = 0; a < DIMS; a++) {
		b->lo[a] = by->lo[a] < b->lo[a] ? by->lo[a] : b->lo[a];
		b->hi[a] = by->hi[a] > b->hi[a] ? by->hi[a] : b->hi[a];
	}
}

/* Lists the nodes whose keys agree above CELL_BITS, and those whose keys agree above BLOCK_BITS. */
static int
list_cells(struct cells *c)
{
	struct box none;
	struct cell *q;
	uint32_t ones = 0; /* the bits of the last coordinate; all are set where it is 255 */

	for (int a = 0; a < DIMS; a++) {
		none.lo[a] = 255;
		none.hi[a] = 0;
	}
	for (int b = 0; b < 8; b++)
		ones |= UINT32_C(1) << DIMS * b;
	c->cell = weir_alloc_large(count_runs(c, CELL_BITS) + 1, sizeof *c->cell);
	c->block = weir_alloc(count_runs(c, BLOCK_BITS), sizeof *c->block);
	if (!c->cell || !c->block)
		return -ENOMEM;
	q = c->cell - 1;
	for (size_t p = 0; p < c->n; p++) {
		struct box one;
		if (!p || c->key[p] >> BLOCK_BITS != c->key[p - 1] >> BLOCK_BITS)
			c->block[c->nblock++] = (struct block){none, (c->key[p] & ones) == ones};
		if (!p || c->key[p] >> CELL_BITS != c->key[p - 1] >> CELL_BITS)
			*++q = (struct cell){
			    .start = (uint32_t)p, .block = (uint32_t)c->nblock - 1, .box = none};
		for (int a = 0; a < DIMS; a++)
			one.lo[a] = one.hi[a] = cells_x(c, a, p);
		widen(&q->box, &one);
		widen(&c->block[q->block].box, &one);
		cells_add(&q->sum, c, p);
	}
	(++q)->start = (uint32_t)c->n;
	c->ncell = (size_t)(q - c->cell);
	return 0;
}

/* Returns room for n numbers and LANES more, which are 0. */
static void *
padded(size_t n, size_t size)
{
	char *x = weir_alloc_large(n + LANES, size);

	if (x)
		memset(x + n * size, 0, LANES * size);
	return x;
}

/* Fills u. */
static int
place_colours(struct cells *c, const struct palette_colours *p)
{
	for (int a = 0; a < DIMS; a++)
		if (!(c->u[a] = padded(c->n, sizeof *c->u[a])))
			return -ENOMEM;
	for (size_t i = 0; i < c->n; i++) {
		int32_t x[DIMS];
		colour_of(p, c->from[i], x);
		for (int a = 0; a < DIMS; a++)
			c->u[a][i] = (uint16_t)x[a];
		if (p->opaque && p->opaque[c->from[i]])
			c->solid = cells_x(c, DIMS - 1, i);
		if (c->has_clear && c->from[i] == p->clear)
			c->clear = (uint32_t)i;
	}
	return 0;
}

/* Fills w. */
static int
weigh_colours(struct cells *c, const uint64_t *weight)
{
	c->w = weir_alloc_large(c->n, sizeof *c->w);
	if (!c->w)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++) {
		c->w[i] = (int64_t)weight[c->from[i]];
		c->pixels += (uint64_t)c->w[i];
		for (int a = 0; a < DIMS; a++) {
			const double x = (double)cells_x(c, a, i);
			c->squares += (double)c->w[i] * x * x;
		}
	}
	return 0;
}

/* Keeps x and the sums of few colours, as most pictures of 8 bits have. Without them a palette takes 1.1 times as long. */
static int
keep_sums(struct cells *c)
{
	enum { FEW = 1 << 20 };

	if (c->n > FEW)
		return 0;
	struct sums *sum = weir_calloc(c->n, sizeof *sum);
	if (!sum)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++)
		cells_add(&sum[i], c, i);
	c->sum = sum;
	for (int a = 0; a < DIMS; a++) {
		float *x = padded(c->n, sizeof *x);
		if (!x)
			return -ENOMEM;
		for (size_t i = 0; i < c->n; i++)
			x[i] = (float)c->u[a][i] * c->unit;
		c->x[a] = x;
	}
	return 0;
}

/* Sorts the colours. 0 or -ENOMEM; call cells_free() in either case. */
static int
cells_make(struct cells *c, const struct palette_colours *p)
{
	*c = (struct cells){.n = p->n,
			    .unit = ldexpf(1, -p->shift),
			    .has_opaque = p->opaque,
			    .has_clear = p->has_clear};
	int err = sort_colours(c, p);
	if (!err)
		err = place_colours(c, p);
	if (!err && p->placed)
		p->placed(p->placed_of);
	if (!err)
		err = weigh_colours(c, p->weight);
	if (!err)
		err = keep_sums(c);
	return err ? err : list_cells(c);
}

/* --- fewer colours, along the nodes of the tree --------------------------------------------------------------------- */

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
	for (int a = 0; a < DIMS; a++)
		if (!(to->x[a] = padded(n, sizeof *to->x[a])))
			return -ENOMEM;
	for (size_t p = 0; p < n; p++) {
		join_run(to, p, c, start[p], start[p + 1]);
		if (start[p] <= c->clear && c->clear < start[p + 1])
			to->clear = (uint32_t)p;
	}
	return list_cells(to);
}

/* A class of colours is represented by its mean and its weight. */

struct centre {
	float x[DIMS], w; /* mean and pixels */
};

/* The centres of all classes. */
struct centres {
	struct centre at[PALETTE_MOST];
	bool opaque[PALETTE_MOST]; /* the class is for opaque colours */
	size_t clear;		   /* the class of the clear colour, or the number of classes */
};

static inline struct centre
centre_of(const struct sums *s, float unit)
{
	struct centre c = {.w = (float)s->v[DIMS]};

	for (int a = 0; a < DIMS; a++)
		c.x[a] = (float)((double)s->v[a] / (double)s->v[DIMS]) * unit;
	return c;
}

static inline struct centre
centre_join(struct centre a, struct centre b)
{
	for (int i = 0; i < DIMS; i++)
		a.x[i] = (a.x[i] * a.w + b.x[i] * b.w) / (a.w + b.w);
	a.w += b.w;
	return a;
}

/* Returns what joining two classes adds to the SSE (Ward 1963). */
static inline float
centre_cost(const struct centre *a, const struct centre *b)
{
	float d2 = 0;

	for (int i = 0; i < DIMS; i++)
		d2 += (a->x[i] - b->x[i]) * (a->x[i] - b->x[i]);
	return d2 * (a->w * b->w) / (a->w + b->w);
}

/* --- Lloyd's method (1982): rounds of assigning colours to centres and moving the centres ---------------------------- */

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
	if (l->pinned && l->c.clear < l->k) {
		const uint32_t p = l->cells->clear;
		struct sums s = {{0}};
		cells_add(&s, l->cells, p);
		for (int a = 0; a <= DIMS; a++) {
			l->sum[l->label[p]].v[a] -= s.v[a];
			l->sum[l->c.clear].v[a] += s.v[a];
		}
		l->label[p] = (uint8_t)l->c.clear;
	}
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
		for (size_t j = 0; j < l->k; j++)
			for (int a = 0; a < DIMS; a++)
				l->c.at[j].x[a] += .9f * (l->c.at[j].x[a] - old[j].x[a]);
		before = sse;
	}
	return sse;
}
