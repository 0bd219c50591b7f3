/* The samples of SEG-Y against their definitions, by random bytes and by the ends of the ranges. */
#include "common/convert/traces.h"
#include "t/check.h"

static const struct {
	int format, bits; /* bits below 0: the integer has no sign */
} integers[] = {{2, 32},   {3, 16},   {7, 24},	 {8, 8},    {9, 64},
		{10, -32}, {11, -16}, {12, -64}, {15, -24}, {16, -8}};

static float
decode(int format, bool little, const unsigned char *b)
{
	float x;

	segy_decode(format, little, 1, &x, b);
	return x;
}

static uint32_t
ibm_of(float x)
{
	unsigned char b[4];

	segy_encode(SEGY_IBM, false, 1, b, &x);
	return (uint32_t)bytes_load(b, 4, false);
}

/* f 2^-24 16^(e - 64), which is exact in double. */
static double
value_of_ibm(uint32_t v)
{
	const double x = ldexp((double)(v & 0xffffff), 4 * ((int)(v >> 24 & 127) - 64) - 24);

	return v >> 31 ? -x : x;
}

static void
ibm_is_decoded(struct check_many *many, struct check_rng *r, size_t i)
{
	static const uint32_t ends[] = {0,	    0x80000000, 0x41100000, 0xc276a000, 0x4700374c,
					0x41000001, 0x7fffffff, 0x60ffffff, 0x61100000, 0x61000001,
					0x610fffff, 0x21100000, 0x1bffffff, 0x1b1fffff, 0x1a100000};
	const size_t n = sizeof ends / sizeof *ends;
	const uint32_t v = i < n ? ends[i] : (uint32_t)rng_u64(r);
	unsigned char big[4], little[4];

	bytes_store(big, 4, false, v);
	bytes_store(little, 4, true, v);
	const float want = (float)value_of_ibm(v), got = decode(SEGY_IBM, false, big),
		    turned = decode(SEGY_IBM, true, little);
	check_case(many, !memcmp(&got, &want, 4) && !memcmp(&turned, &want, 4),
		   "%08x is %g, not %g", v, (double)want, (double)got);
}

static void
ibm_is_encoded(void)
{
	struct check_many many = {0};
	struct check_rng r = {2};

	for (size_t i = 0; i < 100000; i++) {
		const uint32_t bits = (uint32_t)rng_u64(&r);
		float x;
		memcpy(&x, &bits, sizeof x);
		if (i == 0)
			x = 0x1p-149f;
		if (!isfinite(x) || x == 0)
			continue;
		const uint32_t v = ibm_of(x);
		const double unit = ldexp(1, 4 * ((int)(v >> 24 & 127) - 64) - 24),
			     off = fabs(value_of_ibm(v) - (double)x);
		check_case(&many, (v & 0xf00000) && off <= unit / 2, "%a became %08x", (double)x,
			   v);
		check_case(&many, off > 0 || ibm_of((float)value_of_ibm(v)) == v,
			   "%08x comes back otherwise", v);
	}
	check_case(&many, ibm_of(0) == 0 && ibm_of(-0.0f) == 0x80000000, "zero");
	check_case(&many, ibm_of(-INFINITY) == 0xffffffff, "infinity");
	check_end(&many, "segy: a float becomes the nearest normalised IBM float");
}

/* The integer of the bytes, the first of which is the highest. */
static float
value_of_integer(const unsigned char *b, int bits)
{
	uint64_t v = 0;

	for (int i = 0; i < abs(bits) / 8; i++)
		v = v << 8 | b[i];
	if (bits < 0 || !(v >> (bits - 1) & 1))
		return (float)v;
	return -(float)((bits == 64 ? 0 : (uint64_t)1 << bits) - v);
}

static void
integers_come_and_go(struct check_many *many, struct check_rng *r, size_t set)
{
	const size_t k = set / 2000, i = set % 2000;
	const int format = integers[k].format;
	const size_t n = segy_sample_size(format);
	unsigned char b[8], turned[8], back[8];

	for (size_t j = 0; j < n; j++)
		turned[n - 1 - j] = b[j] = i < 2 ? (unsigned char)-i : (unsigned char)rng_u64(r);
	const float want = value_of_integer(b, integers[k].bits), got = decode(format, false, b);
	check_case(many, got == want && decode(format, true, turned) == want,
		   "format %d: %g, not %g", format, (double)got, (double)want);
	segy_encode(format, false, 1, back, &got);
	check_case(many, n > 3 || !memcmp(back, b, n), "format %d: %g comes back", format,
		   (double)got);
}

static void
integers_are_clipped(void)
{
	struct check_many many = {0};
	const float ends[3] = {-INFINITY, INFINITY, NAN};

	for (size_t k = 0; k < sizeof integers / sizeof *integers; k++) {
		const int bits = integers[k].bits;
		const double top = ldexp(1, bits < 0 ? -bits : bits - 1);
		unsigned char b[3 * 8];
		float x[3];
		segy_encode(integers[k].format, false, 3, b, ends);
		segy_decode(integers[k].format, false, 3, x, b);
		check_case(&many, (double)x[0] == (bits < 0 ? 0 : -top), "format %d: %g",
			   integers[k].format, (double)x[0]);
		check_case(&many, x[1] >= (float)(top - 1) * (1 - 0x1p-22f) && (double)x[1] <= top,
			   "format %d: %g", integers[k].format, (double)x[1]);
		check_case(&many, x[2] == 0, "format %d: nan", integers[k].format);
	}
	check_end(&many, "segy: what is beyond the integers of a format becomes its end");
}

static void
doubles_become_floats(void)
{
	static const unsigned char third[8] = {0xbf, 0xd5, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55};
	const float x = decode(6, false, third), y = -2.5f;
	unsigned char b[8];

	segy_encode(6, true, 1, b, &y);
	check(x == -1 / 3.f && b[7] == 0xc0 && b[6] == 4 && decode(6, true, b) == y,
	      "segy: samples of 8 bytes become floats", "%g", (double)x);
}

/* Samples that decay by a factor of 3000, velocities in one octave, and whole numbers, as each format, under both. */
static void
wrong_formats_are_seen(void)
{
	enum { N = 3000 };
	static const int formats[2] = {SEGY_IBM, SEGY_IEEE};
	struct check_many many = {0};
	struct check_rng r = {4};
	unsigned char b[4 * N];
	float x[3][N];

	for (int i = 0; i < N; i++) {
		x[0][i] = (float)((rng_unit(&r) - .5) * exp(-8. * i / N));
		x[1][i] = 2.3f + 1.6f * (float)rng_unit(&r);
		x[2][i] = (float)(rng_u64(&r) % 21) - 10;
	}
	for (int k = 0; k < 6; k++) {
		const int format = formats[k % 2];
		struct segy_digits d = {0};
		segy_encode(format, k % 2, N, b, x[k / 2]);
		segy_count(&d, k % 2, N, b);
		const int seems = segy_seems(&d);
		check_case(&many, seems == format || (k > 1 && !seems), "scene %d, format %d: %d",
			   k / 2, format, seems);
	}
	check_end(&many, "segy: IBM and IEEE floats are told apart where they can be");
}

void
check_segy(void)
{
	check_each("segy: an IBM float, normalised or not, is the nearest float", 100000, 1,
		   ibm_is_decoded);
	ibm_is_encoded();
	check_each("segy: integers are decoded, and those below 2^24 come back",
		   2000 * sizeof integers / sizeof *integers, 3, integers_come_and_go);
	integers_are_clipped();
	doubles_become_floats();
	wrong_formats_are_seen();
}
