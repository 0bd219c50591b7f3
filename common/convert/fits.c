/* link: -lcfitsio */
#include <fitsio.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/base/mem.h"
#include "common/convert/fits.h"

/* ---- fits ---- */

int
fits_code(enum img_type type)
{
	static const int codes[] = {
	    [IMG_I8] = TSBYTE,	[IMG_U8] = TBYTE,   [IMG_I16] = TSHORT,	   [IMG_U16] = TUSHORT,
	    [IMG_I32] = TINT,	[IMG_U32] = TUINT,  [IMG_I64] = TLONGLONG, [IMG_U64] = TULONGLONG,
	    [IMG_F32] = TFLOAT, [IMG_F64] = TDOUBLE};

	return codes[type];
}

int
fits_image(enum img_type type)
{
	static const int images[] = {
	    [IMG_I8] = SBYTE_IMG,     [IMG_U8] = BYTE_IMG,	 [IMG_I16] = SHORT_IMG,
	    [IMG_U16] = USHORT_IMG,   [IMG_I32] = LONG_IMG,	 [IMG_U32] = ULONG_IMG,
	    [IMG_I64] = LONGLONG_IMG, [IMG_U64] = ULONGLONG_IMG, [IMG_F32] = FLOAT_IMG,
	    [IMG_F64] = DOUBLE_IMG};

	return images[type];
}

/* Whether BZERO + BSCALE * v, as a float, differs for any two neighbouring 16-bit values of v. */
static bool
float_is_enough(double scale, double zero)
{
	return fabs(zero) + fabs(scale) * 0x1p15 < fabs(scale) * 0x1p23;
}

enum img_type
fits_choose_type(int bitpix, double scale, double zero, bool blank)
{
	static const struct {
		int bitpix;
		double zero;
		enum img_type type;
	} exact[] = {{8, 0, IMG_U8},	    {8, -128, IMG_I8},	  {16, 0, IMG_I16},
		     {16, 0x1p15, IMG_U16}, {32, 0, IMG_I32},	  {32, 0x1p31, IMG_U32},
		     {64, 0, IMG_I64},	    {64, 0x1p63, IMG_U64}};

	if (bitpix < 0)
		return bitpix == -32 && scale == 1 && zero == 0 ? IMG_F32 : IMG_F64;
	for (size_t i = 0; !blank && scale == 1 && i < sizeof exact / sizeof *exact; i++)
		if (bitpix == exact[i].bitpix && zero == exact[i].zero)
			return exact[i].type;
	return bitpix <= 16 && float_is_enough(scale, zero) ? IMG_F32 : IMG_F64;
}

void
fits_why(int status, char *text, size_t n)
{
	char line[FLEN_ERRMSG], name[FLEN_STATUS];

	fits_get_errstatus(status, name);
	if (fits_read_errmsg(line))
		snprintf(text, n, "%s (%s)", line, name);
	else
		snprintf(text, n, "%s", name);
	fits_clear_errmsg();
}

bool
fits_listed(const char *list, int unit, const char *extname)
{
	char number[16];

	snprintf(number, sizeof number, "%d", unit);
	for (const char *w = list;; w++) {
		const size_t n = strcspn(w, ",");

		if ((n == strlen(number) && !strncmp(w, number, n)) ||
		    (n && n == strlen(extname) && !strncasecmp(w, extname, n)))
			return true;
		w += n;
		if (!*w)
			return false;
	}
}

size_t
fits_words(const char *list)
{
	size_t n = 1;

	for (; *list; list++)
		n += *list == ',';
	return n;
}

/* ---- PSFs ---- */

/* Returns how many pixels n samples cover: as many on both sides of the centre, n / 2 rounded down, which is a pixel. */
static size_t
psf_pixels(size_t n, double step)
{
	/* A few rounding errors must not cost a pixel. */
	return 2 * (size_t)((double)(n / 2 < n - 1 - n / 2 ? n / 2 : n - 1 - n / 2) * step + 1e-6) +
	       1;
}

