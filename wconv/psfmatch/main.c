/* psfmatch writes the kernel that turns one picture of a field into another, or the difference of the two. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/stats.h"
#include "wconv/psfmatch/item.h"

const char *const weir_prog = "psfmatch";

static void
report(const struct args *args, const struct psfmatch *m, const long moved[2], struct stats *st)
{
	stats_add(st, "stars", "%zu", m->used);
	stats_add(st, "rejected", "%zu", m->rejected);
	stats_add(st, "ratio", "%.6g", m->ratio);
	stats_add(st, "misfit", "%.4g", m->misfit);
	stats_add(st, "width", "%.3g", m->width);
	stats_add(st, "size", "%zu", m->size);
	stats_add(st, "sky", "%.4g", m->sky);
	stats_add(st, "sharp", "%.4g", m->sharp);
	stats_add(st, "shift", "[%.3g, %.3g]", m->shift[0], m->shift[1]);
	stats_add(st, "degree", "%d", m->degree);
	stats_add(st, "convolved", "\"%s\"", m->exchanged ? "new" : "ref");
	if (args->common.verbose)
		fprintf(stderr, "%s: %zu stars, %zu left out, ratio of fluxes %.6g, misfit %.4g\n",
			weir_prog, m->used, m->rejected, m->ratio, m->misfit);
	if (m->degree < args->o.degree)
		warn("%s: %zu stars are too few for polynomials of degree %d, %zu were left out: "
		     "--degree=%d was taken",
		     args->path[1], m->used, args->o.degree, m->rejected, m->degree);
	if (moved[0] || moved[1])
		warn("%s: shifted by %.1f,%.1f pixels: the reference was moved by %ld,%ld",
		     args->path[1], m->shift[0], m->shift[1], moved[0], moved[1]);
	if (m->exchanged && args->o.convolve == PSFMATCH_EITHER)
		warn("%s: its stars are narrower than those of %s, so it was convolved, and in the "
		     "difference stars have the shape of the latter",
		     args->path[1], args->path[0]);
	if (m->sharp > PSFMATCH_SHARP)
		warn("%s: its stars are narrower than those of %s: the kernel sharpens, and the "
		     "ratio of fluxes, %.4g, may be wrong by some per cent%s",
		     args->path[!m->exchanged], args->path[m->exchanged], m->ratio,
		     args->o.convolve == PSFMATCH_EITHER ? "" : "; exchange the two");
	if ((double)m->size < PSFMATCH_ROOM * m->blur)
		warn("%s: kernels of %zux%zu are too small for its stars, which are %.2g pixels "
		     "wide: the ratio of fluxes, %.4g, may lack light; raise --size",
		     args->path[!m->exchanged], m->size, m->size, m->width, m->ratio);
	if (m->sky > PSFMATCH_CURVED)
		warn("%s: at half of the stars the sky is off the background of degree %d by %.2g "
		     "times the noise or more; raise --background, or subtract the skies first",
		     args->path[1], m->background, m->sky);
}

/*
 * Makes new the difference, over its noise with --sigma. Returns the noise of each pixel, which the caller frees, or NULL where it
 * is not asked for.
 */
static float *
subtract(const struct args *args, const struct psfmatch *m, const struct picture *ref,
	 struct picture *new, struct stats *st)
{
	const size_t n = new->w *new->h;
	const int threads = args->common.threads;
	struct psfmatch_noise found;
	struct why why;
	float *noise = args->sigma || args->noise ? weir_xalloc_large(n, sizeof *noise) : NULL;

	if ((noise &&
	     psfmatch_find_light(m, ref->v, new->v, ref->w, ref->h, threads, noise, &why)) ||
	    psfmatch_subtract(m, ref->v, new->v, ref->w, ref->h, threads, &why))
		die("%s: %s", args->path[1], why.text);
	for (size_t i = 0; i < n; i++)
		new->v[i] = new->lone[i] ? NAN : new->v[i];
	if (!noise)
		return NULL;
	if (psfmatch_find_noise(m, new->v, ref->w, ref->h,
				args->o.gain < INFINITY ? args->o.gain : 0, threads, noise, &found))
		die("%s: no memory", args->path[1]);
	stats_add(st, "noise", "%.4g", found.sky);
	stats_add(st, "gain", "%.4g", isfinite(found.gain) ? found.gain : 0);
	stats_add(st, "error", "%.4g", found.error);
	for (size_t i = 0; i < n && args->sigma; i++)
		new->v[i] = noise[i] > 0 ? new->v[i] / noise[i] : NAN;
	return noise;
}

