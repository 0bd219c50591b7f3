/*
 * The recursion against Seredin's, O(d^3), both on given link scores in memory and one thread; and link scores from a
 * strip against sampling every link's columns by themselves, bilinearly. The peers work in registers too: theirs are
 * 16 lanes wide, and the rate of triples says so.
 */
#include "t/bench/bench.h"
#include "t/dptrace_strip.h"
#include "t/rng.h"

const char *const weir_prog = "bench dptrace";

enum { GUIDES = 8, LANE = 16 };

/* --- the recursion ----------------------------------------------------------------------------------------------- */

struct tables {
	int d;
	size_t ld;
	float *rows[GUIDES - 1];     /* [d][d] of gap g, as the paper reads them */
	float *diagonal[GUIDES - 1]; /* the same by diagonals, as the recursion reads them */
	float *F[GUIDES - 1];	     /* the paper's sums: [j][i] */
	struct segment s;
	char *memory;
	float *entry;
	float best, paper;
};

static void
diagonal_score(const struct segment *s, int g, int slope, int j, int a, int b, float *out)
{
	const struct tables *t = s->ctx;

	memcpy(out + a, row_of(&s->gap[g], t->diagonal[g], s->gap[g].lds, slope) + j + a,
	       (size_t)(b - a) * sizeof *out);
}

/* No bound, as in the paper's Table 2. */
static const struct bound any = {-1, 0};

static void
make_tables(struct tables *t, int d)
{
	struct check_rng r = {1};
	struct arena a = {0};

	*t = (struct tables){.d = d, .ld = (size_t)(d + 4 * LANE - 1) / (4 * LANE) * 4 * LANE};
	segment_take(&t->s, &a, GUIDES, d, d, false, 1);
	a.base = t->memory = weir_xalloc(a.used, 1);
	a.used = 0;
	segment_take(&t->s, &a, GUIDES, d, d, false, 1);
	t->entry = weir_xalloc((size_t)d, sizeof *t->entry);
	memset(t->entry, 0, (size_t)d * sizeof *t->entry);
	struct course *c = &t->s.c;
	c->n = GUIDES;
	c->rows = c->maxd = d;
	c->dv = 1;
	for (int g = 0; g < GUIDES; g++) {
		const bool end = g == 0 || g == GUIDES - 1;
		c->d[g] = end ? 1 : d;
		c->o[g] = end ? (d - 1) / 2 : 0;
		c->h[g] = .4 * d;
	}
	segment_shape(&t->s, any);
	t->s.score = diagonal_score;
	t->s.ctx = t;
	for (int g = 0; g < GUIDES - 1; g++) {
		const int from = c->d[g], to = c->d[g + 1];
		const size_t ld = t->s.gap[g].lds;
		t->rows[g] = weir_xalloc((size_t)from * t->ld, sizeof(float));
		t->F[g] = weir_xalloc((size_t)to * t->ld, sizeof(float));
		t->diagonal[g] = weir_xalloc((size_t)(from + to) * ld + LANES, sizeof(float));
		for (int j = 0; j < from; j++)
			for (int k = 0; k < to; k++) {
				float v = (float)rng_below(&r, 1000);
				t->rows[g][(size_t)j * t->ld + (size_t)k] = v;
				t->diagonal[g][(size_t)(k - j + from - 1) * ld + (size_t)j] = v;
			}
	}
}

static void
free_tables(struct tables *t)
{
	for (int g = 0; g < GUIDES - 1; g++) {
		weir_free_all(t->rows[g], t->F[g], t->diagonal[g]);
	}
	weir_free_all(t->memory, t->entry);
}

static void
run_ours(void *job)
{
	struct tables *t = job;
	const struct gap *last = &t->s.gap[GUIDES - 2];
	int at[GUIDES] = {0}, n = GUIDES - 2;

	recur_forward(&t->s, t->entry, DPTRACE_WINDOW, 1);
	t->best = NEVER;
	for (int j = 0; j < t->d; j++) {
		float f = last->F[(size_t)(last->nrow - 1 - j) * last->ldf];
		if (f > t->best) {
			t->best = f;
			at[n] = j;
		}
	}
	recur_trace(&t->s, at);
}

/* max of f[i] over i. */
WEIR_CLONES_OF(float, best_of, (const float *restrict f, int n), (f, n))
{
	float best[4 * LANE], top = NEVER;

	for (int x = 0; x < 4 * LANE; x++)
		best[x] = NEVER;
	for (int at = 0; at < n; at += 4 * LANE)
		for (int x = 0; x < 4 * LANE; x++)
			best[x] = f[at + x] > best[x] ? f[at + x] : best[x];
	for (int x = 0; x < 4 * LANE; x++)
		top = best[x] > top ? best[x] : top;
	return top;
}

/* The paper's: all i for every j and k. The same for the end guides, whose rows[] have one sample. */
static void
run_paper(void *job)
{
	struct tables *t = job;
	const struct course *c = &t->s.c;

	for (int g = 0; g < GUIDES - 1; g++)
		for (int j = 0; j < c->d[g]; j++)
			for (int k = 0; k < c->d[g + 1]; k++) {
				const int lanes = 4 * LANE;
				float b = 0;
				if (g > 0)
					b = best_of(t->F[g - 1] + (size_t)j * t->ld,
						    (c->d[g - 1] + lanes - 1) / lanes * lanes);
				t->F[g][(size_t)k * t->ld + (size_t)j] =
				    b + t->rows[g][(size_t)j * t->ld + (size_t)k];
			}
	t->paper = NEVER;
	for (int j = 0; j < t->d; j++)
		t->paper = t->F[GUIDES - 2][j] > t->paper ? t->F[GUIDES - 2][j] : t->paper;
}

