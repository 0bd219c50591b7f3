#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/die.h"
#include "t/fault/calls.h"

#if defined(__x86_64__)
typedef struct user_regs_struct regs;
#define CALL(r) ((long)(r)->orig_rax)
#define ARG0(r) ((r)->rdi)
#define ARG2(r) ((r)->rdx)
#define ARG3(r) ((r)->r10)

/* Whether descriptor fd of the process is standard input or a file below this directory. */
static bool
is_ours(pid_t pid, int fd)
{
	char link[64], path[4096], here[4096];

	if (fd == 0)
		return true;
	snprintf(link, sizeof link, "/proc/%d/fd/%d", pid, fd);
	ssize_t n = readlink(link, path, sizeof path - 1);
	if (n < 0 || !getcwd(here, sizeof here))
		return false;
	path[n] = 0;
	return !strncmp(path, here, strlen(here));
}

static bool
is_for_writing(pid_t pid, int fd)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
	return fd != 2 && !lstat(path, &st) && (st.st_mode & 0200) && is_ours(pid, fd);
}

/* The calls of each kind. A process stops at these, and at munmap(), by which the end of loading is known. */
enum { MOST = 4, NONE = SYS_munmap };
static const unsigned calls[][MOST] = {[MMAP] = {SYS_mmap, NONE, NONE, NONE},
				       [WRITE] = {SYS_write, SYS_pwrite64, SYS_writev, NONE},
				       [SHORT] = {SYS_read, SYS_write, NONE, NONE},
				       [READ] = {SYS_read, SYS_pread64, SYS_readv, NONE},
				       [CLOSE] = {SYS_close, NONE, NONE, NONE},
				       [RENAME] = {SYS_rename, SYS_linkat, NONE, NONE},
				       [THREAD] = {SYS_clone, SYS_clone3, NONE, NONE}};

int
calls_offer(enum kind kind)
{
	enum { FIRST = 4, PASS = FIRST + MOST, STOP = PASS + 1 };
	struct sock_filter code[STOP + 1] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	const struct sock_fprog filter = {sizeof code / sizeof *code, code};

	for (unsigned i = 0; i < MOST; i++)
		code[FIRST + i] =
		    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[kind][i],
						 (unsigned char)(STOP - (FIRST + i + 1)), 0);
	code[PASS] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[STOP] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)
		   ? -1
		   : 0;
}

static bool
is_target(enum kind kind, pid_t pid, const regs *r)
{
	const long call = CALL(r);
	const int fd = (int)ARG0(r);
	const bool reads = call == SYS_read || call == SYS_pread64 || call == SYS_readv;
	const bool writes = call == SYS_write || call == SYS_pwrite64 || call == SYS_writev;

	switch (kind) {
	case MMAP:
		return call == SYS_mmap;
	case WRITE:
		return writes && fd != 2;
	case READ:
		return reads && is_ours(pid, fd);
	case SHORT:
		return (call == SYS_read || call == SYS_write) && fd != 2 && is_ours(pid, fd) &&
		       ARG2(r) > 1;
	case CLOSE:
		return call == SYS_close && is_for_writing(pid, fd);
	case RENAME:
		return call == SYS_rename || call == SYS_linkat;
	case THREAD:
		return call == SYS_clone || call == SYS_clone3;
	case MEMORY:
		break;
	}
	return false;
}

static int
error_of(enum kind kind)
{
	return kind == MMAP	? ENOMEM
	       : kind == WRITE	? ENOSPC
	       : kind == RENAME ? EACCES
	       : kind == THREAD ? EAGAIN
				: EIO;
}

/* Makes the call that the process stands at the entry of one that fails: it is passed over. */
static void
spoil(enum kind kind, pid_t pid, regs *r)
{
	if (kind == SHORT) {
		ARG2(r) = 1;
	} else {
		r->orig_rax = (unsigned long long)-1;
		r->rax = (unsigned long long)-error_of(kind);
	}
	ptrace(PTRACE_SETREGS, pid, NULL, r);
}

struct end
calls_follow(enum kind kind, pid_t child, long n)
{
	struct end end = {0};
	bool begun = false;

	if (waitpid(child, &end.status, 0) < 0 || !WIFSTOPPED(end.status))
		return end;
	ptrace(PTRACE_SETOPTIONS, child, NULL,
	       PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
		   PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL);
	ptrace(PTRACE_CONT, child, NULL, NULL);
	for (;;) {
		int status, sig = 0;
		pid_t pid = waitpid(-1, &status, __WALL);
		regs r;

		if (pid < 0)
			die("waitpid: %s", strerror(errno));
		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			if (pid != child)
				continue;
			end.status = status;
			return end;
		}
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8)) {
			ptrace(PTRACE_GETREGS, pid, NULL, &r);
			/* The loader's last call before main() is munmap(). */
			begun |= CALL(&r) == SYS_munmap;
			if (begun && !end.met && is_target(kind, pid, &r) && ++end.asked == n) {
				end.met = true;
				spoil(kind, pid, &r);
			}
		} else if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP) {
			sig = WSTOPSIG(status);
		}
		ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)sig);
	}
}
#else
int
calls_offer(enum kind kind)
{
	(void)kind;
	return -1;
}

struct end
calls_follow(enum kind kind, pid_t child, long n)
{
	(void)kind, (void)child, (void)n;
	die("calls of the system can be made to fail on x86-64 only");
}
#endif
