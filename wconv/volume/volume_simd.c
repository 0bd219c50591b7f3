/* variants: f32 f64 */
/* The work on a volume, for one precision. */
#include <errno.h>
#include <fftw3.h>
#include <stdint.h>
#include <string.h>

#include "common/base/par.h"
#include "common/base/simd.h"
#include "wconv/volume/volume.h"

#ifdef FOR_f64
#define FFTW(name) fftw_##name
#else
#define FFTW(name) fftwf_##name
#endif
typedef REAL real;
typedef FFTW(complex) complex_pair;

enum { SLICES, SLICES_BACK, COLUMNS, COLUMNS_BACK };

static int
plan(struct wconv_volume *v)
{
	const int ny = (int)v->axis[1].len, nx = (int)v->axis[0].len, nz = (int)v->axis[2].len;
	complex_pair *c = v->columns;

	v->plan[SLICES] = FFTW(plan_dft_r2c_2d)(ny, nx, v->work, v->work, FFTW_ESTIMATE);
	v->plan[SLICES_BACK] = FFTW(plan_dft_c2r_2d)(ny, nx, v->work, v->work, FFTW_ESTIMATE);
	for (int i = 0; i < 2; i++)
		v->plan[COLUMNS + i] =
		    FFTW(plan_many_dft)(1, &nz, BATCH, c, NULL, BATCH, 1, c, NULL, BATCH, 1,
					i ? FFTW_BACKWARD : FFTW_FORWARD, FFTW_ESTIMATE);
	for (int i = 0; i < 4; i++)
		if (!v->plan[i])
			return -ENOMEM;
	return 0;
}

static void
unplan(struct wconv_volume *v)
{
	for (int i = 0; i < 4; i++)
		if (v->plan[i])
			FFTW(destroy_plan)(v->plan[i]);
}

static real *
slice_at(const struct wconv_volume *v, void *array, size_t z)
{
	return (real *)array + z * v->slice;
}

/* --- slices ---------------------------------------------------------------------------------------------------------- */

/* Fills in place z of the work array with the volume and its edges. */
static void
put_slice(const struct wconv_volume *v, const real *in, size_t z)
{
	const struct volume_axis *ax = &v->axis[0], *ay = &v->axis[1], *az = &v->axis[2];
	real *to = slice_at(v, v->work, z);

	memset(to, 0, v->slice * sizeof *to);
	for (size_t y = 0; y < ay->places; y++, to += v->row) {
		const bool none = az->from[z] == SIZE_MAX || ay->from[y] == SIZE_MAX;
		const real *row = none ? NULL : in + (az->from[z] * ay->n + ay->from[y]) * ax->n;
		for (size_t x = 0; x < ax->places; x++)
			to[x] = none || ax->from[x] == SIZE_MAX ? 0 : row[ax->from[x]];
	}
}

/* Fills in place z of the work array with results. */
static void
put_results(const struct wconv_volume *v, const real *in, size_t z)
{
	const struct volume_axis *ax = &v->axis[0], *ay = &v->axis[1], *az = &v->axis[2];
	real *to = slice_at(v, v->work, z);

	memset(to, 0, v->slice * sizeof *to);
	if (z + 1 < az->k)
		return;
	for (size_t y = 0; y < ay->results; y++)
		memcpy(to + (y + ay->k - 1) * v->row + ax->k - 1,
		       in + ((z + 1 - az->k) * ay->results + y) * ax->results,
		       ax->results * sizeof *to);
}

/* Copies the results of place z + k - 1 to slice z of out. */
static void
take_results(const struct wconv_volume *v, size_t z, real *out)
{
	const struct volume_axis *ax = &v->axis[0], *ay = &v->axis[1], *az = &v->axis[2];
	const real *from = slice_at(v, v->work, z + az->k - 1) + (ay->k - 1) * v->row + ax->k - 1;

	for (size_t y = 0; y < ay->results; y++)
		memcpy(out + (z * ay->results + y) * ax->results, from + y * v->row,
		       ax->results * sizeof *out);
}

/* Adds place z to the samples of the slice that stand there. */
static void
fold_slice(const struct wconv_volume *v, size_t z, real *slice)
{
	const struct volume_axis *ax = &v->axis[0], *ay = &v->axis[1];
	const real *from = slice_at(v, v->work, z);

	for (size_t y = 0; y < ay->places; y++, from += v->row)
		for (size_t x = 0; ay->from[y] != SIZE_MAX && x < ax->places; x++)
			if (ax->from[x] != SIZE_MAX)
				slice[ay->from[y] * ax->n + ax->from[x]] += from[x];
}