static void
bench_recursion(int d, size_t rounds)
{
	struct tables t;
	char title[128];

	make_tables(&t, d);
	for (int g = 0; g < GUIDES - 1; g++)
		for (size_t i = 0; i < (size_t)t.s.c.d[g + 1] * t.ld; i++)
			t.F[g][i] = NEVER;
	struct bench_entry e[] = {{.name = "recursion, O(d^2)", .run = run_ours, .job = &t},
				  {.name = "the paper's, O(d^3)", .run = run_paper, .job = &t}};
	snprintf(title, sizeof title, "optimum over %d guides of %d samples, any turn", GUIDES, d);
	bench_compare(title, e, 2, rounds);
	printf("  the paper's: %.2f triples a nanosecond; %s\n",
	       (double)(GUIDES - 4) * d * d * d / e[1].median * 1e-9,
	       t.best == t.paper ? "the same optimum" : "NOT the same optimum");
	free_tables(&t);
}

/* --- scores ------------------------------------------------------------------------------------------------------- */

enum { W = 1024, D = 513, GAPS = 7 };

struct scores {
	float *image, *gu, *gv, out[LANES];
	struct strip_scene p;
	double sum;
};

/* One gap, all links, from the strip. */
static void
run_strip(void *job)
{
	struct scores *s = job;

	for (int j = 0; j < D; j += LANES)
		for (int t = 1 - D; t < D; t++) {
			const int a = t < -j ? (-t - j) / GROUP * GROUP : 0;
			const int b =
			    D - t - j < LANES ? (D - t - j + GROUP - 1) / GROUP * GROUP : LANES;
			if (a < LANES && b > 0)
				strip_score(&s->p.s, 3, t, j, a, b, s->out);
		}
}

static inline float
bilinear(const float *f, float x, float y)
{
	const int i = (int)x, j = (int)y;
	const float a = x - (float)i, b = y - (float)j, *p = f + (size_t)j * W + i;

	return (1 - b) * ((1 - a) * p[0] + a * p[1]) + b * ((1 - a) * p[W] + a * p[W + 1]);
}

/* The same links, each sampled by itself in the picture's gradient. */
static void
run_naive(void *job)
{
	struct scores *s = job;
	const struct course *c = &s->p.s.c;
	const int n = s->p.strip.g.per_gap;
	double sum = 0;

	for (int j = 0; j < D; j++)
		for (int k = 0; k < D; k++) {
			const float v0 = (float)((j - D / 2) * c->dv),
				    v1 = (float)((k - D / 2) * c->dv);
			const float h = (float)c->h[3], m = (v1 - v0) / h,
				    cu = 1 / sqrtf(1 + m * m), cv = m * cu;
			float acc = 0;
			for (int i = 0; i < n; i++) {
				const float f = ((float)i + .5f) / (float)n, u = (3 + f) * h,
					    v = v0 + f * (v1 - v0);
				const float x = (float)(300 + u * c->ex - v * c->ey),
					    y = (float)(500 + u * c->ey + v * c->ex);
				const float gu = bilinear(s->gu, x, y), gv = bilinear(s->gv, x, y);
				acc += fabsf(cu * gv - cv * gu) / sqrtf(gu * gu + gv * gv + 1e-12f);
			}
			sum += (double)acc;
		}
	s->sum = sum;
}

static void
bench_scores(void)
{
	static struct scores s;
	static const struct dptrace_options o = {.score = DPTRACE_SIN, .sigma = 2};
	static const double a[2] = {300, 500}, b[2] = {748, 530};
	struct check_rng r = {2};

	s.image = weir_xalloc((size_t)W * W, sizeof(float));
	s.gu = weir_xalloc((size_t)W * W, sizeof(float));
	s.gv = weir_xalloc((size_t)W * W, sizeof(float));
	for (size_t i = 0; i < (size_t)W * W; i++) {
		s.image[i] = (float)rng_normal(&r);
		s.gu[i] = (float)rng_normal(&r);
		s.gv[i] = (float)rng_normal(&r);
	}
	const struct dptrace_image im = {1, W, W, s.image, NULL};
	strip_scene_make(&s.p, &o, GAPS, D, 128. / (D - 1), a, b);
	strip_scene_fill(&s.p, &im, s.image);
	struct bench_entry e[] = {
	    {.name = "rows of the strip", .run = run_strip, .job = &s},
	    {.name = "bilinear sampling of every link", .run = run_naive, .job = &s}};
	bench_compare("|sin| of all links of one gap, 513 samples, 65 columns", e, 2, 5);
	printf("  the strip: %.2f samples a nanosecond\n",
	       (double)D * D * s.p.strip.g.per_gap / e[0].median * 1e-9);
	weir_free_all(s.p.memory, s.image, s.gu, s.gv);
}

int
main(void)
{
	bench_recursion(128, 99);
	bench_recursion(256, 33);
	bench_recursion(512, 9);
	bench_recursion(1024, 3);
	bench_scores();
	return 0;
}
