/* Reads items: checks their points and values, and sorts them into a plan that fits. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/stream/relay.h"
#include "usfft/items/group.h"
#include "usfft/items/item_in.h"

void
item_judge(const struct job *j, int err, const size_t *bad)
{
	if (err == -EINVAL)
		raw_die(j->in, "point %zu has a coordinate or value that is NaN or infinite", *bad);
	if (err == -ENXIO)
		raw_die(j->in, "%s: target %zu is NaN or infinite", j->a.targets, *bad);
	if (err == -EOVERFLOW && j->a.type == 3)
		raw_die(j->in, "the box of the points times that of the targets is too large");
	if (err == -EOVERFLOW)
		raw_die(j->in, "more than %d points or too many modes", USFFT_MAXPOINTS);
	if (err == -ERANGE)
		raw_die(j->in, "the values or weights are too large");
	if (err == -EIO)
		raw_die(j->in, "-g: %s", gpu_why(j->run.gpu));
	if (err)
		raw_die(j->in, "%s", strerror(-err));
}

/* Frees an item's samples, which are sorted, before the grid is touched. It keeps the header, which is used later. */
static void
drop_samples(struct img *x)
{
	struct img samples = {.data = x->data, .map = x->map, .mapped = x->mapped};

	img_free(&samples);
	x->data = x->map = NULL;
	x->mapped = 0;
}

/* Sorts points into the plan. x: the item that holds them, whose samples are freed as soon as possible; NULL: none are. */
static void
sort_points(struct job *j, const struct usfft_points *pt, const void *c, size_t cstride,
	    struct img *x)
{
	size_t bad = 0;

	if (j->run.gpu) {
		item_judge(j, transform_points(&j->run, pt, c, cstride, &bad), &bad);
		return;
	}
	item_judge(j, usfft_expect(j->run.plan, pt->m, c != NULL), NULL);
	item_judge(j, usfft_add(j->run.plan, pt, c, cstride, &bad), &bad);
	if (x)
		drop_samples(x);
	usfft_sort(j->run.plan);
}

void
item_take_points(const struct job *j, const char *name, const struct img *x, bool values,
		 struct stream_points *p)
{
	char err[STREAM_ERR];

	if (!stream_points(x, values, j->a.pixel != NULL, p, err))
		die("%s: %s", name, err);
	if (!j->a.strict || j->a.type == 3)
		return;
	const bool sky = j->a.pixel != NULL;
	const double scale[3] = {sky ? j->pixel[0] : 1, sky ? j->pixel[1] : 1, 1};
	const size_t out = stream_find_outside(&p->pt, sky ? 2 : p->dim, scale);
	if (out < p->pt.m)
		die("%s: point %zu lies outside [-1/2,1/2)%s", name, out,
		    sky ? " cycles from pixel to pixel" : "");
}

void
item_check_tolerance(const struct job *j, const struct usfft_options *o)
{
	const double floor = o->single ? USFFT_FLOOR_SINGLE : USFFT_FLOOR_DOUBLE;
	const double least = o->gauss ? fmax(USFFT_FLOOR_GAUSS, floor) : floor;

	if (o->tol < least && j->a.strict)
		raw_die(j->in, "tolerance %g is below %g, which can be reached", o->tol, least);
	if (o->tol < least)
		warn("tolerance %g cannot be reached: expect %g", o->tol, least);
}

void
item_check_reach(const struct job *j, const char *option, double value, double reach)
{
	if (!(reach > j->o.tol * (1 + 1e-12)))
		return;
	if (j->a.strict)
		raw_die(j->in, "tolerance %g cannot be reached with %s=%g: expect %.2g", j->o.tol,
			option, value, reach);
	warn("tolerance %g cannot be reached with %s=%g: expect %.2g", j->o.tol, option, value,
	     reach);
}

void
item_check_memory(const struct job *j, size_t bytes)
{
	const size_t limit = weir_limit(j->a.common.max_bytes);

	if (bytes == SIZE_MAX)
		raw_die(j->in, "the grid for these modes is too large");
	if (bytes > limit)
		raw_die(j->in, "%zu bytes for the grid, more than %zu: see --max-bytes", bytes,
			limit);
}

void
item_plan(struct job *j, const struct usfft_options *shape)
{
	struct usfft_options many = *shape, *o = &many;
	double reach = 0;

	if (transform_fits(&j->run, o))
		return;
	group_flush(j);
	group_free(j);
	many.many = j->fixed && !j->run.gpu && !o->measure;
	item_check_tolerance(j, o);
	item_check_memory(j, usfft_bytes(o, &reach));
	if (o->sigma > 0)
		item_check_reach(j, "--sigma", o->sigma, reach);
	item_judge(j, transform_plan(&j->run, o), NULL);
	if (j->fixed)
		sort_points(j, &j->at.pt, NULL, 0, NULL);
	if (j->a.common.verbose)
		warn("%d taps, grid %zu x %zu x %zu, tolerance %g", usfft_taps(j->run.plan),
		     usfft_cells(j->run.plan, 0), usfft_cells(j->run.plan, 1),
		     usfft_cells(j->run.plan, 2), o->tol);
}

