/*
 * What the kernels ask of memory, counted. watch.cu shows each access of a thread to memory; a warp's access is what its lanes
 * do as one instruction: between two barriers of the warp, the n-th execution by each lane of the same place in the program
 * are one. A count, no time: caches are not simulated.
 *
 * Global memory moves in sectors of 32 bytes. Counted are the sectors of each access of a warp; those that its distinct bytes
 * would fill; those that the block reads for the first time, which a first-level cache without end would let pass, and those
 * that the launch reads or writes for the first time, which would pass a second-level cache without end.
 *
 * Shared memory has 32 banks of 4 bytes. Counted are the turns that a warp's access takes: as many as distinct words of one
 * bank, and as many as lanes of one word by atomics. Accesses of 8 bytes take a turn each half warp, of 16 each quarter.
 *
 * What it cannot show: lanes that leave a loop without a barrier early and meet again in the next one, whose n differ; a place
 * that the compiler of the CPU made two of, or that of the GPU removed or joined with its neighbour. Fewer turns than are counted
 * here are taken, on sm_90, by an atomicAdd() of 1 to shared memory whose result is not used: it becomes ATOMS.POPC.INC, which
 * counts the lanes of a word at once; and by an atomicMax() of all lanes to one word: REDUX finds the warp's largest first, and
 * one lane goes to memory.
 */
#include "t/cudacpu/watch.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <stdio.h>
#include <unordered_map>

extern "C" {
#include "t/cudacpu/selftest.h"
}

namespace
{

constexpr unsigned LANES = 32, WARPS = 32, SECTOR = 32, BANKS = 32, WORD = 4;
constexpr double SHOWN = .02; /* of what a kernel moves: a line with less is not printed */

typedef struct cudacpu_traffic counts;

/* The accesses of a place in the program that a warp has not been charged for yet. */
struct place {
	unsigned code;
	std::vector<watch_access> lane[LANES];
};

struct running {
	watch_block b;
	unsigned self;
	std::unordered_map<unsigned, place> warp[WARPS];
	std::vector<place *> pending[WARPS];
};

/* The last launch that read and that wrote a sector, and the last block that read it. */
struct touched {
	unsigned read, wrote, by;
};

shadow<touched, SECTOR> sectors;
std::mutex lock;
std::map<unsigned, std::map<unsigned, counts>> kernels; /* of each kernel, by place */
counts total;
thread_local running now;
FILE *out;

void
add(counts *to, const counts &c)
{
	to->accesses += c.accesses;
	to->lanes += c.lanes;
	to->sectors += c.sectors;
	to->least += c.least;
	to->of_blocks += c.of_blocks;
	to->of_launches += c.of_launches;
	to->turns += c.turns;
	to->least_turns += c.least_turns;
}

/* --- a warp's access ----------------------------------------------------------------------------------------------- */

/* The sectors of a warp's access, and a bit for each byte of them that a lane asks for. */
struct asked {
	uintptr_t sector[2 * LANES];
	uint32_t bytes[2 * LANES];
	size_t n;

