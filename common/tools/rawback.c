/* rawback: background and noise of pictures, by a mesh of clipped boxes, medians of them, and splines. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/sample.h"
#include "common/picture/ranks.h"
#include "common/stream/axes.h"
#include "common/stream/nodata.h"
#include "common/stream/place.h"
#include "common/stream/raw.h"

const char *const weir_prog = "rawback";

enum { LEVELS = 4096, ROWS = 64 }; /* of a box, at most; rows written at once */

struct args {
	struct opt_common common;
	const char *box, *mask, *rms;
	int filter;
	bool subtract;
	double side[2];		/* of a box: columns, rows */
	struct img masked;	/* owned: the item of --mask */
	struct raw_out *noises; /* of --rms */
};

static const struct opt table[] = {
    {0, "box", OPT_STR, AT(box), "W[,H]", "columns and rows of a box (64)"},
    {0, "filter", OPT_INT, AT(filter), "N", "boxes along a side of a median (3)", 1, 31},
    {0, "mask", OPT_STR, AT(mask), "FILE", "leave out samples that are neither 0 nor NaN there"},
    {0, "rms", OPT_STR, AT(rms), "FILE", "write the noise", .writes = true, .unrecorded = true},
    {0, "subtract", OPT_FLAG, AT(subtract), NULL, "write the pictures without their background"},
    {0}};

static const struct opt_program program = {
    .what = "Finds the background of pictures, and its noise.",
    .example = "rawback --box=16 --subtract coins.pgm >flat.nrrd",
    .table = table,
    .common = OPT_THREADS};

static void
check(void *options)
{
	struct args *args = options;

	if (args->box && opt_reals_upto("--box", args->box, ',', args->side, 2) == 1)
		args->side[1] = args->side[0];
	for (int i = 0; i < 2; i++)
		if (!(args->side[i] >= 1 && args->side[i] <= 1e9 && fmod(args->side[i], 1) == 0))
			die_usage("--box: '%s' is not W or W,H, whole numbers from 1", args->box);
	if (args->mask)
		raw_load_file(args->mask, args->common.max_bytes, false, &args->masked);
	if (args->rms)
		args->noises = raw_create(args->rms, RAW_AS_RAW);
}

/* A picture of w by h samples in nx by ny boxes. */
struct mesh {
	size_t w, h, bw, bh, nx, ny;
	double *map[2];	   /* background, whose memory is owned, and noise of the boxes */
	double *smooth[2]; /* the same for each row: nx lines of h; before, map without medians */
	double *medians;   /* as many as boxes, and one */
	double *work; /* owned; each thread has stride: two rows, its flags, and a box or line */
	size_t stride;
	int threads;
	struct nodata missing;	 /* with the type of the samples */
	const char *from, *mask; /* the samples; those of --mask, of mask_type, or NULL */
	enum img_type mask_type;
};

/*
 * Finds the background of a box and its noise; NaN where fewer than half of its samples are known. Levels more than 3 deviations
 * from the median are left out until the rest stays. Where mean and median are apart, as in a crowd, there is no guess at the mode.
 */
static void
survey_box(const struct mesh *m, size_t box)
{
	const size_t x = box % m->nx * m->bw, y = box / m->nx * m->bh;
	const size_t w = m->w - x < m->bw ? m->w - x : m->bw;
	const size_t h = m->h - y < m->bh ? m->h - y : m->bh;
	double *row = m->work + (size_t)omp_get_thread_num() * m->stride, *v = row + 3 * m->w;
	double count[LEVELS + 1], sum[LEVELS + 1], square[LEVELS + 1]; /* of the levels below */
	double mean = 0, median = 0, sd = 0, had = 0;
	uint8_t *is = (uint8_t *)(row + 2 * m->w);
	size_t n = 0, lo = 0, k = 0;

	for (size_t i = 0; i < h; i++) {
		const size_t at = (y + i) * m->w + x;
		nodata_load(&m->missing, row, m->from + at * img_type_size(m->missing.type), w);
		if (m->mask)
			sample_threshold(is, row + m->w, m->mask + at * img_type_size(m->mask_type),
					 m->mask_type, w, NAN);
		for (size_t j = 0; j < w; j++) {
			v[n] = row[j];
			n += isfinite(row[j]) && !(m->mask && is[j]);
		}
	}
	const struct ranks values = {.type = IMG_F64, .data = v, .n = n, .centre = NAN};
	struct ranks_sums s = ranks_measure(&values, -DBL_MAX, DBL_MAX, v[0]);

	s = ranks_measure(&values, s.mean - 2 * s.sd, s.mean + 2 * s.sd, s.mean);
	/* A level has one sample, where these are normal and fit all levels. */
	const double levels = fmin(floor(.9973557 * s.n + 1), LEVELS);
	const double step = 10 * s.sd / levels, least = s.mean - 5 * s.sd;
	size_t hi = (size_t)levels;

	m->smooth[0][box] = 2 * n < w * h ? NAN : s.mean;
	m->smooth[1][box] = 2 * n < w * h ? NAN : 0;
	if (2 * n < w * h || !(step > 0 && step < INFINITY))
		return;
	memset(count, 0, (hi + 1) * sizeof *count);
	for (size_t i = 0; i < n; i++) {
		const double level = (v[i] - least) / step + .5;
		if (level >= 0 && level < levels)
			count[(size_t)level + 1]++;
	}
	for (sum[0] = square[0] = 0; k < hi; k++) {
		sum[k + 1] = sum[k] + count[k + 1] * (double)k;
		square[k + 1] = square[k] + count[k + 1] * (double)(k * k);
		count[k + 1] += count[k];
	}
	for (int i = 0; i < 100 && count[hi] - count[lo] != had; i++) {
		had = count[hi] - count[lo];
		mean = (sum[hi] - sum[lo]) / had;
		sd = sqrt(fmax(0, (square[hi] - square[lo]) / had - mean * mean));
		const double half = count[lo] + had / 2;

		for (k = lo; count[k + 1] < half;)
			k++;
		median = (double)k - .5 + (half - count[k]) / (count[k + 1] - count[k]);
		lo = (size_t)fmax(0, median - 3 * sd + .5);
		hi = (size_t)fmin(levels, median + 3 * sd + 1.5);
	}
	if (fabs(mean - median) < .3 * sd)
		median = 2.5 * median - 1.5 * mean;
	m->smooth[0][box] = least + step * median;
	m->smooth[1][box] = step * sd;
}

