/* What the compiler calls at each access of a kernel, and where an access lies; for watch.h. */
#include "t/cudacpu/watch.h"

#include <elf.h>
#include <stdio.h>
#include <unistd.h>

extern "C" const Elf64_Ehdr __ehdr_start; /* the linker defines it */

namespace
{

/* tls: where the host thread's static shared memory lies. */
struct running {
	watch_block b;
	uintptr_t tls, tls_bytes;
};

unsigned numbers;
thread_local running now;
thread_local int thread = -1;

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
	fprintf(stderr, "cudacpu: %s: %s\n", why, watch_lines({watch_code(from) - 1})[0].c_str());
	abort();
}

/* alignment: of what the compiler takes the access for; 1: nothing is known. */
void
look(uintptr_t at, size_t bytes, unsigned is, const void *from, unsigned alignment)
{
	const uintptr_t dynamic = reinterpret_cast<uintptr_t>(now.b.dynamic);

	if (thread < 0 || at - reinterpret_cast<uintptr_t>(now.b.stacks) < now.b.stack_bytes)
		return;
	const bool global = cudacpu_is_in_range(at),
		   in_tls = !global && at - now.tls < now.tls_bytes;
	if (in_tls &&
	    (is_index(at) || at - reinterpret_cast<uintptr_t>(now.b.worker) < now.b.worker_bytes))
		return;
	const bool shared = in_tls || at - dynamic < now.b.dynamic_bytes;
	if (!shared && !global && !is_constant(at))
		refuse("a kernel touches memory of the host", from);
	if (at % alignment)
		refuse("a kernel's access is not aligned", from);
	watcher_see({at, (unsigned)bytes, is, watch_code(from) - 1, shared}, (unsigned)thread);
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

} // namespace

unsigned
watch_code(const void *function)
{
	return (unsigned)(reinterpret_cast<uintptr_t>(function) -
			  reinterpret_cast<uintptr_t>(&__ehdr_start));
}

std::vector<std::string>
watch_lines(const std::vector<unsigned> &codes)
{
	std::string command = "addr2line -aCfie /proc/" + std::to_string(getpid()) + "/exe";
	std::vector<std::string> lines;
	char one[32];

	for (const unsigned c : codes) {
		snprintf(one, sizeof one, " %#zx", (size_t)(own_header(PT_LOAD)->p_vaddr + c));
		command += one;
	}
	FILE *const f = popen(command.c_str(), "r");
	if (f && fgets(one, sizeof one, f))
		for (size_t i = 0; i < codes.size(); i++)
			lines.push_back(own_line(f));
	if (f)
		pclose(f);
	lines.resize(codes.size());
	return lines;
}

unsigned
watch_launch(void)
{
	return __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
}

void
watch_begin(const watch_block &b)
{
	now.b = b;
	now.tls = reinterpret_cast<uintptr_t>(&now) - own_header(PT_TLS)->p_memsz;
	now.tls_bytes = 2 * own_header(PT_TLS)->p_memsz;
	watcher_begin(b);
}

void
watch_run(int t)
{
	thread = t;
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
		watcher_fence((unsigned)thread);
}
}
