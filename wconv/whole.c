#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "gpu/wconv/wconv.h"
#include "wconv/whole.h"

struct whole {
	struct job *j;
	enum img_type type; /* of the item's samples */
	/* samples in a row of the item, of all planes; rows of a picture; the same for the result */
	size_t row, rows, out_row, out_rows;
	/* one row of the item */
	double *line;
	/* one plane of the item, one plane of the result; bytes of a sample of both */
	void *from, *to;
	size_t size;
	/* the item has data below 0, and that was said */
	bool warned;
};

/* Names sample x of row y of all rows. */
static _Noreturn void
refuse(const struct job *j, size_t x, size_t y)
{
	const size_t h = j->q.h;

	if (j->q.kd)
		raw_die(j->in, "the sample at %zu,%zu,%zu is not finite: --nan=zero takes it as 0",
			x, y % h, y / h % j->q.d);
	raw_die(j->in, "the pixel at %zu,%zu is not finite: --nan=zero takes it as 0", x, y % h);
}

/* Copies plane c of a picture to w->from. --nan=zero makes samples 0 that are not finite; else the adjoint refuses them. */
static void
take_plane(struct whole *w, const char *picture, size_t c)
{
	const struct args *args = w->j->args;
	const size_t planes = w->j->planes, n = w->row / planes;
	const bool single = w->size == sizeof(float);

	for (size_t y = 0; y < w->rows; y++) {
		sample_load(w->line, picture + y * w->row * img_type_size(w->type), w->type,
			    w->row);
		for (size_t x = 0; x < n; x++) {
			const double v = w->line[x * planes + c];
			if (!isfinite(v) && !args->steps && args->nan != WCONV_NAN_ZERO)
				refuse(w->j, x, y);
			real_set(w->from, y * n + x,
				 !isfinite(v) && args->nan == WCONV_NAN_ZERO ? 0 : v, single);
		}
	}
}

/*
 * Stores the result of plane c in the picture. A deconvolution with --nan=propagate has NaN where the data, `from`, were
 * unknown.
 */
static void
give_plane(const struct whole *w, const void *from, char *picture, size_t c)
{
	const struct args *args = w->j->args;
	const size_t planes = w->j->planes, n = w->out_row / planes * w->out_rows;
	const bool keep = args->steps && args->nan == WCONV_NAN_PROPAGATE,
		   single = w->size == sizeof(float);

	if (planes == 1 && !keep) {
		memcpy(picture, w->to, n * w->size);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const bool unknown = keep && !isfinite(real_at(from, i, single));
		real_set(picture, i * planes + c, unknown ? NAN : real_at(w->to, i, single),
			 single);
	}
}

/* The known data: how many, how many below 0, the sum of data less the sky, and the sum of the data's squares. */
struct light {
	size_t n, below;
	double sum, squares;
};

static struct light
measure_light(const struct whole *w, const void *data)
{
	const size_t n = w->row / w->j->planes * w->rows;
	struct light l = {0};

	for (size_t i = 0; i < n; i++) {
		const double v = real_at(data, i, w->size == sizeof(float));
		if (!isfinite(v))
			continue;
		l.n++;
		l.below += v < 0;
		l.sum += v - w->j->args->sky;
		l.squares += v * v;
	}
	return l;
}

/* Whether x explains the data worse than no light could, or has lost all light. Kernels with samples below 0 lead to both. */
static bool
diverged(const struct whole *w, const struct light *l, double rms, const void *x)
{
	const size_t n = w->out_row / w->j->planes * w->out_rows;
	bool lit = l->sum <= 0;

	for (size_t i = 0; !lit && i < n; i++)
		lit = real_at(x, i, w->size == sizeof(float)) != 0;
	return !lit || !(rms <= 2 * (sqrt(l->squares / (double)l->n) + fabs(w->j->args->sky)));
}

/* Checks a result of Richardson and Lucy's method, whose model is that data and kernels are never below 0. */
static void
check_lucy(struct whole *w, const void *from, const void *to)
{
	const struct light l = measure_light(w, from);

	if (diverged(w, &l, w->j->restored.rms, to))
		raw_die(w->j->in, "Richardson and Lucy's steps diverge, since kernels have samples "
				  "below 0: use least squares, --damp");
	if (l.below > l.n / 100 && !w->warned)
		warn("%s: %.0f %% of the pixels are below 0 and count as 0: if a sky was "
		     "subtracted, add it again and give it as --sky",
		     raw_name(w->j->in), 100 * (double)l.below / (double)l.n);
	w->warned |= l.below > l.n / 100;
}

