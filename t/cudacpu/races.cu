/*
 * Races of the kernels, found in any order of the fibers. The compiler calls this file at each access of a kernel to memory.
 *
 * Two accesses to a byte by two threads of a launch are a race if at least one writes, at least one is plain, and nothing orders
 * them. A barrier orders the threads of its block, and __syncwarp() the lanes in its mask. As in CUDA, shuffles, votes and
 * atomics order nothing. Atomics, __ldcg() and __stcg() are strong accesses: they do not race with each other. A strong access
 * does not race with a plain one after which its thread has called __threadfence(). Whether a flag was read in between is not
 * checked.
 *
 * Counted as a race, too: a block reads a word of shared memory that none of its threads has written or changed.
 *
 * Each thread has a clock, which advances when the thread meets others. The clock that a thread had when it met another tells
 * which of its accesses the other knows. A word of memory remembers its last few accesses.
 *
 * Not found: races between launches in different streams; races after which SLOTS other accesses to the word came first; what
 * memcpy() does in a kernel. What a call returns into memory counts as not written, unless it is inlined.
 */
#include "t/cudacpu/watch.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

extern "C" const Elf64_Ehdr __ehdr_start; /* the linker defines it */

namespace
{

constexpr unsigned SLOTS = 4, THREADS = 1024, LANES = 32, WORD = 4;

/* What an access does. Atomics, __ldcg() and __stcg() are strong. */
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

/*
 * A block that a host thread runs. tls: where the host thread's static shared memory lies; self: a number that no other block
 * had; met: the clocks at the last barrier; known: what a thread knows of the clocks of its warp.
 */
struct running {
	watch_block b;
	uintptr_t tls, tls_bytes;
	unsigned self, clock[THREADS], met[THREADS], known[THREADS][LANES];
};

unsigned numbers; /* of launches and blocks */
unsigned races;
std::mutex lock;
std::set<std::pair<unsigned, unsigned>> told;
std::map<unsigned, unsigned> fences; /* of launch fenced_launch, by block and thread: the clock */
unsigned fenced_launch;
thread_local running *now;
thread_local int thread = -1;

/* --- what is remembered of each word of memory; zeros at first ------------------------------------------------------- */

constexpr unsigned ROOTS = 1 << 17, BRANCHES = 1 << 18, PAGE = 4096;

struct page {
	cell unit[PAGE / WORD];
};
page **roots[ROOTS];

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
	page **const branch = grown(&roots[at >> 30 & (ROOTS - 1)], BRANCHES * sizeof(page *));

	return &grown(&branch[at >> 12 & (BRANCHES - 1)], sizeof(page))->unit[at % PAGE / WORD];
}

/* --- places in the program ----------------------------------------------------------------------------------------- */

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

/* The path of a source from the project's directory on, and the line. */
std::string
own_path(const char *place)
{
	const std::string whole(place, strcspn(place, "\n "));
	const size_t gpu = whole.rfind("/gpu/"), t = whole.rfind("/t/cudacpu/");

	return gpu != whole.npos ? whole.substr(gpu + 1)
	       : t != whole.npos ? whole.substr(t + 1)
				 : whole;
}

/* The first line of a function outside t/cudacpu among those of one address, each after its function; else the first. */
std::string
own_line(FILE *f)
{
	std::string found;
	char function[4096], place[4096];

	while (fgets(function, sizeof function, f) && strncmp(function, "0x", 2) &&
	       fgets(place, sizeof place, f))
		if (found.empty() || found.find(" at t/cudacpu/") != found.npos)
			found = std::string(function, strcspn(function, "\n")) + " at " +
				own_path(place);
	return found;
}

/* The place of an instruction, counted from the program's start. */
unsigned
code_of(const void *instruction)
{
	return (unsigned)(reinterpret_cast<uintptr_t>(instruction) -
			  reinterpret_cast<uintptr_t>(&__ehdr_start));
}

