#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/par.h"
#include "common/base/words.h"
#include "gpu/use.h"
#include "radon/stream/gathers.h"

struct args {
	struct opt_common common;
	const char *curves, *qy, *lsq, *sparse, *mute, *polygons, *offsets, *adapt;
	int curve, method, nan;
	double reference, azimuth, depth, taper, fmin, fmax;
	bool azimuth_given, depth_given, taper_given, lsq_given, sparse_given, subtract, cut;
	bool curve_given, model, balance_given;
	int balance;
};

/* ---- polygons ---- */

struct corners {
	double (*v)[2];
	size_t *end; /* one past the last corner of each polygon */
	size_t n, count, room, end_room;
};

/* Ends the polygon that is being read, if there is one. */
static void
end_polygon(struct corners *c, const char *path, size_t line)
{
	const size_t first = c->count ? c->end[c->count - 1] : 0;

	if (c->n == first)
		return;
	if (c->n - first < 3)
		die("%s: line %zu: a polygon has at least 3 corners", path, line);
	c->end = weir_xgrow(c->end, &c->end_room, c->count + 1, sizeof *c->end);
	c->end[c->count++] = c->n;
}

static void
add_corner(struct corners *c, const char *path, size_t line, const char *text)
{
	double v[2];

	if (word_reals(text, ' ', v, 2) != 2 || !isfinite(v[0]) || !isfinite(v[1]))
		die("%s: line %zu: '%s' is not a corner `tau q'", path, line, text);
	c->v = weir_xgrow(c->v, &c->room, c->n + 1, sizeof *c->v);
	memcpy(c->v[c->n++], v, sizeof v);
}

/*
 * Reads the polygons of a mute from a text: each line is one corner `tau q`, an empty line separates polygons, and a # begins a
 * comment; a line of a comment alone is not empty. Sets corner, polygon and npolygon of m, whose arrays polygons_free() frees.
 * Dies when the text is malformed.
 */
static void
polygons_read(struct radon_mute *m, const char *path)
{
	FILE *f = fopen(path, "r");
	struct corners c = {0};
	char *text = NULL;
	size_t size = 0, line = 0;

	if (!f)
		die("%s: %s", path, strerror(errno));
	while (getline(&text, &size, f) > 0) {
		char *s = text, *const end = text + strcspn(text, "#\n");
		const bool comment = *end == '#';
		line++;
		*end = 0;
		while (isspace((unsigned char)*s))
			s++;
		if (*s)
			add_corner(&c, path, line, s);
		else if (!comment)
			end_polygon(&c, path, line);
	}
	if (ferror(f))
		die("%s: %s", path, strerror(errno));
	end_polygon(&c, path, line);
	fclose(f);
	free(text);
	if (!c.count)
		die("%s: no polygon", path);
	m->corner = (const double(*)[2])c.v;
	m->polygon = c.end;
	m->npolygon = c.count;
}

void
polygons_free(struct radon_mute *m)
{
	weir_free_all((void *)m->corner, (void *)m->polygon);
	m->corner = NULL;
	m->polygon = NULL;
	m->npolygon = 0;
}

/* ---- options ---- */

/*
 * The NU of lsq best predicts a trace left out of real gathers. That of sparse separates best where events of known moveout were
 * added to real gathers, and in synthetic ones with noise.
 */
#define LSQ_NOISE "0.05"
/* a->sparse is this very array when the command line names no NU. Only then does radon_options.raise_nu apply. */
static const char sparse_noise[] = "0.007";