/* Each box gets the median of those around it, as many before it as behind it; where all are NaN, of those that are farther. */
static void
take_medians(const struct mesh *m, size_t side, const double *from, double *to, double *v)
{
	for (size_t box = 0; box < m->nx * m->ny; box++) {
		const size_t x = box % m->nx, y = box / m->nx;
		size_t n = 0, rx = side / 2 < x ? side / 2 : x, ry = side / 2 < y ? side / 2 : y;
		rx = rx < m->nx - 1 - x ? rx : m->nx - 1 - x;
		ry = ry < m->ny - 1 - y ? ry : m->ny - 1 - y;
		for (; !n && rx < m->nx + m->ny; rx++, ry++)
			for (size_t j = y < ry ? 0 : y - ry; j <= y + ry && j < m->ny; j++)
				for (size_t i = x < rx ? 0 : x - rx; i <= x + rx && i < m->nx;
				     i++) {
					const double here = from[j * m->nx + i];
					size_t k = n;
					for (; k && v[k - 1] > here; k--)
						v[k] = v[k - 1];
					v[k] = here;
					n += isnan(here) ? 0 : 1;
				}
		to[box] = n ? (v[(n - 1) / 2] + v[n / 2]) / 2 : NAN;
	}
}

/*
 * Computes n samples of a cubic spline through f[0], f[step], .., at the centres of boxes of b samples. d, with room for two
 * numbers a node, is its second derivative, 0 at both ends. As in SExtractor, a node takes over only a sixth of what a natural
 * spline has from the next one, so that steps overshoot less.
 */
WEIR_CLONES(spline,
	    (const double *f, size_t nodes, size_t step, size_t b, double *d, double *restrict to,
	     size_t n),
	    (f, nodes, step, b, d, to, n))
{
	double *work = d + nodes;
	const double by = 1 / (double)b;

	d[0] = d[nodes - 1] = work[0] = 0;
	for (size_t i = 1; i + 1 < nodes; i++) {
		const double turn = f[(i + 1) * step] - 2 * f[i * step] + f[(i - 1) * step];
		work[i] = 1 / (4 - work[i - 1]);
		d[i] = (6 * turn - d[i - 1]) * work[i];
	}
	for (size_t i = nodes - 1; i-- > 1;)
		d[i] -= work[i] * d[i + 1] / 6;
	for (size_t x = 0, i = 0; x < n; i++) {
		const size_t j = nodes > 1 ? i + 1 : i, end = j + 1 < nodes ? b * j + b / 2 : n;
		const double p = f[i * step], q = f[j * step], slope = q - p - d[i] / 3 - d[j] / 6;
		const double square = d[i] / 2, cube = (d[j] - d[i]) / 6;

		for (; x < end; x++) {
			const double t = ((double)(ptrdiff_t)x + .5) * by - .5 - (double)i;
			to[x] = p + t * (slope + t * (square + t * cube));
		}
	}
}