static void
deconvolve(struct whole *w, const void *from, void *to)
{
	struct job *j = w->j;
	struct gpu *g = j->args->gpu;
	char err[WCONV_ERR];
	const int e = g ? gpu_wconv_restore(g, j->restore, from, to, &j->restored, err)
			: wconv_restore_run(j->restore, from, to, &j->restored, err);

	if (e == -1)
		raw_die(j->in, "%s", err);
	if (e)
		raw_die(j->in, "-g: %s", gpu_why(g));
	if (!j->args->has_damp)
		check_lucy(w, from, to);
	if (j->args->common.verbose)
		fprintf(stderr, "%s: %zu steps, misfit %.6g\n", weir_prog, j->restored.steps,
			j->restored.rms);
}

/* Whether all n samples, float or double, are finite: v - v is then 0, else NaN. */
static bool
all_finite(const void *samples, size_t n, bool single)
{
	const float *f = samples;
	const double *d = samples;
	int bad = 0;

#pragma omp simd reduction(| : bad)
	for (size_t i = 0; i < (single ? n : 0); i++)
		bad |= f[i] - f[i] != 0;
#pragma omp simd reduction(| : bad)
	for (size_t i = 0; i < (single ? 0 : n); i++)
		bad |= d[i] - d[i] != 0;
	return !bad;
}

static void
run_volume(struct whole *w, const void *from, void *to)
{
	wconv_volume_run(w->j->volume, w->j->args->adjoint, from, to);
	if (!all_finite(to, w->out_row / w->j->planes * w->out_rows, w->size == sizeof(float)))
		raw_die(w->j->in, "sums overflow: divide the data, or the kernel, by a constant");
}

/* Applies the adjoint, the deconvolution or the convolution of a volume to one plane. */
static void
run_plane(struct whole *w, const void *from, void *to)
{
	struct job *j = w->j;

	if (j->restore)
		deconvolve(w, from, to);
	else if (j->volume)
		run_volume(w, from, to);
	else if (j->adjoint)
		wconv_adjoint_run(j->adjoint, from, to);
	else if (gpu_wconv_adjoint(j->args->gpu, j->plan, from, to))
		raw_die(j->in, "-g: %s", gpu_why(j->args->gpu));
	j->done++;
}

/* Whether the samples of a picture can be processed where they are. */
static bool
serves_as_plane(const struct whole *w, const void *picture)
{
	const struct args *args = w->j->args;

	return w->j->planes == 1 && w->type == w->j->q.out && args->nan != WCONV_NAN_ZERO &&
	       (args->steps || all_finite(picture, w->row * w->rows, w->size == sizeof(float)));
}

/* A step: one picture. The first one makes the plans, so that a header alone costs neither memory nor time. */
static void
run_picture(void *with, const void *in, void *out)
{
	struct whole *w = with;

	stats_charge(w->j->st, STATS_READ);
	job_plan(w->j);
	if (gpu_enter(w->j->args->gpu))
		raw_die(w->j->in, "-g: %s", gpu_why(w->j->args->gpu));
	if (job_plan_of(w->j))
		job_check_range(w->j, in, w->type, w->row * w->rows);
	if (serves_as_plane(w, in)) {
		run_plane(w, in, w->to);
		give_plane(w, in, out, 0);
		return;
	}
	for (size_t c = 0; c < w->j->planes; c++) {
		take_plane(w, in, c);
		run_plane(w, w->from, w->to);
		give_plane(w, w->from, out, c);
	}
}

static struct wconv_samples
samples(const void *with, size_t i)
{
	const struct whole *w = with;

	(void)i;
	return (struct wconv_samples){w->row * w->rows, w->out_row * w->out_rows};
}

struct whole *
whole_start(struct job *j, const struct img *x, struct wconv_flow *f)
{
	const struct wconv_problem *q = &j->q;
	struct whole *w = weir_xalloc(1, sizeof *w);
	struct img_picture p;
	size_t width, rows;

	img_pictures(x, &p);
	job_size(j, &width, &rows);
	*w = (struct whole){.j = j,
			    .type = x->type,
			    .row = p.w * p.c,
			    .rows = p.h * p.n / j->pictures,
			    .out_row = width * p.c,
			    .out_rows = rows,
			    .size = img_type_size(q->out)};
	w->line = weir_xalloc(w->row, sizeof *w->line);
	w->from = weir_xalloc_large(p.w * w->rows, w->size);
	w->to = weir_xalloc_large(width * rows, w->size);
	f->in_size = img_type_size(x->type);
	f->out_size = w->size;
	f->steps = j->pictures;
	f->samples = samples;
	f->most = samples(w, 0);
	f->run = run_picture;
	f->with = w;
	return w;
}

void
whole_end(struct whole *w)
{
	if (!w)
		return;
	weir_free(w->line);
	weir_free(w->from);
	weir_free(w->to);
	weir_free(w);
}
