/* Copies rows of the item to the ring of rows, and rows of results to the caller. */
/* Converts the samples of one plane of a row of n pixels, in which c planes are interleaved. */
INLINE void
take_samples(const void *restrict in, enum img_type type, size_t n, size_t c, real *restrict out)
{
#define TAKE(TYPE, C)                                          \
	case TYPE:                                             \
		for (size_t i = 0; i < n; i++)                 \
			out[i] = (real)((const C *)in)[i * c]; \
		break
	switch (type) {
		TAKE(IMG_I8, signed char);
		TAKE(IMG_U8, unsigned char);
		TAKE(IMG_I16, short);
		TAKE(IMG_U16, unsigned short);
		TAKE(IMG_I32, int);
		TAKE(IMG_U32, unsigned);
		TAKE(IMG_I64, long);
		TAKE(IMG_U64, unsigned long);
		TAKE(IMG_F64, double);
	default:
		for (size_t i = 0; i < n; i++)
			out[i] = (real)((const float *)in)[i * c];
	}
#undef TAKE
}

/*
 * Whether all of x[0..n) are finite, and stay finite if they grow by this factor. 0 v is 0 if v is finite, else NaN, and a NaN
 * stays in the sum. With one sum, each addition would wait for the one before.
 */
static bool
all_finite(const real *x, size_t n, real growth)
{
	enum { SUMS = 4 };
	vec bad[SUMS] = {{0}};
	real sum = 0;
	size_t i = 0;

	for (; i + SUMS * LANES <= n; i += SUMS * LANES)
		for (size_t k = 0; k < SUMS; k++)
			bad[k] += *(const loose *)(x + i + k * LANES) * growth * 0;
	for (size_t k = 0; k < SUMS; k++)
		for (int l = 0; l < LANES; l++)
			sum += bad[k][l];
	for (; i < n; i++)
		sum += x[i] * growth * 0;
	return sum == 0;
}

/* Zeroes the samples that are not finite, and masks them except in mode WCONV_NAN_ZERO. */
static void
mask_samples(enum wconv_nan mode, real *x, unsigned char *mask, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (x[i] - x[i] != 0) {
			x[i] = 0;
			if (mode != WCONV_NAN_ZERO)
				mask[i] =
				    mode == WCONV_NAN_PROPAGATE ? WCONV_POISON : WCONV_UNKNOWN;
		}
}

/* Fills in row[at], which lies beyond the item's edges, and its mask. mask may be NULL. */
INLINE void
pad_sample(const struct wconv_plan *p, real *row, unsigned char *mask, ptrdiff_t at)
{
	const ptrdiff_t origin = p->x.lo - p->x.before;
	const ptrdiff_t from = wconv_edge(p->x.edge, at + origin, p->x.n);

	if (from >= 0)
		row[at] = row[from - origin];
	else
		row[at] = p->x.edge == WCONV_CONSTANT ? (real)p->q.constant : 0;
	if (mask && from >= 0)
		mask[at] = mask[from - origin];
	else if (mask)
		mask[at] = p->x.edge == WCONV_RENORMALISE ? WCONV_UNKNOWN : 0;
}

static void
feed_plane(const struct wconv_plan *p, const void *in, size_t plane, real *row, unsigned char *mask,
	   unsigned char *flags, bool *doubt)
{
	const ptrdiff_t origin = p->x.lo - p->x.before, end = p->x.hi + p->x.after - origin;
	const ptrdiff_t have0 = p->x.have0 - origin, have1 = p->x.have1 - origin;
	const char *from = (const char *)in + plane * img_type_size(p->q.in);
	bool masked = p->x.edge == WCONV_RENORMALISE && (have0 > 0 || have1 < end);

	if (p->q.planes == 1) /* with the constant 1 the compiler vectorises the loops */
		take_samples(from, p->q.in, p->q.w, 1, row + have0);
	else
		take_samples(from, p->q.in, p->q.w, p->q.planes, row + have0);
	*doubt = img_is_float(p->q.in) && !all_finite(row + have0, p->q.w, (real)p->growth);
	if (*doubt) {
		masked |= p->q.nan != WCONV_NAN_ZERO;
		if (masked)
			memset(mask, 0, (size_t)end);
		mask_samples(p->q.nan, row + have0, mask + have0, p->q.w);
	} else if (masked) {
		memset(mask, 0, (size_t)end);
	}
	for (ptrdiff_t e = 0; e < have0; e++)
		pad_sample(p, row, masked ? mask : NULL, e);
	for (ptrdiff_t e = have1; e < end; e++)
		pad_sample(p, row, masked ? mask : NULL, e);
	*flags = 0;
	for (ptrdiff_t e = 0; masked && e < end; e++)
		*flags |= mask[e];
}

