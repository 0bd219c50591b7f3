/*
 * cuFFT by dlopen. Its few functions are declared here: the build then needs no header of it, and they have been the same
 * since CUDA 7. cuFFT 12 belongs to CUDA 13, 11 to CUDA 11 and 12.
 */
#include "gpu/device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wordexp.h>

#include "gpu/fft.h"

namespace
{

enum { PLANS = 16 };

/* cufft.h: cufftResult and cufftHandle are int. */
struct library {
	int (*create)(int *plan);
	int (*autos)(int plan, int allocate);
	int (*make)(int plan, int rank, long long *n, long long *inembed, long long istride,
		    long long idist, long long *onembed, long long ostride, long long odist,
		    int type, long long batch, size_t *work);
	int (*stream)(int plan, cudaStream_t s);
	int (*work)(int plan, void *area);
	int (*complex[2])(int plan, void *in, void *out, int sign); /* float, double */
	int (*forward[2])(int plan, void *in, void *out);
	int (*inverse[2])(int plan, void *in, void *out);
	int (*destroy)(int plan);
};

struct planned {
	struct gpu_fft f;
	int plan;
	void *area;	   /* of its work */
	size_t work, used; /* bytes; when, to find the oldest */
};

} // namespace

struct gpu_ffts {
	library l;
	planned p[PLANS];
	int n;
	size_t clock;
};

