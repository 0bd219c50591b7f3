/*
 * Memory. Products of sizes are checked here and nowhere else. Blocks are aligned to 64 bytes (a cache line, one AVX-512
 * register). weir_alloc leaves the pages untouched, so a large block commits memory only as it is written.
 */
#ifndef WEIR_BASE_MEM_H
#define WEIR_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

#define WEIR_ALIGN 64

/* Sets *product = a * b and returns true, or returns false when that overflows. With product NULL it only checks. */
bool weir_mul(size_t a, size_t b, size_t *product);

/* Allocates n * size bytes. NULL: that overflows, or there is no memory. n == 0 gives a block that can be freed. */
void *weir_alloc(size_t n, size_t size);

/* Does the same and zeroes the block. */
void *weir_calloc(size_t n, size_t size);

/* Frees a block of weir_alloc, weir_calloc or malloc. NULL is allowed. */
void weir_free(void *p);

/* Frees each of the n blocks, and each block that is named. */
void weir_free_list(void *const *p, size_t n);
#define weir_free_all(...) \
	weir_free_list((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))

/*
 * weir_map takes zeroed memory straight from the system, for large blocks that are touched once or twice. It has pages of
 * 2 MiB where the system grants them, so that the system has 512 times fewer pages to hand out. Blocks below 2 MiB are from
 * weir_calloc(). NULL: the size overflows, or there is no memory. weir_unmap takes the same n and size; p may be NULL.
 */
void *weir_map(size_t n, size_t size);
void weir_unmap(void *p, size_t n, size_t size);

/*
 * Do what weir_map and weir_unmap do, for memory that will be overwritten: it is not zeroed. After weir_keep_heap(),
 * weir_give keeps blocks for requests of the same size. So the next item of a stream is spared the page faults. A request that
 * no block serves first gives back the oldest ones, until the others and the new one do not exceed the limit together.
 */
void *weir_take(size_t n, size_t size);
void weir_give(void *p, size_t n, size_t size);

/*
 * Returns to the system the pages that lie wholly in the n bytes at p. When they are touched again, pages of a mapped file
 * are read again, and other pages are zero. Returns the end of the last of these pages, or p when there was none.
 */
const void *weir_forget(const void *p, size_t n);

/*
 * Do what weir_alloc and weir_calloc do, for memory that will be filled. Blocks of at least 1 MiB have pages of 2 MiB, and
 * pages of 4 KiB behind the last of these where they fill less than half of one. Pages of 4 KiB of weir_alloc_large come
 * in one call, and count as resident at once. weir_free frees both.
 */
void *weir_alloc_large(size_t n, size_t size);
void *weir_calloc_large(size_t n, size_t size);

/*
 * A growing array: returns p with room for `need` elements of size bytes, that is p itself where *room suffices, or a larger block
 * of at least twice the room, and p is gone. Free it with weir_free() or free(). Blocks are aligned as those of malloc(). It
 * dies when there is no memory.
 */
void *weir_xgrow(void *p, size_t *room, size_t need, size_t size);

/* Do what weir_alloc, weir_alloc_large and strdup do, but die when there is no memory. For main.c and common/ only. */
void *weir_xalloc(size_t n, size_t size);
void *weir_xalloc_large(size_t n, size_t size);
char *weir_xstrdup(const char *s);

/*
 * Keeps up to 64 MiB of freed memory for later requests below 32 MiB. glibc would give the end of its heap back to the system
 * as soon as 128 KiB of it are free, and take it again page by page for the next item of a stream. For main.c only.
 * most: the bytes that weir_give() keeps; 0: a sixteenth of the memory that the process may have, or 64 MiB if that is more.
 */
void weir_keep_heap(size_t most);

/* Returns the most resident bytes that this process has held so far. */
size_t weir_peak_bytes(void);

/* Returns max_bytes, the value of --max-bytes. Where it is 0 (not given), returns half of limits_bytes(). */
size_t weir_limit(size_t max_bytes);

#endif
