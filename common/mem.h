/*
 * Memory. The one place where products of sizes are checked. Blocks are aligned to 64 bytes (a cache line, one AVX-512
 * register). weir_alloc leaves the pages untouched, so a large block commits memory only as it is written.
 */
#ifndef WEIR_MEM_H
#define WEIR_MEM_H

#include <stdbool.h>
#include <stddef.h>

#define WEIR_ALIGN 64

/* *product = a * b; false when that overflows. product may be NULL (a question only). */
bool weir_mul(size_t a, size_t b, size_t *product);

/* n * size bytes, or NULL when that overflows or there is no memory. n == 0 gives a block that can be freed. */
void *weir_alloc(size_t n, size_t size);

/* The same, zeroed. */
void *weir_calloc(size_t n, size_t size);

/* Frees what the two above gave; NULL is nothing. */
void weir_free(void *p);

/*
 * Zeroed memory straight from the system, for large blocks that are touched once or twice: pages of 2 MiB where the system
 * grants them, so that it has 512 times fewer to hand out. Below 2 MiB it is weir_calloc(). NULL as above; weir_unmap takes the same n and size; NULL is
 * nothing.
 */
void *weir_map(size_t n, size_t size);
void weir_unmap(void *p, size_t n, size_t size);

/*
 * The pages that lie wholly in the n bytes at p go back to the system until they are touched again: then those of a mapped
 * file are read again, others are zero. Returns where the part behind the last of them begins, or p: there was none.
 */
const void *weir_forget(const void *p, size_t n);

/* Zeroes bytes of a map, whose pages go back to the system. */
void weir_discard(void *p, size_t bytes);

/* As weir_alloc and weir_calloc, on such pages where there is enough to fill one; weir_free frees them. */
void *weir_alloc_large(size_t n, size_t size);
void *weir_calloc_large(size_t n, size_t size);

/* The same as the first two, for main.c and common/ only: they die when there is no memory. */
void *weir_xalloc(size_t n, size_t size);
void *weir_xalloc_large(size_t n, size_t size);
char *weir_xstrdup(const char *s);

/* The most bytes this process has held so far (resident). */
size_t weir_peak_bytes(void);

/* What --max-bytes means: itself, or where it is 0, not given, half of the memory that limits.h grants. */
size_t weir_limit(size_t max_bytes);

#endif