/* Copies the values of fixed points from an item of complex or real samples. */
static struct values
take_values(const struct job *j, const struct img *x, size_t m, size_t sets)
{
	const size_t first = img_is_complex(x) ? 1 : 0;
	struct values v = {.single = stream_single(x->type), .cstride = 2};
	size_t count = 1;

	for (int a = (int)first; a < x->dim; a++)
		count *= x->axis[a].n;
	if (count != m * sets && sets > 1)
		raw_die(j->in, "%zu values for %zu coils and %zu points", count, sets, m);
	if (count != m * sets)
		raw_die(j->in, "%zu values for %zu points", count, m);
	v.c = v.owned = stream_complex(x, count, v.single);
	if (!v.c)
		raw_die(j->in, "no memory for %zu values", count);
	size_t bad = values_find_bad(&v, count);
	if (bad < count) {
		bad %= m;
		item_judge(j, -EINVAL, &bad);
	}
	return v;
}

struct item_input
item_input(const struct job *j, const struct img *x, size_t m, size_t sets)
{
	struct item_input q = {.at = j->at};

	if (j->fixed) {
		q.v = take_values(j, x, m, sets);
		return q;
	}
	item_take_points(j, raw_name(j->in), x, true, &q.at);
	if (!q.at.c)
		raw_die(j->in, "points without values: no columns re and im");
	q.v = (struct values){.single = q.at.single, .c = q.at.c, .cstride = q.at.cstride};
	return q;
}

/* Whether points can be sorted as they arrive: they are used once, for sorting, and never needed all at once. */
static bool
may_arrive(const struct job *j)
{
	const struct args *a = &j->a;

	return j->type == 1 && !a->pixel && !a->inverse && !j->fixed && !item_weighs(j) &&
	       !a->strict && !j->run.gpu;
}

/*
 * Smaller items are read. To map an item costs page faults and an munmap: 1000 items of 64 KiB took .19 s mapped and .07 s
 * read, and 15 items of 4 MiB .13 and .11 s; on Zen 5, 8 items of 4 MiB .040 and .037, 4 of 16 MiB .066 and .103, and one of
 * 256 MiB .207 and .206. A large item that is mapped takes no memory that the program must give back.
 */
enum { MAPPED_FROM = 1 << 22 };

void
item_read(struct job *j, struct img *x)
{
	size_t bytes;

	const bool arrives = may_arrive(j), whole = x->dim != 2 || !arrives;

	if (arrives)
		j->piece = 0;
	const bool large = raw_left(j->in) * img_type_size(x->type) >= MAPPED_FROM;
	if (large && (whole || j->o.threads > 1) && raw_try_map(j->in, x))
		return;
	if (whole) {
		raw_load(j->in, x);
		return;
	}
	bytes = x->axis[0].n * img_type_size(x->type);
	j->piece = bytes < ITEM_PIECE ? ITEM_PIECE / bytes : 1;
	x->data = weir_xalloc(j->piece, bytes);
}

/* Reads and sorts the points of an item by pieces. A piece becomes records while the next one fills the pipe. */
static void
sort_arriving(struct job *j, const struct img *x)
{
	struct img piece = *x;
	struct stream_points at;
	char err[STREAM_ERR];
	size_t left = x->axis[1].n, bad = 0;

	item_judge(j, usfft_expect(j->run.plan, left, true), NULL);
	for (; left; left -= piece.axis[1].n) {
		piece.axis[1].n = left < j->piece ? left : j->piece;
		raw_read(j->in, piece.data, piece.axis[1].n * piece.axis[0].n);
		stats_charge(&j->st, STATS_READ);
		stream_points(&piece, true, false, &at, err);
		item_judge(j, usfft_add(j->run.plan, &at.pt, at.c, at.cstride, &bad), &bad);
		stats_charge(&j->st, STATS_COMPUTE);
	}
	usfft_sort(j->run.plan);
}

void
item_tell_gpu(const struct job *j, const void *host, size_t bytes)
{
	if (j->run.gpu && bytes)
		gpu_ahead(j->run.gpu, &(struct gpu_span){host, bytes}, 1);
}

void
item_compute(const struct job *j)
{
	relay_pass(RELAY_COMPUTE);
	item_judge(j, gpu_enter(j->run.gpu), NULL);
}

void
item_results(const struct job *j, const void *results)
{
	relay_pass(RELAY_WRITE);
	item_judge(j, transform_settle(&j->run, results), NULL);
}

void
item_sort(struct job *j, struct img *x, const struct item_input *q)
{
	if (j->piece)
		sort_arriving(j, x);
	else if (!j->fixed)
		sort_points(j, &q->at.pt, q->v.c, q->v.cstride, x);
	drop_samples(x);
}
