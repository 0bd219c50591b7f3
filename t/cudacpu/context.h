/*
 * Where a fiber stopped, and the switch from one to another: a few instructions of assembler where there are some, else ucontext,
 * which enters the kernel at every switch. For fibers.cu.
 */
#ifndef CUDACPU_CONTEXT_H
#define CUDACPU_CONTEXT_H

#include <stddef.h>
#include <ucontext.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
constexpr size_t STACK = 128 << 10;
#else
constexpr size_t STACK = 32 << 10;
#endif

/* Stacks lie this far apart: were it a power of two, the same place of all stacks would share a few lines of the caches. */
constexpr size_t APART = STACK + 17 * 64;

#ifdef __x86_64__

/* Where a fiber stopped: its stack's pointer. */
typedef void *context;

extern "C" void cudacpu_switch(context *from, context to);
asm(".text\n"
    ".globl cudacpu_switch\n"
    ".type cudacpu_switch, @function\n"
    "cudacpu_switch:\n"
    "	push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
    "	mov %rsp, (%rdi)\n"
    "	mov %rsi, %rsp\n"
    "	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
    "	pop %rcx; jmp *%rcx\n" /* ret would never be predicted */
    ".size cudacpu_switch, . - cudacpu_switch\n");

/* A stack that the switch returns into entry from; below it the word that entry would return to, were it to. */
static inline void
context_make(context *c, char *stack, void (*entry)())
{
	void **sp = reinterpret_cast<void **>(stack + STACK);

	*--sp = nullptr;
	*--sp = reinterpret_cast<void *>(entry);
	for (int saved = 0; saved < 6; saved++)
		*--sp = nullptr;
	*c = sp;
}

static inline void
context_switch(context *from, context *to)
{
	cudacpu_switch(from, *to);
}

#else

typedef ucontext_t context;

static inline void
context_make(context *c, char *stack, void (*entry)())
{
	getcontext(c);
	c->uc_stack.ss_sp = stack;
	c->uc_stack.ss_size = STACK;
	c->uc_link = nullptr;
	makecontext(c, entry, 0);
}

static inline void
context_switch(context *from, context *to)
{
	swapcontext(from, to);
}

#endif

/* AddressSanitizer is told of every change of stacks. */
#ifdef __SANITIZE_ADDRESS__
static inline void
asan_leave(void **keep, const void *bottom, size_t size)
{
	__sanitizer_start_switch_fiber(keep, bottom, size);
}

static inline void
asan_arrive(void *keep, const void **bottom, size_t *size)
{
	__sanitizer_finish_switch_fiber(keep, bottom, size);
}
#else
static inline void
asan_leave(void **, const void *, size_t)
{
}

static inline void
asan_arrive(void *, const void **, size_t *)
{
}
#endif

#endif