static double
lanczos3(double x)
{
	const double pi = 3.14159265358979323846;

	/* At whole numbers it is exact. */
	if (fabs(x - rint(x)) < 1e-9)
		return fabs(x) < .5 ? 1 : 0;
	return fabs(x) >= 3 ? 0 : 3 * sin(pi * x) * sin(pi * x / 3) / (pi * pi * x * x);
}

/* out[i * to] = the value at pixel i of n, of the m samples in[k * from]. */
#define RESAMPLE(NAME, FROM, TO)                                                                 \
	static void NAME(const FROM *in, size_t m, size_t from, double step, TO *out, size_t n,  \
			 size_t to)                                                              \
	{                                                                                        \
		for (size_t i = 0; i < n; i++) {                                                 \
			const double x = (double)(m / 2) + ((double)i - (double)(n / 2)) / step; \
			double sum = 0, norm = 0;                                                \
                                                                                                 \
			for (size_t k = 0; k < m; k++) {                                         \
				const double weight = lanczos3((double)k - x);                   \
				sum += weight * (double)in[k * from];                            \
				norm += weight;                                                  \
			}                                                                        \
			out[i * to] = (TO)(sum / norm);                                          \
		}                                                                                \
	}
RESAMPLE(resample_row, float, double)
RESAMPLE(resample_column, double, float)
#undef RESAMPLE

/*
 * out[H][W] = in[h][w] at pixels, where W = psf_pixels(w, step) and H likewise. A constant stays the same.
 * work has room for W * h numbers.
 */
static void
psf_resample(const float *in, size_t w, size_t h, double step, float *out, double *work)
{
	const size_t W = psf_pixels(w, step), H = psf_pixels(h, step);

	for (size_t y = 0; y < h; y++)
		resample_row(in + y * w, w, 1, step, work + y * W, W, 1);
	for (size_t x = 0; x < W; x++)
		resample_column(work + x, h, W, step, out + x, H, W);
}

/* ---- tables of PSFs ---- */

/* A number of the header; absent when it has none. */
static double
number_of(fitsfile *f, const char *name, double absent)
{
	double v = absent;
	int status = 0;

	if (!fits_read_key(f, TDOUBLE, name, &v, NULL, &status))
		return v;
	fits_clear_errmsg();
	return absent;
}

static bool
is_table(fitsfile *f)
{
	int type = IMAGE_HDU, status = 0;

	fits_get_hdu_type(f, &type, &status);
	return type != IMAGE_HDU;
}

/* Returns the number of the table's column of samples, or 0. */
static int
column_of(fitsfile *f)
{
	static char name[] = "PSF_MASK";
	int column = 0, status = 0;

	if (fits_get_colnum(f, CASEINSEN, name, &column, &status)) {
		fits_clear_errmsg();
		return 0;
	}
	return column;
}

/* Returns how many numbers the column has in a row. */
static LONGLONG
repeat_of(fitsfile *f)
{
	LONGLONG repeat = 0;
	int status = 0;

	if (fits_get_coltypell(f, column_of(f), NULL, &repeat, NULL, &status))
		fits_clear_errmsg();
	return repeat;
}

bool
fitspsf_is(fitsfile *f)
{
	return number_of(f, "POLNAXIS", -1) >= 0 && number_of(f, "PSF_SAMP", NAN) > 0 &&
	       (!is_table(f) || column_of(f));
}

/* Sets p's sizes. A kernel of degree 0 may have two axes. */
static void
read_sizes(fitsfile *f, double size[3])
{
	const char *names = is_table(f) ? "PSFAXIS%d" : "NAXIS%d";
	char name[16];

	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof name, names, i + 1);
		size[i] = number_of(f, name, i < 2 ? 0 : 1);
	}
}

/* Whether name is that of a position in the image: X_IMAGE, XWIN_IMAGE ... */
static bool
is_position(fitsfile *f, int i)
{
	char key[24], name[FLEN_VALUE] = "";
	int status = 0;

	snprintf(key, sizeof key, "POLNAME%d", i + 1);
	if (fits_read_key(f, TSTRING, key, name, NULL, &status))
		fits_clear_errmsg();
	const char *end = strstr(name, "IMAGE");
	return *name == "XY"[i] && end && !end[5];
}

