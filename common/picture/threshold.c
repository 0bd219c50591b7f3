#include <math.h>

#include "common/base/cpu.h"
#include "common/base/sample.h"
#include "common/picture/threshold.h"

#define CHOOSE(NAME, TYPE)                                                                  \
	WEIR_CLONES(choose_##NAME,                                                          \
		    (uint8_t *restrict to, const TYPE *restrict v, size_t n, double above), \
		    (to, v, n, above))                                                      \
	{                                                                                   \
		if (isnan(above))                                                           \
			for (size_t i = 0; i < n; i++)                                      \
				to[i] = v[i] < 0 || v[i] > 0;                               \
		else                                                                        \
			for (size_t i = 0; i < n; i++)                                      \
				to[i] = (double)v[i] > above;                               \
	}
CHOOSE(u8, uint8_t)
CHOOSE(u16, uint16_t)
CHOOSE(f32, float)
CHOOSE(f64, double)
#undef CHOOSE

void
choose(uint8_t *restrict chosen, double *restrict work, const void *restrict from,
       enum img_type type, size_t n, double above)
{
	if (type == IMG_U8) {
		choose_u8(chosen, from, n, above);
	} else if (type == IMG_U16) {
		choose_u16(chosen, from, n, above);
	} else if (type == IMG_F32) {
		choose_f32(chosen, from, n, above);
	} else {
		sample_load(work, from, type, n);
		choose_f64(chosen, work, n, above);
	}
}
