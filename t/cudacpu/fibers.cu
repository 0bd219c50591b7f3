/*
 * The scheduler of cuda_runtime.h. A warp runs until all its threads wait for the block or are done, then the next one; when
 * no warp can go on the barrier of the block opens. Within a warp the lanes take turns, in the order asked for, and a lane
 * that waits hands over to the next one that is ready. When none is, the barriers of lanes that all of a mask have reached
 * open.
 */
#include <cuda_runtime.h>
#include <numeric>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include <vector>

#include "t/cudacpu/watch.h"

/* --- where a fiber stopped, and the switch from one to another: a few instructions of assembler, or ucontext ---------- */

/* AddressSanitizer is told of every change of stacks, which it makes larger. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
constexpr size_t STACK = 128 << 10;
#define asan_leave  __sanitizer_start_switch_fiber
#define asan_arrive __sanitizer_finish_switch_fiber
#else
constexpr size_t STACK = 32 << 10;
#define asan_leave(keep, ...)  static_cast<void>(keep)
#define asan_arrive(keep, ...) static_cast<void>(keep)
#endif

/* Stacks lie this far apart: were it a power of two, the same place of all stacks would share a few lines of the caches. */
constexpr size_t APART = STACK + 17 * 64;

#ifdef __x86_64__

/* Where a fiber stopped: its stack's pointer. */
typedef void *context;

extern "C" void cudacpu_switch(context *from, context to);
asm(".text\n"
    ".globl cudacpu_switch\n"
    ".type cudacpu_switch, @function\n"
    "cudacpu_switch:\n"
    "	push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
    "	mov %rsp, (%rdi)\n"
    "	mov %rsi, %rsp\n"
    "	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
    "	pop %rcx; jmp *%rcx\n" /* ret would never be predicted */
    ".size cudacpu_switch, . - cudacpu_switch\n");

/* A stack that the switch returns into entry from; below it the word that entry would return to, were it to. */
static inline void
context_make(context *c, char *stack, void (*entry)())
{
	void **sp = reinterpret_cast<void **>(stack + STACK);

	*--sp = nullptr;
	*--sp = reinterpret_cast<void *>(entry);
	for (int saved = 0; saved < 6; saved++)
		*--sp = nullptr;
	*c = sp;
}

static inline void
context_switch(context *from, context *to)
{
	cudacpu_switch(from, *to);
}

#else

typedef ucontext_t context;

static inline void
context_make(context *c, char *stack, void (*entry)())
{
	getcontext(c);
	c->uc_stack.ss_sp = stack;
	c->uc_stack.ss_size = STACK;
	c->uc_link = nullptr;
	makecontext(c, entry, 0);
}

static inline void
context_switch(context *from, context *to)
{
	swapcontext(from, to);
}

#endif

/* --- the orders of cudacpu_order(), in which blocks, warps and lanes take turns -------------------------------------- */

/* s: the state of the random numbers, from a seed. */
struct turns {
	int order;
	uint64_t s;

	unsigned
	below(unsigned n)
	{
		s = s * 6364136223846793005u + 1442695040888963407u;
		return (unsigned)((s >> 33) % n);
	}

	/* v = 0 .. count-1 in this order. */
	void
	permute(unsigned *v, unsigned count)
	{
		for (unsigned i = 0; i < count; i++)
			v[i] = order == CUDACPU_BACKWARD ? count - 1 - i : i;
		for (unsigned i = count; order == CUDACPU_SHUFFLED && i > 1; i--) {
			const unsigned k = below(i), t = v[k];
			v[k] = v[i - 1];
			v[i - 1] = t;
		}
	}
};

/* Block number i of n. A shuffle is a stride that has no divisor in common with n. */
static inline size_t
block_number(int order, unsigned seed, size_t i, size_t n)
{
	size_t stride = 1;

	if (order == CUDACPU_BACKWARD)
		return n - 1 - i;
	if (order == CUDACPU_SHUFFLED)
		for (stride = n / 3 + seed % 7 + 1; stride > 1; stride--)
			if (std::gcd(n, stride) == 1)
				break;
	return i * stride % n;
}

/* --- the scheduler ---------------------------------------------------------------------------------------------------- */

