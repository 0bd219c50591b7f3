#include "t/check_morphrec.h"

struct job
job_of(const struct morphrec_problem *what)
{
	const size_t n = what->w * what->h * what->d, bytes = n * img_type_size(what->type);

	struct job a = {.what = *what,
			.n = n,
			.bytes = bytes,
			.J = check_alloc(bytes, 1),
			.I = check_alloc(bytes, 1),
			.got = check_alloc(bytes, 1),
			.want = check_alloc(bytes, 1)};

	a.what.threads += !what->threads;
	return a;
}

struct job
job_new(enum img_type type, size_t w, size_t h, size_t d, int conn, bool erode)
{
	const struct morphrec_problem what = {
	    .type = type, .w = w, .h = h, .d = d, .conn = conn, .erode = erode};

	return job_of(&what);
}

/* A sample of one of `levels` values spread over the range of the type, both ends among them. */
static double
random_value(struct check_rng *r, enum img_type type, size_t levels)
{
	double lo, hi;
	const size_t k = rng_below(r, levels);

	morphrec_range(type, &lo, &hi);
	if (k == 0 || k == levels - 1)
		return k ? hi : lo;
	if (isinf(hi))
		return ((double)k - (double)levels / 2) / 8;
	return floor(lo + (hi - lo) * (double)k / (double)(levels - 1));
}

void
job_fill(struct job *a, struct check_rng *r, enum style style)
{
	static const size_t many[] = {2, 3, 5, 40, 256};
	const size_t levels = many[rng_below(r, 5)];
	const enum img_type type = a->what.type;
	double lo, hi;

	morphrec_range(type, &lo, &hi);
	const double low = a->what.erode ? hi : lo, high = a->what.erode ? lo : hi;

	for (size_t i = 0; i < a->n; i++) {
		const size_t x = i % a->what.w, y = i / a->what.w;
		double m = random_value(r, type, levels), j = random_value(r, type, levels);
		if (style == MAZE && y % 2 && x != (y % 4 == 1 ? a->what.w - 1 : 0))
			m = low;
		if (style == MAZE && rng_below(r, 300))
			m = y % 2 ? m : high;
		if (style != NOISE && rng_below(r, 1 + a->n / 3))
			j = low;
		value_set(type, a->J, i, j);
		value_set(type, a->I, i, m);
	}
}

const char *
job_name(const struct job *a)
{
	static char text[160];

	snprintf(text, sizeof text, "%s %zux%zux%zu, connectivity %d%s, method %d, %d threads",
		 img_type_name(a->what.type), a->what.w, a->what.h, a->what.d, a->what.conn,
		 a->what.erode ? ", erosion" : "", (int)a->what.method, a->what.threads);
	return text;
}

/* Whether clipping on the way, morphrec_clip_and_run(), ends as p did, and met the same. */
static bool
same_at_once(struct morphrec_plan *p, const struct job *a)
{
	const struct morphrec_clip c = p->clip;
	void *J = weir_xalloc(a->bytes, 1);

	memcpy(J, a->J, a->bytes);
	bool same = !morphrec_clip_and_run(p, J, a->I) && !memcmp(J, a->got, a->bytes);
	same &= c.above == p->clip.above && c.nan == p->clip.nan && c.lo == p->clip.lo &&
		c.hi == p->clip.hi && (!c.nan || c.first_nan == p->clip.first_nan);
	weir_free(J);
	return same;
}

bool (*job_on)(struct morphrec_plan *p, struct job *a);

bool
job_run(struct job *a)
{
	struct morphrec_plan p;

	memcpy(a->got, a->J, a->bytes);
	if (a->what.method == (enum morphrec_method)DEFINITION)
		return !morphrec_direct(&a->what, a->got, a->I);
	if (morphrec_plan(&p, &a->what))
		return false;
	morphrec_clip(&p, a->got, a->I);
	const bool ran =
	    job_on ? job_on(&p, a) : !morphrec_run(&p, a->got, a->I) && same_at_once(&p, a);
	morphrec_free(&p);
	return ran;
}

/* The same bytes, or NaN both. */
static bool
is_same(const struct job *a, size_t i)
{
	const size_t size = img_type_size(a->what.type);

	return !memcmp((char *)a->got + i * size, (char *)a->want + i * size, size) ||
	       (isnan(value_get(a->what.type, a->got, i)) &&
		isnan(value_get(a->what.type, a->want, i)));
}

void
job_compare(struct job *a, struct check_many *m)
{
	const bool ran = job_run(a);
	size_t i = 0;

	while (i < a->n && is_same(a, i))
		i++;
	check_case(m, ran && i == a->n, "%s: sample %zu is %g, not %g", job_name(a), i,
		   i < a->n ? value_get(a->what.type, a->got, i) : 0,
		   i < a->n ? value_get(a->what.type, a->want, i) : 0);
}