namespace
{

/* What cuFFT's results mean, from 0 on. */
constexpr char REASONS[] =
    "no error|invalid plan|out of memory|invalid type|invalid value|internal error|"
    "execution failed|setup failed|invalid size|unaligned data||invalid device||no work space|"
    "not implemented||not supported|";

bool
failed(struct gpu *g, int result, const char *call)
{
	const char *reason = REASONS;

	for (int i = 0; i < result && *reason; i++)
		reason = strchr(reason, '|') + 1;
	if (result)
		snprintf(g->why, sizeof g->why, "%s: %.*s (%d)", call, (int)strcspn(reason, "|"),
			 reason, result);
	return result != 0;
}

#define FFT_TRY(g, name, call)                 \
	do {                                   \
		if (failed((g), (call), name)) \
			return -EIO;           \
	} while (0)

/* --- the library --------------------------------------------------------------------------------------------------- */

#define PACKAGES(kind) "/lib/python3*/" kind "/nvidia/*/lib/libcufft.so.%1$d*"

/* Where the loader looks, where CUDA's installer puts the library, and where Python's packages do; of version %1$d. */
constexpr char PLACES[] =
    "libcufft.so.%1$d \"${CUDA_HOME:-/none}\"/lib64/libcufft.so.%1$d*"
    " /usr/local/cuda*/lib64/libcufft.so.%1$d*"
    " \"${CONDA_PREFIX:-/none}\"/lib/libcufft.so.%1$d*"
    " \"${VIRTUAL_ENV:-/none}\"" PACKAGES("site-packages") " /usr/local" PACKAGES(
	"*-packages") " /usr" PACKAGES("*-packages") " \"${HOME:-/none}\"/"
						     ".local" PACKAGES("site-packages");

void *
search(int version)
{
	char words[1024];
	wordexp_t path;
	void *lib = NULL;

	snprintf(words, sizeof words, PLACES, version);
	if (wordexp(words, &path, WRDE_NOCMD))
		return NULL;
	for (size_t i = 0; i < path.we_wordc && !lib; i++)
		lib = dlopen(path.we_wordv[i], RTLD_NOW | RTLD_LOCAL);
	wordfree(&path);
	return lib;
}

/*
 * The file that WEIR_CUFFT names, and no other when it is set; else the version that belongs to this program's CUDA, wherever it
 * is, then the other one: 12 needs a driver of CUDA 13.
 */
void *
open_library(struct gpu *g)
{
	const char *named = getenv("WEIR_CUFFT"), *e, *colon;
	int cuda = 0;
	char first[32];

	cudaRuntimeGetVersion(&cuda);
	const int own = cuda >= 13000 ? 12 : 11;
	snprintf(first, sizeof first, "libcufft.so.%d", own);
	void *lib = dlopen(named ? named : first, RTLD_NOW | RTLD_LOCAL);
	if (lib)
		return lib;
	e = dlerror();
	colon = e ? strstr(e, ": ") : NULL;
	snprintf(g->why, sizeof g->why, "cannot load %s: %s%s", named ? named : first,
		 colon ? colon + 2
		 : e   ? e
		       : "no reason given",
		 named ? "" : "; WEIR_CUFFT may name the file");
	if (!named && !(lib = search(own)))
		lib = search(23 - own);
	return lib;
}

template <class F>
bool
find(struct gpu *g, void *lib, const char *name, F *f)
{
	void *at = dlsym(lib, name);

	memcpy(f, &at, sizeof at);
	if (!at)
		snprintf(g->why, sizeof g->why, "libcufft.so has no %s", name);
	return at != NULL;
}

/* g->ffts, with the library in it, which stays open until the process ends. */
int
begin(struct gpu *g)
{
	if (g->ffts)
		return 0;
	if (!(g->ffts = static_cast<struct gpu_ffts *>(calloc(1, sizeof *g->ffts))))
		return -ENOMEM;
	library *const l = &g->ffts->l;
	void *const lib = open_library(g);
	const bool ok = lib && find(g, lib, "cufftCreate", &l->create) &&
			find(g, lib, "cufftSetAutoAllocation", &l->autos) &&
			find(g, lib, "cufftMakePlanMany64", &l->make) &&
			find(g, lib, "cufftSetStream", &l->stream) &&
			find(g, lib, "cufftSetWorkArea", &l->work) &&
			find(g, lib, "cufftExecC2C", &l->complex[0]) &&
			find(g, lib, "cufftExecZ2Z", &l->complex[1]) &&
			find(g, lib, "cufftExecR2C", &l->forward[0]) &&
			find(g, lib, "cufftExecD2Z", &l->forward[1]) &&
			find(g, lib, "cufftExecC2R", &l->inverse[0]) &&
			find(g, lib, "cufftExecZ2D", &l->inverse[1]) &&
			find(g, lib, "cufftDestroy", &l->destroy);

	if (!ok)
		gpu_fft_release(g);
	return ok ? 0 : -EIO;
}

/* --- plans --------------------------------------------------------------------------------------------------------- */

/* What is beyond a rank is 0. */
bool
same(const struct gpu_fft &a, const struct gpu_fft &b)
{
	return a.kind == b.kind && a.is_double == b.is_double && a.rank == b.rank &&
	       a.batch == b.batch && !memcmp(a.n, b.n, sizeof a.n) &&
	       !memcmp(&a.in, &b.in, sizeof a.in) && !memcmp(&a.out, &b.out, sizeof a.out);
}

int
make_plan(struct gpu *g, const library *l, planned *p, const struct gpu_fft *f)
{
	static const int type[3] = {0x29, 0x2a, 0x2c}; /* doubles: + 0x40 */

	p->f = *f;
	p->area = NULL;
	FFT_TRY(g, "cufftCreate", l->create(&p->plan));
	const bool e =
	    failed(g, l->autos(p->plan, 0), "cufftSetAutoAllocation") ||
	    failed(g,
		   l->make(p->plan, f->rank, p->f.n, p->f.in.embed, f->in.stride, f->in.dist,
			   p->f.out.embed, f->out.stride, f->out.dist,
			   type[f->kind] + (f->is_double ? 0x40 : 0), f->batch, &p->work),
		   "cufftMakePlanMany64") ||
	    failed(g, l->stream(p->plan, g->stream[0]), "cufftSetStream") ||
	    (!p->work && failed(g, l->work(p->plan, NULL), "cufftSetWorkArea"));
	if (e)
		l->destroy(p->plan);
	return e ? -EIO : 0;
}

/* Makes the plan of f, in the place of the one unused for longest when there are many. */
int
add_plan(struct gpu *g, const struct gpu_fft *f, planned **p)
{
	struct gpu_ffts *all = g->ffts;
	int at = 0;

	for (int i = 0; i < all->n; i++)
		at = all->p[i].used < all->p[at].used ? i : at;
	if (all->n == PLANS) {
		GPU_TRY(g, cudaStreamSynchronize(g->stream[0]));
		all->l.destroy(all->p[at].plan);
		all->p[at] = all->p[--all->n];
	}
	*p = &all->p[all->n];
	(*p)->used = ++all->clock;
	const int err = make_plan(g, &all->l, *p, f);
	all->n += !err;
	return err;
}

/* The plan of f, kept or new. The time of kernels stands still while the library is loaded and a plan is made. */
int
get_plan(struct gpu *g, const struct gpu_fft *f, planned **p)
{
	struct gpu_ffts *const all = g->ffts;
	const bool timed = g->timed;

	for (int i = 0; all && i < all->n; i++)
		if (same(all->p[i].f, *f)) {
			*p = &all->p[i];
			(*p)->used = ++all->clock;
			return 0;
		}
	if (timed)
		GPU_DO(gpu_end(g));
	GPU_DO(begin(g));
	GPU_DO(add_plan(g, f, p));
	return timed ? gpu_begin(g) : 0;
}

/* --- slices -------------------------------------------------------------------------------------------------------- */

/*
 * Transforms of an array most of which is empty, or not wanted, along its slowest axis: gpu/fft.h.
 *
 *	slowest axis	one call over all lines, which lie side by side: stride and batch are a slice's samples
 *	others		a batch of slices, of one axis less: two calls, since what is kept lies at both ends
 *
 * Bytes, in passes over the whole array (a read and a write of each sample; a part s of the slices being kept): 1 and s (dim - 1)
 * more, where one plan of dim axes takes dim. With oversampling 2 (s = 1/2): 1.5 of 2 in 2-D, 2 of 3 in 3-D; 1.25 (s = .8): 1.8 and
 * 2.6. To leave out lines within the slices as well would take a call a slice (cuFFT's batches have one distance), and its
 * 2 to 4 us exceed what 320 x 320 samples of a slice take; or copies into rows of their own, which cost more than that saves.
 */
int
transform_others(struct gpu *g, const struct gpu_fft_slices *f, int sign, void *data)
{
	const size_t sample = 2 * (f->slowest.is_double ? sizeof(double) : sizeof(float));

	for (int i = 0; i < 2; i++) {
		char *const at = static_cast<char *>(data) + f->at[i] * sample;
		if (f->others[i].batch)
			GPU_DO(gpu_fft(g, &f->others[i], sign, at, at));
	}
	return 0;
}

} // namespace