__thread dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace
{

/* With 255 registers a thread, as many as there can be, a block of more could not begin. */
constexpr unsigned MAXTHREADS = 256;

constexpr uint64_t CANARY = 0x5ca1ab1e0ddba11u;

enum state { READY, AT_BLOCK, AT_WARP, DONE };

/* Stores by __stcg() that other blocks do not see yet: below. */

/* A store that other blocks do not see yet. number: how many of the block came before it. */
struct store {
	void *at;
	uint64_t v;
	unsigned bytes, thread;
	size_t number;
};

/* What a fence of its thread lets go: the first stores of the block; of its own. */
struct fence {
	size_t known, own;
};

/* Of the block that this host thread runs. met: stores before the last barrier. */
struct kept {
	std::vector<store> stores;
	size_t number, met;
	fence last[MAXTHREADS];
};

thread_local kept now;

/* Writes the stores of which(s), in their order, and forgets them. */
template <class F>
void
write(F which)
{
	size_t left = 0;

	if (now.stores.empty())
		return;
	for (const store &s : now.stores) {
		if (!which(s))
			now.stores[left++] = s;
		else if (s.bytes == sizeof(unsigned))
			__atomic_store_n(static_cast<unsigned *>(s.at), (unsigned)s.v,
					 __ATOMIC_RELAXED);
		else
			__atomic_store_n(static_cast<uint64_t *>(s.at), s.v, __ATOMIC_RELAXED);
	}
	now.stores.resize(left);
}

[[noreturn]] void
fail(const char *why)
{
	fprintf(stderr, "cudacpu: block (%u,%u,%u), thread (%u,%u,%u): %s\n", blockIdx.x,
		blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, why);
	abort();
}

struct fiber {
	context at;
	void *asan;
	char *stack; /* nullptr before it begins */
	dim3 index;
	state is;
	unsigned mask;	     /* AT_WARP: the lanes waited for */
	cudacpu_meeting why; /* AT_WARP */
	unsigned where;	     /* AT_BLOCK, and so the next two */
	bool counts, vote;
	bool entered;
};

/* What an OpenMP thread needs to run blocks one after another. */
struct worker {
	fiber f[MAXTHREADS];
	uint64_t in[MAXTHREADS],
	    out[MAXTHREADS]; /* what lanes bring to an exchange, and take home */
	char *stacks = nullptr, *dynamic = nullptr, *unused[MAXTHREADS]; /* unused: stacks */
	size_t dynamic_size = 0;
	unsigned n, current, votes, unuseds;
	unsigned turn[32], base, lanes, next; /* the warp's turns; which comes next */
	context scheduler;
	bool resumed; /* by the scheduler, not by a fiber */
	void *asan;
	const void *bottom;
	size_t size;
	turns order;
	const std::function<void()> *call;

	~worker()
	{
		free(stacks);
		free(dynamic);
	}
	void prepare(size_t shared);
	void start(unsigned i);
	fiber *take();
	context *context_of(fiber *to);
	void resume(fiber *to);
	void arrive(fiber *at);
	bool wait(state s);
	unsigned waiting(unsigned w, unsigned mask, unsigned *ended) const;
	bool open_warp(unsigned w);
	void run_warp(unsigned w);
	bool open_block();
	void run();
};

thread_local worker *me;
int wanted_order;
unsigned wanted_seed;

/* A thread, and on the same stack those after it that find it free. */
void
entry()
{
	worker *w = me;

	w->arrive(&w->f[w->current]);
	do
		(*w->call)();
	while (w->wait(DONE));
	fail("a finished thread was resumed");
}

void
worker::prepare(size_t shared)
{
	if (!stacks)
		stacks = static_cast<char *>(aligned_alloc(64, MAXTHREADS * APART));
	if (!dynamic || dynamic_size != shared) {
		free(dynamic);
		dynamic = static_cast<char *>(aligned_alloc(16, (shared + 16) / 16 * 16));
		dynamic_size = shared;
	}
	if (!stacks || !dynamic)
		fail("no memory");
}

void
worker::start(unsigned i)
{
	unused[i] = stacks + (n - 1 - i) * APART;
	f[i].stack = nullptr;
	f[i].asan = nullptr;
	f[i].index =
	    dim3(i % blockDim.x, i / blockDim.x % blockDim.y, i / (blockDim.x * blockDim.y));
	f[i].is = READY;
	f[i].entered = false;
}

/* The next lane of the warp that is ready becomes the current thread; null when none is. */
fiber *
worker::take()
{
	while (next < lanes) {
		const unsigned i = base + turn[next++];
		if (f[i].is != READY)
			continue;
		current = i;
		threadIdx = f[i].index;
		if (watch_run)
			watch_run(f[i].entered ? (int)i : -1);
		return &f[i];
	}
	return nullptr;
}

/* Where a fiber goes on. One that has yet to begin gets a stack. */
context *
worker::context_of(fiber *to)
{
	if (!to->stack) {
		to->stack = unused[--unuseds];
		memcpy(to->stack, &CANARY, sizeof CANARY);
		context_make(&to->at, to->stack, entry);
	}
	return &to->at;
}

/* By the scheduler: that fiber, and those after it, go on until all wait. */
void
worker::resume(fiber *to)
{
	context *const at = context_of(to);

	resumed = true;
	asan_leave(&asan, to->stack, STACK);
	context_switch(&scheduler, at);
	asan_arrive(asan, nullptr, nullptr);
}

/* In a fiber that goes on. */
void
worker::arrive(fiber *at)
{
	asan_arrive(at->asan, resumed ? &bottom : nullptr, resumed ? &size : nullptr);
	resumed = false;
}

/*
 * The current fiber stops here until its turn comes again. Where it has ended and the next one has yet to begin, that does so on the
 * same stack, and this returns true at once: threads that never wait need no switch, and their stack stays in the cache.
 */
bool
worker::wait(state s)
{
	fiber *const from = &f[current];
	uint64_t end;

	memcpy(&end, from->stack, sizeof end); /* memcmp() is a call under ASan */
	if (end != CANARY)
		fail("its stack is too small");
	from->is = s;
	if (watch_run)
		watch_run(-1);
	fiber *const to = take();
	if (s == DONE && to && !to->stack) {
		to->stack = from->stack;
		return true;
	}
	context *const at = to ? context_of(to) : &scheduler;
	if (s == DONE)
		unused[unuseds++] = from->stack;
	asan_leave(s == DONE ? nullptr : &from->asan, to ? to->stack : bottom, to ? STACK : size);
	context_switch(&from->at, at);
	arrive(from);
	return false;
}

/* The lanes of warp w that wait for lanes `mask`; those that have ended, or that the block does not have. */
unsigned
worker::waiting(unsigned w, unsigned mask, unsigned *ended) const
{
	const unsigned base = 32 * w, lanes = min(32u, n - base);
	unsigned r = 0;

	*ended = ~0u << (lanes - 1) << 1;
	for (unsigned i = 0; i < lanes; i++) {
		r |= (unsigned)(f[base + i].is == AT_WARP && f[base + i].mask == mask) << i;
		*ended |= (unsigned)(f[base + i].is == DONE) << i;
	}
	return r;
}

/* Opens the barriers in warp w whose lanes have all come. */
bool
worker::open_warp(unsigned w)
{
	const unsigned base = 32 * w, lanes = min(32u, n - base);
	bool opened = false;

	for (unsigned i = 0; i < lanes; i++) {
		if (f[base + i].is != AT_WARP)
			continue;
		unsigned ended, mask = f[base + i].mask, here = waiting(w, mask, &ended);
		if (mask & ended)
			fail("a warp operation names a lane that has ended");
		if (mask & ~here)
			continue;
		if (watch_open_warp)
			watch_open_warp(base, here, f[base + i].why == CUDACPU_SYNC);
		for (unsigned k = i; k < lanes; k++)
			if (here >> k & 1) {
				if (f[base + k].why != f[base + i].why)
					fail("the lanes of a warp operation are in different ones");
				f[base + k].is = READY;
				out[base + k] = in[base + k];
			}
		opened = true;
	}
	return opened;
}

void
worker::run_warp(unsigned w)
{
	base = 32 * w;
	lanes = min(32u, n - base);
	do {
		order.permute(turn, lanes);
		next = 0;
		fiber *const first = take();
		if (first)
			resume(first);
	} while (open_warp(w));
}

/* Opens the barrier of the block once all that are not done have come; false when all are done. */
bool
worker::open_block()
{
	unsigned live = 0, here = 0, count = 0, elsewhere = 0, where = 0;

	votes = 0;
	for (unsigned i = 0; i < n; i++) {
		live += f[i].is != DONE;
		here += f[i].is == AT_BLOCK;
		where = here == 1 && f[i].is == AT_BLOCK ? f[i].where : where;
		elsewhere += f[i].is == AT_BLOCK && f[i].where != where;
		count += f[i].is == AT_BLOCK && f[i].counts;
		votes += f[i].is == AT_BLOCK && f[i].vote;
	}
	if (here < live)
		fail("threads wait for lanes or at a barrier that others never reach");
	if (count && count < here)
		fail("some threads of a block count at a barrier, and others do not");
	if (elsewhere)
		fail("the threads of a block are at different barriers");
	now.met = now.number;
	if (watch_open_block)
		watch_open_block();
	for (unsigned i = 0; i < n; i++)
		if (f[i].is == AT_BLOCK)
			f[i].is = READY;
	return live > 0;
}

void
worker::run()
{
	const unsigned warps = (n + 31) / 32;
	unsigned which[MAXTHREADS / 32];

	memset(dynamic, 0xff, dynamic_size);
	now.number = now.met = 0;
	memset(now.last, 0, sizeof now.last);
	unuseds = n;
	for (unsigned i = 0; i < n; i++)
		start(i);
	do {
		order.permute(which, warps);
		for (unsigned i = 0; i < warps; i++)
			run_warp(which[i]);
	} while (open_block());
	write([](const store &) { return true; });
}

void
run_grid(const cudacpu_grid &g, const std::function<void()> &call)
{
	const dim3 grid = g.grid, block = g.block;
	const size_t blocks = (size_t)grid.x * grid.y * grid.z;
	const unsigned launch = watch_launch ? watch_launch() : 0;

#pragma omp parallel for schedule(dynamic, 1) if (blocks > 1)
	for (size_t i = 0; i < blocks; i++) {
		static thread_local worker w;
		const size_t b = block_number(wanted_order, wanted_seed, i, blocks);
		me = &w;
		gridDim = grid;
		blockDim = block;
		blockIdx = dim3((unsigned)(b % grid.x), (unsigned)(b / grid.x % grid.y),
				(unsigned)(b / grid.x / grid.y));
		w.prepare(g.shared);
		w.n = block.x * block.y * block.z;
		w.order = {wanted_order, wanted_seed + b};
		w.call = &call;
		if (watch_begin)
			watch_begin({launch, b, w.stacks, reinterpret_cast<char *>(&w), w.dynamic,
				     MAXTHREADS * APART, sizeof w, g.shared});
		w.run();
	}
}

} // namespace