static const struct opt table[] = {
    {'q', "curves", OPT_STR, AT(curves), "LO:HI:N", "N curves, moveouts at -X of LO to HI seconds"},
    {'X', "reference", OPT_ABOVE, AT(reference), "OFFSET", "offset at which q is the moveout"},
    {0, "mute", OPT_STR, AT(mute), "CUT", "keep what lies beyond q = CUT, or T:Q..., or `auto'"},
    {0, "subtract", OPT_FLAG, AT(subtract), NULL,
     "write gather - modelled panel; alone: by --sparse"},
    {0, "balance", OPT_WORD, AT(balance), "WHEN",
     "make traces equally strong to subtract: auto, yes or no (auto)", .words = "auto|yes|no",
     .absent = "yes", .seen = AT(balance_given)},
    {0, "lsq", OPT_STR, AT(lsq), "NU", "least squares, noise NU or `auto' (.05)",
     .absent = LSQ_NOISE, .words = "auto", .seen = AT(lsq_given)},
    {0, "sparse", OPT_STR, AT(sparse), "NU", "sparse inverse, noise NU or `auto' (.007)",
     .absent = sparse_noise, .words = "auto", .seen = AT(sparse_given)},
    {0, "model", OPT_FLAG, AT(model), NULL, "from panel to gather"},
    {0, "offsets", OPT_STR, AT(offsets), "FILE", "offsets as text, for one gather or for all"},
    {0, "adapt", OPT_STR, AT(adapt), "WINDOW",
     "match the multiples by filters, S:TRACES:S (0:1:.016)", .absent = "0:1:.016"},
    {0, "polygons", OPT_STR, AT(polygons), "FILE", "keep what lies inside the polygons of FILE"},
    {0, "taper", OPT_REAL, AT(taper), "SECONDS", "width in q of the taper (4 curves)", 0, 1e6,
     .seen = AT(taper_given)},
    {0, "curve", OPT_WORD, AT(curve), "CURVE",
     "parabolic, linear, foster-mosher or hyperbolic (parabolic)",
     .words = "parabolic|linear|foster-mosher|hyperbolic", .seen = AT(curve_given)},
    {0, "depth", OPT_ABOVE, AT(depth), "Z", "depth of foster-mosher curves",
     .seen = AT(depth_given)},
    {0, "fmin", OPT_REAL, AT(fmin), "HZ", "lowest frequency (0)", 0, 1e9},
    {0, "fmax", OPT_ABOVE, AT(fmax), "HZ", "highest frequency (Nyquist)"},
    {0, "nan", OPT_WORD, AT(nan), "WHAT", "error or zero: samples that are not finite (error)",
     .words = "error|zero"},
    {0, "cut", OPT_FLAG, AT(cut), NULL, "panels of the gather's own times only"},
    {0, "qy", OPT_STR, AT(qy), "LO:HI:N", "a second axis of curves; -q is then that along x"},
    {0, "azimuth", OPT_REAL, AT(azimuth), "DEGREES", "the direction of -q, from x towards y (0)",
     -360, 360, .seen = AT(azimuth_given)},
    {0, "method", OPT_WORD, AT(method), "METHOD", "auto, nufft, recurrence, time or usfft2d (auto)",
     .words = "auto|nufft|recurrence|time|usfft2d"},
    {0}};

static const struct opt_program program = {
    .what = "Transforms seismic gathers along parabolas, and removes multiples.",
    .example = "radon -q -.1:.4:60 -X 3000 --mute=.1 --subtract gather.nrrd >clean.nrrd",
    .table = table,
    .common = OPT_THREADS | OPT_GPU | OPT_PART,
    .gpu_state = gpu_state};

/* Parses LO:HI:N. */
static void
parse_axis(const char *option, const char *text, size_t *n, double *first, double *apart)
{
	double v[3];

	opt_reals(option, text, ':', v, 3);
	if (v[2] != floor(v[2]) || v[2] < 1 || v[2] > 1e6)
		die_usage("%s: '%g' curves is not a whole number in 1..1e6", option, v[2]);
	if (v[2] > 1 ? !(v[1] > v[0]) : v[1] != v[0])
		die_usage(
		    "%s: '%s': N curves go from LO up to HI, one curve from LO to the same HI",
		    option, text);
	*n = (size_t)v[2];
	*first = v[0];
	*apart = *n > 1 ? (v[1] - v[0]) / (v[2] - 1) : 0;
}

static void
parse_curves(const struct args *a, struct radon_options *o)
{
	if (o->mode == RADON_MODEL && (a->curves || a->qy))
		die_usage("%s: the curves of --model are those of its panels",
			  a->curves ? "-q" : "--qy");
	if (o->mode == RADON_MODEL)
		return;
	if (!a->curves)
		die_usage("-q is required; see %s --help", weir_prog);
	parse_axis("-q", a->curves, &o->nq, &o->q0, &o->dq);
	if (a->curve == RADON_HYPERBOLIC && o->q0 < 0)
		die_usage("-q: '%s': q of hyperbolic curves is (X/v)^2, 0 or more", a->curves);
	if (!a->qy)
		return;
	parse_axis("--qy", a->qy, &o->nr, &o->r0, &o->dr);
	if (o->nq * o->nr > 1000000)
		die_usage("--qy: %zu x %zu curves are more than 1000000", o->nq, o->nr);
	o->nq *= o->nr;
	o->mute.radial = a->curve == RADON_LINEAR;
}

