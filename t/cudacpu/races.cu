/*
 * Races of the kernels, found in any order of the fibers. The kernels are compiled with -fsanitize=thread, and this file is their
 * runtime library: it sees each access of a thread to memory.
 *
 * Two accesses to a byte by two threads of a launch are a race if at least one writes, at least one is plain, and nothing orders
 * them. A barrier orders the threads of its block, and __syncwarp() the lanes in its mask. As in CUDA, shuffles, votes and
 * atomics order nothing. Atomics, __ldcg() and __stcg() are strong accesses: they do not race with each other. A strong access
 * does not race with a plain one after which its thread has called __threadfence(). Whether a flag was read in between is not
 * checked.
 *
 * Each thread has a clock, which advances when the thread meets others. The clock that a thread had when it met another tells
 * which of its accesses the other knows. A word of memory remembers its last few accesses.
 *
 * Not found: races between launches in different streams; races after which SLOTS other accesses to the word came first; what
 * memcpy() does in a kernel.
 */
#include "t/cudacpu/races.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <set>

extern "C" const Elf64_Ehdr __ehdr_start; /* the linker defines it */

namespace
{

constexpr unsigned SLOTS = 4, THREADS = 1024, LANES = 32, PAGE = 4096, WORD = 4;

enum { READ = 1, WRITE = 2, STRONG_READ = 4, STRONG_WRITE = 8 };

/* code counts from the program's start. bytes has a bit for each byte of the word; it is 0 where there was no access. */
struct access {
	unsigned code : 24, is : 4, bytes : 4;
	unsigned block : 22, thread : 10, clock;
};

/* A word. owner: the launch whose accesses these are, or, in shared memory, the block. */
struct alignas(64) cell {
	unsigned owner;
	unsigned char lock, next;
	access seen[SLOTS];
};

struct page {
	cell word[PAGE / WORD];
};

/*
 * A block that a host thread runs. self: a number that no other block had; met: the clocks at the last barrier; known: what a
 * thread knows of the clocks of its warp; tls: where static shared memory lies.
 */
struct running {
	races_block b;
	unsigned self, clock[THREADS], met[THREADS], known[THREADS][LANES];
	uintptr_t tls, tls_bytes;
};

constexpr unsigned ROOTS = 1 << 17, BRANCHES = 1 << 18;
page **shadow[ROOTS];
unsigned numbers, races;
std::mutex lock;
std::set<std::pair<unsigned, unsigned>> told;
std::map<unsigned, unsigned> fences; /* of launch fenced_launch, by block and thread: the clock */
unsigned fenced_launch;
thread_local running *now;
thread_local int thread = -1;

/* --- memory -------------------------------------------------------------------------------------------------------- */

/* Returns *slot, which is made of `bytes` zeros when it is first asked for. */
template <class T>
T *
grown(T **slot, size_t bytes)
{
	T *p = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

	if (p)
		return p;
	void *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (fresh == MAP_FAILED)
		abort();
	if (__atomic_compare_exchange_n(slot, &p, static_cast<T *>(fresh), false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return static_cast<T *>(fresh);
	munmap(fresh, bytes);
	return p;
}

cell *
cell_of(uintptr_t at)
{
	page **const branch = grown(&shadow[at >> 30 & (ROOTS - 1)], BRANCHES * sizeof(page *));

	return &grown(&branch[at >> 12 & (BRANCHES - 1)], sizeof(page))->word[at % PAGE / WORD];
}

/* --- order --------------------------------------------------------------------------------------------------------- */

bool
conflict(unsigned a, unsigned b)
{
	return (a | b) & (WRITE | STRONG_WRITE) && (a | b) & (READ | WRITE);
}

/* Whether whoever conflicts with b conflicts with a. */
bool
covers(unsigned a, unsigned b)
{
	return a == b || a == WRITE || b == STRONG_READ;
}

/* Whether the thread of a has called __threadfence() since. */
bool
is_fenced(const access &a)
{
	const std::lock_guard<std::mutex> hold(lock);
	const auto f = fences.find(a.block << 10 | a.thread);

	return fenced_launch == now->b.launch && f != fences.end() && f->second >= a.clock;
}

/* Whether this thread knows of a. */
bool
is_known(const access &a)
{
	const unsigned t = (unsigned)thread;

	if (a.block != now->b.number)
		return false;
	return a.thread == t || a.clock <= now->met[a.thread] ||
	       (a.thread / LANES == t / LANES && a.clock <= now->known[t][a.thread % LANES]);
}

/* --- reports ------------------------------------------------------------------------------------------------------- */

/* A header of the program's own file of that type. */
const Elf64_Phdr *
own_header(unsigned type)
{
	const Elf64_Phdr *h = reinterpret_cast<const Elf64_Phdr *>(
	    reinterpret_cast<const char *>(&__ehdr_start) + __ehdr_start.e_phoff);

	while (h->p_type != type)
		h++;
	return h;
}

void
tell(const char *what, const access &a)
{
	char command[128], line[512] = "";

	snprintf(command, sizeof command, "addr2line -Cfpe /proc/%d/exe %#zx", (int)getpid(),
		 (size_t)(own_header(PT_LOAD)->p_vaddr + a.code));
	FILE *f = popen(command, "r");
	if (!f || !fgets(line, sizeof line, f))
		snprintf(line, sizeof line, "%#zx\n", (size_t)a.code);
	if (f)
		pclose(f);
	fprintf(stderr, "cudacpu: %s %s of block %u, thread %u: %s", what,
		a.is == READ	      ? "a read"
		: a.is == WRITE	      ? "a write"
		: a.is == STRONG_READ ? "a strong read"
				      : "an atomic or strong write",
		(unsigned)a.block, (unsigned)a.thread, line);
}

void
report(const access &first, const access &second, bool shared)
{
	const std::lock_guard<std::mutex> hold(lock);

	if (!told.insert({first.code, second.code}).second)
		return;
	races++;
	tell(shared ? "a race in shared memory:" : "a race in global memory:", first);
	tell("	and", second);
}

/* --- accesses ------------------------------------------------------------------------------------------------------ */

/* Compares a with what the cell remembers, and has it remember a, in the place of an access that a covers if there is one. */
void
meet(cell *c, const access &a, bool shared)
{
	access *place = nullptr;

	for (access &s : c->seen) {
		const bool known = !s.bytes || is_known(s);
		if (!known && s.bytes & a.bytes && conflict(s.is, a.is) &&
		    (s.is == STRONG_READ || a.is < STRONG_READ || !is_fenced(s)))
			report(s, a, shared);
		if (s.thread == a.thread && s.block == a.block && s.clock == a.clock &&
		    s.is == a.is && s.bytes == a.bytes)
			return;
		if (!s.bytes || (known && !(s.bytes & ~a.bytes) && covers(a.is, s.is)) ||
		    (shared && s.clock <= now->met[s.thread]))
			place = &s;
	}
	if (!place)
		place = &c->seen[c->next++ % SLOTS];
	*place = a;
}

void
look(uintptr_t at, size_t bytes, unsigned is, void *from)
{
	if (thread < 0)
		return;
	const races_block &b = now->b;
	const unsigned t = (unsigned)thread;
	const uintptr_t dynamic = reinterpret_cast<uintptr_t>(b.dynamic);
	if (at - reinterpret_cast<uintptr_t>(b.stacks) < b.stack_bytes)
		return;
	const bool shared = at - now->tls < now->tls_bytes || at - dynamic < b.dynamic_bytes;
	const unsigned code = (unsigned)(reinterpret_cast<uintptr_t>(from) - 1 -
					 reinterpret_cast<uintptr_t>(&__ehdr_start));
	const unsigned owner = shared ? now->self : b.launch;
	for (const uintptr_t end = at + bytes; at < end; at = (at / WORD + 1) * WORD) {
		const unsigned low = at % WORD,
			       high = end - at + low < WORD ? (unsigned)(end - at) + low : WORD;
		const access a = {
		    code, is, (1u << high) - (1u << low), (unsigned)b.number, t, now->clock[t]};
		cell *const c = cell_of(at);
		while (!shared && __atomic_exchange_n(&c->lock, 1, __ATOMIC_ACQUIRE))
			;
		if (c->owner != owner) {
			memset(c->seen, 0, sizeof c->seen);
			c->owner = owner;
		}
		meet(c, a, shared);
		if (!shared)
			__atomic_store_n(&c->lock, 0, __ATOMIC_RELEASE);
	}
}

} // namespace

/* --- fibers.cu ----------------------------------------------------------------------------------------------------- */

unsigned
races_launch(void)
{
	return __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
}

void
races_begin(const races_block &b)
{
	static thread_local running mine;

	mine.b = b;
	mine.self = races_launch();
	for (unsigned i = 0; i < THREADS; i++)
		mine.clock[i] = 1;
	memset(mine.met, 0, sizeof mine.met);
	memset(mine.known, 0, sizeof mine.known);
	now = &mine;
	mine.tls = reinterpret_cast<uintptr_t>(&now) - own_header(PT_TLS)->p_memsz;
	mine.tls_bytes = 2 * own_header(PT_TLS)->p_memsz;
}

void
races_run(int t)
{
	thread = t;
}

void
races_open_block(void)
{
	for (unsigned i = 0; i < THREADS; i++)
		now->met[i] = now->clock[i]++;
}

void
races_open_warp(unsigned first, unsigned lanes)
{
	unsigned all[LANES] = {};

	for (unsigned i = 0; i < LANES; i++)
		if (lanes >> i & 1) {
			unsigned *const k = now->known[first + i];
			k[i] = now->clock[first + i]++;
			for (unsigned l = 0; l < LANES; l++)
				all[l] = max(all[l], k[l]);
		}
	for (unsigned i = 0; i < LANES; i++)
		if (lanes >> i & 1)
			memcpy(now->known[first + i], all, sizeof all);
}

extern "C" int
cudacpu_races(void)
{
	const std::lock_guard<std::mutex> hold(lock);
	const int n = (int)races;

	races = 0;
	return n;
}

/* --- the compiler -------------------------------------------------------------------------------------------------- */

extern "C" {
void
__tsan_init(void)
{
}

void
__tsan_read_range(uintptr_t p, size_t n)
{
	look(p, n, READ, __builtin_return_address(0));
}

void
__tsan_write_range(uintptr_t p, size_t n)
{
	look(p, n, WRITE, __builtin_return_address(0));
}

#define PLAIN(n)                                                \
	void __tsan_read##n(uintptr_t p)                        \
	{                                                       \
		look(p, n, READ, __builtin_return_address(0));  \
	}                                                       \
	void __tsan_write##n(uintptr_t p)                       \
	{                                                       \
		look(p, n, WRITE, __builtin_return_address(0)); \
	}
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

#define STRONG(bits)                                                                              \
	uint##bits##_t __tsan_atomic##bits##_load(const uint##bits##_t *p, int)                   \
	{                                                                                         \
		look(reinterpret_cast<uintptr_t>(p), bits / 8, STRONG_READ,                       \
		     __builtin_return_address(0));                                                \
		return __atomic_load_n(p, __ATOMIC_RELAXED);                                      \
	}                                                                                         \
	void __tsan_atomic##bits##_store(uint##bits##_t *p, uint##bits##_t v, int)                \
	{                                                                                         \
		look(reinterpret_cast<uintptr_t>(p), bits / 8, STRONG_WRITE,                      \
		     __builtin_return_address(0));                                                \
		__atomic_store_n(p, v, __ATOMIC_RELAXED);                                         \
	}                                                                                         \
	int __tsan_atomic##bits##_compare_exchange_strong(uint##bits##_t *p, uint##bits##_t *old, \
							  uint##bits##_t v, int, int)             \
	{                                                                                         \
		look(reinterpret_cast<uintptr_t>(p), bits / 8, STRONG_WRITE,                      \
		     __builtin_return_address(0));                                                \
		return __atomic_compare_exchange_n(p, old, v, false, __ATOMIC_SEQ_CST,            \
						   __ATOMIC_RELAXED);                             \
	}
STRONG(32)
STRONG(64)

void
__tsan_atomic_thread_fence(int)
{
	if (thread < 0)
		return;
	const std::lock_guard<std::mutex> hold(lock);
	if (fenced_launch != now->b.launch) {
		fences.clear();
		fenced_launch = now->b.launch;
	}
	fences[(unsigned)now->b.number << 10 | (unsigned)thread] = now->clock[thread]++;
}
}
