/* Copies a mask of integers to the floating type of the marker, which holds every value of the mask exactly. */
#include "morphrec/ops/ops.h"

#define WIDEN(F, T)                                                    \
	static void F##_from_##T(void *to, const void *from, size_t n) \
	{                                                              \
		F *x = to;                                             \
		const T *v = from;                                     \
                                                                       \
		for (size_t i = 0; i < n; i++)                         \
			x[i] = (F)v[i];                                \
	}

WIDEN(float, int8_t)
WIDEN(float, uint8_t)
WIDEN(float, int16_t)
WIDEN(float, uint16_t)
WIDEN(double, int8_t)
WIDEN(double, uint8_t)
WIDEN(double, int16_t)
WIDEN(double, uint16_t)
WIDEN(double, int32_t)
WIDEN(double, uint32_t)

morphrec_widen *
morphrec_widening(enum img_type to, enum img_type from)
{
	static morphrec_widen *const to_float[] = {[IMG_I8] = float_from_int8_t,
						   [IMG_U8] = float_from_uint8_t,
						   [IMG_I16] = float_from_int16_t,
						   [IMG_U16] = float_from_uint16_t,
						   [IMG_F64] = NULL},
				     *const to_double[] = {[IMG_I8] = double_from_int8_t,
							   [IMG_U8] = double_from_uint8_t,
							   [IMG_I16] = double_from_int16_t,
							   [IMG_U16] = double_from_uint16_t,
							   [IMG_I32] = double_from_int32_t,
							   [IMG_U32] = double_from_uint32_t,
							   [IMG_F64] = NULL};

	return to == IMG_F32 ? to_float[from] : to == IMG_F64 ? to_double[from] : NULL;
}