/* "function at file:line"; the line of the kernel, where a function of t/cudacpu is inlined there. */
std::string
line_of(unsigned code)
{
	char text[32];

	snprintf(text, sizeof text, " %#zx", (size_t)(own_header(PT_LOAD)->p_vaddr + code));
	const std::string command =
	    "addr2line -aCfie /proc/" + std::to_string(getpid()) + "/exe" + text;
	FILE *const f = popen(command.c_str(), "r");
	const std::string line = f && fgets(text, sizeof text, f) ? own_line(f) : "";
	if (f)
		pclose(f);
	return line;
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
is_known(const access &a, unsigned t)
{
	if (a.block != now->b.number)
		return false;
	return a.thread == t || a.clock <= now->met[a.thread] ||
	       (a.thread / LANES == t / LANES && a.clock <= now->known[t][a.thread % LANES]);
}

/* --- reports ------------------------------------------------------------------------------------------------------- */

void
tell(const char *what, const access &a)
{
	fprintf(stderr, "cudacpu: %s %s of block %u, thread %u: %s\n", what,
		a.is == READ	      ? "a read"
		: a.is == WRITE	      ? "a write"
		: a.is == STRONG_READ ? "a strong read"
				      : "an atomic or strong write",
		(unsigned)a.block, (unsigned)a.thread, line_of(a.code).c_str());
}

/* Says so once of each place, or pair of places. */
void
report(const char *what, const access &a, const access *other)
{
	const std::lock_guard<std::mutex> hold(lock);

	if (!told.insert({a.code, other ? other->code : 0}).second)
		return;
	races++;
	tell(what, a);
	if (other)
		tell("	and", *other);
}

/* --- accesses ------------------------------------------------------------------------------------------------------ */

/* Compares a with what the cell remembers, and has it remember a, in the place of an access that a covers if there is one. */
void
meet(cell *c, const access &a, bool shared)
{
	access *place = nullptr;

	for (access &s : c->seen) {
		const bool known = !s.bytes || is_known(s, a.thread);
		if (!known && s.bytes & a.bytes && conflict(s.is, a.is) &&
		    (s.is == STRONG_READ || a.is < STRONG_READ || !is_fenced(s)))
			report(shared ? "a race in shared memory:" : "a race in global memory:", s,
			       &a);
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
see(uintptr_t at, unsigned bytes, unsigned is, unsigned code, bool shared)
{
	const unsigned owner = shared ? now->self : now->b.launch, t = (unsigned)thread;

	for (const uintptr_t end = at + bytes; at < end; at = (at / WORD + 1) * WORD) {
		const unsigned low = at % WORD,
			       high = end - at + low < WORD ? (unsigned)(end - at) + low : WORD;
		const access a = {
		    code, is,		(1u << high) - (1u << low), (unsigned)now->b.number,
		    t,	  now->clock[t]};
		cell *const c = cell_of(at);
		while (!shared && __atomic_exchange_n(&c->lock, 1, __ATOMIC_ACQUIRE))
			;
		if (c->owner != owner) {
			if (shared && is == READ)
				/* what an earlier block left there, or anything */
				report("shared memory that was not written:", a, nullptr);
			memset(c->seen, 0, sizeof c->seen);
			c->owner = owner;
		}
		meet(c, a, shared);
		if (!shared)
			__atomic_store_n(&c->lock, 0, __ATOMIC_RELEASE);
	}
}

/* --- where an access lies ------------------------------------------------------------------------------------------- */

/* threadIdx and the like are registers. */
bool
is_index(uintptr_t at)
{
	for (const dim3 *d : {&threadIdx, &blockIdx, &blockDim, &gridDim})
		if (at - reinterpret_cast<uintptr_t>(d) < sizeof *d)
			return true;
	return false;
}

/* Whether a constant of the program lies there: in a part that cannot be written. */
bool
is_constant(uintptr_t at)
{
	const uintptr_t begin = reinterpret_cast<uintptr_t>(&__ehdr_start);
	const Elf64_Phdr *const h =
	    reinterpret_cast<const Elf64_Phdr *>(begin + __ehdr_start.e_phoff);
	const uintptr_t load = begin - own_header(PT_LOAD)->p_vaddr;

	for (unsigned i = 0; i < __ehdr_start.e_phnum; i++)
		if (h[i].p_type == PT_LOAD && !(h[i].p_flags & PF_W) &&
		    at - (load + h[i].p_vaddr) < h[i].p_memsz)
			return true;
	return false;
}

[[noreturn]] void
refuse(const char *why, const void *from)
{
	fprintf(stderr, "cudacpu: %s: %s\n", why, line_of(code_of(from) - 1).c_str());
	abort();
}

/* alignment: of what the compiler takes the access for; 1: nothing is known. */
void
look(uintptr_t at, size_t bytes, unsigned is, const void *from, unsigned alignment)
{
	if (thread < 0 || at - reinterpret_cast<uintptr_t>(now->b.stacks) < now->b.stack_bytes)
		return;
	const bool global = cudacpu_is_in_range(at),
		   in_tls = !global && at - now->tls < now->tls_bytes;
	if (in_tls &&
	    (is_index(at) || at - reinterpret_cast<uintptr_t>(now->b.worker) < now->b.worker_bytes))
		return;
	const bool shared =
	    in_tls || at - reinterpret_cast<uintptr_t>(now->b.dynamic) < now->b.dynamic_bytes;
	if (!shared && !global && !is_constant(at))
		refuse("a kernel touches memory of the host", from);
	if (at % alignment)
		refuse("a kernel's access is not aligned", from);
	see(at, (unsigned)bytes, is, code_of(from) - 1, shared);
}

/* A thread of a kernel has called __threadfence(). */
void
fence(unsigned t)
{
	const std::lock_guard<std::mutex> hold(lock);

	if (fenced_launch != now->b.launch) {
		fences.clear();
		fenced_launch = now->b.launch;
	}
	fences[(unsigned)now->b.number << 10 | t] = now->clock[t]++;
}

} // namespace

/* --- the scheduler -------------------------------------------------------------------------------------------------- */

unsigned
watch_launch(void)
{
	return __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
}

void
watch_begin(const watch_block &b)
{
	static thread_local running mine;

	mine.b = b;
	mine.tls = reinterpret_cast<uintptr_t>(&now) - own_header(PT_TLS)->p_memsz;
	mine.tls_bytes = 2 * own_header(PT_TLS)->p_memsz;
	mine.self = watch_launch();
	for (unsigned i = 0; i < THREADS; i++)
		mine.clock[i] = 1;
	memset(mine.met, 0, sizeof mine.met);
	memset(mine.known, 0, sizeof mine.known);
	now = &mine;
}

void
watch_run(int t)
{
	thread = t;
}

void
watch_open_block(void)
{
	for (unsigned i = 0; i < THREADS; i++)
		now->met[i] = now->clock[i]++;
}

void
watch_open_warp(unsigned first, unsigned lanes, bool orders)
{
	unsigned all[LANES] = {};

	if (!orders)
		return;
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
	look(p, n, READ, __builtin_return_address(0), 1);
}

void
__tsan_write_range(uintptr_t p, size_t n)
{
	look(p, n, WRITE, __builtin_return_address(0), 1);
}

#define PLAIN(n)                                                               \
	void __tsan_read##n(uintptr_t p)                                       \
	{                                                                      \
		look(p, n, READ, __builtin_return_address(0), n < 8 ? n : 8);  \
	}                                                                      \
	void __tsan_write##n(uintptr_t p)                                      \
	{                                                                      \
		look(p, n, WRITE, __builtin_return_address(0), n < 8 ? n : 8); \
	}
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

/* The load of an atomic (cudacpu_atomic()) acquires, and is one access with the exchange after it. */
#define STRONG(bits)                                                                              \
	uint##bits##_t __tsan_atomic##bits##_load(const uint##bits##_t *p, int how)               \
	{                                                                                         \
		if (how == __ATOMIC_RELAXED)                                                      \
			look(reinterpret_cast<uintptr_t>(p), bits / 8, STRONG_READ,               \
			     __builtin_return_address(0), bits / 8);                              \
		return __atomic_load_n(p, __ATOMIC_RELAXED);                                      \
	}                                                                                         \
	void __tsan_atomic##bits##_store(uint##bits##_t *p, uint##bits##_t v, int)                \
	{                                                                                         \
		look(reinterpret_cast<uintptr_t>(p), bits / 8, STRONG_WRITE,                      \
		     __builtin_return_address(0), bits / 8);                                      \
		__atomic_store_n(p, v, __ATOMIC_RELAXED);                                         \
	}                                                                                         \
	int __tsan_atomic##bits##_compare_exchange_strong(uint##bits##_t *p, uint##bits##_t *old, \
							  uint##bits##_t v, int, int)             \
	{                                                                                         \
		look(reinterpret_cast<uintptr_t>(p), bits / 8, STRONG_WRITE,                      \
		     __builtin_return_address(0), bits / 8);                                      \
		return __atomic_compare_exchange_n(p, old, v, false, __ATOMIC_SEQ_CST,            \
						   __ATOMIC_RELAXED);                             \
	}
STRONG(8)
STRONG(32)
STRONG(64)

void
__tsan_atomic_thread_fence(int)
{
	if (thread >= 0)
		fence((unsigned)thread);
}
}
