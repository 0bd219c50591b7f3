/* The kernels that core/small_body.h has code for. */
#ifndef WCONV_SMALL_H
#define WCONV_SMALL_H

#include "wconv/plan.h"

static inline bool
wconv_is_small(const struct wconv_plan *p)
{
	const size_t k = p->q.kw;

	return p->x.nfun == 1 && p->y.nfun == 1 && p->q.kh == k && (k == 3 || k == 5 || k == 7);
}

#endif
