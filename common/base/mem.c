#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/die.h"
#include "common/base/limits.h"
#include "common/base/mem.h"

/* A multiple of all page sizes that Linux has. */
#define PAGE	   ((size_t)1 << 16)
#define LARGE_PAGE ((size_t)2 << 20)

bool
weir_mul(size_t a, size_t b, size_t *product)
{
	size_t dummy;

	return !__builtin_mul_overflow(a, b, product ? product : &dummy);
}

void *
weir_alloc(size_t n, size_t size)
{
	size_t bytes;

	if (!weir_mul(n, size, &bytes) || bytes > SIZE_MAX - WEIR_ALIGN)
		return NULL;
	bytes = (bytes + WEIR_ALIGN - 1) / WEIR_ALIGN * WEIR_ALIGN;
	return aligned_alloc(WEIR_ALIGN, bytes ? bytes : WEIR_ALIGN);
}

void *
weir_calloc(size_t n, size_t size)
{
	void *p = weir_alloc(n, size);

	if (p)
		memset(p, 0, n * size);
	return p;
}

void
weir_free(void *p)
{
	free(p);
}

void
weir_free_list(void *const *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		weir_free(p[i]);
}

/* Returns n * size rounded up to whole pages, in bytes. 0: that is too many. */
static size_t
whole_pages(size_t n, size_t size)
{
	size_t bytes;

	if (!weir_mul(n, size, &bytes) || bytes > SIZE_MAX / 2)
		return 0;
	return bytes ? (bytes + PAGE - 1) / PAGE * PAGE : PAGE;
}