/* Copies row `row` of the item, whose planes are interleaved, to the ring. */
static void
feed(const struct wconv_plan *p, size_t row, const void *samples)
{
	const size_t slot = row % p->depth * p->q.planes;

	for (size_t plane = 0; plane < p->q.planes; plane++) {
		const size_t at = (slot + plane) * p->pitch;
		feed_plane(p, samples, plane, (real *)p->row + at, p->mask + at,
			   p->flags + slot + plane, p->doubt + slot + plane);
	}
}

/* One row of the image as its edges continue it. sample[0] is the first sample of the first window. */
struct row {
	const real *sample;
	const unsigned char *mask;
	unsigned char flags;
};

static struct row
find_row(const struct wconv_plan *p, size_t plane, ptrdiff_t y)
{
	const ptrdiff_t from = wconv_edge(p->y.edge, y, p->y.n);

	if (from < 0) {
		const bool renormalise = p->y.edge == WCONV_RENORMALISE;
		return (struct row){p->outside, p->outside_mask, renormalise ? WCONV_UNKNOWN : 0};
	}
	const size_t slot = (size_t)(from - p->y.have0) % p->depth * p->q.planes + plane;
	return (struct row){(const real *)p->row + slot * p->pitch, p->mask + slot * p->pitch,
			    p->flags[slot]};
}

/* Rounds halves to even and clips to lo..hi. NaN becomes lo. */
INLINE double
clip(real v, double lo, double hi)
{
	const double r = __builtin_rint((double)v);

	return !(r > lo) ? lo : r > hi ? hi : r;
}

static void
give_samples(const real *restrict in, size_t n, size_t c, enum img_type type, double top,
	     void *restrict out)
{
#define GIVE(TYPE, C, LO, HI)                                                                     \
	case TYPE:                                                                                \
		for (size_t i = 0; i < n; i++)                                                    \
			((C *)out)[i * c] = (C)clip(in[i], top > 0 ? 0 : LO, top > 0 ? top : HI); \
		break
	switch (type) {
		GIVE(IMG_I8, signed char, -0x1p7, 0x1p7 - 1);
		GIVE(IMG_U8, unsigned char, 0, 0x1p8 - 1);
		GIVE(IMG_I16, short, -0x1p15, 0x1p15 - 1);
		GIVE(IMG_U16, unsigned short, 0, 0x1p16 - 1);
		GIVE(IMG_I32, int, -0x1p31, 0x1p31 - 1);
		GIVE(IMG_U32, unsigned, 0, 0x1p32 - 1);
		GIVE(IMG_I64, long, -0x1p63, 0x1p63 - 1024);
		GIVE(IMG_U64, unsigned long, 0, 0x1p64 - 2048);
	case IMG_F64:
		for (size_t i = 0; i < n; i++)
			((double *)out)[i * c] = (double)in[i];
		break;
	default:
		for (size_t i = 0; i < n; i++)
			((float *)out)[i * c] = (float)in[i];
	}
#undef GIVE
}

/* Returns where tiles store row `row` of this step's results. */
INLINE real *
result_row(const struct wconv_plan *p, size_t plane, size_t row)
{
	if (p->result)
		return (real *)p->result + (plane * p->result_rows + row) * p->result_pitch;
	return (real *)p->out + row * p->result_pitch;
}

/* Converts row `row` of this step's results and stores it in the caller's array. */
static void
finish(const struct wconv_plan *p, size_t row)
{
	const size_t n = (size_t)(p->x.hi - p->x.lo), size = img_type_size(p->q.out);
	char *out = (char *)p->out + row * n * p->q.planes * size;

	for (size_t plane = 0; plane < p->q.planes; plane++)
		give_samples(result_row(p, plane, row), n, p->q.planes, p->q.out, p->q.top,
			     out + plane * size);
}
