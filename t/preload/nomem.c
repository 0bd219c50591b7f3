/*
 * Loaded before the C library by t/fault: the program stops before main(), and a copy of it, by fork(), runs for each number
 * that is read from the first descriptor of FAULT_SERVE. In copy n the n-th request for memory fails; it counts from 1, and in
 * copy 0 none fails. What became of the copy goes to the second descriptor. Copies cost a fraction of programs that are loaded
 * anew. Requests before main() are not counted, nor are those of the code in a library whose file name holds a word of
 * FAULT_SPARE.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t/preload/nomem.h"

/* What a copy shares with the process that waits for it; NULL before main(). */
static struct shared {
	atomic_long asked;
	atomic_bool met;
} * shared;
static long fail_at;
static char spare[64]; /* words, each ended by a null; an empty one ends them */

static int (*program)(int, char **, char **);

static void
redirect(const char *path, int flags, int to)
{
	const int fd = path ? open(path, flags, 0666) : -1;

	if (fd < 0 || dup2(fd, to) < 0)
		_exit(NOMEM_BROKEN);
	if (fd != to)
		close(fd);
}

/* Returns in a copy of the process for each number, and never in the process itself. */
static void
serve(int in, int out, struct shared *s)
{
	struct nomem_end end;
	pid_t pid;
	long n;

	while (read(in, &n, sizeof n) == sizeof n) {
		s->asked = 0;
		s->met = false;
		pid = fork();
		if (!pid) {
			close(in);
			close(out);
			redirect(getenv("FAULT_INPUT"), O_RDONLY, 0);
			redirect(NOMEM_OUT, O_WRONLY | O_CREAT | O_TRUNC, 1);
			redirect(NOMEM_ERR, O_WRONLY | O_CREAT | O_TRUNC, 2);
			fail_at = n;
			shared = s;
			return;
		}
		if (pid < 0 || waitpid(pid, &end.status, 0) != pid)
			break;
		end.asked = s->asked;
		end.met = s->met;
		if (write(out, &end, sizeof end) != sizeof end)
			break;
	}
	_exit(0);
}

static int
arm(int argc, char **argv, char **env)
{
	const char *fds = getenv("FAULT_SERVE"), *words = getenv("FAULT_SPARE");
	int in, out;

	if (words && strlen(words) < sizeof spare - 1)
		strcpy(spare, words);
	for (char *c = spare; *c; c++)
		*c = *c == ' ' ? 0 : *c;
	void *s =
	    mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!fds || sscanf(fds, "%d %d", &in, &out) != 2 || s == MAP_FAILED)
		_exit(NOMEM_BROKEN);
	serve(in, out, s);
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

/* dladdr() would search a library's symbols, under the loader's lock, at each request. */
static bool
is_spared(void *caller)
{
	struct dl_find_object from;

	if (!*spare || _dl_find_object(caller, &from))
		return false;
	for (const char *word = spare; *word; word += strlen(word) + 1)
		if (strstr(from.dlfo_link_map->l_name, word))
			return true;
	return false;
}

/* caller: an address in the code that asks for memory. */
static bool
fails(void *caller)
{
	if (!shared || shared->met || is_spared(caller))
		return false;
	if (atomic_fetch_add(&shared->asked, 1) + 1 != fail_at)
		return false;
	shared->met = true;
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

void *aligned_alloc(size_t align, size_t n) __attribute__((alias("memalign")));

int
posix_memalign(void **p, size_t align, size_t n)
{
	*p = fails(__builtin_return_address(0)) ? NULL : __libc_memalign(align, n);
	return *p ? 0 : ENOMEM;
}
