/* The transforms of one item. item_in.c reads and checks the input; this file writes the results. */
#include <errno.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/stream/relay.h"
#include "usfft/items/group.h"
#include "usfft/items/item_in.h"

void
item_write_reals(struct job *j, const void *z, size_t n, bool single)
{
	const char *type = single ? "float" : "double";

	if (!values_are_finite(z, n, single) && j->where)
		die("%s: the results are too large for type %s", j->where, type);
	if (!values_are_finite(z, n, single))
		raw_die(j->in, "the results are too large for type %s", type);
	raw_write(j->out, z, n);
}

void
item_write_row(struct job *j, void *row, size_t n, bool single)
{
	switch (j->a.output) {
	case OUTPUT_COMPLEX:
		break;
	case OUTPUT_REAL:
		stream_take(row, n, single, 0);
		break;
	case OUTPUT_IMAG:
		stream_take(row, n, single, 1);
		break;
	default:
		stream_abs(row, n, single);
	}
	item_write_reals(j, row, j->a.output == OUTPUT_COMPLEX ? 2 * n : n, single);
}

/* Adds the keys of `from`, the line of history and those of a share to the header y. */
static void
make_head(struct job *j, struct img *y, const struct img *from)
{
	for (size_t i = 0; i < from->nkey; i++)
		if (strcmp(from->key[i].name, "columns") && strcmp(from->key[i].name, "maxval"))
			img_add_key(y, from->key[i].name, from->key[i].value);
	opt_add_history(y, &j->a.common);
	slices_keys(&j->share, j->in, y);
}

void
item_write_head(struct job *j, struct img *y, const struct img *from)
{
	make_head(j, y, from);
	raw_head(j->out, y);
}

/* Writes the modes of type 1, some rows at a time. On the CPU they come straight from the grid, and modes is NULL. */
static void
write_modes(struct job *j, const struct img *x, const struct usfft_options *o, char *modes)
{
	const size_t rows = transform_modes(o) / o->n[0];
	const size_t row_bytes = o->n[0] * 2 * (o->single ? sizeof(float) : sizeof(double));
	const size_t most = row_bytes < ITEM_PIECE ? ITEM_PIECE / row_bytes : 1;
	char *block = modes ? NULL : weir_xalloc(most, row_bytes);
	struct img y;

	stream_modes_head(&y, o, !j->a.output);
	item_write_head(j, &y, x);
	for (size_t r = 0; r < rows; r += most) {
		const size_t count = rows - r < most ? rows - r : most;
		const double t = clock_now();
		char *at = modes ? modes + r * row_bytes : block;
		if (!modes)
			transform_get_rows(&j->run, j->sign, r, count, at);
		j->took.modes += clock_now() - t;
		item_write_row(j, at, count * o->n[0], o->single);
	}
	img_free(&y);
	weir_free(block);
}

/*
 * Tells the GPU what type 1 sends there: the values of fixed points, or the item from the first to the last column that is used.
 * Weighted values are made during the run.
 */
static void
tell_type1(const struct job *j, const struct item_input *q)
{
	const size_t m = q->at.pt.m, real = q->v.single ? sizeof(float) : sizeof(double);
	const char *first = q->v.c, *end = first + 2 * real;

	if (item_weighs(j) || !m)
		return;
	for (int a = 0; a < q->at.dim && !j->fixed; a++) {
		const char *x = q->at.pt.x[a];
		first = x < first ? x : first;
		end = x + real > end ? x + real : end;
	}
	item_tell_gpu(j, first, (m - 1) * q->v.cstride * real + (size_t)(end - first));
}

void
item_points_to_modes(struct job *j, struct img *x)
{
	struct item_input q = item_input(j, x, j->at.pt.m, 1);
	const struct usfft_points *pt = &q.at.pt;
	struct usfft_options o = j->o;
	char *modes;

	if (q.at.dim != o.dim)
		raw_die(j->in, "points of %d axes, but -n of %d", q.at.dim, o.dim);
	o.single = q.v.single;
	o.expect = pt->m;
	tell_type1(j, &q);
	item_compute(j);
	const double *w = item_weigh(j, pt, pt->m, &o);
	if (w)
		item_judge(j, values_make_own(&q.v, pt->m, w), NULL);
	item_plan(j, &o);
	stats_charge(&j->st, STATS_PLAN);
	if (group_suits(j)) {
		struct img y;
		stream_modes_head(&y, &o, !j->a.output);
		make_head(j, &y, x);
		group_add(j, &y, &q.v, transform_modes(&o));
		return;
	}
	item_sort(j, x, &q);
	item_judge(j, transform_gather(&j->run, j->sign, j->fixed ? q.v.c : NULL, &modes), NULL);
	stats_charge(&j->st, STATS_COMPUTE);
	item_results(j, modes);
	write_modes(j, x, &o, modes);
	values_free(&q.v);
	weir_free(modes);
}

