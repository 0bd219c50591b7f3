/* What the checks of radon on the GPU share. */
#ifndef WEIR_CHECK_GPU_RADON_H
#define WEIR_CHECK_GPU_RADON_H

#include "gpu/radon/radon.h"
#include "t/check_radon.h"

enum { GATHERS = 5 };

/* GATHERS gathers or panels of noise, and where their results go. */
struct trial {
	struct radon_options o;
	size_t in, out; /* samples of each */
	float *x[GATHERS], *y[GATHERS];
	double *want;
};

/* The scene of t/check_radon.h for the GPU: its live traces, one thread. */
struct radon_options trial_options(void);

struct trial trial_new(const struct radon_options *o, struct check_rng *r);
void trial_free(struct trial *t);

/* The first n gathers, poisoned before by trial_new(); what gpu_radon_run() gives. */
int trial_run(struct gpu *gpu, struct trial *t, size_t n, struct radon_report *report);

/* A case of many: a new trial of o against the definition, whose relative l2 error is at most bound. */
void trial_hold(struct gpu *gpu, const struct radon_options *o, struct check_rng *r,
		struct check_many *many, double bound);

void check_gpu_radon_lsq(struct gpu *gpu, struct check_rng *r);

#endif
