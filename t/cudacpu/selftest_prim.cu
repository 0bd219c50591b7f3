/* gpu/prim.cu against what it says, number by number; and gpu/rate.cu. */
#include <algorithm>
#include <math.h>
#include <vector>

#include "gpu/prim.h"
#include "t/cudacpu/selftest.h"

namespace
{

/* n elements in slot of g; NULL: none were to be had. */
template <class T>
T *
hold(struct gpu *g, int slot, size_t n)
{
	void *at;

	return gpu_hold(g, slot, n * sizeof(T), &at) ? NULL : static_cast<T *>(at);
}

/* n numbers, i % 7 each: how many of their sums are wrong; -1: the device failed. */
int
scan_some(struct gpu *g, size_t n)
{
	std::vector<unsigned> host(n);
	unsigned *const a = hold<unsigned>(g, 0, n), *const scratch =
							 hold<unsigned>(g, 1, prim_scan_words(n));
	const size_t bytes = n * sizeof *a;
	unsigned sum = 0;
	int wrong = 0;

	for (size_t i = 0; i < n; i++)
		host[i] = (unsigned)(i % 7);
	if (!a || !scratch || gpu_up(g, a, host.data(), bytes) || prim_scan(g, a, n, scratch) ||
	    gpu_down(g, host.data(), a, bytes))
		return -1;
	for (size_t i = 0; i < n; i++) {
		wrong += host[i] != sum;
		sum += (unsigned)(i % 7);
	}
	return wrong;
}

/* By i * 40503 % 65536 first, then by its square % 1000, which many share: what a stable sort by the second leaves. */
unsigned
first_key(size_t i)
{
	return (unsigned)(i * 40503 % 65536);
}

unsigned
second_key(size_t i)
{
	return first_key(i) * first_key(i) % 1000;
}

int
sort_some(struct gpu *g, size_t n)
{
	std::vector<unsigned> key(n), index(n), want(n);
	unsigned *const k = hold<unsigned>(g, 0, n), *const at = hold<unsigned>(g, 1, n),
			*const scratch = hold<unsigned>(g, 2, prim_sort_words(n));
	const size_t bytes = n * sizeof *k;
	int wrong = 0;

	for (size_t i = 0; i < n; i++) {
		key[i] = first_key(i);
		want[i] = (unsigned)i;
	}
	if (!k || !at || !scratch || gpu_up(g, k, key.data(), bytes) ||
	    prim_sort(g, k, at, n, 65536, scratch) || gpu_down(g, index.data(), at, bytes))
		return -1;
	for (size_t i = 0; i < n; i++)
		key[i] = second_key(index[i]);
	if (gpu_up(g, k, key.data(), bytes) || prim_sort_again(g, k, at, n, 1000, scratch) ||
	    gpu_down(g, index.data(), at, bytes) || gpu_down(g, key.data(), k, bytes))
		return -1;
	std::stable_sort(want.begin(), want.end(), [](unsigned a, unsigned b) {
		return second_key(a) != second_key(b) ? second_key(a) < second_key(b)
						      : first_key(a) < first_key(b);
	});
	for (size_t i = 0; i < n; i++)
		wrong += index[i] != want[i] || key[i] != second_key(want[i]);
	return wrong;
}

/* Whole numbers, so that the sum is the same in any order. */
int
dot_some(struct gpu *g, size_t n)
{
	std::vector<double> a(n), b(n);
	double *const x = hold<double>(g, 0, n), *const y = hold<double>(g, 1, n),
		      *const scratch = hold<double>(g, 2, PRIM_DOT_PARTS + 1);
	const size_t bytes = n * sizeof *x;
	double want = 0, got;

	for (size_t i = 0; i < n; i++) {
		a[i] = (double)(i % 11) - 5;
		b[i] = (double)(i % 13);
		want += a[i] * b[i];
	}
	if (!x || !y || !scratch || gpu_up(g, x, a.data(), bytes) ||
	    gpu_up(g, y, b.data(), bytes) ||
	    prim_dot(g, x, y, n, scratch + PRIM_DOT_PARTS, scratch) ||
	    gpu_down(g, &got, scratch + PRIM_DOT_PARTS, sizeof got))
		return -1;
	return got != want;
}

/* Lengths that meet the ends of blocks, and `most`. */
int
all_sizes(int (*some)(struct gpu *g, size_t n), size_t most)
{
	char why[GPU_WHY];
	struct gpu *g = gpu_open("", why);
	int wrong = g ? 0 : -1;

	for (size_t n : {(size_t)1, (size_t)31, (size_t)1024, (size_t)1025, most}) {
		const int here = wrong < 0 ? -1 : some(g, n);
		wrong = here < 0 ? -1 : wrong + here;
	}
	gpu_close(g);
	return wrong;
}

} // namespace

int
selftest_scan(void)
{
	return all_sizes(scan_some, 70001);
}

int
selftest_sort(void)
{
	return all_sizes(sort_some, 5001);
}

int
selftest_dot(void)
{
	return all_sizes(dot_some, 5001);
}

int
selftest_rates(void)
{
	char why[GPU_WHY];
	struct gpu *g = gpu_open("", why);
	struct gpu_rates r = {};
	const bool ok = g && !gpu_measure(g, 1 << 20, &r);
	int wrong = ok ? 0 : -1;

	for (double rate : {r.within, r.up, r.down, r.single_ops, r.double_ops})
		wrong += ok && !(rate > 0 && rate < INFINITY);
	gpu_close(g);
	return wrong;
}
