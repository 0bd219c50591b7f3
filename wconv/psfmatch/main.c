/* psfmatch writes the kernel that turns one picture of a field into another, or the difference of the two. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/par.h"
#include "common/base/sample.h"
#include "common/base/stats.h"
#include "common/stream/raw.h"
#include "wconv/kernels.h"
#include "wconv/psfmatch/psfmatch.h"

const char *const weir_prog = "psfmatch";

struct args {
	struct opt_common common;
	int basis, size, degree, background, convolve;
	double smooth, gain, top;
	bool has_gain, has_top, has_smooth, has_convolve, subtract;
	char **path;
	size_t npath;
};

static const struct opt table[] = {
    {0, "basis", OPT_WORD, AT(basis), "WHICH", "%s (gauss)", .words = "gauss|delta"},
    {0, "size", OPT_INT, AT(size), "N", "the kernels' width and height, odd (21 or more)", 3, 101},
    {0, "degree", OPT_INT, AT(degree), "DEG", "of the kernel's polynomials (2)", 0, 10},
    {0, "background", OPT_INT, AT(background), "DEG", "of the background's (1)", 0, 10},
    {0, "smooth", OPT_REAL, AT(smooth), "V", "penalty on rough kernels of --basis=delta (100)", 0,
     1e9, .seen = AT(has_smooth)},
    {0, "gain", OPT_ABOVE, AT(gain), "E", "electrons in a unit of the pictures",
     .seen = AT(has_gain)},
    {0, "top", OPT_REAL, AT(top), "V", "pixels above V are not used", .seen = AT(has_top)},
    {0, "subtract", OPT_FLAG, AT(subtract), NULL, "write NEW less the matched REF"},
    {0, "convolve", OPT_WORD, AT(convolve), "WHICH", "%s, for --subtract (either)",
     .words = "ref|new|either", .seen = AT(has_convolve)},
    {0}};

static const struct opt_program program = {
    .what = "Finds the kernel that turns one picture of a field into another.",
    .table = table,
    .common = OPT_THREADS,
    .operands = "REF NEW",
    .max_operands = 2};

static struct args
parse(int argc, char **argv)
{
	struct args args = {.degree = 2, .background = 1, .smooth = 100};

	opt_parse(&program, argc, argv, &args, &args.path, &args.npath);
	if (args.npath != 2)
		die_usage("two pictures are needed, REF and NEW; see %s --help", weir_prog);
	if (args.size && args.size % 2 == 0)
		die_usage("--size: %d is even", args.size);
	if (args.basis == PSFMATCH_DELTA && args.size > 31)
		die_usage("--size: %d is more than 31, the most for --basis=delta", args.size);
	if (args.has_smooth && args.basis != PSFMATCH_DELTA)
		die_usage("--smooth: goes with --basis=delta");
	if (args.has_convolve && !args.subtract)
		die_usage("--convolve: goes with --subtract");
	if (args.subtract && !args.has_convolve)
		args.convolve = PSFMATCH_EITHER;
	args.common.threads = par_threads(args.common.threads);
	return args;
}

/* A picture of one plane, as floats. */
struct picture {
	struct img file; /* its header and payload */
	size_t w, h;
	float *v;
};

static struct picture
read_picture(const char *path, const struct args *args)
{
	struct picture p = {0};
	struct img_picture shape;

	raw_load_file(path, args->common.max_bytes, true, &p.file);
	if (!img_picture(&p.file, &shape) || shape.c != 1 || shape.n != 1)
		die("%s: it is not one picture of one plane", path);
	p.w = shape.w;
	p.h = shape.h;
	p.v = weir_xalloc(p.w * p.h, sizeof *p.v);
	double *row = weir_xalloc(p.w, sizeof *row);
	for (size_t y = 0; y < p.h; y++) {
		sample_load(row, (const char *)p.file.data + y * p.w * img_type_size(p.file.type),
			    p.file.type, p.w);
		for (size_t x = 0; x < p.w; x++)
			p.v[y * p.w + x] = (float)row[x];
	}
	weir_free(row);
	return p;
}

static void
drop_picture(struct picture *p)
{
	img_free(&p->file);
	weir_free(p->v);
}

/* Refuses pictures of unlike sizes, and parts of unlike places. */
static void
check_pair(const struct picture *ref, const struct picture *new, const struct args *args)
{
	if (ref->w != new->w || ref->h != new->h)
		die("%s: %zux%zu pixels, where %s has %zux%zu", args->path[1], new->w, new->h,
		    args->path[0], ref->w, ref->h);
	if (!place_same(&ref->file, &new->file))
		die("%s: it is another part of a picture than %s: see tile:= and place:=",
		    args->path[1], args->path[0]);
}

/* Finds x and y of the picture's first pixel as wconv counts them: a part of a picture does not begin at 0. */
static void
find_corner(const struct picture *p, const char *path, double corner[2])
{
	struct why why;
	struct place t;

	if (place_of(&p->file, p->w, p->h, &t, &why))
		die("%s: %s", path, why.text);
	wconv_find_corner(&p->file, &t, corner);
	if (isnan(corner[0]) || isnan(corner[1]))
		die("%s: it is flipped, and wconv could not place the kernels; flip the results "
		    "instead",
		    path);
}