void
item_write_values(struct job *j, const struct img *x, void *z, size_t m, bool single)
{
	struct img y;

	stream_values_head(&y, m, single, !j->a.output);
	item_write_head(j, &y, x);
	item_write_row(j, z, m, single);
	img_free(&y);
}

/* Copies the modes of an item, and dies if one is not finite. */
static struct values
take_modes(const struct job *j, const struct img *x, size_t modes, bool single)
{
	void *f = stream_complex(x, modes, single);
	const struct values v = {.single = single, .c = f, .cstride = 2, .owned = f};

	if (!f)
		raw_die(j->in, "no memory for %zu modes", modes);
	const size_t bad = values_find_bad(&v, modes);
	if (bad < modes)
		raw_die(j->in, "mode %zu is NaN or infinite", bad);
	return v;
}

void
item_modes_to_points(struct job *j, struct img *x)
{
	const size_t m = j->at.pt.m;
	struct usfft_options o = j->o;
	char err[STREAM_ERR];

	o.dim = j->at.dim;
	o.single = stream_single(x->type);
	o.expect = m;
	o.type = 2;
	if (!stream_modes(x, o.dim, o.n, err))
		raw_die(j->in, "%s", err);
	const size_t modes = transform_modes(&o);
	struct values f = take_modes(j, x, modes, o.single);
	item_tell_gpu(j, f.c, 2 * modes * (o.single ? sizeof(float) : sizeof(double)));
	item_compute(j);
	item_plan(j, &o);
	stats_charge(&j->st, STATS_PLAN);
	if (group_suits(j)) {
		struct img y;
		stream_values_head(&y, m, o.single, !j->a.output);
		make_head(j, &y, x);
		group_add(j, &y, &f, m);
		return;
	}
	void *z = weir_xalloc(m, 2 * sizeof(double));
	item_judge(j, transform_type2(&j->run, j->sign, f.c, z), NULL);
	stats_charge(&j->st, STATS_COMPUTE);
	item_results(j, z);
	item_write_values(j, x, z, m, o.single);
	values_free(&f);
	weir_free(z);
}

void
item_points_to_points(struct job *j, struct img *x)
{
	const bool back = j->a.adjoint;
	struct item_input q = item_input(j, x, back ? j->to.pt.m : j->at.pt.m, 1);
	const struct usfft_points *from = back ? &j->to.pt : &q.at.pt;
	const struct usfft_points *to = back ? &j->at.pt : &j->to.pt;
	struct usfft_options o = j->o;
	size_t bad = values_find_bad(&q.v, from->m);
	double reach = 0;

	if (q.at.dim != j->to.dim)
		raw_die(j->in, "points of %d axes, but targets of %d", q.at.dim, j->to.dim);
	if (bad < from->m)
		item_judge(j, -EINVAL, &bad);
	o.dim = q.at.dim;
	o.single = q.v.single;
	item_check_tolerance(j, &o);
	item_check_memory(j, usfft_type3_bytes(&o, from, to, &reach));
	if (o.sigma > 0)
		item_check_reach(j, "--sigma", o.sigma, reach);
	void *z = weir_xalloc(to->m, 2 * sizeof(double));
	if (q.v.cstride != 2)
		item_judge(j, values_make_own(&q.v, from->m, NULL), NULL);
	item_compute(j);
	item_judge(j, transform_type3(&j->run, &o, from, q.v.c, to, j->sign, z, &bad), &bad);
	stats_charge(&j->st, STATS_COMPUTE);
	relay_pass(RELAY_WRITE);
	item_write_values(j, x, z, to->m, o.single);
	values_free(&q.v);
	weir_free(z);
}