void
job_check(struct job *a, struct check_rng *r, enum style style, struct check_many *m)
{
	job_fill(a, r, style);
	oracle(a);
	job_compare(a, m);
}

/* ---- the oracle ---- */

/* root: of the union-find; parent: the tree of level sets; near: the offsets of neighbours; top: the highest marker of a set. */
struct oracle {
	const struct morphrec_problem *what;
	size_t n, *order, *parent, *root;
	double *mask, *top;
	int near[26][3], nears;
};

/* Bits that rise as p's mask falls: those of a number below 0 do so already. */
static uint64_t
oracle_key(const struct oracle *o, size_t p)
{
	uint64_t bits;

	memcpy(&bits, &o->mask[p], sizeof bits);
	return bits >> 63 ? bits : ~bits << 1 >> 1;
}

/* Orders the pixels from the highest mask to the lowest, byte by byte of their keys; those of one value stay as they are. */
static void
oracle_sort(struct oracle *o)
{
	for (unsigned shift = 0; shift < 64; shift += 8) {
		size_t at[256] = {0}, sum = 0, *const from = o->order;
		for (size_t p = 0; p < o->n; p++)
			at[oracle_key(o, p) >> shift & 255]++;
		if (at[oracle_key(o, 0) >> shift & 255] == o->n)
			continue;
		for (size_t b = 0, count; b < 256; b++, sum += count) {
			count = at[b];
			at[b] = sum;
		}
		for (size_t i = 0; i < o->n; i++)
			o->parent[at[oracle_key(o, from[i]) >> shift & 255]++] = from[i];
		o->order = o->parent;
		o->parent = from;
	}
}

static size_t
oracle_find(struct oracle *o, size_t p)
{
	while (o->root[p] != p)
		p = o->root[p] = o->root[o->root[p]];
	return p;
}

/* Joins pixel p, just placed, with its placed neighbour at z, y, x. */
static void
oracle_join(struct oracle *o, size_t p, size_t z, size_t y, size_t x)
{
	const struct morphrec_problem *w = o->what;

	if (z >= w->d || y >= w->h || x >= w->w)
		return;
	const size_t q = (z * w->h + y) * w->w + x;
	if (o->root[q] == SIZE_MAX)
		return;
	const size_t r = oracle_find(o, q);
	if (r == p)
		return;
	o->root[r] = o->parent[r] = p;
	o->top[p] = fmax(o->top[p], o->top[r]);
}

static void
oracle_place(struct oracle *o, size_t p)
{
	const struct morphrec_problem *w = o->what;
	const size_t x = p % w->w, y = p / w->w % w->h, z = p / w->w / w->h;

	o->root[p] = o->parent[p] = p;
	for (int k = 0; k < o->nears; k++)
		oracle_join(o, p, z + (size_t)o->near[k][2], y + (size_t)o->near[k][1],
			    x + (size_t)o->near[k][0]);
}

static void
oracle_find_neighbours(struct oracle *o)
{
	const int conn = o->what->conn, reach = conn == 4 || conn == 6 ? 1 : conn == 18 ? 2 : 3;

	for (int k = 0; k < 27; k++) {
		const int to[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
		const int apart = abs(to[0]) + abs(to[1]) + abs(to[2]);
		if (apart && apart <= reach && (!to[2] || morphrec_is_volume(conn)))
			memcpy(o->near[o->nears++], to, sizeof to);
	}
}

/* A pixel has the highest marker of the largest set that is at least as high as it. */
void
oracle(struct job *a)
{
	struct oracle o = {.what = &a->what,
			   .n = a->n,
			   .order = check_alloc(a->n, sizeof(size_t)),
			   .parent = check_alloc(a->n, sizeof(size_t)),
			   .root = check_alloc(a->n, sizeof(size_t)),
			   .mask = check_alloc(a->n, sizeof(double)),
			   .top = check_alloc(a->n, sizeof(double))};
	const double sign = a->what.erode ? -1 : 1;

	oracle_find_neighbours(&o);
	sample_load(o.mask, a->I, a->what.type, a->n);
	sample_load(o.top, a->J, a->what.type, a->n);
	for (size_t i = 0; i < a->n; i++) {
		o.mask[i] = sign * o.mask[i] + 0.0;
		o.top[i] *= sign;
		o.order[i] = i;
		o.root[i] = SIZE_MAX;
	}
	oracle_sort(&o);
	for (size_t i = 0; i < a->n; i++)
		oracle_place(&o, o.order[i]);
	for (size_t i = a->n; i-- > 0;) {
		const size_t p = o.order[i];
		const double own = fmin(o.mask[p], o.top[p]);
		/* The result takes the place of the mask, which is wanted no more. */
		o.mask[p] = o.parent[p] == p ? own : fmax(own, o.mask[o.parent[p]]);
	}
	for (size_t i = 0; i < a->n; i++)
		o.mask[i] = sign * o.mask[i] + 0.0;
	sample_store(a->want, o.mask, a->what.type, a->n);
}