/* "auto", "Q" or "T:Q,T:Q..." */
static void
parse_mute(const struct args *a, struct radon_mute *m)
{
	const char *s = a->mute;
	double v[2];

	m->find = !strcmp(s, "auto");
	if (!strchr(s, ':')) {
		if (!m->find)
			opt_reals("--mute", s, ':', m->q, 1);
		m->n = 1;
		return;
	}
	for (bool more = true; more; m->n++) {
		if (m->n == RADON_MAXMUTE)
			die_usage("--mute: '%s' has more than %d points", a->mute, RADON_MAXMUTE);
		if (!word_real(&s, &v[0]) || *s++ != ':' || !word_real(&s, &v[1]) ||
		    (*s && *s != ',') || !isfinite(v[0]) || !isfinite(v[1]))
			die_usage("--mute: '%s' is no list of points T:Q,T:Q", a->mute);
		m->t[m->n] = v[0];
		m->q[m->n] = v[1];
		if (m->n && !(v[0] > m->t[m->n - 1]))
			die_usage("--mute: the times of '%s' do not ascend", a->mute);
		more = *s++ == ',';
	}
}

/* SECONDS:TRACES:FILTER */
static void
parse_adapt(const char *text, struct radon_adapt_options *to)
{
	double v[3];

	opt_reals("--adapt", text, ':', v, 3);
	if (!(v[0] >= 0) || !(v[1] >= 0 && v[1] <= 1e9) || v[1] != floor(v[1]) || !(v[2] > 0))
		die_usage("--adapt: '%s': a window has 0 s or more and a whole number of traces, "
			  "a filter more than 0 s",
			  text);
	*to = (struct radon_adapt_options){v[0], (size_t)v[1], v[2]};
}

/* Dies when the mute keeps no curve: q is probably in another unit then. */
static void
check_mute(const struct args *a, const struct radon_options *o)
{
	double top = -INFINITY, cut = INFINITY;

	for (size_t i = 0; i < o->nq; i++)
		top = fmax(top, radon_mute_q(o, i));
	for (size_t i = 0; i < o->mute.n; i++)
		cut = fmin(cut, o->mute.q[i]);
	if (o->mute.find && (o->mode != RADON_SPARSE || o->nr || a->curve == RADON_HYPERBOLIC ||
			     o->q0 > 0 || o->nq < 2 || top < 5 * o->dq))
		die_usage("--mute=auto goes with --sparse and with curves from 0 or below to 5 "
			  "spacings and more, but not with --qy and --curve=hyperbolic");
	if (a->mute && cut >= top - 1e-9 * fabs(top))
		die_usage("--mute=%s: no curve lies above it; the highest is %g", a->mute, top);
}

/* The option that gives an inverse its NU. */
static const char *
noise_option(const struct radon_options *o)
{
	return o->mode == RADON_LSQ ? "--lsq" : "--sparse";
}

/* The value of that option; NULL when there is no inverse. */
static const char *
noise_text(const struct args *a, const struct radon_options *o)
{
	return o->mode == RADON_LSQ ? a->lsq : o->mode == RADON_SPARSE ? a->sparse : NULL;
}

static bool
auto_nu(const struct args *a, const struct radon_options *o)
{
	const char *text = noise_text(a, o);

	return text && !strcmp(text, "auto");
}

/* Checks the options that go with curves of two axes. */
static void
check_plane(const struct args *a, const struct radon_options *o)
{
	if (a->azimuth_given && !a->qy)
		die_usage("--azimuth needs --qy");
	if (!a->qy)
		return;
	if (a->curve != RADON_PARABOLIC && a->curve != RADON_LINEAR)
		die_usage("--qy goes with parabolic and linear curves alone");
	if (o->method == RADON_TIME || o->method == RADON_USFFT2D)
		die_usage("--qy goes without --method=time and --method=usfft2d");
	if (auto_nu(a, o))
		die_usage("%s=auto goes without --qy: give a NU", noise_option(o));
	if (a->common.gpu)
		die_usage("-g: goes without --qy");
}