extern "C" void
cudacpu_order(int order, unsigned seed)
{
	cudacpu_policy(order, seed);
	wanted_order = order;
	wanted_seed = seed;
}

void
cudacpu_launch(const cudacpu_grid &g, std::function<void()> call)
{
	const size_t threads = (size_t)g.block.x * g.block.y * g.block.z;

	if (!threads || !g.grid.x || !g.grid.y || !g.grid.z || g.grid.x > 0x7fffffff ||
	    g.grid.y > 65535 || g.grid.z > 65535 || g.block.z > 64)
		fail("a launch beyond the limits");
	if (threads > MAXTHREADS)
		fail("a launch of more threads a block than are sure to find registers");
	if (cudacpu_may_launch(g) == cudaSuccess)
		cudacpu_give(g.stream, [=] { run_grid(g, call); });
}

void
cudacpu_enter(void)
{
	me->f[me->current].entered = true;
	if (watch_run)
		watch_run((int)me->current);
}

void *
cudacpu_dynamic(void)
{
	return me->dynamic;
}

unsigned
cudacpu_lane(void)
{
	return me->current % 32;
}

unsigned
cudacpu_barrier(unsigned where, bool counts, bool vote)
{
	worker *w = me;

	w->f[w->current].where = where;
	w->f[w->current].counts = counts;
	w->f[w->current].vote = vote;
	w->wait(AT_BLOCK);
	return w->votes;
}

