/* Bits, packed fields and roundings; for cuda_runtime.h. */
#ifndef CUDACPU_ARITHMETIC_H
#define CUDACPU_ARITHMETIC_H

template <class T>
static constexpr T
min(T a, T b)
{
	return b < a ? b : a;
}

template <class T>
static constexpr T
max(T a, T b)
{
	return a < b ? b : a;
}

static inline int
__popc(unsigned v)
{
	return __builtin_popcount(v);
}

static inline int
__ffs(int v)
{
	return __builtin_ffs(v);
}

static inline int
__clz(int v)
{
	return v ? __builtin_clz((unsigned)v) : 32;
}

static inline int
__clzll(long long v)
{
	return v ? __builtin_clzll((unsigned long long)v) : 64;
}

static inline int
__popcll(unsigned long long v)
{
	return __builtin_popcountll(v);
}

static inline int
__ffsll(long long v)
{
	return __builtin_ffsll(v);
}

static inline unsigned
__brev(unsigned v)
{
	unsigned r = 0;

	for (int i = 0; i < 32; i++)
		r |= (v >> i & 1) << (31 - i);
	return r;
}

/* The low and the high word of hi:lo shifted; shifts are taken modulo 32. */
static inline unsigned
__funnelshift_r(unsigned lo, unsigned hi, unsigned shift)
{
	return (unsigned)(((uint64_t)hi << 32 | lo) >> (shift & 31));
}

static inline unsigned
__funnelshift_l(unsigned lo, unsigned hi, unsigned shift)
{
	return (unsigned)((((uint64_t)hi << 32 | lo) << (shift & 31)) >> 32);
}

/* Bytes of hi:lo, one for each nibble of s. A nibble above 7, which repeats a sign, is not for here. */
static inline unsigned
__byte_perm(unsigned lo, unsigned hi, unsigned s)
{
	const uint64_t both = (uint64_t)hi << 32 | lo;
	unsigned r = 0;

	for (unsigned b = 0; b < 4; b++)
		r |= (unsigned)(both >> (s >> 4 * b & 7) * 8 & 255) << 8 * b;
	return r;
}

/* The sum of c and the products of the four bytes. */
static inline unsigned
__dp4a(unsigned a, unsigned b, unsigned c)
{
	for (unsigned s = 0; s < 32; s += 8)
		c += (a >> s & 255) * (b >> s & 255);
	return c;
}

/* The larger or smaller of each field of bits. */
template <unsigned bits, bool larger>
unsigned
cudacpu_fields(unsigned a, unsigned b)
{
	const unsigned field = (1u << bits) - 1;
	unsigned r = 0;

	for (unsigned s = 0; s < 32; s += bits) {
		const unsigned x = a >> s & field, y = b >> s & field;
		r |= ((x > y) == larger ? x : y) << s;
	}
	return r;
}

static inline unsigned
__vmaxu4(unsigned a, unsigned b)
{
	return cudacpu_fields<8, true>(a, b);
}

static inline unsigned
__vminu4(unsigned a, unsigned b)
{
	return cudacpu_fields<8, false>(a, b);
}

static inline unsigned
__vmaxu2(unsigned a, unsigned b)
{
	return cudacpu_fields<16, true>(a, b);
}

static inline unsigned
__vminu2(unsigned a, unsigned b)
{
	return cudacpu_fields<16, false>(a, b);
}

static inline unsigned
__vimax3_u16x2(unsigned a, unsigned b, unsigned c)
{
	return __vmaxu2(__vmaxu2(a, b), c);
}

/* One rounding each, whatever the compiler may fuse. */
static inline float
__fmul_rn(float a, float b)
{
	volatile float r = a * b;

	return r;
}

static inline float
__fadd_rn(float a, float b)
{
	volatile float r = a + b;

	return r;
}

static inline double
__dmul_rn(double a, double b)
{
	volatile double r = a * b;

	return r;
}

static inline double
__dadd_rn(double a, double b)
{
	volatile double r = a + b;

	return r;
}

static inline float
__fmaf_rn(float a, float b, float c)
{
	return fmaf(a, b, c);
}

static inline float
rsqrtf(float v)
{
	return 1 / sqrtf(v);
}

/* sin and cos of pi v. */
static inline void
sincospi(double v, double *s, double *c)
{
	const double r = v - 2 * rint(v / 2);

	*s = sin(M_PI * r);
	*c = cos(M_PI * r);
}

static inline void
sincospif(float v, float *s, float *c)
{
	double ds, dc;

	sincospi((double)v, &ds, &dc);
	*s = (float)ds;
	*c = (float)dc;
}

static inline unsigned
__float_as_uint(float v)
{
	unsigned u;

	memcpy(&u, &v, sizeof u);
	return u;
}

static inline float
__uint_as_float(unsigned u)
{
	float v;

	memcpy(&v, &u, sizeof v);
	return v;
}

static inline long long
__double_as_longlong(double v)
{
	long long u;

	memcpy(&u, &v, sizeof u);
	return u;
}

static inline double
__longlong_as_double(long long u)
{
	double v;

	memcpy(&v, &u, sizeof v);
	return v;
}

#endif
