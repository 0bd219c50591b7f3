/*
 * The unsigned element T of BITS bits, the name N(name) of an instance of a function for it, and IN and OUT, which map a sample
 * to its key and back. A file that defines TEMPLATE includes that file once for 8, 16, 32 and 64 bits; BY_TYPE(name) are the
 * four instances, for a table by morphrec_width().
 */
#ifndef BY_TYPE
#define BY_TYPE(name)                                 \
	{                                             \
		name##8, name##16, name##32, name##64 \
	}
#define BY_TYPE_PASTE(a, b, c) a##b##c
#define BY_TYPE_NAME(a, b, c)  BY_TYPE_PASTE(a, b, c)
#define N(name)		       BY_TYPE_NAME(name, BITS, )
#define T		       BY_TYPE_NAME(uint, BITS, _t)
#define IN		       BY_TYPE_NAME(key, BITS, _in)
#define OUT		       BY_TYPE_NAME(key, BITS, _out)
#endif

#ifdef TEMPLATE
#define BITS 8
#include TEMPLATE
#undef BITS
#define BITS 16
#include TEMPLATE
#undef BITS
#define BITS 32
#include TEMPLATE
#undef BITS
#define BITS 64
#include TEMPLATE
#undef BITS
#undef TEMPLATE
#endif