static void
check_together(const struct args *a, const struct radon_options *o)
{
	const bool inverse = o->mode == RADON_LSQ || o->mode == RADON_SPARSE,
		   hyperbolic = a->curve == RADON_HYPERBOLIC;

	if (a->lsq_given + a->sparse_given + a->model > 1)
		die_usage("one of --lsq, --sparse and --model at a time");
	if (a->subtract && a->model)
		die_usage("--subtract goes with --lsq or --sparse");
	if (a->curve == RADON_FOSTER && !a->depth_given)
		die_usage("--curve=foster-mosher needs --depth");
	if (a->depth_given && a->curve != RADON_FOSTER)
		die_usage("--depth needs --curve=foster-mosher");
	if ((a->adapt || a->balance_given) && !a->subtract)
		die_usage("%s needs --subtract", a->adapt ? "--adapt" : "--balance");
	if (a->mute && a->polygons)
		die_usage("one of --mute and --polygons at a time");
	if ((a->mute || a->polygons) && o->mode == RADON_MODEL)
		die_usage("--mute and --polygons are for panels as they are made, not for --model");
	if (a->taper_given && !a->mute && !a->polygons)
		die_usage("--taper needs --mute or --polygons");
	if (hyperbolic && (a->method != RADON_AUTO && a->method != RADON_TIME))
		die_usage("--curve=hyperbolic goes with --method=time alone");
	if (hyperbolic && auto_nu(a, o))
		die_usage("%s=auto goes without --curve=hyperbolic: give a NU", noise_option(o));
	if ((hyperbolic || o->method == RADON_TIME) && (a->fmin > 0 || a->fmax > 0))
		die_usage("--fmin and --fmax: curves that are summed in time have no band");
	if (a->cut && (a->subtract || o->mode == RADON_MODEL))
		die_usage("--cut is for panels");
	if (inverse && !hyperbolic && (o->method == RADON_TIME || o->method == RADON_USFFT2D))
		die_usage("--method=%s has no inverse: it serves sums along curves and --model",
			  o->method == RADON_TIME ? "time" : "usfft2d");
	if (a->fmax > 0 && a->fmin > a->fmax)
		die_usage("--fmin=%g is above --fmax=%g", a->fmin, a->fmax);
	if (a->common.gpu && a->subtract && o->mode == RADON_SPARSE && !a->sparse_given)
		die_usage("-g: --subtract implies --sparse, which goes without -g: give --lsq");
	if (a->common.gpu && (hyperbolic || o->mode == RADON_SPARSE || a->adapt ||
			      o->method == RADON_TIME || o->method == RADON_USFFT2D))
		die_usage(
		    "-g: goes without --sparse, --adapt, --curve=hyperbolic, --method=time and "
		    "--method=usfft2d");
}

void
radon_args(int argc, char **argv, struct gathers_options *g, char ***operand, size_t *n)
{
	static struct args args; /* g borrows from it */
	struct args *const a = &args;
	struct radon_options *o = &g->radon;

	opt_parse(&program, argc, argv, a, operand, n);
	o->mode = a->model ? RADON_MODEL : RADON_ADJOINT;
	if (a->lsq_given)
		o->mode = RADON_LSQ;
	if (a->sparse_given)
		o->mode = RADON_SPARSE;
	if (a->subtract && !a->lsq_given && o->mode == RADON_ADJOINT) {
		o->mode = RADON_SPARSE;
		a->sparse = sparse_noise;
	}
	o->method = (enum radon_method)a->method;
	check_together(a, o);
	check_plane(a, o);
	parse_curves(a, o);
	if (a->mute)
		parse_mute(a, &o->mute);
	if (a->adapt)
		parse_adapt(a->adapt, &o->adapt);
	if (a->polygons)
		polygons_read(&o->mute, a->polygons);
	check_mute(a, o);
	o->mute.taper = a->taper_given ? a->taper : o->nr ? o->dq + o->dr : 4 * o->dq;
	g->auto_nu = auto_nu(a, o);
	o->find_nu = g->auto_nu && o->mode == RADON_SPARSE;
	o->raise_nu = o->mode == RADON_SPARSE && a->sparse == sparse_noise;
	const char *nu = g->auto_nu ? NULL : noise_text(a, o);
	if (nu && (!opt_number(nu, &o->nu) || !(o->nu >= 0 && o->nu <= 1e6)))
		die_usage("%s: '%s' is not a number in 0..1e6", noise_option(o), nu);
	o->fmin = a->fmin;
	o->fmax = a->fmax;
	o->inner = 20;
	o->subtract = a->subtract;
	o->report = a->common.verbose > 0;
	o->threads = par_threads(a->common.threads);
	g->curve = (enum radon_curve)a->curve;
	g->curve_given = a->curve_given;
	g->reference = a->reference;
	g->depth = a->depth;
	g->azimuth = a->azimuth;
	g->offsets = a->offsets;
	g->polygons = a->polygons;
	g->nan_is_zero = a->nan == 1;
	g->cut = a->cut;
	g->balance = (enum gathers_balance)a->balance;
	g->common = &a->common;
	g->gpu = gpu_use(&a->common, GPU_LIST);
}
