/* Applies the convolution and its adjoint, for the steps of all methods, and checks their figures. */
#include <math.h>

#include "wconv/restore/restore.h"
#include "wconv/volume/volume.h"

/* Applies A or A' of a volume. */
static void
apply_volume(const struct wconv_restore *r, bool transpose, const void *from, void *to,
	     struct wconv_after after)
{
	const size_t size = r->in_double ? sizeof(double) : sizeof(float);
	const size_t rows = transpose ? r->eh : r->h, bytes = (transpose ? r->ew : r->w) * size;

	wconv_volume_run(r->volume, transpose != r->o.scatters, from, to);
	if (!after.row)
		return;
#pragma omp parallel for num_threads(r->threads) schedule(static)
	for (size_t y = 0; y < rows; y++)
		after.row(after.with, y, (const char *)to + y * bytes);
}

/* With `row`, the results of a band take the place of those of the band before. */
void
wconv_restore_apply(struct wconv_restore *r, bool transpose, const void *from, void *to,
		    void (*row)(void *r, size_t row, const void *samples))
{
	const struct wconv_after after = {row, r};
	const size_t size = r->in_double ? sizeof(double) : sizeof(float);
	const size_t wide = r->o.scatters ? r->w : r->ew, give = r->o.scatters ? r->ew : r->w;

	if (r->volume) {
		apply_volume(r, transpose, from, to, after);
		return;
	}
	if (transpose != r->o.scatters) {
		wconv_adjoint_then(r->adjoint, after);
		wconv_adjoint_run(r->adjoint, from, to);
		return;
	}
	wconv_then(r->plan, after);
	for (size_t i = 0; i < wconv_count(r->plan); i++) {
		const struct wconv_step s = wconv_steps(r->plan, i);
		wconv_run(r->plan, from, to);
		from = (const char *)from + s.rows_in * wide * size;
		to = (char *)to + (row ? 0 : s.rows_out * give * size);
	}
}

int
wconv_restore_unknown(struct why *why)
{
	return why_set(why, "no sample is known");
}

int
wconv_restore_check(double misfit, double gradient, struct why *why)
{
	if (isfinite(misfit) && isfinite(gradient))
		return 0;
	return why_set(why, "sums overflow: divide the data, or the kernels, by a constant");
}

int
wconv_restore_start(struct wconv_restore *r, const struct wconv_known *k, double largest,
		    double all, double *level, struct why *why)
{
	if (!k->n)
		return wconv_restore_unknown(why);
	if (!(all > 1e-6 * largest * (double)k->n)) /* largest may be 0 or less */
		return why_set(why,
			       "the kernels sum to nothing positive: use least squares, --damp");
	*level = (k->sum - r->o.sky * (double)k->n) / all;
	r->floor = r->o.floor * (double)k->n / all;
	*level += r->floor;
	if (!(*level > 0)) /* nothing is above the sky: any positive constant can be the start */
		*level = k->peak > 0 ? 1e-3 * k->peak : 1;
	r->least = k->peak * (r->in_double ? 1e-14 : 1e-7);
	r->dark = .01 * largest;
	return 0;
}

bool
wconv_restore_ends(const struct wconv_restore *r, struct wconv_restored *done, double squares,
		   size_t n)
{
	done->rms = sqrt(squares / (double)n);
	return done->steps == r->o.steps || done->rms <= r->o.noise;
}

double
wconv_restore_tiny(const struct wconv_restore *r)
{
	return r->in_double ? 1e-28 : 1e-12;
}
