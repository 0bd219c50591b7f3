/*
 * Loaded before the C library by t/fault: the FAULT_AT-th request for memory fails, from 1, and a byte is written to the
 * descriptor FAULT_FD when it does. Requests before main() are not counted, nor are those of the code in a library whose file
 * name holds a word of FAULT_SPARE.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long left;
static int report = -1;
static char spare[64]; /* words, each ended by a null; an empty one ends them */

static int (*program)(int, char **, char **);

static int
arm(int argc, char **argv, char **env)
{
	const char *at = getenv("FAULT_AT"), *fd = getenv("FAULT_FD"),
		   *words = getenv("FAULT_SPARE");

	report = fd ? atoi(fd) : -1;
	if (words && strlen(words) < sizeof spare - 1)
		strcpy(spare, words);
	for (char *c = spare; *c; c++)
		*c = *c == ' ' ? 0 : *c;
	left = at ? atol(at) : 0;
	return program(argc, argv, env);
}

/* The C library's, which calls constructors and then main(): what libraries do before that is not the program's. */
int __libc_start_main(int (*start)(int, char **, char **), int argc, char **argv,
		      void (*init)(void), void (*fini)(void), void (*rtld_fini)(void), void *stack);
int
__libc_start_main(int (*start)(int, char **, char **), int argc, char **argv, void (*init)(void),
		  void (*fini)(void), void (*rtld_fini)(void), void *stack)
{
	__typeof__(&__libc_start_main) next;
	void *at = dlsym(RTLD_NEXT, "__libc_start_main");

	memcpy(&next, &at, sizeof next);
	program = start;
	return next(arm, argc, argv, init, fini, rtld_fini, stack);
}

static bool
is_spared(const void *caller)
{
	Dl_info from;

	if (!*spare || !dladdr(caller, &from))
		return false;
	for (const char *word = spare; *word; word += strlen(word) + 1)
		if (strstr(from.dli_fname, word))
			return true;
	return false;
}

/* caller: an address in the code that asks for memory. */
static bool
fails(const void *caller)
{
	if (left > 0 && is_spared(caller))
		return false;
	if (left <= 0 || --left)
		return false;
	if (write(report, "x", 1) != 1)
		_exit(99);
	errno = ENOMEM;
	return true;
}

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);

void *
malloc(size_t n)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(n);
}

void *
calloc(size_t n, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *p, size_t n)
{
	return n && fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, n);
}

void *
memalign(size_t align, size_t n)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(align, n);
}

void *
aligned_alloc(size_t align, size_t n)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(align, n);
}

int
posix_memalign(void **p, size_t align, size_t n)
{
	*p = fails(__builtin_return_address(0)) ? NULL : __libc_memalign(align, n);
	return *p ? 0 : ENOMEM;
}
