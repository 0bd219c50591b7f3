/* gpu/fft.h against the sum that defines it, in double: by FFTW through t/cudacpu, by cuFFT on a GPU. */
#include "gpu/device.h"

#include <math.h>
#include <string.h>
#include <vector>

#include "gpu/fft.h"
#include "t/cudacpu/selftest.h"
#include "t/rng.h"

namespace
{

struct cplx {
	double re, im;
};

/* Elements of an array that holds all batches of a side, n[] its lengths. */
size_t
extent(const struct gpu_fft &f, const gpu_fft_side &s, const long long *n)
{
	long long last = 0;

	for (int i = 0; i < f.rank; i++)
		last = last * (i ? s.embed[i] : 1) + n[i] - 1;
	return (size_t)((f.batch - 1) * s.dist + last * s.stride + 1);
}

size_t
place(const struct gpu_fft &f, const gpu_fft_side &s, long long b, const long long *k)
{
	long long at = 0;

	for (int i = 0; i < f.rank; i++)
		at = at * (i ? s.embed[i] : 1) + k[i];
	return (size_t)(b * s.dist + at * s.stride);
}

/* The next index within lengths n; false after the last. */
bool
step(const long long *n, int rank, long long *k)
{
	for (int i = rank - 1; i >= 0; i--) {
		if (++k[i] < n[i])
			return true;
		k[i] = 0;
	}
	return false;
}

/* x of batch b at k, by the sum over the lengths f.n; x is what `in` means at any index. */
template <class F>
cplx
defined(const struct gpu_fft &f, int sign, const long long *k, F in)
{
	long long j[3] = {};
	cplx sum = {0, 0};

	do {
		double turn = 0;
		for (int i = 0; i < f.rank; i++)
			turn += (double)(j[i] * k[i] % f.n[i]) / (double)f.n[i];
		const double c = cos(2 * M_PI * turn), s = sign * sin(2 * M_PI * turn);
		const cplx v = in(j);
		sum.re += v.re * c - v.im * s;
		sum.im += v.re * s + v.im * c;
	} while (step(f.n, f.rank, j));
	return sum;
}

/* The lengths of a complex side that goes with a real one. */
void
half(const struct gpu_fft &f, long long *n)
{
	memcpy(n, f.n, sizeof f.n);
	n[f.rank - 1] = n[f.rank - 1] / 2 + 1;
}

/* A problem and its arrays: `in` as sent, `out` as it came, want and used of each element of out. */
template <class T> struct trial {
	struct gpu_fft f;
	int sign;
	long long in_n[3], out_n[3];
	unsigned in_w, out_w; /* numbers an element */
	std::vector<T> in, out;
	std::vector<double> want;
	std::vector<bool> used;

	void fill(struct check_rng *r);
	void define();
	bool run(struct gpu *g);
	int wrong() const;
};

/* c2r needs the transform of something real: that of random samples, so that the inverse gives those back. */
template <class T>
void
trial<T>::fill(struct check_rng *r)
{
	memcpy(in_n, f.n, sizeof in_n);
	memcpy(out_n, f.n, sizeof out_n);
	if (f.kind != GPU_FFT_C2C)
		half(f, f.kind == GPU_FFT_R2C ? out_n : in_n);
	in_w = f.kind == GPU_FFT_R2C ? 1 : 2;
	out_w = f.kind == GPU_FFT_C2R ? 1 : 2;
	in.assign(in_w * extent(f, f.in, in_n), (T)NAN);
	out.assign(out_w * extent(f, f.out, out_n), (T)-7);
	want.assign(out.size(), -7);
	used.assign(out.size(), false);
	for (long long b = 0; b < f.batch; b++) {
		long long k[3] = {};
		std::vector<double> real;
		for (long long i = f.n[0] * (f.rank > 1 ? f.n[1] : 1) * (f.rank > 2 ? f.n[2] : 1);
		     i > 0; i--)
			real.push_back(rng_unit(r) - .5);
		do {
			T *v = &in[in_w * place(f, f.in, b, k)];
			v[0] = (T)(rng_unit(r) - .5);
			if (in_w == 2)
				v[1] = (T)(rng_unit(r) - .5);
			if (f.kind != GPU_FFT_C2R)
				continue;
			size_t at = 0;
			const cplx c = defined(f, -1, k, [&](const long long *) {
				return cplx{real[at++], 0};
			});
			v[0] = (T)c.re;
			v[1] = (T)c.im;
		} while (step(in_n, f.rank, k));
	}
}

template <class T>
void
trial<T>::define()
{
	const long long last = f.n[f.rank - 1];

	for (long long b = 0; b < f.batch; b++) {
		long long k[3] = {};
		do {
			const cplx c = defined(f, sign, k, [&](const long long *j) {
				long long m[3];
				memcpy(m, j, sizeof m);
				const bool mirror =
				    f.kind == GPU_FFT_C2R && m[f.rank - 1] > last / 2;
				for (int i = 0; mirror && i < f.rank; i++)
					m[i] = (f.n[i] - m[i]) % f.n[i];
				const T *v = &in[in_w * place(f, f.in, b, m)];
				return cplx{(double)v[0], in_w == 1 ? 0
							  : mirror  ? -(double)v[1]
								    : (double)v[1]};
			});
			const size_t at = out_w * place(f, f.out, b, k);
			want[at] = c.re;
			used[at] = true;
			if (out_w == 2) {
				want[at + 1] = c.im;
				used[at + 1] = true;
			}
		} while (step(out_n, f.rank, k));
	}
}

/* In place when both sides are the same array. */
template <class T>
bool
trial<T>::run(struct gpu *g)
{
	void *a, *b;

	return !gpu_hold(g, 0, in.size() * sizeof(T), &a) &&
	       !gpu_hold(g, 1, out.size() * sizeof(T), &b) &&
	       !gpu_up(g, a, in.data(), in.size() * sizeof(T)) &&
	       !gpu_up(g, b, out.data(), out.size() * sizeof(T)) && !gpu_fft(g, &f, sign, a, b) &&
	       cudaStreamSynchronize(g->stream[0]) == cudaSuccess &&
	       !gpu_down(g, out.data(), b, out.size() * sizeof(T));
}

/* What lies between the results must stay as it was. */
template <class T>
int
trial<T>::wrong() const
{
	const double bound = sizeof(T) == sizeof(float) ? 1e-5 : 1e-13;
	double peak = 0;
	int bad = 0;

	for (size_t i = 0; i < out.size(); i++)
		peak = used[i] ? fmax(peak, fabs(want[i])) : peak;
	for (size_t i = 0; i < out.size(); i++)
		bad +=
		    used[i] ? !(fabs((double)out[i] - want[i]) <= bound * peak) : out[i] != (T)-7;
	return bad;
}

struct shape {
	int rank;
	long long n[3];
	long long batch;
};

const shape shapes[] = {{1, {2, 0, 0}, 1},  {1, {35, 0, 0}, 3}, {1, {64, 0, 0}, 5},
			{2, {6, 10, 0}, 1}, {2, {5, 7, 0}, 2},	{3, {4, 6, 10}, 1},
			{3, {3, 5, 8}, 2}};

/* Side by side, or spread out: strides, rows and batches with gaps. */
gpu_fft_side
lay(const shape &s, bool complex_half, int spread)
{
	gpu_fft_side a = {};
	long long n[3], all = 1;

	memcpy(n, s.n, sizeof n);
	if (complex_half)
		n[s.rank - 1] = n[s.rank - 1] / 2 + 1;
	for (int i = 0; i < s.rank; i++) {
		a.embed[i] = n[i] + (i ? spread : 0);
		all *= a.embed[i];
	}
	a.stride = spread == 2 ? s.batch + 1 : 1 + spread;
	a.dist = spread == 2 ? 1 : all * a.stride + spread;
	return a;
}

template <class T>
int
shapes_wrong(struct gpu *g)
{
	struct check_rng r = {7};
	int bad = 0;

	for (const shape &s : shapes)
		for (int i = 0; i < 4 * 3; i++) {
			trial<T> t = {};
			t.f.kind = i % 4 == 0	? GPU_FFT_R2C
				   : i % 4 == 1 ? GPU_FFT_C2R
						: GPU_FFT_C2C;
			t.sign = i % 4 == 1 || i % 4 == 2 ? 1 : -1;
			t.f.is_double = sizeof(T) == sizeof(double);
			t.f.rank = s.rank;
			shape now = s;
			if (t.f.kind != GPU_FFT_C2C)
				now.n[s.rank - 1] *= 2; /* fft.h: even */
			memcpy(t.f.n, now.n, sizeof now.n);
			t.f.batch = s.batch;
			t.f.in = lay(now, t.f.kind == GPU_FFT_C2R, i / 4);
			t.f.out = lay(now, t.f.kind == GPU_FFT_R2C, (i / 4 + 1) % 3);
			t.fill(&r);
			t.define();
			if (!t.run(g))
				return -1;
			bad += t.wrong();
		}
	return bad;
}

} // namespace

