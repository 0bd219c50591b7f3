/* Copies of gpu/copy.cu and gpu/ahead.cu: sizes around a chunk, and items one after another, by two pairs of buffers. */
#include <stdlib.h>

#include "gpu/device.h"
#include "t/cudacpu/selftest.h"

namespace
{

constexpr size_t MOST = 2 * GPU_CHUNK + 3, ITEMS = 7;
constexpr size_t sizes[ITEMS] = {1, GPU_CHUNK, 1000, MOST, 77, GPU_CHUNK - 1, GPU_CHUNK + 5};

__global__ void
add_one(unsigned char *a, size_t n)
{
	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
	     i += (size_t)gridDim.x * blockDim.x)
		a[i]++;
}

/* Item k is fresh in `in`; its result is its bytes and 1. */
int
run_item(struct gpu *g, const unsigned char *in, unsigned char *out, size_t n, bool later)
{
	void *at;
	int err;

	if ((err = gpu_hold(g, 0, n, &at)) || (err = gpu_up(g, at, in, n)) || (err = gpu_begin(g)))
		return err;
	GPU_LAUNCH(g, add_one, 8, 64, 0, static_cast<unsigned char *>(at), n);
	if ((err = gpu_end(g)))
		return err;
	const gpu_result r = {out, at, n};
	return later ? gpu_later(g, &r, 1) : gpu_down(g, out, at, n);
}

void
fill(unsigned char *in, size_t item)
{
	for (size_t i = 0; i < sizes[item]; i++)
		in[i] = (unsigned char)(i * 7 + i / 251 + 31 * item);
}

int
count_wrong(const unsigned char *out, size_t item)
{
	int wrong = 0;

	for (size_t i = 0; i < sizes[item]; i++)
		wrong += out[i] != (unsigned char)(i * 7 + i / 251 + 31 * item + 1);
	return wrong;
}

/* Item k + 1 is filled and told before item k runs; item k - 1 is looked at after item k has run. */
int
run_items(struct gpu *g, unsigned char *in[2], unsigned char *out[2], bool overlap)
{
	int wrong = 0;

	fill(in[0], 0);
	for (size_t k = 0; k < ITEMS; k++) {
		if (k + 1 < ITEMS) {
			fill(in[(k + 1) % 2], k + 1);
			const gpu_span next = {in[(k + 1) % 2], sizes[k + 1]};
			if (overlap)
				gpu_ahead(g, &next, 1);
		}
		if (run_item(g, in[k % 2], out[k % 2], sizes[k], overlap))
			return -1;
		if (k) {
			if (gpu_settle(g, out[(k - 1) % 2], sizes[k - 1]))
				return -1;
			wrong += count_wrong(out[(k - 1) % 2], k - 1);
		}
	}
	return gpu_settle(g, NULL, 0) ? -1 : wrong + count_wrong(out[(ITEMS - 1) % 2], ITEMS - 1);
}

/* --- several devices ----------------------------------------------------------------------------------------------- */

constexpr size_t LONG = (size_t)24 << 20;

struct shares {
	struct gpu *all;
	unsigned char *in, *out[2]; /* out: of each device */
	int wrong;
};

int
run_share(struct gpu *g, size_t i, void *with)
{
	shares *const s = static_cast<shares *>(with);

	return run_item(g, s->in, s->out[i], LONG, true);
}

/*
 * What a thread that writes results does while the devices are at their next run, here on the thread of one. It begins with
 * the byte that arrives last.
 */
int
look_meanwhile(struct gpu *, size_t i, void *with)
{
	shares *const s = static_cast<shares *>(with);

	if (i)
		return 0;
	for (unsigned char *out : {s->out[1], s->out[0]}) {
		if (gpu_settle(s->all, out, LONG))
			return -1;
		for (size_t at = LONG; at--;)
			s->wrong += out[at] != (unsigned char)(s->in[at] + 1);
	}
	return 0;
}

} // namespace

/* The room of a device, asked for again and again while blocks for copies beside runs grow: no more than there was at first. */
extern "C" int
selftest_room(void)
{
	constexpr size_t TIMES = 500, STEP = (size_t)1 << 20;
	unsigned char *const b = static_cast<unsigned char *>(calloc(1, LONG));
	char why[GPU_WHY];
	struct gpu *g = gpu_open("", why);
	size_t most = 0, room;
	int wrong = g && b ? gpu_room(g, &most) : -1;

	for (size_t n = STEP; n <= LONG && wrong >= 0; n += STEP) {
		const gpu_span next = {b, n};
		gpu_ahead(g, &next, 1);
		for (size_t i = 0; i < TIMES && wrong >= 0; i++)
			wrong = gpu_room(g, &room) ? -1 : wrong + (room > most);
		gpu_ahead(g, NULL, 0);
	}
	gpu_close(g);
	free(b);
	return wrong;
}

extern "C" int
selftest_settle(void)
{
	unsigned char *b = static_cast<unsigned char *>(calloc(3, LONG));
	shares s = {NULL, b, {b + LONG, b + 2 * LONG}, 0};
	char why[GPU_WHY];

	if (cudacpu_devices)
		cudacpu_devices(2);
	s.all = gpu_open("0,1", why);
	if (s.all && (!b || gpu_each(s.all, run_share, &s) || gpu_each(s.all, look_meanwhile, &s)))
		s.wrong = -1;
	gpu_close(s.all); /* NULL: there is one device */
	if (cudacpu_devices)
		cudacpu_devices(1);
	free(b);
	return s.wrong;
}

extern "C" int
selftest_copies(void)
{
	unsigned char *b = static_cast<unsigned char *>(malloc(4 * MOST));
	unsigned char *in[] = {b, b + MOST}, *out[] = {b + 2 * MOST, b + 3 * MOST};
	char why[GPU_WHY];
	struct gpu *g = gpu_open("", why);
	int wrong = -1;

	if (g && b)
		wrong = run_items(g, in, out, false);
	for (int round = 0; round < 2 && wrong == 0; round++)
		wrong = run_items(g, in, out, true);
	gpu_close(g);
	free(b);
	return wrong;
}
