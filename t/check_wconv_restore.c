/* wconv: deconvolutions against dense matrices, and when they stop. */
#include <string.h>

#include "common/base/mem.h"
#include "t/check_wconv_dense.h"

static int
run_on_cpu(void *with, struct wconv_restore *r, const void *y, void *x, struct wconv_restored *done,
	   struct why *why)
{
	(void)with;
	return wconv_restore_run(r, y, x, done, why);
}

static void
check_lucy(void)
{
	struct check_many m = {0};

	for (int accelerate = 0; accelerate < 2; accelerate++)
		dense_hold(&m, (struct wconv_restore_options){.accelerate = accelerate}, run_on_cpu,
			   NULL);
	check_end(&m, "wconv: Richardson-Lucy, accelerated or not, is that of a dense matrix, at "
		      "all edges, with "
		      "unknown samples");
}

static void
check_least_squares(void)
{
	struct check_many m = {0};

	dense_hold(&m, (struct wconv_restore_options){.least_squares = true}, run_on_cpu, NULL);
	check_end(&m,
		  "wconv: least squares is the dense solution, at all edges, with unknown samples");
}

/* The same bytes for any number of threads; the misfit falls to --noise and no further. */
static void
check_stops(void)
{
	struct check_many m = {0};
	struct check_rng rng = {33};
	struct wconv_restored done;
	struct wconv_restore *r;
	struct why why;
	struct conv_job j;

	conv_pose(&j, 150, 130, 7, 7, 3, 3);
	conv_fill(&j, &rng);
	j.q.edge = WCONV_RENORMALISE;
	float *x = weir_xalloc(150 * 130, sizeof *x),
	      *first = weir_xalloc(150 * 130, sizeof *first);
	for (int kind = 0; kind < 3; kind++)
		for (int t = 1; t <= 7; t += 3) {
			const struct wconv_restore_options o = {.least_squares = kind == 1,
								.accelerate = kind == 2,
								.steps = 500,
								.noise = .26};
			j.q.threads = t;
			check_case(&m, !wconv_restore_plan(&r, &j.q, &o, &why), "%s", why.text);
			check_case(&m, !wconv_restore_run(r, j.image, x, &done, &why), "%s",
				   why.text);
			check_case(&m,
				   done.rms <= .26 && done.rms > .2 && done.steps > 1 &&
				       done.steps < 500,
				   "kind %d: %zu steps to %g", kind, done.steps, done.rms);
			if (t == 1)
				memcpy(first, x, 150 * 130 * sizeof *x);
			check_case(&m, !memcmp(first, x, 150 * 130 * sizeof *x),
				   "%d threads: other bytes", t);
			wconv_restore_free(r);
		}
	check_end(&m, "wconv: deconvolution stops at the noise, with the same bytes for any number "
		      "of threads");
	weir_free(x);
	weir_free(first);
	conv_drop(&j);
}

void
check_wconv_restore(void)
{
	check_lucy();
	check_least_squares();
	check_stops();
}
