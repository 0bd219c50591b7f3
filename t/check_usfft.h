/* The parts of the checks of usfft. */
#ifndef WEIR_CHECK_USFFT_H
#define WEIR_CHECK_USFFT_H

#include "t/check.h"
#include "usfft/usfft.h"

/* A problem: points, values at the points and at the modes, all of one precision. Its arrays are check_free()'s. */
struct problem {
	struct usfft_options o;
	struct usfft_points pt;
	size_t modes;
	void *x;     /* dim coordinates per point */
	void *c, *f; /* complex values of points and of modes, in the precision of the problem */
	double *cd, *fd;  /* the same as doubles */
	double *exact[2]; /* per type, the exact sums that were sampled, once they are known */
	int exact_sign[2];
};

enum kind { UNIFORM, CLUSTERED, DUPLICATE, EDGE, RADON, FAR, KINDS };

void problem_make(struct problem *q, const struct usfft_options *o, size_t m, enum kind kind,
		  struct check_rng *r);
const char *problem_name(const struct problem *q, enum kind kind);

/*
 * The l2 error of about 24 outputs of a type against the exact sums, relative. These cost the time of the checks, so
 * they are kept for as long as the points and values stay what they are.
 */
double problem_error(struct problem *q, int type, int sign, const void *got);

/* |got - want| / |want| for n numbers, or / least where that is larger. */
double problem_distance(const double *got, const double *want, size_t n, double least);

/* Bytes of the kinds of registers that this CPU has, the widest first; how many. */
int problem_registers(int bytes[3]);

/* Plans, runs and frees; out is poisoned before. Dies when it cannot. */
void problem_run(const struct problem *q, int type, int sign, void *out);

void check_usfft_batch(void);
void check_usfft_more(void);
void check_usfft_sky(void);

#endif
