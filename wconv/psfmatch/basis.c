/* The basis of kernels. All kernels are outer products, so that a stamp is convolved along x first and then along y. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "wconv/psfmatch/inside.h"

/* Alard's Gaussians: the width of each in pixels, for stars 4 pixels wide at half height, and the degree of its powers. */
static const struct {
	double sigma;
	int degree;
} gauss[] = {{.7, 6}, {1.5, 4}, {3, 2}};
enum { GAUSSES = sizeof gauss / sizeof *gauss };

static size_t
count_kernels(enum psfmatch_basis basis, size_t size)
{
	size_t n = 0;

	if (basis == PSFMATCH_DELTA)
		return size * size;
	for (size_t g = 0; g < GAUSSES; g++)
		n += psfmatch_terms(gauss[g].degree);
	return n;
}

/* Fills in x^power exp(-x^2 / 2 sigma^2), scaled to the sum 1, or for an odd power to the sum of squares 1. */
static void
fill_gauss(double *to, size_t size, double sigma, int power)
{
	const double half = (double)(size / 2);
	double sum = 0;

	for (size_t i = 0; i < size; i++) {
		const double x = (double)i - half;
		to[i] = pow(x / sigma, power) * exp(-x * x / (2 * sigma * sigma));
		sum += power % 2 ? to[i] * to[i] : to[i];
	}
	for (size_t i = 0; i < size; i++)
		to[i] /= power % 2 ? sqrt(sum) : sum;
}

static void
fill_gausses(struct psfmatch_kernels *k, double stretch)
{
	size_t n = 0;

	for (size_t g = 0; g < GAUSSES; g++) {
		const double sigma = stretch * gauss[g].sigma;
		for (int j = 0; j <= gauss[g].degree; j++)
			for (int i = 0; i + j <= gauss[g].degree; i++, n++) {
				fill_gauss(k->x + n * k->size, k->size, sigma, i);
				fill_gauss(k->y + n * k->size, k->size, sigma, j);
				k->sum[n] = n && i % 2 == 0 && j % 2 == 0;
			}
	}
}

/* Fills in kernels of a single sample, the centre first. */
static void
fill_deltas(struct psfmatch_kernels *k)
{
	for (size_t n = 0; n < k->n; n++) {
		const size_t at = psfmatch_tap(n, k->size);
		k->x[n * k->size + at % k->size] = 1;
		k->y[n * k->size + at / k->size] = 1;
		k->sum[n] = n > 0;
	}
}

/* Numbers the different x. Kernels of the same x share their convolution along x. */
static void
number_columns(struct psfmatch_kernels *k)
{
	for (size_t i = 0; i < k->n; i++) {
		size_t j = 0;
		while (memcmp(k->x + i * k->size, k->x + j * k->size, k->size * sizeof *k->x))
			j++;
		k->which[i] = j == i ? k->different++ : k->which[j];
	}
}

int
psfmatch_make_kernels(struct psfmatch_kernels *k, enum psfmatch_basis basis, size_t size,
		      double stretch)
{
	*k = (struct psfmatch_kernels){
	    .basis = basis, .n = count_kernels(basis, size), .size = size};
	k->x = weir_calloc(k->n * k->size, sizeof *k->x);
	k->y = weir_calloc(k->n * k->size, sizeof *k->y);
	k->sum = weir_calloc(k->n, sizeof *k->sum);
	k->which = weir_calloc(k->n, sizeof *k->which);
	if (!k->x || !k->y || !k->sum || !k->which) {
		psfmatch_free_kernels(k);
		return -ENOMEM;
	}
	if (basis == PSFMATCH_DELTA)
		fill_deltas(k);
	else
		fill_gausses(k, stretch);
	number_columns(k);
	return 0;
}

void
psfmatch_free_kernels(struct psfmatch_kernels *k)
{
	weir_free(k->x);
	weir_free(k->y);
	weir_free(k->sum);
	weir_free(k->which);
	*k = (struct psfmatch_kernels){0};
}

void
psfmatch_add_kernel(const struct psfmatch_kernels *b, size_t k, double by, double *to)
{
	const double *x = b->x + k * b->size, *y = b->y + k * b->size;

	for (size_t j = 0; j < b->size; j++)
		for (size_t i = 0; i < b->size; i++)
			to[j * b->size + i] += by * (x[i] * y[j] - b->sum[k] * b->x[i] * b->y[j]);
}
