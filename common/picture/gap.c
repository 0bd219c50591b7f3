#include <math.h>
#include <string.h>

#include "common/base/opt.h"
#include "common/base/sample.h"
#include "common/picture/gap.h"

struct gap
gap_of(const struct img *x)
{
	const char *word = img_key(x, "nodata");
	struct gap g = {.type = x->type};
	double value = NAN;

	if (word && !img_is_float(x->type) && !opt_number(word, &value))
		return g;
	g.any = sample_store(g.sample, &value, x->type, 1) == 1;
	return g;
}

bool
gap_same(const struct gap *a, const struct gap *b)
{
	return a->type == b->type && a->any == b->any &&
	       (!a->any || !memcmp(a->sample, b->sample, img_type_size(a->type)));
}

#define DEFINE_MARK(NAME, TYPE)                                                                \
	static void NAME(const char *sample, uint8_t *restrict is, const void *from, size_t n) \
	{                                                                                      \
		const TYPE *v = from;                                                          \
		TYPE gap;                                                                      \
                                                                                               \
		memcpy(&gap, sample, sizeof gap);                                              \
		for (size_t i = 0; i < n; i++)                                                 \
			is[i] = v[i] == gap || v[i] != v[i];                                   \
	}
DEFINE_MARK(mark_1, uint8_t)
DEFINE_MARK(mark_2, uint16_t)
DEFINE_MARK(mark_4, uint32_t)
DEFINE_MARK(mark_8, uint64_t)
DEFINE_MARK(mark_f32, float)
DEFINE_MARK(mark_f64, double)
#undef DEFINE_MARK

void
gap_mark(const struct gap *g, uint8_t *restrict is, const void *restrict v, size_t n)
{
	const size_t size = img_type_size(g->type);

	if (!g->any)
		memset(is, 0, n);
	else if (g->type == IMG_F32)
		mark_f32(g->sample, is, v, n);
	else if (g->type == IMG_F64)
		mark_f64(g->sample, is, v, n);
	else
		(size == 1   ? mark_1
		 : size == 2 ? mark_2
		 : size == 4 ? mark_4
			     : mark_8)(g->sample, is, v, n);
}
