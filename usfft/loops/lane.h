/*
 * Vectors for one kind of register; included again for each. The includer defines
 *	REAL	float or double
 *	LANES	reals in a register: 2, 4, 8 or 16; they hold LANES / 2 complex samples
 *	TARGET	attributes of a function: the CPU it is for
 * and gets NAME(x), which is x_REALLANES, LEAF for functions that are to vanish in their caller, and
 *	NAME(vec)	a vector
 *	NAME(dup)	a0 a0 a1 a1 ... of the lower half of a vector (half = 0) or of its upper half (half = 1)
 *	NAME(fold)	the sums of the even lanes and of the odd lanes, as re and im
 * An element-wise loop would say the same, but gcc 12 makes a trip through memory of it.
 */
#undef NAME
#undef NAME2
#undef NAME3
#undef LEAF
#undef SHUFFLE
#undef LOWER
#undef UPPER
#undef FOLD
#undef PAIR
#undef HALVES
#define NAME3(x, r, l) x##_##r##l
#define NAME2(x, r, l) NAME3(x, r, l)
#define NAME(x)	       NAME2(x, REAL, LANES)
#define LEAF	       static inline __attribute__((always_inline)) TARGET

#define SHUFFLE(a, ...) __builtin_shufflevector(a, a, __VA_ARGS__)
#if LANES == 2
#define PAIR   0, 1
#define HALVES 0, 0
#define LOWER  0, 0
#define UPPER  1, 1
#define FOLD(s)
#elif LANES == 4
#define PAIR	0, 1, 0, 1
#define HALVES	0, 0, 0, 0
#define LOWER	0, 0, 1, 1
#define UPPER	2, 2, 3, 3
#define FOLD(s) s += SHUFFLE(s, 2, 3, 0, 1)
#elif LANES == 8
#define PAIR   0, 1, 0, 1, 0, 1, 0, 1
#define HALVES 0, 0, 0, 0, 0, 0, 0, 0
#define LOWER  0, 0, 1, 1, 2, 2, 3, 3
#define UPPER  4, 4, 5, 5, 6, 6, 7, 7
#define FOLD(s)                                  \
	s += SHUFFLE(s, 4, 5, 6, 7, 0, 1, 2, 3); \
	s += SHUFFLE(s, 2, 3, 4, 5, 6, 7, 0, 1)
#elif LANES == 16
#define PAIR   0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1
#define HALVES 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1
#define LOWER  0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7
#define UPPER  8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15
#define FOLD(s)                                                                \
	s += SHUFFLE(s, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7); \
	s += SHUFFLE(s, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3); \
	s += SHUFFLE(s, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1)
#endif

typedef REAL NAME(vec) __attribute__((vector_size(LANES * sizeof(REAL)), may_alias));
typedef REAL NAME(vec_u)
    __attribute__((vector_size(LANES * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));

LEAF
NAME(vec) NAME(dup)(NAME(vec) a, int half)
{
	return half ? SHUFFLE(a, UPPER) : SHUFFLE(a, LOWER);
}

LEAF void
NAME(fold)(NAME(vec) s, REAL *re, REAL *im)
{
	FOLD(s);
	*re = s[0];
	*im = s[1];
}

/* re im re im ... */
LEAF
NAME(vec) NAME(pair)(REAL re, REAL im)
{
	const NAME(vec) v = {re, im};

	return SHUFFLE(v, PAIR);
}

/* a in the first 8 lanes and b in the others, if any. */
LEAF
NAME(vec) NAME(halves)(REAL a, REAL b)
{
	const NAME(vec) v = {a, b};

	return SHUFFLE(v, HALVES);
}