/* Writes what is asked for, with what was found in the history. noises: for noise, or NULL. */
static void
put(struct args *args, const struct psfmatch *m, const struct picture *ref,
    const struct picture *new, const float *noise, const double corner[2], struct raw_out *out,
    struct raw_out *noises)
{
	char *history;

	if (asprintf(&history, "%s: ratio of fluxes %.6g, kernels of %zux%zu", args->common.history,
		     m->ratio, m->size, m->size) < 0)
		die("no memory");
	args->common.history = history;
	if (args->subtract)
		psfmatch_write_difference(out, new, new->v, args);
	else
		psfmatch_write_kernels(out, m, corner, ref->moved, args);
	if (noises)
		psfmatch_write_difference(noises, new, noise, args);
	free(history);
}

/* Writes the point spread function of the second frame to the file of --psf, and leaves what was found in m. */
static void
put_psf(const struct args *args, const struct picture *frame, struct psfmatch *m, struct stats *st)
{
	const long moved[2] = {0};
	double corner[2];
	struct why why;
	struct raw_out *out = raw_create(args->psf, RAW_AS_RAW);

	psfmatch_find_corner(frame, args->path[1], corner);
	if (psfmatch_find_psf(m, frame->v, frame->w, frame->h, &args->o, &why))
		die("%s: %s", args->path[1], why.text);
	psfmatch_write_kernels(out, m, corner, moved, args);
	st->bytes_out += raw_bytes_out(out);
	raw_finish(out);
}

/* Writes what one frame has: its point spread function. */
static int
describe(const struct args *args)
{
	struct stats st;
	struct psfmatch m;

	stats_start(&st);
	struct picture frame = psfmatch_read_picture(args->path[0], args);
	stats_charge(&st, STATS_READ);
	put_psf(args, &frame, &m, &st);
	stats_charge(&st, STATS_COMPUTE);
	st.items = 1;
	st.threads = args->common.threads;
	st.bytes_in = frame.w * frame.h * img_type_size(frame.file.type);
	report(args, &m, frame.moved, &st);
	stats_print(&st, &args->common);
	psfmatch_free(&m);
	psfmatch_drop_picture(&frame);
	return 0;
}

int
main(int argc, char **argv)
{
	struct args args = psfmatch_args(argc, argv);
	if (args.npath == 1)
		return describe(&args);
	double corner[2] = {0};
	struct why why;
	struct psfmatch m;
	struct stats st;

	stats_start(&st);
	struct raw_out *out = raw_create(args.common.out, (enum raw_as)args.common.as);
	struct raw_out *noises = args.noise ? raw_create(args.noise, RAW_AS_RAW) : NULL;
	struct picture ref = psfmatch_read_picture(args.path[0], &args),
		       new = psfmatch_read_picture(args.path[1], &args);
	psfmatch_check_pair(&ref, &new, &args);
	if (!args.subtract)
		psfmatch_find_corner(&ref, args.path[0], corner);
	stats_charge(&st, STATS_READ);
	if (args.psf) {
		put_psf(&args, &new, &m, &st);
		psfmatch_free(&m);
	}
	if (psfmatch_fit(&m, ref.v, new.v, ref.w, ref.h, &args.o, &why))
		die("%s: %s", args.path[1], why.text);
	for (int k = 0; k < 2; k++)
		m.shift[k] += (double)ref.moved[k];
	float *noise = args.subtract ? subtract(&args, &m, &ref, &new, &st) : NULL;
	stats_charge(&st, STATS_COMPUTE);
	put(&args, &m, &ref, &new, noise, corner, out, noises);
	st.items = 1;
	st.threads = args.common.threads;
	st.bytes_in = ref.w * ref.h * img_type_size(ref.file.type) +
		      new.w *new.h *img_type_size(new.file.type);
	st.bytes_out += raw_bytes_out(out);
	raw_finish(out);
	if (noises) {
		st.bytes_out += raw_bytes_out(noises);
		raw_finish(noises);
	}
	stats_charge(&st, STATS_WRITE);
	report(&args, &m, ref.moved, &st);
	stats_print(&st, &args.common);
	weir_free(noise);
	psfmatch_free(&m);
	psfmatch_drop_picture(&ref);
	psfmatch_drop_picture(&new);
	return 0;
}