int
selftest_fft(void)
{
	char why[GPU_WHY];
	struct gpu *g = gpu_open("", why);
	int bad = g ? shapes_wrong<float>(g) : -1;

	if (bad >= 0) {
		const int more = shapes_wrong<double>(g);
		bad = more < 0 ? more : bad + more;
	}
	gpu_close(g);
	return bad;
}

/* An event after gpu_begin() lies before what gpu_end() measures from if a plan was made between; else behind it. */
int
selftest_plan(void)
{
	const struct gpu_fft f = gpu_fft_lines(GPU_FFT_C2C, false, 8, 1, 1, 8, 1, 8);
	char why[GPU_WHY];
	struct gpu *g = gpu_open("", why);
	cudaEvent_t begun = NULL;
	float ms[2] = {};
	void *x;
	bool ok = g && !gpu_hold(g, 0, 8 * 2 * sizeof(float), &x) &&
		  cudaEventCreate(&begun) == cudaSuccess;

	for (int i = 0; i < 2; i++)
		ok = ok && !gpu_begin(g) && cudaEventRecord(begun, g->stream[0]) == cudaSuccess &&
		     !gpu_fft(g, &f, 1, x, x) && !gpu_end(g) &&
		     cudaEventElapsedTime(&ms[i], begun, g->from) == cudaSuccess;
	if (begun)
		cudaEventDestroy(begun);
	gpu_close(g);
	return ok ? !(ms[0] > 0) + !(ms[1] <= 0) : -1;
}