/* A large page must begin at a multiple of its size, so this maps more than it needs and unmaps the rest on both sides. */
void *
weir_map(size_t n, size_t size)
{
	const size_t bytes = whole_pages(n, size);

	if (!bytes)
		return NULL;
	if (bytes < LARGE_PAGE)
		return weir_calloc(n, size);
	char *p = mmap(NULL, bytes + LARGE_PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	const size_t before = (size_t)(-(uintptr_t)p % LARGE_PAGE);
	if (before)
		munmap(p, before);
	if (before < LARGE_PAGE)
		munmap(p + before + bytes, LARGE_PAGE - before);
	madvise(p + before, bytes, MADV_HUGEPAGE);
	return p + before;
}

void
weir_unmap(void *p, size_t n, size_t size)
{
	if (p && whole_pages(n, size) < LARGE_PAGE)
		weir_free(p);
	else if (p)
		munmap(p, whole_pages(n, size));
}

/* Blocks that weir_give() keeps. The oldest comes first. */
static struct {
	pthread_mutex_t lock;
	bool on;
	size_t most, bytes; /* most: the limit of bytes, all of them together; 0: not known yet */
	int count;
	struct {
		void *at;
		size_t bytes;
	} block[16];
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *
take_kept(int i)
{
	void *at = kept.block[i].at;

	kept.bytes -= kept.block[i].bytes;
	kept.count--;
	memmove(kept.block + i, kept.block + i + 1, (size_t)(kept.count - i) * sizeof *kept.block);
	return at;
}

static void
drop_oldest(void)
{
	const size_t bytes = kept.block[0].bytes;

	munmap(take_kept(0), bytes);
}

void *
weir_take(size_t n, size_t size)
{
	const size_t bytes = whole_pages(n, size);
	void *p = NULL;

	if (bytes && bytes < LARGE_PAGE)
		return weir_alloc(n, size);
	pthread_mutex_lock(&kept.lock);
	for (int i = kept.count - 1; i >= 0 && !p; i--)
		if (kept.block[i].bytes == bytes)
			p = take_kept(i);
	while (!p && kept.count && bytes > kept.most - kept.bytes)
		drop_oldest();
	pthread_mutex_unlock(&kept.lock);
	return p ? p : weir_map(n, size);
}

void
weir_give(void *p, size_t n, size_t size)
{
	const int room = sizeof kept.block / sizeof *kept.block;
	const size_t bytes = whole_pages(n, size);

	if (!p || bytes < LARGE_PAGE) {
		weir_unmap(p, n, size);
		return;
	}
	pthread_mutex_lock(&kept.lock);
	/* The limit is found when it is needed: files of the control groups say it, in .1 ms. */
	if (kept.on && !kept.most) {
		const size_t least = 64 << 20, share = limits_bytes() / 16;
		kept.most = share > least ? share : least;
	}
	if (bytes > kept.most) {
		munmap(p, bytes);
		pthread_mutex_unlock(&kept.lock);
		return;
	}
	while (kept.count == room || bytes > kept.most - kept.bytes)
		drop_oldest();
	kept.block[kept.count].at = p;
	kept.block[kept.count++].bytes = bytes;
	kept.bytes += bytes;
	pthread_mutex_unlock(&kept.lock);
}

const void *
weir_forget(const void *p, size_t n)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t first = ((uintptr_t)p + page - 1) / page * page;
	const uintptr_t end = ((uintptr_t)p + n) / page * page;

	if (end <= first || madvise((void *)first, end - first, MADV_DONTNEED))
		return p;
	return (const void *)end;
}

/* MADV_POPULATE_WRITE of Linux 5.14, which older headers do not have */
enum { POPULATE_WRITE = 23 };

/*
 * Takes the whole pages of a block from the system in one call, where the system can do that. Where it cannot, each page
 * comes when it is touched: the 210 pages of a dptrace --scores then cost 1.4 ms of 6.0 on a virtual EPYC.
 */
static void
populate(void *p, size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (size_t)(-(uintptr_t)p % page);

	if (bytes >= PAGE + before)
		madvise((char *)p + before, (bytes - before) / page * page, POPULATE_WRITE);
}

/*
 * The last page of 2 MiB is taken where at least half of it is needed: on a virtual EPYC it comes in .19 ms and goes in .06,
 * 385 pages of 4 KiB come in .35 ms and go in .15.
 */
void *
weir_alloc_large(size_t n, size_t size)
{
	size_t bytes;

	if (!weir_mul(n, size, &bytes) || bytes > SIZE_MAX - LARGE_PAGE)
		return NULL;
	if (bytes < LARGE_PAGE / 2) {
		void *small = weir_alloc(n, size);
		if (small)
			populate(small, bytes);
		return small;
	}
	const size_t whole = (bytes + LARGE_PAGE / 2) / LARGE_PAGE * LARGE_PAGE;
	char *p = aligned_alloc(LARGE_PAGE, (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE);
	if (p) {
		madvise(p, whole, MADV_HUGEPAGE);
		if (bytes > whole)
			populate(p + whole, bytes - whole);
	}
	return p;
}

void *
weir_calloc_large(size_t n, size_t size)
{
	void *p = weir_alloc_large(n, size);

	if (p)
		memset(p, 0, n * size);
	return p;
}

/* Returns p. Dies when p is NULL, since there was no memory for n * size bytes. */
static void *
insist(void *p, size_t n, size_t size)
{
	if (!p)
		die("no memory for %zu x %zu bytes", n, size);
	return p;
}

void *
weir_xalloc(size_t n, size_t size)
{
	return insist(weir_alloc(n, size), n, size);
}

void *
weir_xalloc_large(size_t n, size_t size)
{
	return insist(weir_alloc_large(n, size), n, size);
}

void *
weir_xgrow(void *p, size_t *room, size_t need, size_t size)
{
	const size_t most = *room < SIZE_MAX / 2 ? 2 * *room : SIZE_MAX,
		     more = need > most ? need : most;
	size_t bytes;

	if (need <= *room && p)
		return p;
	p = weir_mul(more, size, &bytes) ? realloc(p, bytes ? bytes : 1) : NULL;
	if (!p)
		die("no memory");
	*room = more;
	return p;
}

char *
weir_xstrdup(const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(weir_xalloc(n, 1), s, n);
}

void
weir_keep_heap(size_t most)
{
#ifdef M_TRIM_THRESHOLD /* of glibc alone */
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
	kept.on = true;
	kept.most = most;
}

size_t
weir_peak_bytes(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (size_t)r.ru_maxrss * 1024;
}

size_t
weir_limit(size_t max_bytes)
{
	return max_bytes ? max_bytes : limits_bytes() / 2;
}
