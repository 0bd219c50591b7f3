/* The parts of the checks of usfft. */
#ifndef WEIR_CHECK_USFFT_H
#define WEIR_CHECK_USFFT_H

#include "common/base/real.h"
#include "t/check.h"
#include "usfft/direct.h"
#include "usfft/inverse.h"
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

/* What transforms: the CPU, and in check_gpu_usfft.c the GPU. */
struct engine {
	const char *name;	      /* what the names of its tests begin with: check_whose() */
	size_t every;		      /* of cases that take long, one in so many runs */
	void (*begin)(size_t number); /* is called before each case; NULL: nothing is */

	/* As the functions of usfft/usfft.h and usfft/inverse.h. They return 0 or -errno. */
	int (*points)(struct usfft_plan *p, const struct usfft_points *pt, const void *c,
		      size_t cstride, size_t *bad);
	int (*type1)(struct usfft_plan *p, int sign, const void *c, void *modes);
	int (*type2)(struct usfft_plan *p, int sign, const void *modes, void *c);
	int (*type3)(const struct usfft_options *o, const struct usfft_points *pt, const void *c,
		     const struct usfft_points *targets, int sign, void *out, size_t *bad);
	int (*inverse)(const struct usfft_options *o, const struct usfft_points *pt,
		       const double *w, const double *b, const struct usfft_inverse *v,
		       double *modes, struct usfft_outcome *got, size_t *bad);
};
extern const struct engine on_cpu;
extern const struct engine *engine_on; /* of the functions below; at first the CPU */

/* Before a case of m. */
void engine_begin(const struct check_many *m);

void problem_make(struct problem *q, const struct usfft_options *o, size_t m, enum kind kind,
		  struct check_rng *r);
const char *problem_name(const struct problem *q, enum kind kind);

/* n complex values, floats (single) or doubles; *copy: the same as doubles. */
void *problem_values(size_t n, bool single, double **copy, struct check_rng *r);

/*
 * The l2 error of about 24 outputs of a type against the exact sums, relative. These cost the time of the checks, so
 * they are kept for as long as the points and values stay what they are.
 */
double problem_error(struct problem *q, int type, int sign, const void *got);

/* Bytes of the kinds of registers that this CPU has, the widest first; how many. */
int problem_registers(int bytes[3]);

/* Plans, runs and frees; out is poisoned before. carried: the values of type 1 go along with the points. 0 or -errno. */
int problem_run_on(const struct engine *e, const struct problem *q, int type, int sign,
		   bool carried, void *out);

/* The same on the CPU, carried. Dies when it cannot. */
void problem_run(const struct problem *q, int type, int sign, void *out);

/* The checks that both engines pass. */
void check_usfft_on(const struct engine *e);
void check_usfft_crowds(void);
void check_usfft_types(void);

/* Those of the CPU alone. */
void check_usfft_batch(void);
void check_usfft_more(void);
void check_usfft_sky(void);

#endif