static bool
read_position(fitsfile *f, int i, struct psf *p)
{
	char key[24];

	snprintf(key, sizeof key, "POLZERO%d", i + 1);
	p->zero[i] = number_of(f, key, NAN) - 1;
	snprintf(key, sizeof key, "POLSCAL%d", i + 1);
	p->scale[i] = number_of(f, key, NAN);
	return isfinite(p->zero[i]) && isfinite(p->scale[i]) && p->scale[i] != 0;
}

static int
not_read(struct why *why, const char *what)
{
	return why_set(why, "it is a model of PSFEx, %s", what);
}

int
fitspsf_read(fitsfile *f, struct psf *p, struct why *why)
{
	const double degree = number_of(f, "POLDEG1", NAN), axes = number_of(f, "POLNAXIS", 0);
	double size[3];

	*p = (struct psf){.degree = -1, .step = number_of(f, "PSF_SAMP", NAN)};
	p->gain = is_table(f) ? 1 : 1 / (p->step * p->step);
	read_sizes(f, size);
	for (int i = 0; i < 3; i++)
		if (!(size[i] >= 1 && size[i] <= 4096))
			return not_read(why, "and one of its sizes is not in 1..4096");
	p->w = (size_t)size[0];
	p->h = (size_t)size[1];
	p->n = (size_t)size[2];
	if (is_table(f) && repeat_of(f) != (LONGLONG)(p->w * p->h * p->n))
		return not_read(why, "and its column does not have the samples of PSFAXIS");
	if (!(p->step >= .01 && p->step <= 100))
		return not_read(why, "and PSF_SAMP is not in .01..100");
	if (axes != 0 && (axes != 2 || number_of(f, "POLNGRP", 1) != 1 || !is_position(f, 0) ||
			  !is_position(f, 1)))
		return not_read(why, "and depends on more than X_IMAGE and Y_IMAGE");
	if (axes == 0 || (degree == 0 && p->n == 1))
		return p->n == 1 ? 0 : not_read(why, "and has planes without polynomials");
	if (!(degree >= 0 && degree <= 20) || p->n != (size_t)((degree + 1) * (degree + 2) / 2))
		return not_read(why, "and POLDEG1 does not agree with the number of planes");
	if (!read_position(f, 0, p) || !read_position(f, 1, p))
		return not_read(why, "and POLZERO or POLSCAL is no number");
	p->degree = (int)degree;
	return 0;
}

void
fitspsf_describe(const struct psf *p, struct img *x)
{
	const size_t w = psf_pixels(p->w, p->step), h = psf_pixels(p->h, p->step);

	img_init(x, IMG_F32, p->degree < 0 ? 2 : 3, (size_t[]){w, h, p->n});
	if (p->degree < 0)
		return;
	img_set_key(x, "basis", "poly:%d", p->degree);
	img_set_key(x, "zero", "%.17g %.17g", p->zero[0], p->zero[1]);
	img_set_key(x, "scale", "%.17g %.17g", p->scale[0], p->scale[1]);
}

float *
fitspsf_load(fitsfile *f, const struct psf *p, int *status)
{
	const LONGLONG n = (LONGLONG)(p->w * p->h * p->n);
	float *samples = weir_xalloc((size_t)n, sizeof *samples);
	int any;

	if (is_table(f))
		fits_read_col(f, TFLOAT, column_of(f), 1, 1, n, NULL, samples, &any, status);
	else
		fits_read_img(f, TFLOAT, 1, n, NULL, samples, &any, status);
	return samples;
}

void
fitspsf_put(const struct psf *p, const float *samples, struct raw_out *out)
{
	const size_t w = psf_pixels(p->w, p->step), h = psf_pixels(p->h, p->step);
	float *plane = weir_xalloc(w * h, sizeof *plane);
	double *work = weir_xalloc(w * p->h, sizeof *work);

	for (size_t i = 0; i < p->n; i++) {
		psf_resample(samples + i * p->w * p->h, p->w, p->h, p->step, plane, work);
		for (size_t k = 0; k < w * h; k++)
			plane[k] = (float)((double)plane[k] * p->gain);
		raw_write(out, plane, w * h);
	}
	weir_free(plane);
	weir_free(work);
}
