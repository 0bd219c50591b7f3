#include <errno.h>
#include <math.h>

#include "common/mem.h"
#include "common/real.h"
#include "usfft/direct.h"
#include "usfft/items/spot_check.h"

/*
 * Returns the index of the next result to check. The results are cut into k parts, and one is picked from each, at a place
 * that differs from part to part: even steps through a cube would stay on one of its edges.
 */
static size_t
pick(const struct spot_check *s)
{
	const size_t i = s->next, each = s->outs / s->k, left = s->outs % s->k;
	const size_t lo = each * i + left * i / s->k;
	const size_t hi = each * (i + 1) + left * (i + 1) / s->k;
	const double golden = 0.6180339887498949 * ((double)i + 0.5);

	return lo + (size_t)((golden - floor(golden)) * (double)(hi - lo));
}

/* Adds the error of the next picked result, which is got[i]. */
static void
compare(struct spot_check *s, const double want[2], const void *got, size_t i, bool single)
{
	for (size_t q = 0; q < 2; q++) {
		const double e = real_at(got, 2 * i + q, single) - want[q];
		s->diff += e * e;
		s->norm += want[q] * want[q];
	}
	s->next++;
}

int
spot_check_start(struct spot_check *s, size_t k, size_t outs, int sign, const struct values *v,
		 size_t count)
{
	*s = (struct spot_check){.k = k < outs ? k : outs, .outs = outs, .sign = sign};
	if (s->k && v)
		s->in = values_as_doubles(v, count, NULL);
	return s->k && v && !s->in ? -ENOMEM : 0;
}

void
spot_check_row(struct spot_check *s, const struct usfft_options *o, const struct usfft_points *pt,
	       size_t row, const void *got)
{
	const size_t nx = o->n[0];
	double want[2];

	while (s->next < s->k && pick(s) / nx == row) {
		usfft_direct_mode(o, pt, s->in, s->sign, pick(s), want);
		compare(s, want, got, pick(s) % nx, o->single);
	}
}

void
spot_check_points(struct spot_check *s, const struct usfft_options *o,
		  const struct usfft_points *pt, const void *got)
{
	double want[2];

	while (s->next < s->k) {
		usfft_direct_point(o, pt, s->in, s->sign, pick(s), want);
		compare(s, want, got, pick(s), o->single);
	}
}

void
spot_check_targets(struct spot_check *s, const struct usfft_options *o,
		   const struct usfft_points *from, const struct usfft_points *to, const void *got)
{
	double want[2], at[3] = {0};

	while (s->next < s->k) {
		for (int a = 0; a < o->dim; a++)
			at[a] = real_at(to->x[a], pick(s) * to->stride, to->single);
		usfft_direct_sum(o->dim, from, s->in, s->sign, at, want);
		compare(s, want, got, pick(s), o->single);
	}
}

void
spot_check_sky(struct spot_check *s, const struct usfft_sky_options *o,
	       const struct usfft_points *pt, bool image, const double *in, const double *got)
{
	while (s->next < s->k) {
		const size_t i = pick(s);
		const double pixel[2] = {image ? got[i] : 0, 0};
		double want[2] = {0, 0};
		if (image)
			want[0] = usfft_direct_pixel(o, pt, in, s->sign, i);
		else
			usfft_direct_visibility(o, pt, in, s->sign, i, want);
		compare(s, want, image ? pixel : got, image ? 0 : i, false);
	}
}

double
spot_check_end(struct spot_check *s)
{
	weir_free(s->in);
	return s->norm > 0 ? sqrt(s->diff / s->norm) : sqrt(s->diff);
}
