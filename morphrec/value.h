/* Reads and writes single samples of any type as doubles, which hold all of them exactly. */
#ifndef MORPHREC_VALUE_H
#define MORPHREC_VALUE_H

#include <stdint.h>

#include "common/stream/img.h"

static inline double
value_get(enum img_type type, const void *a, size_t i)
{
	switch (type) {
	case IMG_I8:
		return ((const int8_t *)a)[i];
	case IMG_U8:
		return ((const uint8_t *)a)[i];
	case IMG_I16:
		return ((const int16_t *)a)[i];
	case IMG_U16:
		return ((const uint16_t *)a)[i];
	case IMG_I32:
		return ((const int32_t *)a)[i];
	case IMG_U32:
		return ((const uint32_t *)a)[i];
	case IMG_F32:
		return (double)((const float *)a)[i];
	default:
		return ((const double *)a)[i];
	}
}

/* v must be a value of that type. */
static inline void
value_set(enum img_type type, void *a, size_t i, double v)
{
	switch (type) {
	case IMG_I8:
		((int8_t *)a)[i] = (int8_t)v;
		break;
	case IMG_U8:
		((uint8_t *)a)[i] = (uint8_t)v;
		break;
	case IMG_I16:
		((int16_t *)a)[i] = (int16_t)v;
		break;
	case IMG_U16:
		((uint16_t *)a)[i] = (uint16_t)v;
		break;
	case IMG_I32:
		((int32_t *)a)[i] = (int32_t)v;
		break;
	case IMG_U32:
		((uint32_t *)a)[i] = (uint32_t)v;
		break;
	case IMG_F32:
		((float *)a)[i] = (float)v;
		break;
	default:
		((double *)a)[i] = v;
	}
}

#endif
