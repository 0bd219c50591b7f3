/* What gpu/NAME.h promises, in a build without CUDA: gpu_open() and gpu_start() say so, and the rest is never reached. */
#include <errno.h>
#include <stdio.h>

#include "gpu/dptrace/dptrace.h"
#include "gpu/emst/emst.h"
#include "gpu/gpu.h"
#include "gpu/morphrec/morphrec.h"
#include "gpu/radon/radon.h"
#include "gpu/usfft/usfft.h"
#include "gpu/wconv/wconv.h"

static const char state[] = "built without CUDA";

struct gpu *
gpu_open(const char *list, char why[GPU_WHY])
{
	(void)list;
	snprintf(why, GPU_WHY, "%s", state);
	return NULL;
}

struct gpu *
gpu_start(const char *list, void (*refuse)(const char *why))
{
	(void)list;
	refuse(state);
	return NULL;
}

int
gpu_enter(struct gpu *g)
{
	(void)g;
	return 0;
}

void
gpu_close(struct gpu *g)
{
	(void)g;
}

void
gpu_release(struct gpu *g)
{
	(void)g;
}

void
gpu_ahead(struct gpu *g, const struct gpu_span *s, size_t n)
{
	(void)g, (void)s, (void)n;
}

int
gpu_settle(struct gpu *g, const void *host, size_t bytes)
{
	(void)g, (void)host, (void)bytes;
	return 0;
}

const char *
gpu_why(const struct gpu *g)
{
	(void)g;
	return state;
}

size_t
gpu_count(const struct gpu *g)
{
	return g != NULL;
}

const char *
gpu_name(const struct gpu *g)
{
	(void)g;
	return state;
}

double
gpu_kernel_seconds(const struct gpu *g)
{
	(void)g;
	return 0;
}

double
gpu_copy_seconds(const struct gpu *g)
{
	(void)g;
	return 0;
}

int
gpu_measure(struct gpu *g, size_t bytes, struct gpu_rates *r)
{
	(void)g, (void)bytes, (void)r;
	return -EIO;
}

const char *
gpu_state(void)
{
	return state;
}

int
gpu_morphrec_run(struct gpu *g, struct morphrec_plan *p, void *J, const void *I)
{
	(void)g, (void)p, (void)J, (void)I;
	return -EIO;
}

int
gpu_morphrec_operate(struct gpu *g, struct morphrec_plan *p, const struct morphrec_operator *op,
		     bool walls, void *J, const void *f)
{
	(void)g, (void)p, (void)op, (void)walls, (void)J, (void)f;
	return -EIO;
}

void
gpu_emst_ahead(struct gpu *g, const struct emst_set *s, bool brute)
{
	(void)g, (void)s, (void)brute;
}

int
gpu_emst_run(struct gpu *g, const struct emst_set *s, bool brute, struct emst_tree *t)
{
	(void)g, (void)s, (void)brute, (void)t;
	return -EIO;
}

int
gpu_wconv_run(struct gpu *g, struct wconv_plan *p, const void *in, void *out)
{
	(void)g, (void)p, (void)in, (void)out;
	return -EIO;
}

int
gpu_wconv_adjoint(struct gpu *g, const struct wconv_plan *p, const void *in, void *out)
{
	(void)g, (void)p, (void)in, (void)out;
	return -EIO;
}

int
gpu_wconv_restore(struct gpu *g, struct wconv_restore *r, const void *y, void *x,
		  struct wconv_restored *done, struct why *why)
{
	(void)g, (void)r, (void)y, (void)x, (void)done, (void)why;
	return -EIO;
}

int
gpu_usfft_points(struct gpu *g, struct usfft_plan *p, const struct usfft_points *pt, const void *c,
		 size_t cstride, size_t *bad)
{
	(void)g, (void)p, (void)pt, (void)c, (void)cstride, (void)bad;
	return -EIO;
}

int
gpu_usfft_type1(struct gpu *g, const struct usfft_plan *p, int sign, const void *c, void *modes)
{
	(void)g, (void)p, (void)sign, (void)c, (void)modes;
	return -EIO;
}

int
gpu_usfft_type2(struct gpu *g, const struct usfft_plan *p, int sign, const void *modes, void *c)
{
	(void)g, (void)p, (void)sign, (void)modes, (void)c;
	return -EIO;
}

int
gpu_usfft_type3(struct gpu *g, const struct usfft_options *o, const struct usfft_points *pt,
		const void *c, const struct usfft_points *targets, int sign, void *out, size_t *bad)
{
	(void)g, (void)o, (void)pt, (void)c, (void)targets, (void)sign, (void)out, (void)bad;
	return -EIO;
}

int
gpu_usfft_inverse(struct gpu *g, const struct usfft_options *o, const struct usfft_points *pt,
		  const double *w, const double *b, const struct usfft_inverse *how, double *modes,
		  struct usfft_outcome *got, size_t *bad)
{
	(void)g, (void)o, (void)pt, (void)w, (void)b, (void)how, (void)modes, (void)got, (void)bad;
	return -EIO;
}

int
gpu_usfft_pipe(struct gpu *g, const struct usfft_options *o, const struct usfft_points *pt,
	       int rounds, double *w, size_t *bad)
{
	(void)g, (void)o, (void)pt, (void)rounds, (void)w, (void)bad;
	return -EIO;
}

int
gpu_radon_run(struct gpu *g, const struct radon_plan *p, size_t n, const float *const *in,
	      float *const *out, struct radon_report *report)
{
	(void)g, (void)p, (void)n, (void)in, (void)out, (void)report;
	return -EIO;
}

void
gpu_dptrace_ahead(struct gpu *g, const struct dptrace_plan *p)
{
	(void)g, (void)p;
}

int
gpu_dptrace_run(struct gpu *g, struct dptrace_plan *p, bool *there)
{
	(void)g, (void)p, (void)there;
	return -EIO;
}

int
gpu_dptrace_tables(struct gpu *g, const struct dptrace_table *seg, size_t nseg, bool closed,
		   double phi, enum dptrace_method method, int *at, double *best, double *margin)
{
	(void)g, (void)seg, (void)nseg, (void)closed, (void)phi, (void)method;
	(void)at, (void)best, (void)margin;
	return -EIO;
}
