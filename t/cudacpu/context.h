/*
 * Where a fiber stopped, and the switch from one to another: a few instructions of assembler where there are some, else, or
 * when cudacpu_fallback() asks for it, ucontext, which enters the kernel at every switch. For fibers.cu.
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

/* Where a fiber stopped. The fallback's record is a kilobyte, and lies elsewhere. */
struct context {
	void *sp;
	ucontext_t *u;
};

#ifdef __x86_64__

static bool context_by_ucontext;

extern "C" void cudacpu_switch(void **from, void *to);
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

static inline void
context_fallback(bool on)
{
	context_by_ucontext = on;
}

/* A stack that the switch returns into entry from; below it the word that entry would return to, were it to. */
static inline void
context_prepare(context *c, char *stack, void (*entry)())
{
	void **sp = reinterpret_cast<void **>(stack + STACK);

	*--sp = nullptr;
	*--sp = reinterpret_cast<void *>(entry);
	for (int saved = 0; saved < 6; saved++)
		*--sp = nullptr;
	c->sp = sp;
}

#else

static constexpr bool context_by_ucontext = true;

static inline void
context_fallback(bool)
{
}

static inline void
context_prepare(context *, char *, void (*)())
{
}

static inline void
cudacpu_switch(void **, void *)
{
}

#endif

static inline void
context_make(context *c, char *stack, void (*entry)())
{
	if (!context_by_ucontext)
		return context_prepare(c, stack, entry);
	getcontext(c->u);
	c->u->uc_stack.ss_sp = stack;
	c->u->uc_stack.ss_size = STACK;
	c->u->uc_link = nullptr;
	makecontext(c->u, entry, 0);
}

static inline void
context_switch(context *from, context *to)
{
	if (context_by_ucontext)
		swapcontext(from->u, to->u);
	else
		cudacpu_switch(&from->sp, to->sp);
}

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
