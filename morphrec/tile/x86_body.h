/*
 * The operations on elements that AVX2 and AVX-512 have in common. The including file defines MM(name), the intrinsic of its
 * width, and before(a) and after(a), the vector 16 bytes earlier and later, for alignr within lanes.
 */
#define OPS(bits, MAX, MIN)                                          \
	INLINE V max##bits(V a, V b)                                 \
	{                                                            \
		return MAX(a, b);                                    \
	}                                                            \
	INLINE V min##bits(V a, V b)                                 \
	{                                                            \
		return MIN(a, b);                                    \
	}                                                            \
	INLINE V lo##bits(V a, V b)                                  \
	{                                                            \
		return MM(unpacklo_epi##bits)(a, b);                 \
	}                                                            \
	INLINE V hi##bits(V a, V b)                                  \
	{                                                            \
		return MM(unpackhi_epi##bits)(a, b);                 \
	}                                                            \
	INLINE V up##bits(V a)                                       \
	{                                                            \
		return MM(alignr_epi8)(a, before(a), 16 - bits / 8); \
	}                                                            \
	INLINE V down##bits(V a)                                     \
	{                                                            \
		return MM(alignr_epi8)(after(a), a, bits / 8);       \
	}

OPS(8, MM(max_epu8), MM(min_epu8))
OPS(16, MM(max_epu16), MM(min_epu16))
OPS(32, MM(max_epu32), MM(min_epu32))
