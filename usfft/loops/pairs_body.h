/*
 * Moves complex samples, which are pairs of lanes, between lanes. These are shuffles because gcc 12 compiles element-wise
 * loops to moves through memory.
 */
#define SHUFFLE(a, ...) __builtin_shufflevector(a, a, __VA_ARGS__)
#if BYTES / SAMPLE == 2
#define PAIR   0, 1
#define HALVES 0, 0
#define LOWER  0, 0
#define UPPER  1, 1
#define FOLD(s)
#elif BYTES / SAMPLE == 4
#define PAIR	0, 1, 0, 1
#define HALVES	0, 0, 0, 0
#define LOWER	0, 0, 1, 1
#define UPPER	2, 2, 3, 3
#define FOLD(s) s += SHUFFLE(s, 2, 3, 0, 1)
#elif BYTES / SAMPLE == 8
#define PAIR   0, 1, 0, 1, 0, 1, 0, 1
#define HALVES 0, 0, 0, 0, 0, 0, 0, 0
#define LOWER  0, 0, 1, 1, 2, 2, 3, 3
#define UPPER  4, 4, 5, 5, 6, 6, 7, 7
#define FOLD(s)                                  \
	s += SHUFFLE(s, 4, 5, 6, 7, 0, 1, 2, 3); \
	s += SHUFFLE(s, 2, 3, 4, 5, 6, 7, 0, 1)
#else
#define PAIR   0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1
#define HALVES 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1
#define LOWER  0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7
#define UPPER  8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15
#define FOLD(s)                                                                \
	s += SHUFFLE(s, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7); \
	s += SHUFFLE(s, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3); \
	s += SHUFFLE(s, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1)
#endif

/* a0 a0 a1 a1 ... of the lower half of a vector (half = 0) or of its upper half (half = 1). */
INLINE vec
dup(vec a, int half)
{
	return half ? SHUFFLE(a, UPPER) : SHUFFLE(a, LOWER);
}

/* The sums of the even lanes and of the odd lanes. */
INLINE void
fold(vec s, real *re, real *im)
{
	FOLD(s);
	*re = s[0];
	*im = s[1];
}

/* A vector of re im re im ... */
INLINE vec
pair(real re, real im)
{
	const vec v = {re, im};

	return SHUFFLE(v, PAIR);
}

/* A vector with a in the first 8 lanes and b in any others. */
INLINE vec
halves(real a, real b)
{
	const vec v = {a, b};

	return SHUFFLE(v, HALVES);
}