/* Writes the item that wconv reads: planes of coefficients, with the keys that describe them. */
static void
write_kernels(struct raw_out *out, const struct psfmatch *m, const double corner[2],
	      const struct args *args)
{
	const size_t planes = psfmatch_terms(m->degree);
	const size_t sizes[] = {m->size, m->size, planes};
	/* the longest number is -1.23456789e-308, and a blank or the final 0 follows it */
	const size_t room = 17 * psfmatch_terms(m->background);
	char *text = weir_xalloc(room, 1);
	size_t n = 0;
	struct img y;

	img_init(&y, IMG_F32, 3, sizes);
	img_set_key(&y, "basis", "poly:%d", m->degree);
	img_set_key(&y, "zero", "%.17g %.17g", m->zero_x + corner[0], m->zero_y + corner[1]);
	img_set_key(&y, "scale", "%.17g %.17g", m->scale_x, m->scale_y);
	for (size_t t = 0; t < psfmatch_terms(m->background); t++)
		n += (size_t)snprintf(text + n, room - n, "%s%.9g", t ? " " : "", m->b[t]);
	img_set_key(&y, "background", "%s", text);
	weir_free(text);
	opt_add_history(&y, &args->common);
	raw_head(out, &y);
	raw_write(out, m->kernel, m->size * m->size * planes);
	img_free(&y);
}

static void
write_difference(struct raw_out *out, const struct picture *new, const struct args *args)
{
	struct img y;

	img_copy_head(&y, &new->file);
	y.type = IMG_F32;
	y.format = IMG_RAW;
	img_drop_key(&y, "maxval");
	opt_add_history(&y, &args->common);
	raw_head(out, &y);
	raw_write(out, new->v, new->w *new->h);
	img_free(&y);
}

static void
report(const struct args *args, const struct psfmatch *m, struct stats *st)
{
	stats_add(st, "stars", "%zu", m->used);
	stats_add(st, "rejected", "%zu", m->rejected);
	stats_add(st, "ratio", "%.6g", m->ratio);
	stats_add(st, "misfit", "%.4g", m->misfit);
	stats_add(st, "width", "%.3g", m->width);
	stats_add(st, "size", "%zu", m->size);
	stats_add(st, "sky", "%.4g", m->sky);
	stats_add(st, "sharp", "%.4g", m->sharp);
	stats_add(st, "convolved", "\"%s\"", m->exchanged ? "new" : "ref");
	if (args->common.verbose)
		fprintf(stderr, "%s: %zu stars, %zu left out, ratio of fluxes %.6g, misfit %.4g\n",
			weir_prog, m->used, m->rejected, m->ratio, m->misfit);
	if (m->exchanged && args->convolve == PSFMATCH_EITHER)
		warn("%s: its stars are narrower than those of %s, so it was convolved, and in the "
		     "difference stars have the shape of the latter",
		     args->path[1], args->path[0]);
	if (m->sharp > PSFMATCH_SHARP)
		warn("%s: its stars are narrower than those of %s: the kernel sharpens, and the "
		     "ratio of fluxes, %.4g, may be wrong by some per cent%s",
		     args->path[!m->exchanged], args->path[m->exchanged], m->ratio,
		     args->convolve == PSFMATCH_EITHER ? "" : "; exchange the two");
	if ((double)m->size < PSFMATCH_ROOM * m->blur)
		warn("%s: kernels of %zux%zu are too small for its stars, which are %.2g pixels "
		     "wide: the ratio of fluxes, %.4g, may lack light; raise --size",
		     args->path[!m->exchanged], m->size, m->size, m->width, m->ratio);
	if (m->sky > PSFMATCH_CURVED)
		warn("%s: at half of the stars the sky is off the background of degree %d by %.2g "
		     "times the noise or more; raise --background, or subtract the skies first",
		     args->path[1], m->background, m->sky);
}

int
main(int argc, char **argv)
{
	struct args args = parse(argc, argv);
	const struct psfmatch_options o = {.basis = (enum psfmatch_basis)args.basis,
					   .convolve = (enum psfmatch_convolve)args.convolve,
					   .size = (size_t)args.size,
					   .degree = args.degree,
					   .background = args.background,
					   .smooth = args.smooth,
					   .gain = args.has_gain ? args.gain : INFINITY,
					   .top = args.has_top ? args.top : INFINITY,
					   .threads = args.common.threads};
	double corner[2] = {0};
	struct why why;
	struct psfmatch m;
	struct stats st;

	stats_start(&st);
	struct raw_out *out = raw_create(args.common.out, (enum raw_as)args.common.as);
	struct picture ref = read_picture(args.path[0], &args),
		       new = read_picture(args.path[1], &args);
	check_pair(&ref, &new, &args);
	if (!args.subtract)
		find_corner(&ref, args.path[0], corner);
	stats_charge(&st, STATS_READ);
	if (psfmatch_fit(&m, ref.v, new.v, ref.w, ref.h, &o, &why))
		die("%s: %s", args.path[1], why.text);
	if (args.subtract &&
	    psfmatch_subtract(&m, ref.v, new.v, ref.w, ref.h, args.common.threads, &why))
		die("%s: %s", args.path[1], why.text);
	stats_charge(&st, STATS_COMPUTE);
	if (args.subtract)
		write_difference(out, &new, &args);
	else
		write_kernels(out, &m, corner, &args);
	st.items = 1;
	st.threads = args.common.threads;
	st.bytes_in = ref.w * ref.h * img_type_size(ref.file.type) +
		      new.w *new.h *img_type_size(new.file.type);
	st.bytes_out = raw_bytes_out(out);
	raw_finish(out);
	stats_charge(&st, STATS_WRITE);
	report(&args, &m, &st);
	stats_print(&st, &args.common);
	psfmatch_free(&m);
	drop_picture(&ref);
	drop_picture(&new);
	return 0;
}
