/*
 * Races of the kernels, found in any order of the fibers. watch.cu shows each access of a thread to memory.
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
 * memcpy() does in a kernel.
 */
#include "t/cudacpu/watch.h"

#include <stdio.h>
#include <string.h>

#include <map>
#include <mutex>
#include <set>

namespace
{

constexpr unsigned SLOTS = 4, THREADS = 1024, LANES = 32, WORD = 4;

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
 * A block that a host thread runs. self: a number that no other block had; met: the clocks at the last barrier; known: what a
 * thread knows of the clocks of its warp.
 */
struct running {
	watch_block b;
	unsigned self, clock[THREADS], met[THREADS], known[THREADS][LANES];
};

shadow<cell, WORD> cells;
unsigned races;
std::mutex lock;
std::set<std::pair<unsigned, unsigned>> told;
std::map<unsigned, unsigned> fences; /* of launch fenced_launch, by block and thread: the clock */
unsigned fenced_launch;
thread_local running *now;

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
		(unsigned)a.block, (unsigned)a.thread, watch_lines({a.code})[0].c_str());
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

} // namespace

/* --- watch.h ------------------------------------------------------------------------------------------------------- */

void
watcher_see(const watch_access &w, unsigned t)
{
	const unsigned owner = w.shared ? now->self : now->b.launch;

	for (uintptr_t at = w.at, end = at + w.bytes; at < end; at = (at / WORD + 1) * WORD) {
		const unsigned low = at % WORD,
			       high = end - at + low < WORD ? (unsigned)(end - at) + low : WORD;
		const access a = {
		    w.code, w.is,	  (1u << high) - (1u << low), (unsigned)now->b.number,
		    t,	    now->clock[t]};
		cell *const c = cells.of(at);
		while (!w.shared && __atomic_exchange_n(&c->lock, 1, __ATOMIC_ACQUIRE))
			;
		if (c->owner != owner) {
			if (w.shared && w.is == READ)
				/* what an earlier block left there, or anything */
				report("shared memory that was not written:", a, nullptr);
			memset(c->seen, 0, sizeof c->seen);
			c->owner = owner;
		}
		meet(c, a, w.shared);
		if (!w.shared)
			__atomic_store_n(&c->lock, 0, __ATOMIC_RELEASE);
	}
}

void
watcher_begin(const watch_block &b)
{
	static thread_local running mine;

	mine.b = b;
	mine.self = watch_launch();
	for (unsigned i = 0; i < THREADS; i++)
		mine.clock[i] = 1;
	memset(mine.met, 0, sizeof mine.met);
	memset(mine.known, 0, sizeof mine.known);
	now = &mine;
}

void
watcher_fence(unsigned t)
{
	const std::lock_guard<std::mutex> hold(lock);

	if (fenced_launch != now->b.launch) {
		fences.clear();
		fenced_launch = now->b.launch;
	}
	fences[(unsigned)now->b.number << 10 | t] = now->clock[t]++;
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
