#include <math.h>
#include <stdio.h>

#include "common/die.h"
#include "common/mem.h"
#include "common/real.h"
#include "common/sample.h"
#include "wconv/whole.h"

/* An item that is processed plane by plane. */
struct whole {
	struct job *j;
	struct raw_in *in;
	/* samples in a row of the item, of all planes; rows of the item; the same for the result */
	size_t row, rows, out_row, out_rows;
	/* one row of the item */
	double *line;
	/* one plane of the item, one plane of the result; bytes of a sample of both */
	void *from, *to;
	size_t size;
};

/* Copies plane c of a picture to w->from. --nan=zero makes samples 0 that are not finite; else the adjoint refuses them. */
static void
take_plane(struct whole *w, const char *picture, enum img_type type, size_t c)
{
	const struct args *args = w->j->args;
	const size_t planes = w->j->planes, n = w->row / planes;
	const bool single = w->size == sizeof(float);

	for (size_t y = 0; y < w->rows; y++) {
		sample_load(w->line, picture + y * w->row * img_type_size(type), type, w->row);
		for (size_t x = 0; x < n; x++) {
			const double v = w->line[x * planes + c];
			if (!isfinite(v) && !args->steps && args->nan != WCONV_NAN_ZERO)
				raw_die(
				    w->in,
				    "the pixel at %zu,%zu is not finite: --nan=zero takes it as 0",
				    x, y);
			real_set(w->from, y * n + x,
				 !isfinite(v) && args->nan == WCONV_NAN_ZERO ? 0 : v, single);
		}
	}
}

/* Stores the result of plane c in the picture. A deconvolution with --nan=propagate has NaN where the data were unknown. */
static void
give_plane(const struct whole *w, char *picture, size_t c)
{
	const struct args *args = w->j->args;
	const size_t planes = w->j->planes, n = w->out_row / planes;
	const bool keep = args->steps && args->nan == WCONV_NAN_PROPAGATE,
		   single = w->size == sizeof(float);

	for (size_t i = 0; i < n * w->out_rows; i++) {
		const bool unknown = keep && !isfinite(real_at(w->from, i, single));
		real_set(picture, i * planes + c, unknown ? NAN : real_at(w->to, i, single),
			 single);
	}
}

/* Applies the adjoint or the deconvolution to the plane in w->from, to w->to. */
static void
run_plane(struct whole *w)
{
	struct job *j = w->j;
	char err[WCONV_ERR];

	if (!j->restore)
		wconv_adjoint_run(j->adjoint, w->from, w->to);
	else if (wconv_restore_run(j->restore, w->from, w->to, &j->restored, err))
		raw_die(w->in, "%s", err);
	if (j->restore && j->args->common.verbose)
		fprintf(stderr, "%s: %zu steps, misfit %.6g\n", weir_prog, j->restored.steps,
			j->restored.rms);
}

void
whole_pictures(struct job *j, struct raw_in *in, struct img *x, struct img *y, size_t n,
	       struct raw_out *out, struct progress *bar, struct stats *st)
{
	const struct wconv_problem *q = &j->q;
	struct img_picture p;

	img_picture(x, &p);
	struct whole w = {.j = j,
			  .in = in,
			  .row = p.w * p.c,
			  .rows = p.h,
			  .out_row = q->w * p.c,
			  .out_rows = q->h,
			  .size = img_type_size(q->out)};
	const size_t bytes = w.row * img_type_size(x->type) * w.rows,
		     results = w.out_row * w.out_rows;
	char *picture = weir_xalloc(results, w.size);
	w.line = weir_xalloc(w.row, sizeof *w.line);
	w.from = weir_xalloc(p.w * p.h, w.size);
	w.to = weir_xalloc(q->w * q->h, w.size);
	j->bar = bar;
	raw_load(in, x);
	stats_charge(st, STATS_READ);
	for (size_t i = 0; i < n; i++) {
		for (size_t c = 0; c < p.c; c++) {
			take_plane(&w, (const char *)x->data + i * bytes, x->type, c);
			run_plane(&w);
			give_plane(&w, picture, c);
		}
		stats_charge(st, STATS_COMPUTE);
		if (i == 0)
			raw_head(out, y);
		raw_write(out, picture, results);
		stats_charge(st, STATS_WRITE);
	}
	weir_free(picture);
	weir_free(w.line);
	weir_free(w.from);
	weir_free(w.to);
}
