/* The inside of a deconvolution: what the steps of both precisions share. */
#ifndef WCONV_RESTORE_INSIDE_H
#define WCONV_RESTORE_INSIDE_H

#include "wconv/restore/restore.h"

struct wconv_restore {
	struct wconv_restore_options o;
	struct wconv_plan *plan;
	struct wconv_adjoint *adjoint;
	/* for a kernel of three axes, in place of both */
	struct wconv_volume *volume;
	int threads;
	bool in_double;
	/*
	 * The size of the data and of the estimate, and the place of the data's first sample in the estimate. h and eh count
	 * the rows of all slices of a volume; a slice of the data has `rows` of them, and one of the estimate `erows`.
	 */
	size_t w, h, ew, eh, ox, oy, oz, rows, erows;
	double *node_x, *node_y;
	/* the estimate x, and two arrays of its size */
	void *x, *p, *s;
	/* two arrays of the data's size */
	void *f, *r;
	/* one sum for each row of the data or of the estimate, so that totals do not depend on threads */
	double *row;
	/* Richardson-Lucy: the data; a step's smallest A x + sky; the value of s below which x is not known */
	const void *y;
	double least, dark;
	/* with acceleration: X and g of the step before, of the estimate's size; the sums g g' and g'^2 of each of its rows */
	void *last, *gain;
	double *along, *before;
};

/* The known samples: how many there are, their sum, and their largest absolute value. */
struct wconv_known {
	size_t n;
	double sum, peak;
};

/*
 * Fills in r->least and r->dark, and sets *level to the start of Richardson-Lucy: the constant that explains the sum of the
 * known samples. largest, all: the largest s = A' 1 and the sum of s. Returns 0, or -1 with a sentence in err.
 */
int wconv_restore_start(struct wconv_restore *r, const struct wconv_known *k, double largest,
			double all, double *level, char err[WCONV_ERR]);

/* Says in err that no sample is known. Returns -1. */
int wconv_restore_unknown(char err[WCONV_ERR]);

/* Refuses sums of squares of the misfit and of the gradient that are not finite. Returns 0, or -1 with a sentence in err. */
int wconv_restore_check(double misfit, double gradient, char err[WCONV_ERR]);

/* Sets done->rms, from the sum of squares over n known samples. Returns whether the steps end here. */
bool wconv_restore_ends(const struct wconv_restore *r, struct wconv_restored *done, double squares,
			size_t n);

/* Below this part of its first value, the gradient's sum of squares is nothing but rounding. */
double wconv_restore_tiny(const struct wconv_restore *r);

/* to = A from; with transpose, to = A' from. */
void wconv_restore_apply(const struct wconv_restore *r, bool transpose, const void *from, void *to);

/* Does the same, and calls `row` for each row of the result when it is done. to need not hold the result afterwards. */
void wconv_restore_apply_rows(struct wconv_restore *r, bool transpose, const void *from, void *to,
			      void (*row)(void *r, size_t row, const void *samples));

/*
 * The methods in one precision. lucy and least_squares return 0, or -1 with a sentence in err.
 * cut copies the part of the estimate that lies where the data do.
 */
struct wconv_restore_steps {
	int (*lucy)(struct wconv_restore *r, const void *y, struct wconv_restored *done,
		    char err[WCONV_ERR]);
	int (*least_squares)(struct wconv_restore *r, const void *y, struct wconv_restored *done,
			     char err[WCONV_ERR]);
	void (*cut)(const struct wconv_restore *r, void *to);
};
extern const struct wconv_restore_steps wconv_restore_f32, wconv_restore_f64;

#endif
