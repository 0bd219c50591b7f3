/* The row of a batch's segments and guides, on the host and on the device; and the recursion on given tables. */
#include "gpu/dptrace/job.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

namespace
{

constexpr size_t MOST_OF_AXIS = 65535; /* of a launch's blocks, but for the first axis */

/* Segments, guides and the largest of them. */
void
count_all(struct dp_job *j, const size_t *n, dp_course_of *course, void *ctx)
{
	for (size_t i = 0; i < j->nline; i++)
		for (size_t k = 0; k < n[i]; k++) {
			const struct course *c = course(ctx, i, (int)k);
			j->nseg++;
			j->nguide += (size_t)c->n;
			j->maxn = c->n > j->maxn ? c->n : j->maxn;
			for (int g = 0; g < c->n; g++)
				j->on.maxd =
				    (size_t)c->d[g] > j->on.maxd ? (size_t)c->d[g] : j->on.maxd;
			const size_t first = (size_t)c->d[0] * (size_t)c->d[1],
				     last = (size_t)c->d[c->n - 2] * (size_t)c->d[c->n - 1];
			j->on.maxlinks = first > j->on.maxlinks ? first : j->on.maxlinks;
			j->on.maxlinks = last > j->on.maxlinks ? last : j->on.maxlinks;
		}
}

/* What no launch can be made of: segments and guides are axes of the grid, a guide's samples lie in shared memory twice. */
int
refuse_large(struct dp_job *j)
{
	const size_t shared = 2 * sizeof(float) * j->on.maxd;
	struct gpu *const g = j->g;

	if (shared > g->prop.sharedMemPerBlockOptin)
		snprintf(g->why, sizeof g->why,
			 "guides of %zu samples need %zu bytes of shared memory, a block has %zu",
			 j->on.maxd, shared, g->prop.sharedMemPerBlockOptin);
	else if (j->nseg > MOST_OF_AXIS || (size_t)j->maxn > MOST_OF_AXIS)
		snprintf(g->why, sizeof g->why,
			 "%zu segments at a time, of %d guides: %zu of each is the most", j->nseg,
			 j->maxn, MOST_OF_AXIS);
	else
		return 0;
	return -EIO;
}

/* What kernels only read. It lies in the same places on the host and on the device. */
template <class C>
void
take_tables(const struct dp_job *j, gpu_block *a, size_t tables, C *to)
{
	to->line = gpu_take<dp_line>(a, j->nline);
	to->seg = gpu_take<dp_segment>(a, j->nseg);
	to->guide = gpu_take<dp_guide>(a, j->nguide);
	to->table = gpu_take<dp_table>(a, tables);
}

/* The windows of h1 before h2: those of the guide before where spacings repeat, else new ones. */
dp_table
windows_of(struct dp_job *j, const struct course *c, struct bound phi, double h1, double h2,
	   const dp_table *last)
{
	if (last && last->h1 == h1 && last->h2 == h2)
		return *last;
	const dp_table t = {h1, h2, c->dv, phi, c->rows, course_climb(c), j->windows};
	j->table[j->ntable++] = t;
	j->windows += 2 * (2 * (size_t)c->rows - 1);
	return t;
}

void
fill_guides(struct dp_job *j, const struct course *c, struct bound phi, dp_guide *v)
{
	const int most = c->steepest ? c->steepest : INT_MAX;
	dp_table before = {}, after = {};

	for (int g = 0; g < c->n; g++) {
		v[g] = {
		    c->d[g], c->o[g], 0, 0, j->links, j->backs, 0, 0, g + 1 < c->n ? c->h[g] : 0};
		if (g + 1 == c->n)
			break;
		const int up = c->o[g + 1] + c->d[g + 1] - 1 - c->o[g],
			  down = c->o[g] + c->d[g] - 1 - c->o[g + 1];
		v[g].low = down < most ? -down : -most;
		v[g].high = up < most ? up : most;
		const int climbs = dp_climbs(&v[g]);
		j->maxclimbs = climbs > j->maxclimbs ? climbs : j->maxclimbs;
		j->links += (size_t)climbs * dp_row(c->d[g]);
		j->backs += (size_t)climbs * dp_row(c->d[g + 1]);
		if (g == 0)
			continue;
		const double h1 = c->h[g - 1], h2 = c->h[g];
		before = windows_of(j, c, phi, h1, h2, g > 1 ? &before : NULL);
		after = h1 == h2 ? before : windows_of(j, c, phi, h2, h1, g > 1 ? &after : NULL);
		v[g].before = before.at;
		v[g].after = after.at;
	}
}

void
fill_host(struct dp_job *j, const size_t *n, const dp_line *line, dp_course_of *course, void *ctx)
{
	size_t seg = 0, guide = 0;

	for (size_t i = 0; i < j->nline; i++) {
		j->line[i] = line[i];
		j->line[i].seg = seg;
		j->line[i].n = (int)n[i];
		for (int k = 0; k < (int)n[i]; k++) {
			const struct course *c = course(ctx, i, k);
			j->seg[seg++] = {c->n, c->rows, k, (unsigned)i, guide, chain_ends(c)};
			fill_guides(j, c, line[i].phi, j->guide + guide);
			guide += (size_t)c->n;
		}
	}
}

void
take_sums(struct dp_job *j, gpu_block *a)
{
	dp_chains *c = &j->on;
	const size_t ends = j->nseg * c->maxlinks;

	c->S = gpu_take<float>(a, j->links);
	c->F = gpu_take<float>(a, j->backs);
	c->H = j->margins ? gpu_take<float>(a, j->links) : NULL;
	c->through = j->margins ? gpu_take<float>(a, j->nguide * c->maxd) : NULL;
	c->window = gpu_take<int>(a, j->windows);
	gpu_take_all(a, ends, &c->entry, &c->exit, &c->leave);
	c->released = gpu_take<int>(a, j->nseg);
	gpu_take_all(a, j->nguide, &c->at, &c->link, &c->margin);
}

/* --- given tables -------------------------------------------------------------------------------------------------- */

struct tables {
	const struct dptrace_table *seg;
	struct course c;
};

const struct course *
course_of_table(void *ctx, size_t line, int k)
{
	struct tables *t = static_cast<struct tables *>(ctx);
	const struct dptrace_table *s = &t->seg[k];

	(void)line;
	chain_course(&t->c, s);
	t->c.h = const_cast<double *>(s->h);
	t->c.d = const_cast<int *>(s->d);
	t->c.o = const_cast<int *>(s->o);
	return &t->c;
}

/* Tables by rows to scores by diagonals. thread = link. */
__device__ void
lay_scores(size_t i, const dp_guide *v, const float *table, float *S)
{
	const int j = (int)(i / (size_t)v[1].d), k = (int)(i % (size_t)v[1].d);

	if (j < v->d)
		S[dp_link(v, j, k)] = table[i];
}

int
send_scores(struct dp_job *j, const struct dptrace_table *seg)
{
	size_t most = 0;
	float *device;

	for (size_t k = 0; k < j->nseg; k++)
		for (size_t g = 0; g + 1 < seg[k].n; g++) {
			const size_t links = (size_t)seg[k].d[g] * (size_t)seg[k].d[g + 1];
			most = links > most ? links : most;
		}
	GPU_DO(gpu_array(j->g, HOLD_STRIP, most, &device));
	for (size_t k = 0; k < j->nseg; k++)
		for (size_t g = 0; g + 1 < seg[k].n; g++) {
			const size_t links = (size_t)seg[k].d[g] * (size_t)seg[k].d[g + 1];
			GPU_DO(gpu_up(j->g, device, seg[k].score[g], links * sizeof(float)));
			GPU_EACH(j->g, lay_scores, links, j->on.guide + j->seg[k].guide + g,
				 static_cast<const float *>(device), j->on.S);
		}
	return 0;
}

} // namespace