	void
	ask(uintptr_t at, unsigned count)
	{
		const uint32_t bits = (uint32_t)(((1ull << count) - 1) << at % SECTOR);
		size_t i = n;

		while (i && sector[i - 1] != at / SECTOR)
			i--;
		if (!i) {
			sector[n] = at / SECTOR;
			bytes[n] = 0;
			i = ++n;
		}
		bytes[i - 1] |= bits;
	}
};

/* Charges for the n lanes in a. */
counts
charge_global(const watch_access *a, size_t n)
{
	const bool reads = a->is & (READ | STRONG_READ);
	counts c = {1, n, 0, 0, 0, 0, 0, 0};
	size_t distinct = 0;
	asked all;

	all.n = 0;
	for (size_t i = 0; i < n; i++) {
		const unsigned room = SECTOR - a[i].at % SECTOR, bytes = min(a[i].bytes, SECTOR);
		all.ask(a[i].at, min(room, bytes));
		if (bytes > room)
			all.ask(a[i].at + room, bytes - room);
	}
	for (size_t i = 0; i < all.n; i++) {
		touched *const t = sectors.of(all.sector[i] * SECTOR);
		unsigned *const launch = reads ? &t->read : &t->wrote;
		c.of_blocks += !reads || a->is == STRONG_READ || t->by != now.self;
		c.of_launches += *launch != now.b.launch;
		*launch = now.b.launch;
		if (reads)
			t->by = now.self;
		distinct += (size_t)__builtin_popcount(all.bytes[i]);
	}
	c.sectors = all.n;
	c.least = (distinct + SECTOR - 1) / SECTOR;
	return c;
}

/* Turns of the lanes in a that are served together. */
size_t
turns_of(const watch_access *a, size_t n)
{
	std::vector<uintptr_t> words[BANKS];
	size_t most = 0;

	for (size_t i = 0; i < n; i++)
		for (uintptr_t w = a[i].at / WORD; w <= (a[i].at + a[i].bytes - 1) / WORD; w++) {
			std::vector<uintptr_t> &bank = words[w % BANKS];
			if (a->is == STRONG_WRITE ||
			    std::find(bank.begin(), bank.end(), w) == bank.end())
				bank.push_back(w);
			most = max(most, bank.size());
		}
	return most;
}

counts
charge_shared(const watch_access *a, size_t n)
{
	const size_t together = LANES * WORD / max(a->bytes, WORD);
	counts c = {1, n, 0, 0, 0, 0, 0, 0};

	for (size_t i = 0; i < n; i += together) {
		c.turns += turns_of(a + i, min(together, n - i));
		c.least_turns++;
	}
	return c;
}

/* Charges for what these lanes have done at p; false: other lanes wait to be charged. */
bool
charge_place(place *p, unsigned lanes, std::map<unsigned, counts> *kernel)
{
	watch_access together[LANES];
	bool all = true;

	for (size_t k = 0, n = 1; n; k++) {
		n = 0;
		for (unsigned i = 0; i < LANES; i++)
			if (lanes >> i & 1 && k < p->lane[i].size())
				together[n++] = p->lane[i][k];
		if (!n || (!together->shared &&
			   !cudacpu_is_on_device(reinterpret_cast<const void *>(together->at), 1)))
			break;
		const counts c =
		    together->shared ? charge_shared(together, n) : charge_global(together, n);
		add(&(*kernel)[p->code], c);
		add(&total, c);
	}
	for (unsigned i = 0; i < LANES; i++)
		if (lanes >> i & 1)
			p->lane[i].clear();
		else
			all = all && p->lane[i].empty();
	return all;
}

/* Charges warp w for what these lanes have done. */
void
charge(unsigned w, unsigned lanes)
{
	std::vector<place *> &pending = now.pending[w];
	size_t left = 0;

	if (pending.empty())
		return;
	const std::lock_guard<std::mutex> hold(lock);
	std::map<unsigned, counts> &kernel = kernels[watch_code(now.b.kernel)];
	for (place *p : pending)
		if (charge_place(p, lanes, &kernel))
			p->code = 0;
		else
			pending[left++] = p;
	pending.resize(left);
}

/* --- the report ---------------------------------------------------------------------------------------------------- */

double
mb(size_t n)
{
	return (double)(n * SECTOR) * 1e-6;
}

double
ratio(size_t a, size_t b)
{
	return b ? (double)a / (double)b : 0;
}

void
print_row(const char *name, const counts &c)
{
	fprintf(out, "%10zu %5.1f", c.accesses, ratio(c.lanes, c.accesses));
	if (c.least)
		fprintf(out, " %9.3f %5.2f %9.3f %9.3f", mb(c.sectors), ratio(c.sectors, c.least),
			mb(c.of_blocks), mb(c.of_launches));
	else
		fprintf(out, " %9s %5s %9s %9s", "", "", "", "");
	if (c.turns)
		fprintf(out, " %9zu %5.2f", c.turns, ratio(c.turns, c.least_turns));
	else
		fprintf(out, " %9s %5s", "", "");
	fprintf(out, "  %s\n", name);
}

/* The lines of a kernel, those that move most first. */
void
print_kernel(const std::string &name, const std::map<unsigned, counts> &places)
{
	std::vector<unsigned> codes;
	std::map<std::string, counts> lines;
	std::vector<std::pair<size_t, std::string>> order;
	counts all = {};

	for (const auto &p : places)
		codes.push_back(p.first);
	const std::vector<std::string> text = watch_lines(codes);
	for (size_t i = 0; i < codes.size(); i++) {
		const counts &c = places.at(codes[i]);
		const size_t at = text[i].rfind(" at ");
		add(&lines[(c.least ? "" : "shared, ") + text[i].substr(at + 4)], c);
		add(&all, c);
	}
	print_row(name.substr(0, name.find(" at ")).c_str(), all);
	for (const auto &l : lines)
		if ((double)l.second.sectors > SHOWN * (double)all.sectors ||
		    (double)l.second.turns > SHOWN * (double)all.turns)
			order.push_back({l.second.sectors + l.second.turns, l.first});
	std::sort(order.rbegin(), order.rend());
	for (const auto &o : order)
		print_row(("  " + o.second).c_str(), lines[o.second]);
}

/* At the program's end, into the file that CUDACPU_TRAFFIC names. */
struct reporter {
	~reporter()
	{
		const char *const file = getenv("CUDACPU_TRAFFIC");
		std::vector<unsigned> codes;

		if (kernels.empty() || !file || !(out = fopen(file, "w")))
			return;
		for (const auto &k : kernels)
			codes.push_back(k.first);
		const std::vector<std::string> names = watch_lines(codes);
		fprintf(out, "%10s %5s %9s %5s %9s %9s %9s %5s\n", "accesses", "lanes", "MB",
			"times", "of blocks", "of launch", "turns", "times");
		for (size_t i = 0; i < codes.size(); i++)
			print_kernel(names[i], kernels[codes[i]]);
		fclose(out);
	}
} at_end;

} // namespace

/* --- watch.h ------------------------------------------------------------------------------------------------------- */

void
watcher_begin(const watch_block &b)
{
	now.b = b;
	now.self = watch_launch();
	for (auto &w : now.warp)
		w.clear();
	for (auto &w : now.pending)
		w.clear();
}

void
watcher_see(const watch_access &a, unsigned t)
{
	place *const p = &now.warp[t / LANES][a.code];

	if (!p->code) {
		p->code = a.code;
		now.pending[t / LANES].push_back(p);
	}
	p->lane[t % LANES].push_back(a);
}

void
watcher_fence(unsigned)
{
}

void
watch_open_block(void)
{
	for (unsigned w = 0; w < WARPS; w++)
		charge(w, ~0u);
}

void
watch_open_warp(unsigned first, unsigned lanes, bool)
{
	charge(first / LANES, lanes);
}

extern "C" struct cudacpu_traffic
cudacpu_traffic(void)
{
	const std::lock_guard<std::mutex> hold(lock);
	const counts c = total;

	total = {};
	return c;
}
