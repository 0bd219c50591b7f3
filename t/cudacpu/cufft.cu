/*
 * The functions of cuFFT that gpu/fft.cu asks for, by FFTW. As strict as cuFFT is: pointers at a complex number's boundary,
 * a plan must have been told its work space before it is used, NULL where it needs none, and c2r out of place destroys its
 * input. Stricter, since its manual says nothing of them: rows of reals have an even length, and no plan changes its work
 * space while a graph is captured.
 */
#include <mutex>
#include <string>

#include <cuda_runtime.h>
#include <fftw3.h>
#include <string.h>

#include "t/cudacpu/dlfcn.h"

namespace
{

enum { INVALID_PLAN = 1, INVALID_VALUE = 4, INVALID_SIZE = 8, UNALIGNED = 9, NO_WORKSPACE = 13 };
enum { HANDLES = 256, C2C = 0x29, R2C = 0x2a, C2R = 0x2c, DOUBLE = 0x40, WORK = 64, FEW = 8 };

struct side {
	long long embed[3], stride, dist;
};

struct handle {
	bool used, made, given; /* given: it was told its work space */
	int rank, type;
	long long n[3], batch;
	side in, out;
	size_t work; /* bytes */
	cudaStream_t stream;
};

handle handles[HANDLES];
std::mutex lock; /* of the handles, and of FFTW's planner, which is for one thread at a time */

handle *
handle_of(int plan)
{
	return plan >= 0 && plan < HANDLES && handles[plan].used ? &handles[plan] : nullptr;
}

int
create(int *plan)
{
	const std::lock_guard<std::mutex> hold(lock);

	for (*plan = 0; *plan < HANDLES; ++*plan)
		if (!handles[*plan].used) {
			handles[*plan] = {};
			handles[*plan].used = true;
			return 0;
		}
	return INVALID_PLAN;
}

int
autos(int plan, int)
{
	return handle_of(plan) ? 0 : INVALID_PLAN;
}

/* The strides of a side, axis by axis. */
side
side_of(int rank, const long long *embed, long long stride, long long dist)
{
	side s = {{0, 0, 0}, stride, dist};

	s.embed[rank - 1] = stride;
	for (int i = rank - 1; i > 0; i--)
		s.embed[i - 1] = s.embed[i] * embed[i];
	return s;
}

int
make(int plan, int rank, long long *n, long long *inembed, long long istride, long long idist,
     long long *onembed, long long ostride, long long odist, int type, long long batch,
     size_t *work)
{
	handle *h = handle_of(plan);

	if (!h || h->made)
		return INVALID_PLAN;
	if (rank < 1 || rank > 3 || batch < 1)
		return INVALID_SIZE;
	for (int i = 0; i < rank; i++)
		if ((h->n[i] = n[i]) < 1)
			return INVALID_SIZE;
	if (type % DOUBLE != C2C && n[rank - 1] % 2)
		return INVALID_SIZE;
	h->made = true;
	h->rank = rank;
	h->type = type;
	h->batch = batch;
	h->in = side_of(rank, inembed, istride, idist);
	h->out = side_of(rank, onembed, ostride, odist);
	*work = h->work = n[0] > FEW ? WORK : 0;
	return 0;
}

int
stream(int plan, cudaStream_t s)
{
	handle *h = handle_of(plan);

	if (!h)
		return INVALID_PLAN;
	h->stream = s;
	return 0;
}

int
work(int plan, void *area)
{
	handle *h = handle_of(plan);

	if (!h)
		return INVALID_PLAN;
	if (cudacpu_captures())
		return INVALID_VALUE;
	h->given = true;
	/* A plan without work space has no area: a device has no block of no bytes. */
	if (!h->work)
		return 0;
	return cudacpu_give(h->stream, [area, n = h->work] { memset(area, 0xff, n); }) ==
		       cudaSuccess
		   ? 0
		   : INVALID_VALUE;
}

int
destroy(int plan)
{
	handle *h = handle_of(plan);

	if (!h)
		return INVALID_PLAN;
	h->used = false;
	return 0;
}

/* FFTW's names for a precision. */
template <class R> struct fftw;
template <> struct fftw<float> {
	typedef fftwf_complex complex;
	static constexpr auto c2c = fftwf_plan_guru64_dft;
	static constexpr auto r2c = fftwf_plan_guru64_dft_r2c;
	static constexpr auto c2r = fftwf_plan_guru64_dft_c2r;
	static constexpr auto execute = fftwf_execute;
	static constexpr auto end = fftwf_destroy_plan;
};
template <> struct fftw<double> {
	typedef fftw_complex complex;
	static constexpr auto c2c = fftw_plan_guru64_dft;
	static constexpr auto r2c = fftw_plan_guru64_dft_r2c;
	static constexpr auto c2r = fftw_plan_guru64_dft_c2r;
	static constexpr auto execute = fftw_execute;
	static constexpr auto end = fftw_destroy_plan;
};

/* FFTW's plan of that type for these arrays. */
template <class R>
auto
plan_of(int type, int n, const fftw_iodim64 *d, const fftw_iodim64 *m, void *in, void *out,
	int sign)
{
	typedef typename fftw<R>::complex C;
	C *const from = static_cast<C *>(in), *const to = static_cast<C *>(out);

	return type == C2C   ? fftw<R>::c2c(n, d, 1, m, from, to, sign, FFTW_ESTIMATE)
	       : type == R2C ? fftw<R>::r2c(n, d, 1, m, static_cast<R *>(in), to,
					    FFTW_ESTIMATE | FFTW_PRESERVE_INPUT)
			     : fftw<R>::c2r(n, d, 1, m, from, static_cast<R *>(out), FFTW_ESTIMATE);
}

/* Has a plan of FFTW's run once, in its turn. */
template <class R>
int
run(int plan, int type, void *in, void *out, int sign)
{
	const handle *h = handle_of(plan);

	if (!h || h->type != type + (sizeof(R) == sizeof(double) ? DOUBLE : 0))
		return INVALID_PLAN;
	if (!h->given)
		return NO_WORKSPACE;
	if ((uintptr_t)in % (2 * sizeof(R)) || (uintptr_t)out % (2 * sizeof(R)))
		return UNALIGNED;
	const auto task = [=, p = *h] {
		const std::lock_guard<std::mutex> hold(lock);
		fftw_iodim64 dim[3];
		const fftw_iodim64 many = {(ptrdiff_t)p.batch, (ptrdiff_t)p.in.dist,
					   (ptrdiff_t)p.out.dist};
		for (int i = 0; i < p.rank; i++)
			dim[i] = {(ptrdiff_t)p.n[i], (ptrdiff_t)p.in.embed[i],
				  (ptrdiff_t)p.out.embed[i]};
		const auto made = plan_of<R>(type, p.rank, dim, &many, in, out, sign);
		if (!made)
			abort();
		fftw<R>::execute(made);
		fftw<R>::end(made);
	};
	return cudacpu_give(h->stream, task) == cudaSuccess ? 0 : INVALID_VALUE;
}

template <class R>
int
exec_complex(int plan, void *in, void *out, int sign)
{
	return run<R>(plan, C2C, in, out, sign);
}

template <class R, int TYPE>
int
exec_real(int plan, void *in, void *out)
{
	return run<R>(plan, TYPE, in, out, 0);
}

template <class F>
void *
address(F f)
{
	void *p;

	memcpy(&p, &f, sizeof p);
	return p;
}

const struct {
	const char *name;
	void *at;
} symbols[] = {{"cufftCreate", address(create)},
	       {"cufftSetAutoAllocation", address(autos)},
	       {"cufftMakePlanMany64", address(make)},
	       {"cufftSetStream", address(stream)},
	       {"cufftSetWorkArea", address(work)},
	       {"cufftExecC2C", address(exec_complex<float>)},
	       {"cufftExecZ2Z", address(exec_complex<double>)},
	       {"cufftExecR2C", address(exec_real<float, R2C>)},
	       {"cufftExecD2Z", address(exec_real<double, R2C>)},
	       {"cufftExecC2R", address(exec_real<float, C2R>)},
	       {"cufftExecZ2D", address(exec_real<double, C2R>)},
	       {"cufftDestroy", address(destroy)}};

std::string only; /* the path of the library; empty: any */

} // namespace

extern "C" void
cudacpu_library_at(const char *path)
{
	only = path;
}

void *
cudacpu_dlopen(const char *name)
{
	const bool is_it = only.empty() ? strstr(name, "libcufft.so.") != nullptr : only == name;

	return is_it ? handles : nullptr;
}

char *
cudacpu_dlerror(void)
{
	static char text[] = "libcufft.so.12: there is none";

	return text;
}

void *
cudacpu_dlsym(void *, const char *name)
{
	for (const auto &s : symbols)
		if (!strcmp(s.name, name))
			return s.at;
	return nullptr;
}
