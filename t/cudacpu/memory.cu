/*
 * The memory of devices and pinned memory, for cuda_runtime.h. What belongs to which device is known.
 *
 * Device memory lies where nothing else does: in one range of addresses that is reserved for it. Its pages can be read and
 * written while a device has work, until the host has waited for it. A block ends where a page begins that nobody may touch,
 * or up to 255 bytes before: kernels that overrun it end there, too, and those that use what was freed. AddressSanitizer gets
 * blocks from malloc(), of which it knows each byte.
 */
#include <map>
#include <mutex>

#include <cuda_runtime.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace
{

constexpr size_t ALIGNED = 256, MOST = 8;

/* What of it a host may not touch: `kept` bytes from begin on. open: it can be. copies: of pinned memory, that a stream has yet to do. */
struct block {
	size_t bytes;
	int device;
	char *begin;
	size_t kept;
	bool open;
	int copies;
};

std::mutex lock;
std::map<const char *, block> blocks,
    pinned; /* on any device, in the order of addresses; of the host */
size_t memory = (size_t)1 << 40, used[MOST];
bool reached; /* a device has work, which opens the blocks that it touches */
char *range;  /* reserved for devices */
size_t range_bytes;

/* Whether those bytes lie in one block. */
bool
lies_in(const std::map<const char *, block> &all, const void *p, size_t bytes)
{
	const char *const c = static_cast<const char *>(p);
	const std::lock_guard<std::mutex> hold(lock);
	auto b = all.upper_bound(c);

	return b != all.begin() && (--b, c + bytes <= b->first + b->second.bytes);
}

#ifdef __SANITIZE_ADDRESS__

char *
take_pages(size_t bytes, block *b)
{
	void *p = nullptr;

	if (posix_memalign(&p, ALIGNED, bytes))
		return nullptr;
	*b = {bytes, cudacpu_device(), static_cast<char *>(p), bytes, true, 0};
	return b->begin;
}

void
open(block *b, bool opens)
{
	b->open = opens;
	if (opens)
		__asan_unpoison_memory_region(b->begin, b->kept);
	else
		__asan_poison_memory_region(b->begin, b->kept);
}

void
leave_pages(block *b)
{
	open(b, true);
	free(b->begin);
}

#else

void
open(block *b, bool opens)
{
	b->open = opens;
	if (mprotect(b->begin, b->kept, opens ? PROT_READ | PROT_WRITE : PROT_NONE))
		abort();
}

/* Opens the block that has that byte, while a device has work. False: there is none, or no work. */
bool
open_for_work(const char *at)
{
	const std::lock_guard<std::mutex> hold(lock);
	auto b = blocks.upper_bound(at);

	if (!reached || b == blocks.begin() || at >= (--b)->second.begin + b->second.kept)
		return false;
	if (!b->second.open) /* else another thread came before */
		open(&b->second, true);
	return true;
}

/* A device's memory was touched: its block opens for a device that has work, else this says so. What is not ours ends as ever. */
void
report_touch(int signal_number, siginfo_t *info, void *)
{
	static const char text[] =
	    "cudacpu: memory of a device is touched by the host, or beyond its end\n";
	char *const at = static_cast<char *>(info->si_addr);
	const bool ours = at >= range && at < range + range_bytes;

	if (ours && open_for_work(at))
		return;
	if (ours && write(2, text, sizeof text - 1))
		_exit(99);
	signal(signal_number, SIG_DFL);
}

/* The compiler has put a trap before each access to what may not be aligned as its type is. */
void
report_trap(int signal_number)
{
	static const char text[] = "cudacpu: an access is not aligned as its type is\n";

	if (write(2, text, sizeof text - 1))
		signal(signal_number, SIG_DFL);
}

/* As much as there is, up to 1 TiB of addresses. */
void
reserve(void)
{
	struct sigaction a = {};

	for (range_bytes = (size_t)1 << 40; range_bytes > (size_t)1 << 28; range_bytes /= 2) {
		void *const p = mmap(nullptr, range_bytes, PROT_NONE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p == MAP_FAILED)
			continue;
		range = static_cast<char *>(p);
		break;
	}
	a.sa_sigaction = report_touch;
	a.sa_flags = SA_SIGINFO;
	sigaction(SIGSEGV, &a, nullptr);
	signal(SIGILL, report_trap);
}

/* The first gap between blocks that has room for `bytes` and a page on each side. NULL: there is none. */
char *
find_gap(size_t bytes, size_t page)
{
	char *at = range + page;

	for (const auto &b : blocks) {
		if (at + bytes + page <= b.second.begin)
			return at;
		at = b.second.begin + b.second.kept + page;
	}
	return at + bytes + page <= range + range_bytes ? at : nullptr;
}

/* The block ends where its pages do, but for ALIGNED - 1 bytes. */
char *
take_pages(size_t bytes, block *b)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page * page;

	if (!range)
		reserve();
	*b = {bytes, cudacpu_device(), range ? find_gap(pages, page) : nullptr, pages, true, 0};
	if (!b->begin || mprotect(b->begin, pages, PROT_READ | PROT_WRITE))
		return nullptr;
	return b->begin + pages - (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

/* The system gets them back one time of eight, since the next block mostly lies there, too. */
void
leave_pages(block *b)
{
	static unsigned times;

	open(b, false);
	if (++times % 8 == 0 && madvise(b->begin, b->kept, MADV_DONTNEED))
		abort();
}

#endif

/* A device begins to work, or has none to do. AddressSanitizer has no faults by which blocks could open one by one. */
void
reach(bool opens)
{
	const std::lock_guard<std::mutex> hold(lock);

	if (opens == reached)
		return;
	reached = opens;
#ifndef __SANITIZE_ADDRESS__
	if (opens)
		return;
#endif
	for (auto &b : blocks)
		if (b.second.open != opens)
			open(&b.second, opens);
}

} // namespace

void
cudacpu_work(const std::function<void()> &task)
{
	reach(true);
	task();
}

void
cudacpu_rest(void)
{
	reach(false);
}

void
cudacpu_pointer(const void *p)
{
	if (!p || cudacpu_is_on_device(p, 0))
		return;
	fputs("cudacpu: a kernel is given a pointer to memory of the host\n", stderr);
	abort();
}

bool
cudacpu_is_pinned(const void *p)
{
	return lies_in(pinned, p, 0);
}

void
cudacpu_count_copy(const void *p, int more)
{
	const std::lock_guard<std::mutex> hold(lock);

	(--pinned.upper_bound(static_cast<const char *>(p)))->second.copies += more;
}

bool
cudacpu_is_on_device(const void *p, size_t bytes)
{
	return lies_in(blocks, p, bytes);
}

bool
cudacpu_is_in_range(uintptr_t at)
{
	return at - reinterpret_cast<uintptr_t>(range) < range_bytes;
}

extern "C" void
cudacpu_memory(size_t bytes)
{
	memory = bytes;
}

cudaError_t
cudaMemGetInfo(size_t *available, size_t *total)
{
	const std::lock_guard<std::mutex> hold(lock);
	const size_t taken = used[cudacpu_device()];

	*total = memory;
	*available = memory > taken ? memory - taken : 0;
	return cudaSuccess;
}

cudaError_t
cudacpu_malloc(void **p, size_t bytes)
{
	const std::lock_guard<std::mutex> hold(lock);
	block b;

	*p = nullptr;
	if (cudacpu_captures())
		return cudacpu_result(cudaErrorStreamCaptureUnsupported);
	if (!bytes)
		return cudaSuccess;
	if (bytes > memory || used[cudacpu_device()] > memory - bytes)
		return cudacpu_result(cudaErrorMemoryAllocation);
	char *const at = take_pages(bytes, &b);
	if (!at)
		return cudacpu_result(cudaErrorMemoryAllocation);
	memset(at, 0xff, bytes);
	if (!reached)
		open(&b, false);
	blocks[at] = b;
	used[b.device] += bytes;
	*p = at;
	return cudaSuccess;
}

/* Waits for all that the device does, as CUDA may. */
cudaError_t
cudaFree(void *p)
{
	if (!p)
		return cudaSuccess;
	if (cudacpu_captures())
		return cudacpu_result(cudaErrorStreamCaptureUnsupported);
	cudacpu_drain();
	const std::lock_guard<std::mutex> hold(lock);
	const auto b = blocks.find(static_cast<char *>(p));

	if (b == blocks.end())
		return cudacpu_result(cudaErrorInvalidValue);
	used[b->second.device] -= b->second.bytes;
	leave_pages(&b->second);
	blocks.erase(b);
	return cudaSuccess;
}

cudaError_t
cudacpu_malloc_host(void **p, size_t bytes)
{
	const std::lock_guard<std::mutex> hold(lock);

	if (cudacpu_captures())
		return cudacpu_result(cudaErrorStreamCaptureUnsupported);
	if (!(*p = malloc(bytes)))
		return cudacpu_result(cudaErrorMemoryAllocation);
	pinned[static_cast<char *>(*p)] = {bytes, cudacpu_device(), nullptr, 0, true, 0};
	return cudaSuccess;
}

/* The driver may take the pages from below a copy. */
cudaError_t
cudaFreeHost(void *p)
{
	{
		const std::lock_guard<std::mutex> hold(lock);
		const auto b = pinned.find(static_cast<char *>(p));
		if (b == pinned.end())
			return cudacpu_result(cudaErrorInvalidValue);
		if (b->second.copies) {
			fputs("cudacpu: pinned memory is freed before a copy of it is done\n",
			      stderr);
			abort();
		}
	}
	cudacpu_drain();
	const std::lock_guard<std::mutex> hold(lock);

	pinned.erase(static_cast<char *>(p));
	free(p);
	return cudaSuccess;
}