/* Writes the background (0) or the noise (1), or the picture without its background. */
static void
put(const struct mesh *m, int of, bool without, enum img_type type, char *rows, struct raw_out *out)
{
	for (size_t y0 = 0; y0 < m->h; y0 += ROWS) {
		const size_t n = m->h - y0 < ROWS ? m->h - y0 : ROWS;
		bool fits = true;

#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->w > 256) reduction(&& : fits)
		for (size_t k = 0; k < n; k++) {
			double *row = m->work + (size_t)omp_get_thread_num() * m->stride;
			double *v = row + m->w;
			spline(m->smooth[of] + y0 + k, m->nx, m->h, m->bw, v + 2 * m->w, row, m->w);
			if (without)
				nodata_load(&m->missing, v,
					    m->from +
						(y0 + k) * m->w * img_type_size(m->missing.type),
					    m->w);
			for (size_t i = 0; i < m->w; i++)
				row[i] = without ? v[i] - row[i] : of && row[i] < 0 ? 0 : row[i];
			char *to = rows + k * m->w * img_type_size(type);
			fits = sample_store(to, row, type, m->w) == m->w && fits;
		}
		if (!fits)
			die("the result is out of the range of floats; see rawmath --type");
		raw_write(out, rows, n * m->w);
	}
}

static void
convert_item(void *options, struct raw_in *in, struct img *x, struct raw_out *out, struct stats *st)
{
	const struct args *args = options;
	struct img_picture p;
	struct img y;
	size_t masked;

	if (!img_pictures(x, &p) || p.c != 1)
		raw_die(in, "a background is that of pictures of one plane; see rawaxes --slice");
	const size_t plane = p.w * p.h;
	struct mesh m = {.w = p.w, .h = p.h, .threads = par_threads(args->common.threads)};

	m.bw = args->side[0] < (double)p.w ? (size_t)args->side[0] : p.w;
	m.bh = args->side[1] < (double)p.h ? (size_t)args->side[1] : p.h;
	m.nx = (p.w - 1) / m.bw + 1;
	m.ny = (p.h - 1) / m.bh + 1;
	img_count(&args->masked, &masked);
	if (args->mask && masked != plane && masked != plane * p.n)
		raw_die(in, "--mask: '%s' has another shape", args->mask);
	if (args->mask)
		place_compare(&args->masked, x, .1, file_name(args->mask), raw_name(in));
	raw_map(in, x);
	m.from = x->data;
	m.missing = nodata_of(x, false);
	m.mask = args->masked.data;
	m.mask_type = args->masked.type;
	stats_charge(st, STATS_READ);
	img_copy_head(&y, x);
	y.type = x->type >= IMG_I32 && x->type != IMG_F32 ? IMG_F64 : IMG_F32;
	y.format = IMG_RAW;
	img_drop_key(&y, "maxval");
	bands_renew(&y);
	opt_add_history(&y, &args->common);
	raw_head(out, &y);
	if (args->noises)
		raw_head(args->noises, &y);

	char *rows = weir_xalloc(ROWS * p.w, sizeof(double));
	m.stride = 3 * p.w + m.bw * m.bh + 1 + 2 * (m.nx + m.ny);
	m.work = weir_xalloc((size_t)m.threads, m.stride * sizeof(double));
	m.map[0] = weir_xalloc(m.nx * (2 * p.h + 3 * m.ny + 1), sizeof(double));
	m.map[1] = m.map[0] + m.nx * m.ny;
	m.smooth[0] = m.map[1] + m.nx * m.ny;
	m.smooth[1] = m.smooth[0] + m.nx * p.h;
	m.medians = m.smooth[1] + m.nx * p.h;
	for (size_t i = 0; i < p.n; i++) {
#pragma omp parallel for schedule(dynamic) num_threads(m.threads) if (plane > 1 << 14)
		for (size_t box = 0; box < m.nx * m.ny; box++)
			survey_box(&m, box);
		for (int k = 0; k < 2; k++) {
			take_medians(&m, (size_t)args->filter, m.smooth[k], m.map[k], m.medians);
			for (size_t x0 = 0; x0 < m.nx; x0++)
				spline(m.map[k] + x0, m.ny, m.nx, m.bh, m.work,
				       m.smooth[k] + x0 * m.h, m.h);
		}
		if (isnan(m.map[0][0]))
			warn("%s: item %zu: picture %zu: no box is half known; the background is "
			     "NaN",
			     raw_name(in), raw_item(in), i + 1);
		stats_charge(st, STATS_COMPUTE);
		put(&m, 0, args->subtract, y.type, rows, out);
		if (args->noises)
			put(&m, 1, false, y.type, rows, args->noises);
		stats_charge(st, STATS_WRITE);
		m.from += plane * img_type_size(x->type);
		if (masked > plane)
			m.mask += plane * img_type_size(m.mask_type);
	}
	weir_free_all(m.map[0], m.work, rows);
	img_free(&y);
}

int
main(int argc, char **argv)
{
	static const struct raw_filter filter = {&program, check, convert_item, NULL};
	struct args args = {.common.as = RAW_AS_RAW, .side = {64, 64}, .filter = 3};

	raw_each(&filter, argc, argv, &args);
	if (args.noises)
		raw_finish(args.noises);
	img_free(&args.masked);
	return 0;
}
