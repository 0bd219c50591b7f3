/* The scene of the checks of radon: 24 traces of 90 samples, 30 curves, and where the traces lie. */
#ifndef WEIR_CHECK_RADON_H
#define WEIR_CHECK_RADON_H

#include "radon/radon.h"
#include "t/check.h"

enum { SCENE_TRACES = 500 };

extern double scene_g[SCENE_TRACES];
extern bool scene_live[SCENE_TRACES];
extern const struct radon_options scene_small;

/* nx traces at regular offsets, jittered by up to jitter of their distance; all live. */
void scene_lay_out(struct check_rng *r, size_t nx, enum radon_curve curve, double jitter);

/* n numbers in [-.5,.5). This array and those of the functions below are check_free()'s. */
float *scene_noise(struct check_rng *r, size_t n);
double *scene_widen(const float *x, size_t n);

/* Samples of a panel, and of what a run gives. */
size_t scene_panel_size(const struct radon_options *o);
size_t scene_out_size(const struct radon_options *o);

/* What transforms a gather, into a poisoned array of its own: the CPU, and in check_gpu_radon.c the GPU. */
struct scene_engine {
	const char *name; /* what the names of its tests begin with: check_whose() */
	bool slow;	  /* takes a part of the cases */
	float *(*run)(const struct radon_options *o, const float *in, struct radon_report *r);
};
extern const struct scene_engine scene_cpu;
extern const struct scene_engine
    *scene_on; /* the engine of the functions below; at first the CPU */

/* One run. NULL: it failed. */
float *scene_run(const struct radon_options *o, const float *in, struct radon_report *r);

/* a.b; |x|^2. */
double scene_dot(const float *a, const float *b, size_t n);
double scene_energy(const float *x, size_t n);

/* The distance of *got, what a run makes of a gather, from its definition; NaN: there is no plan. */
typedef int scene_direct(const struct radon_options *o, const float *gather, double *panel);
double scene_error(const struct radon_options *o, const float *d, scene_direct *direct, float **got,
		   struct radon_report *r);

/* Noise with a dead trace, 3, in scene_live[], and with muted beginnings and ends. */
float *scene_damaged(struct check_rng *r, const struct radon_options *o);

/* A case: an inverse of 4 steps at last is the definition's to bound, and has the same bytes on three threads. */
void scene_inverse(struct check_many *many, struct radon_options o, const float *d, double bound);

/* The relative errors of adjoint and modelling of noise against direct.c, NaN when there is no plan. */
double scene_adjoint_error(struct check_rng *r, const struct radon_options *o);
double scene_model_error(struct check_rng *r, struct radon_options o);

/* |<Rf, m> - <f, R*m>| / (|Rf| |m|) of noise. */
double scene_dot_test(struct check_rng *r, struct radon_options o);

/* Sample i of a gather with an event at t0 and q. */
float scene_wavelet(const struct radon_options *o, size_t i, double t0, double q);

/* Adds three primaries with q = 0, and multiples with q = .1 at their times. */
void scene_events(const struct radon_options *o, float *d);

/* The checks that both engines pass. */
void check_radon_transforms(void);
void check_radon_least_squares(void);

/* Parts of check_radon: least squares and sparse solutions; the noise found; two axes of curves; adaptive subtraction. */
void check_radon_lsq(void);
void check_radon_noise(void);
void check_radon_plane(void);
void check_radon_adapt(void);

#endif
