/*
 * Includes the file TEMPLATE four times, for elements of 8, 16, 32 and 64 bits. Each time it defines T (the unsigned
 * element), BITS, N(name) (the name of an instance), and IN and OUT (a sample to its key, and back). FOUR(name) are the four
 * instances, for a table by morphrec_width().
 */
#define FOUR(name)                                    \
	{                                             \
		name##8, name##16, name##32, name##64 \
	}

#define T	uint8_t
#define BITS	8
#define IN	key8_in
#define OUT	key8_out
#define N(name) name##8
#include TEMPLATE
#undef T
#undef BITS
#undef IN
#undef OUT
#undef N

#define T	uint16_t
#define BITS	16
#define IN	key16_in
#define OUT	key16_out
#define N(name) name##16
#include TEMPLATE
#undef T
#undef BITS
#undef IN
#undef OUT
#undef N

#define T	uint32_t
#define BITS	32
#define IN	key32_in
#define OUT	key32_out
#define N(name) name##32
#include TEMPLATE
#undef T
#undef BITS
#undef IN
#undef OUT
#undef N

#define T	uint64_t
#define BITS	64
#define IN	key64_in
#define OUT	key64_out
#define N(name) name##64
#include TEMPLATE
#undef T
#undef BITS
#undef IN
#undef OUT
#undef N
#undef TEMPLATE
