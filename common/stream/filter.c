/* From an input to an output: what the small filters share. */
#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/par.h"
#include "common/base/stats.h"
#include "common/stream/place.h"
#include "common/stream/raw.h"

enum { BLOCK = 1 << 18 }; /* bytes at a time */

bool
raw_next_block(struct raw_blocks *b, struct raw_in *in, struct stats *st)
{
	const size_t left = raw_left(in), size = img_type_size(b->x->type),
		     unit = b->unit ? b->unit : 1, most = (BLOCK / size + unit - 1) / unit * unit;

	if (b->data) {
		b->at += b->n;
		progress_step(&b->bar, (double)b->at / (double)(b->at + left));
	} else {
		b->data = weir_xalloc(most, size);
		progress_start(&b->bar, b->quiet);
	}
	b->n = left < most ? left : most;
	if (!b->n) {
		progress_end(&b->bar);
		weir_free(b->data);
		return false;
	}
	raw_read(in, b->data, b->n);
	stats_charge(st, STATS_READ);
	return true;
}

void
raw_copy(struct raw_in *in, struct raw_out *out, const struct img *x, bool quiet, struct stats *st)
{
	struct raw_blocks b = {.x = x, .quiet = quiet};

	raw_head(out, x);
	while (raw_next_block(&b, in, st)) {
		raw_write(out, b.data, b.n);
		stats_charge(st, STATS_WRITE);
	}
}

void
raw_beside_next(struct raw_beside *b, const char *option, const struct raw_in *in,
		const struct img *x, size_t max_bytes)
{
	const struct img *y = &b->x;

	if (!b->path)
		return;
	if (!b->in)
		b->in = raw_open((char *const *)(uintptr_t)&b->path, 1, max_bytes);
	if (!raw_next(b->in, &b->x))
		raw_die(in, "%s has no more items", option);
	for (int i = 0; i < x->dim || i < y->dim; i++)
		if (x->dim != y->dim || x->axis[i].n != y->axis[i].n)
			raw_die(in, "%s: the shapes differ", option);
	if (!place_same(x, y))
		raw_die(in, "%s: it is another part of a picture", option);
	place_compare(y, x, .1, raw_name(b->in), raw_name(in));
}

void
raw_beside_close(struct raw_beside *b, const struct raw_in *in)
{
	if (b->in && raw_next(b->in, &b->x))
		die("%s: it has more items than %s", raw_name(b->in), raw_name(in));
	raw_close(b->in);
}

void
stats_close(struct stats *st, struct raw_in *in, struct raw_out *out, const struct opt_common *o)
{
	if (in)
		st->bytes_in += raw_bytes_in(in);
	if (out)
		st->bytes_out += raw_bytes_out(out);
	raw_close(in);
	if (out)
		raw_finish(out);
	stats_charge(st, STATS_WRITE);
	stats_print(st, o);
}

void
opt_add_history(struct img *x, const struct opt_common *o)
{
	img_add_key(x, "history", o->history);
	img_drop_key(x, "fits.DATAMIN");
	img_drop_key(x, "fits.DATAMAX");
}

enum raw_as
raw_as_of(const struct opt_common *o)
{
	return o->share.n ? RAW_AS_RAW : (enum raw_as)o->as;
}

int
raw_each(const struct raw_filter *f, int argc, char **argv, void *args)
{
	const struct opt_common *o = args;
	struct stats st;
	struct img x;
	char **path;
	size_t npath;

	opt_parse(f->program, argc, argv, args, &path, &npath);
	if (f->check)
		f->check(args);
	struct raw_out *out = raw_create(o->out, (enum raw_as)o->as);
	struct raw_in *in = raw_open(path, npath, o->max_bytes);

	stats_start(&st);
	if (f->program->common & OPT_THREADS)
		st.threads = par_threads(o->threads);
	for (; raw_next(in, &x); st.items++) {
		if (o->verbose)
			raw_say(in, &x);
		f->item(args, in, &x, out, &st);
		img_free(&x);
	}
	if (f->end)
		f->end(args, in, out, &st);
	stats_close(&st, in, out, o);
	return 0;
}