int
dp_lay_out(struct dp_job *j, size_t nline, const size_t *n, const struct dp_line *line,
	   dp_course_of *course, void *ctx)
{
	j->nline = nline;
	count_all(j, n, course, ctx);
	GPU_DO(refuse_large(j));
	j->held = gpu_place_on_host([=](gpu_block *b) {
		take_tables(j, b, 2 * j->nguide, j);
		j->released = gpu_take<int>(b, j->nseg);
		gpu_take_all(b, j->nguide, &j->at, &j->link, &j->margin);
		gpu_take_all(b, j->nline, &j->best, &j->solved);
	});
	if (!j->held)
		return -ENOMEM;
	fill_host(j, n, line, course, ctx);
	const auto tables = [=](gpu_block *b) { take_tables(j, b, j->ntable, &j->on); };
	const size_t bytes = gpu_lay(NULL, tables);
	GPU_DO(gpu_place(j->g, HOLD_PASS, tables));
	GPU_DO(gpu_up(j->g, j->g->held[HOLD_PASS], j->held, bytes));
	return gpu_place(j->g, HOLD_SUMS, [=](gpu_block *b) { take_sums(j, b); });
}

int
gpu_dptrace_tables(struct gpu *g, const struct dptrace_table *seg, size_t nseg, double phi,
		   enum dptrace_method method, int *at, double *best, double *margin)
{
	const dp_line line = {0, 0, 1, bound_of(phi)};
	struct tables t = {seg, {}};
	struct dp_job j = {};
	const gpu_at_end done{[&] { weir_free(j.held); }};

	j.g = g;
	j.method = method;
	j.margins = margin;
	GPU_DO(dp_lay_out(&j, 1, &nseg, &line, course_of_table, &t));
	GPU_DO(send_scores(&j, seg));
	GPU_DO(dp_solve(&j));
	int failed = !j.solved[0];
	*best = j.best[0];
	for (size_t k = 0; k < nseg; k++)
		failed |= j.released[k];
	memcpy(at, j.at, j.nguide * sizeof *at);
	for (size_t i = 0; margin && i < j.nguide; i++)
		margin[i] = (double)j.margin[i];
	return failed;
}