struct gpu_fft
gpu_fft_lines(enum gpu_fft_kind kind, bool is_double, size_t n, size_t batch, size_t in_stride,
	      size_t in_dist, size_t out_stride, size_t out_dist)
{
	struct gpu_fft f = {};

	f.kind = kind;
	f.is_double = is_double;
	f.rank = 1;
	f.n[0] = (long long)n;
	f.batch = (long long)batch;
	f.in = {{(long long)n, 0, 0}, (long long)in_stride, (long long)in_dist};
	f.out = {{(long long)n, 0, 0}, (long long)out_stride, (long long)out_dist};
	return f;
}

int
gpu_fft_prepare(struct gpu *g, const struct gpu_fft *f)
{
	planned *p;
	void *area;

	GPU_DO(get_plan(g, f, &p));
	return p->work ? gpu_hold(g, GPU_SLOT_FFT, p->work, &area) : 0;
}

int
gpu_fft(struct gpu *g, const struct gpu_fft *f, int sign, void *in, void *out)
{
	planned *p;

	GPU_DO(gpu_fft_prepare(g, f));
	GPU_DO(get_plan(g, f, &p));
	const library *l = &g->ffts->l;
	void *const area = g->held[GPU_SLOT_FFT]; /* all plans share it */
	if (p->work && p->area != area) {
		/* A plan that works there already is left alone: a graph may be captured. */
		FFT_TRY(g, "cufftSetWorkArea", l->work(p->plan, area));
		p->area = area;
	}
	if (f->kind == GPU_FFT_C2C)
		FFT_TRY(g, "cufftExecC2C", l->complex[f->is_double](p->plan, in, out, sign));
	else if (f->kind == GPU_FFT_R2C)
		FFT_TRY(g, "cufftExecR2C", l->forward[f->is_double](p->plan, in, out));
	else
		FFT_TRY(g, "cufftExecC2R", l->inverse[f->is_double](p->plan, in, out));
	return 0;
}

void
gpu_fft_release(struct gpu *g)
{
	if (!g->ffts)
		return;
	for (int i = 0; i < g->ffts->n; i++)
		g->ffts->l.destroy(g->ffts->p[i].plan);
	free(g->ffts);
	g->ffts = NULL;
}

struct gpu_fft_slices
gpu_fft_slices(bool is_double, int dim, const size_t *n, size_t head, size_t tail)
{
	struct gpu_fft_slices f = {};
	struct gpu_fft slice = {};
	const size_t last = n[dim - 1];
	size_t samples = 1;

	for (int a = 0; a < dim - 1; a++) {
		slice.n[dim - 2 - a] = slice.in.embed[dim - 2 - a] = (long long)n[a];
		samples *= n[a];
	}
	f.slowest = gpu_fft_lines(GPU_FFT_C2C, is_double, last, samples, samples, 1, samples, 1);
	if (dim == 1)
		return f;
	slice.kind = GPU_FFT_C2C;
	slice.is_double = is_double;
	slice.rank = dim - 1;
	slice.in.stride = 1;
	slice.in.dist = (long long)samples;
	slice.out = slice.in;
	f.others[0] = f.others[1] = slice;
	f.others[0].batch = (long long)(head + tail < last ? head : last);
	f.others[1].batch = head + tail < last ? (long long)tail : 0;
	f.at[1] = (last - tail) * samples;
	return f;
}

int
gpu_fft_slices_prepare(struct gpu *g, const struct gpu_fft_slices *f)
{
	GPU_DO(gpu_fft_prepare(g, &f->slowest));
	for (const struct gpu_fft &others : f->others)
		if (others.batch)
			GPU_DO(gpu_fft_prepare(g, &others));
	return 0;
}

int
gpu_fft_spread_slices(struct gpu *g, const struct gpu_fft_slices *f, int sign, void *data)
{
	GPU_DO(transform_others(g, f, sign, data));
	return gpu_fft(g, &f->slowest, sign, data, data);
}

int
gpu_fft_gather_slices(struct gpu *g, const struct gpu_fft_slices *f, int sign, void *data)
{
	GPU_DO(gpu_fft(g, &f->slowest, sign, data, data));
	return transform_others(g, f, sign, data);
}
