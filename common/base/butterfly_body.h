/*
 * The butterflies of the FFTs that run on LANES columns at once, one in each lane (common/base/vec.h): X_k = sum_j x_j
 * exp(-2 pi i j k / r) for r = 2, 3, 4, 5, 7 and 8, in place, in natural order. With re and im exchanged, each function
 * computes its inverse.
 */
INLINE void
dft2(vec *re, vec *im)
{
	const vec r = re[1], i = im[1];

	re[1] = re[0] - r;
	im[1] = im[0] - i;
	re[0] += r;
	im[0] += i;
}

/* The butterfly of length 4 over the elements a, b, c, d of a larger one. */
INLINE void
dft4_at(vec *re, vec *im, int a, int b, int c, int d)
{
	const vec r0 = re[a] + re[c], i0 = im[a] + im[c], r1 = re[a] - re[c], i1 = im[a] - im[c];
	const vec r2 = re[b] + re[d], i2 = im[b] + im[d], r3 = re[b] - re[d], i3 = im[b] - im[d];

	re[a] = r0 + r2;
	im[a] = i0 + i2;
	re[b] = r1 + i3;
	im[b] = i1 - r3;
	re[c] = r0 - r2;
	im[c] = i0 - i2;
	re[d] = r1 - i3;
	im[d] = i1 + r3;
}

INLINE void
dft8(vec *re, vec *im)
{
	const real h = (real)0.70710678118654752440; /* sqrt(1/2) */
	vec r[8], i[8], t;

	dft4_at(re, im, 0, 2, 4, 6);
	dft4_at(re, im, 1, 3, 5, 7);
	t = re[3];
	re[3] = h * (t + im[3]);
	im[3] = h * (im[3] - t);
	t = re[5];
	re[5] = im[5];
	im[5] = -t;
	t = re[7];
	re[7] = h * (im[7] - t);
	im[7] = -h * (t + im[7]);
	for (int k = 0; k < 4; k++) {
		r[k] = re[2 * k] + re[2 * k + 1];
		i[k] = im[2 * k] + im[2 * k + 1];
		r[k + 4] = re[2 * k] - re[2 * k + 1];
		i[k + 4] = im[2 * k] - im[2 * k + 1];
	}
	for (int k = 0; k < 8; k++) {
		re[k] = r[k];
		im[k] = i[k];
	}
}

/* The butterfly of length r = 3, 5 or 7. The tables hold the cosines and sines of 2 pi k / r. */
INLINE void
dft_odd(int r, vec *re, vec *im)
{
	static const real cosines[3][7] = {
	    {1, (real)-.5, (real)-.5},
	    {1, (real).30901699437494742410, (real)-.80901699437494742410,
	     (real)-.80901699437494742410, (real).30901699437494742410},
	    {1, (real).62348980185873353053, (real)-.22252093395631440429,
	     (real)-.90096886790241912624, (real)-.90096886790241912624,
	     (real)-.22252093395631440429, (real).62348980185873353053}};
	static const real sines[3][7] = {
	    {0, (real).86602540378443864676, (real)-.86602540378443864676},
	    {0, (real).95105651629515357212, (real).58778525229247312917,
	     (real)-.58778525229247312917, (real)-.95105651629515357212},
	    {0, (real).78183148246802980871, (real).97492791218182360702,
	     (real).43388373911755812048, (real)-.43388373911755812048,
	     (real)-.97492791218182360702, (real)-.78183148246802980871}};
	const real *c = cosines[r / 2 - 1], *s = sines[r / 2 - 1];
	const int half = r / 2;
	vec ar[4], ai[4], br[4], bi[4]; /* sums and differences of j and r - j */

	for (int j = 1; j <= half; j++) {
		ar[j] = re[j] + re[r - j];
		ai[j] = im[j] + im[r - j];
		br[j] = re[j] - re[r - j];
		bi[j] = im[j] - im[r - j];
	}
	for (int k = 1; k <= half; k++) {
		vec er = re[0], ei = im[0], dr = br[1] * s[k], di = bi[1] * s[k];
		for (int j = 1; j <= half; j++) {
			er += ar[j] * c[j * k % r];
			ei += ai[j] * c[j * k % r];
		}
		for (int j = 2; j <= half; j++) {
			dr += br[j] * s[j * k % r];
			di += bi[j] * s[j * k % r];
		}
		re[k] = er + di;
		im[k] = ei - dr;
		re[r - k] = er - di;
		im[r - k] = ei + dr;
	}
	for (int j = 1; j <= half; j++) {
		re[0] += ar[j];
		im[0] += ai[j];
	}
}

INLINE void
dft(int r, vec *re, vec *im)
{
	if (r == 2)
		dft2(re, im);
	else if (r == 4)
		dft4_at(re, im, 0, 1, 2, 3);
	else if (r == 8)
		dft8(re, im);
	else
		dft_odd(r, re, im);
}
