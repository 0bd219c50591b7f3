/*
 * The gains of edges. Many pictures have strong edges beside the weak one that is asked for, and texture that is as strong.
 * A person sees an edge by what is around it. So under the cost the response of an edge is multiplied by
 *
 *	gain = 1 / (N / M + .3)		N  the mean of sigma |grad| over a square of 5 x 5 cells around the place
 *					M  the mean of N over a square of 257 x 257 cells
 *
 * Only cells of the picture count for M. As the mean over the picture it would follow as many boundaries; but then the whole
 * picture has to be looked at for one line, and a part that was cut out gives another course. Squares of 65 x 65 follow fewer.
 *
 * Cells are c x c pixels, c = sigma rounded down. The gradient is that of one sample a cell, the mean of its pixels. Beyond
 * the border the pixels of the border are repeated. All places of a cell have one gain.
 */
#ifndef WEIR_DPTRACE_EVIDENCE_GAIN_H
#define WEIR_DPTRACE_EVIDENCE_GAIN_H

#include "common/base/both.h"
#include "dptrace/dptrace.h"

/*
 * Makes the gains of a picture for the scale and the polarity of o, where the lines may read them; elsewhere they are 0. gray
 * is the mean of the planes. image->gain is not read. Returns 0, or -ENOMEM. The caller frees to->v.
 */
int gain_make(struct dptrace_gain *to, const struct dptrace_image *image, const float *gray,
	      const struct dptrace_options *o, const struct dptrace_line *line, size_t nline);

/* The gain at a pixel; 1 where there are no gains. */
static WEIR_BOTH inline float
gain_at(const struct dptrace_gain *g, size_t x, size_t y)
{
	return g->v ? g->v[y / g->cell * g->w + x / g->cell] : 1;
}

#endif
