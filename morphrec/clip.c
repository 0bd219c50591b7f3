/* The pass before a reconstruction: J0, and what the problem is like. Bound by memory, so on one thread. */
#include "common/simd.h"
#include "morphrec/morphrec.h"

enum { PIECE = 4096 }; /* samples, so that what needs mending is still in the cache */

#define T	uint8_t
#define IN	key8_in
#define OUT	key8_out
#define N(name) name##8
#include "morphrec/clip.h"

#define T	uint16_t
#define IN	key16_in
#define OUT	key16_out
#define N(name) name##16
#include "morphrec/clip.h"

#define T	uint32_t
#define IN	key32_in
#define OUT	key32_out
#define N(name) name##32
#include "morphrec/clip.h"

#define T	uint64_t
#define IN	key64_in
#define OUT	key64_out
#define N(name) name##64
#include "morphrec/clip.h"

typedef void
clip(void *J, const void *I, size_t n, size_t at, struct key_map map, struct morphrec_clip *c);

void
morphrec_clip(struct morphrec_plan *p, void *J, const void *I)
{
	static clip *const clips[] = {clip8, clip16, clip32, clip64};
	const struct key_map map = morphrec_keys(&p->what);
	const size_t size = img_type_size(p->what.type), total = p->what.w * p->what.h * p->what.d;
	clip *const one = clips[__builtin_ctzll(size)];

	p->clip = (struct morphrec_clip){.lo = UINT64_MAX, .two = size == 1};
	for (size_t at = 0; at < total; at += PIECE) {
		const size_t n = total - at < PIECE ? total - at : PIECE;
		one((char *)J + at * size, (const char *)I + at * size, n, at, map, &p->clip);
		if (p->what.done)
			p->what.done(p->what.done_with, at * size, n * size);
	}
}
