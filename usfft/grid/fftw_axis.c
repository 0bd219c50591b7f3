#include <errno.h>
#include <fftw3.h>

#include "usfft/grid/fftw_axis.h"

/* FFTW takes 20 us to plan 1536 samples again, and the whole transform of 1000 points takes 30: the last plan is kept. */
static struct fftw_axis kept;

static void
destroy(struct fftw_axis *f)
{
	if (f->plan && f->single)
		fftwf_destroy_plan(f->plan);
	else if (f->plan)
		fftw_destroy_plan(f->plan);
	*f = (struct fftw_axis){0};
}

int
fftw_axis_make(struct fftw_axis *f, const struct usfft_options *o, size_t n, size_t many,
	       size_t stride, void *data)
{
	const unsigned how = o->measure ? FFTW_MEASURE : FFTW_ESTIMATE;
	const int len = (int)n, count = (int)many, step = (int)stride;

	*f = (struct fftw_axis){.n = n, .single = o->single, .plain = many == 1 && !o->measure};
	if (f->plain && kept.plan && kept.n == n && kept.single == o->single) {
		*f = kept;
		kept.plan = NULL;
		return 0;
	}
	if (o->single)
		f->plan = fftwf_plan_many_dft(1, &len, count, data, NULL, step, 1, data, NULL, step,
					      1, FFTW_FORWARD, how);
	else
		f->plan = fftw_plan_many_dft(1, &len, count, data, NULL, step, 1, data, NULL, step,
					     1, FFTW_FORWARD, how);
	return f->plan ? 0 : -ENOMEM;
}

void
fftw_axis_run(const struct fftw_axis *f, void *at)
{
	if (f->single)
		fftwf_execute_dft(f->plan, at, at);
	else
		fftw_execute_dft(f->plan, at, at);
}

void
fftw_axis_free(struct fftw_axis *f)
{
	if (f->plan && f->plain) {
		destroy(&kept);
		kept = *f;
		f->plan = NULL;
	}
	destroy(f);
}