/* --- transforms ------------------------------------------------------------------------------------------------------ */

/* at *= k, or with conjugate at *= k's conjugate. */
static void
multiply(real *restrict at, const real *restrict k, size_t n, bool conjugate)
{
	const real sign = conjugate ? -1 : 1;

	for (size_t i = 0; i < 2 * n; i += 2) {
		const real re = at[i], im = at[i + 1], s = sign * k[i + 1];
		at[i] = re * k[i] - im * s;
		at[i + 1] = re * s + im * k[i];
	}
}

/*
 * Transforms `count` columns along z, from place `at` of a slice on. Their samples after the first `filled` are 0.
 * With `kernel`, multiplies them by it and transforms them back.
 */
static void
run_columns(const struct wconv_volume *v, size_t at, size_t count, size_t filled,
	    const real *kernel, bool conjugate)
{
	const size_t nz = v->axis[2].len, back = kernel ? filled : nz;
	complex_pair *c = (complex_pair *)v->columns + (size_t)omp_get_thread_num() * nz * BATCH;

	memset(c, 0, nz * BATCH * sizeof *c);
	for (size_t z = 0; z < filled; z++)
		memcpy(c[z * BATCH], slice_at(v, v->work, z) + at, count * sizeof *c);
	FFTW(execute_dft)(v->plan[COLUMNS], c, c);
	if (kernel) {
		for (size_t z = 0; z < nz; z++)
			multiply(c[z * BATCH], kernel + z * v->slice + at, count, conjugate);
		FFTW(execute_dft)(v->plan[COLUMNS_BACK], c, c);
	}
	for (size_t z = 0; z < back; z++)
		memcpy(slice_at(v, v->work, z) + at, c[z * BATCH], count * sizeof *c);
}

/* Does the same for all columns. All threads of a team call this. */
static void
run_all_columns(const struct wconv_volume *v, size_t filled, const real *kernel, bool conjugate)
{
	const size_t wide = v->row / 2, groups = (wide + BATCH - 1) / BATCH;

#pragma omp for schedule(static)
	for (size_t i = 0; i < v->axis[1].len * groups; i++) {
		const size_t x = i % groups * BATCH;
		run_columns(v, i / groups * v->row + 2 * x, wide - x < BATCH ? wide - x : BATCH,
			    filled, kernel, conjugate);
	}
}

static void
take_kernel(struct wconv_volume *v, double scale)
{
	const size_t n = v->slice * v->axis[2].len;
	const real factor = (real)(scale / (double)v->axis[0].len / (double)v->axis[1].len /
				   (double)v->axis[2].len);
	const real *from = v->work;
	real *kernel = v->kernel;

#pragma omp parallel num_threads(v->threads)
	{
#pragma omp for schedule(static)
		for (size_t z = 0; z < v->axis[2].k; z++) {
			real *s = slice_at(v, v->work, z);
			FFTW(execute_dft_r2c)(v->plan[SLICES], s, (complex_pair *)s);
		}
		run_all_columns(v, v->axis[2].k, NULL, false);
#pragma omp for schedule(static)
		for (size_t i = 0; i < n; i++)
			kernel[i] = factor * from[i];
	}
}

static void
run(struct wconv_volume *v, bool transpose, const void *in, void *out)
{
	const struct volume_axis *az = &v->axis[2];
	const size_t first = transpose ? 0 : az->k - 1, pixels = v->axis[0].n * v->axis[1].n;

#pragma omp parallel num_threads(v->threads)
	{
#pragma omp for schedule(static)
		for (size_t z = 0; z < az->places; z++) {
			real *s = slice_at(v, v->work, z);
			(transpose ? put_results : put_slice)(v, in, z);
			FFTW(execute_dft_r2c)(v->plan[SLICES], s, (complex_pair *)s);
		}
		run_all_columns(v, az->places, v->kernel, transpose);
#pragma omp for schedule(static)
		for (size_t z = first; z < az->places; z++) {
			real *s = slice_at(v, v->work, z);
			FFTW(execute_dft_c2r)(v->plan[SLICES_BACK], (complex_pair *)s, s);
			if (!transpose)
				take_results(v, z - first, out);
		}
#pragma omp for schedule(static)
		for (size_t z = 0; z < (transpose ? az->n : 0); z++) {
			real *slice = (real *)out + z * pixels;
			memset(slice, 0, pixels * sizeof *slice);
			for (size_t i = 0; i < az->places; i++)
				if (az->from[i] == z)
					fold_slice(v, i, slice);
		}
	}
}

const struct volume_core SIMD_NAME(wconv_volume) = {sizeof(real), plan, unplan, take_kernel, run};
