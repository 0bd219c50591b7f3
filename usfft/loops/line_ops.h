/* The inner loops of line.h, one set for each kind of register. */
#ifndef WEIR_USFFT_LOOPS_LINE_OPS_H
#define WEIR_USFFT_LOOPS_LINE_OPS_H

#include "usfft/line.h"

enum { LINE_TAPS = 8, LINE_COEFS = 10 };

struct line_ops {
	void (*spread)(const struct usfft_line *p, const struct usfft_line_work *w, int sign,
		       const float *d, size_t ldd);
	void (*interp)(const struct usfft_line *p, const struct usfft_line_work *w, int sign,
		       float *d, size_t ldd);
};

#endif