void
cudacpu_check_named(unsigned id, unsigned count)
{
	if (id < 1 || id > 15)
		fail("a named barrier is one of 1 to 15");
	if (count != me->n)
		fail("a named barrier of a part of the block cannot be run here");
}

const uint64_t *
cudacpu_exchange(unsigned mask, uint64_t v, cudacpu_meeting why, unsigned from)
{
	worker *w = me;
	const unsigned i = w->current;

	if (!(mask >> i % 32 & mask >> from & 1))
		fail("a warp operation is by or from a lane that its mask leaves out");
	w->in[i] = v;
	w->f[i].mask = mask;
	w->f[i].why = why;
	w->wait(AT_WARP);
	return w->out + i / 32 * 32;
}

/* --- what __stcg() writes: stores that other blocks see as late as the memory model lets them. A block has one host thread -- */

bool
cudacpu_keep(void *p, const void *v, unsigned bytes)
{
	store s = {p, 0, bytes, me->current, now.number};

	if (watch_run || (bytes != sizeof(unsigned) && bytes != sizeof s.v))
		return false;
	memcpy(&s.v, v, bytes);
	now.stores.push_back(s);
	now.number++;
	return true;
}

bool
cudacpu_find(const void *p, void *v)
{
	for (size_t i = now.stores.size(); i--;)
		if (now.stores[i].at == p) {
			memcpy(v, &now.stores[i].v, now.stores[i].bytes);
			return true;
		}
	return false;
}

void
cudacpu_fence(void)
{
	now.last[me->current] = {now.met, now.number};
}

void
cudacpu_publish(void)
{
	const unsigned t = me->current;
	const fence f = now.last[t];

	write([=](const store &s) { return s.number < (s.thread == t ? f.own : f.known); });
}
