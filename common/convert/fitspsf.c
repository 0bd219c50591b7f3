/* link: -lcfitsio */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/convert/fitspsf.h"

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
fail(char err[FITSPSF_ERR], const char *why)
{
	snprintf(err, FITSPSF_ERR, "it is a model of PSFEx, %s", why);
	return -1;
}

int
fitspsf_read(fitsfile *f, struct psf *p, char err[FITSPSF_ERR])
{
	const double degree = number_of(f, "POLDEG1", NAN), axes = number_of(f, "POLNAXIS", 0);
	double size[3];

	*p = (struct psf){.degree = -1, .step = number_of(f, "PSF_SAMP", NAN)};
	p->gain = is_table(f) ? 1 : 1 / (p->step * p->step);
	read_sizes(f, size);
	for (int i = 0; i < 3; i++)
		if (!(size[i] >= 1 && size[i] <= 4096))
			return fail(err, "and one of its sizes is not in 1..4096");
	p->w = (size_t)size[0];
	p->h = (size_t)size[1];
	p->n = (size_t)size[2];
	if (is_table(f) && repeat_of(f) != (LONGLONG)(p->w * p->h * p->n))
		return fail(err, "and its column does not have the samples of PSFAXIS");
	if (!(p->step >= .01 && p->step <= 100))
		return fail(err, "and PSF_SAMP is not in .01..100");
	if (axes != 0 && (axes != 2 || number_of(f, "POLNGRP", 1) != 1 || !is_position(f, 0) ||
			  !is_position(f, 1)))
		return fail(err, "and depends on more than X_IMAGE and Y_IMAGE");
	if (axes == 0 || (degree == 0 && p->n == 1))
		return p->n == 1 ? 0 : fail(err, "and has planes without polynomials");
	if (!(degree >= 0 && degree <= 20) || p->n != (size_t)((degree + 1) * (degree + 2) / 2))
		return fail(err, "and POLDEG1 does not agree with the number of planes");
	if (!read_position(f, 0, p) || !read_position(f, 1, p))
		return fail(err, "and POLZERO or POLSCAL is no number");
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
