/* A deconvolution from inside: what the steps of both precisions share. */
#ifndef WCONV_RESTORE_INSIDE_H
#define WCONV_RESTORE_INSIDE_H

#include "wconv/restore/restore.h"

struct wconv_restore {
	struct wconv_restore_options o;
	struct wconv_plan *plan;
	struct wconv_adjoint *adjoint;
	int threads;
	bool in_double;
	/* of the data; of the estimate; where the data's first sample lies in the estimate */
	size_t w, h, ew, eh, ox, oy;
	double *node_x, *node_y;
	/* the estimate x, and two arrays of its size */
	void *x, *p, *s;
	/* two arrays of the data's size */
	void *f, *r;
	/* per row, so that sums do not depend on threads: of the data or of the estimate */
	double *row;
};

/* to = A from, or A' from. */
void wconv_restore_apply(const struct wconv_restore *r, bool transpose, const void *from, void *to);

/* The steps in one precision. 0, or -1 with a sentence in err. */
struct wconv_restore_steps {
	int (*lucy)(struct wconv_restore *r, const void *y, struct wconv_restored *done,
		    char err[WCONV_ERR]);
	int (*least_squares)(struct wconv_restore *r, const void *y, struct wconv_restored *done,
			     char err[WCONV_ERR]);
	void (*cut)(const struct wconv_restore *r, void *to);
};
extern const struct wconv_restore_steps wconv_restore_f32, wconv_restore_f64;

#endif
