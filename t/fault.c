/*
 * Fails every request of a command in turn, and looks at how the command ends.
 *
 *	build/t/fault [-o FILE] KIND INPUT COMMAND [ARGUMENT ...]
 *
 * The command reads INPUT on standard input. It is run once undisturbed, which counts its requests of the kind, and then once
 * for each n of that number; run n meets a fault at its n-th request:
 *
 *	memory	malloc() and its like find no memory		(t/preload/nomem.c)
 *	mmap	mmap() finds no memory
 *	write	write() finds the disk full; not on standard error
 *	short	read() and write() transfer one byte; not on standard error
 *	read	read() fails, on standard input and on files below this directory
 *	close	close() fails, on what was opened for writing
 *	rename	rename() and linkat() fail
 *	thread	clone() finds no room for a thread
 *
 * A disturbed run must write the bytes of the undisturbed one and exit with 0, or exit with 1 and one line on stderr that
 * begins with the command's name. FFTW and libgomp end the process themselves when they find no memory; that is accepted.
 * A run may leave no file behind that was not there before, and FILE, which the command writes by -o, must be absent or
 * whole. The program prints a line for each run that does otherwise, and exits with 1 after any. More than 200 requests of
 * a kind are sampled, unless FAULT_ALL is set, since a planner that tries many sizes makes hundreds.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "t/preload/nomem.h"

const char *const weir_prog = "fault";

enum kind { MEMORY, MMAP, WRITE, SHORT, READ, CLOSE, RENAME, THREAD };

struct args {
	struct opt_common common;
	const char *input;
	char **command;
	enum kind kind;
	const char *kind_name;
};

static const struct opt table[] = {{0}};
static const struct opt_program program = {.what = "fails every request of a command in turn",
					   .table = table,
					   .operands = "KIND INPUT COMMAND [ARGUMENT ...]",
					   .max_operands = SIZE_MAX};

#define OUT NOMEM_OUT
#define ERR NOMEM_ERR

static struct args
parse(int argc, char **argv)
{
	static const char *const names[] = {"memory", "mmap",  "write",	 "short",
					    "read",   "close", "rename", "thread"};
	struct args args = {0};
	char **operand;
	size_t n;

	/* The command's own options are not this program's. */
	setenv("POSIXLY_CORRECT", "1", 1);
	opt_parse(&program, argc, argv, &args, &operand, &n);
	unsetenv("POSIXLY_CORRECT");
	if (n < 3)
		die_usage("a kind of fault, an input and a command are needed");
	while (args.kind <= THREAD && strcmp(names[args.kind], operand[0]))
		args.kind++;
	if (args.kind > THREAD)
		die_usage("'%s' is no kind of fault", operand[0]);
	args.kind_name = operand[0];
	args.input = operand[1];
	args.command = operand + 2;
	return args;
}

/* --- faults in calls of the system, by ptrace(2) ------------------------------------------------------------------- */

/* How a run ended. */
struct end {
	int status;  /* of waitpid */
	bool met;    /* the fault took place */
	bool litter; /* there is a file more than before, besides the output */
	long asked;  /* the requests of the kind, up to the fault */
};

#if defined(__x86_64__)
typedef struct user_regs_struct regs;
#define CALL(r) ((long)(r)->orig_rax)
#define ARG0(r) ((r)->rdi)
#define ARG2(r) ((r)->rdx)

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

/* In the process to be followed, before it runs a program: it will stop at the calls that the kind needs. -1: it cannot. */
static int
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

/* Whether the call is to fail, of those at which the process stops. */
static bool
is_target(enum kind kind, pid_t pid, const regs *r)
{
	const int fd = (int)ARG0(r);

	if (CALL(r) == NONE)
		return false;
	return kind == WRITE   ? fd != 2
	       : kind == READ  ? is_ours(pid, fd)
	       : kind == SHORT ? fd != 2 && is_ours(pid, fd) && ARG2(r) > 1
			       : kind != CLOSE || is_for_writing(pid, fd);
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

/* Follows such a process and its threads to the end. Spoils the n-th call of the kind after the loader's. */
static struct end
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
static int
calls_offer(enum kind kind)
{
	(void)kind;
	return -1;
}

static struct end
calls_follow(enum kind kind, pid_t child, long n)
{
	(void)kind, (void)child, (void)n;
	die("calls of the system can be made to fail on x86-64 only");
}
#endif

/* --- what a directory and a file hold ------------------------------------------------------------------------------ */

static size_t
count_files(void)
{
	DIR *d = opendir(".");
	size_t n = 0;

	if (!d)
		die(".: %s", strerror(errno));
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

struct text {
	char *v;
	size_t n;
	bool exists;
};

static struct text
slurp(const char *path)
{
	struct text t = {0};
	FILE *f = fopen(path, "rb");
	struct stat st;

	if (!f || fstat(fileno(f), &st))
		return t;
	t.v = weir_xalloc((size_t)st.st_size + 1, 1);
	t.n = fread(t.v, 1, (size_t)st.st_size, f);
	t.v[t.n] = 0;
	t.exists = true;
	fclose(f);
	return t;
}

static bool
same(const char *path, const struct text *want)
{
	struct text t = slurp(path);
	bool is =
	    t.exists == want->exists && t.n == want->n && (!t.n || !memcmp(t.v, want->v, t.n));

	weir_free(t.v);
	return is;
}

/* --- one run ------------------------------------------------------------------------------------------------------- */

static void
redirect(const char *path, int flags, int to)
{
	int fd = open(path, flags, 0666);

	if (fd < 0 || dup2(fd, to) < 0)
		die("%s: %s", path, strerror(errno));
	if (fd != to)
		close(fd);
}

/* A process that stands before the command's main() and runs copies of itself. */
struct server {
	pid_t pid; /* 0: there is none */
	int to, from;
};

static _Noreturn void
become_server(const struct args *args, int in, int out)
{
	char text[32], library[4096];

	snprintf(library, sizeof library, "%s/t/nomem.so", getenv("B") ? getenv("B") : "build");
	setenv("LD_PRELOAD", library, 1);
	snprintf(text, sizeof text, "%d %d", in, out);
	setenv("FAULT_SERVE", text, 1);
	setenv("FAULT_INPUT", args->input, 1);
	execvp(args->command[0], args->command);
	_exit(127);
}

static struct server
serve(const struct args *args)
{
	int to[2], from[2];

	if (pipe(to) || pipe(from))
		die("pipe: %s", strerror(errno));
	const pid_t child = fork();
	if (child < 0)
		die("fork: %s", strerror(errno));
	if (!child) {
		close(to[1]);
		close(from[0]);
		become_server(args, to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	return (struct server){child, to[1], from[0]};
}

static struct end
run_copy(const struct server *s, const struct args *args, long n)
{
	struct nomem_end end;

	if (write(s->to, &n, sizeof n) != sizeof n || read(s->from, &end, sizeof end) != sizeof end)
		die("%s does not start", args->command[0]);
	return (struct end){.status = end.status, .met = end.met, .asked = end.asked};
}

static struct end
run_traced(const struct args *args, long n)
{
	const pid_t child = fork();

	if (child < 0)
		die("fork: %s", strerror(errno));
	if (!child) {
		redirect(args->input, O_RDONLY, 0);
		redirect(OUT, O_WRONLY | O_CREAT | O_TRUNC, 1);
		redirect(ERR, O_WRONLY | O_CREAT | O_TRUNC, 2);
		if (!calls_offer(args->kind))
			execvp(args->command[0], args->command);
		_exit(127);
	}
	return calls_follow(args->kind, child, n);
}

/* n = 0: undisturbed. */
static struct end
run(const struct server *s, const struct args *args, long n)
{
	const char *const to = args->common.out ? args->common.out : OUT;

	unlink(to);
	const size_t files = count_files();
	struct end end = args->kind == MEMORY ? run_copy(s, args, n) : run_traced(args, n);
	end.litter = count_files() > files + !access(to, F_OK);
	return end;
}

/* --- judgement ----------------------------------------------------------------------------------------------------- */

static bool
is_one_line_of(const char *name, const struct text *err)
{
	const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	const size_t n = strlen(base);
	const char *end = err->n ? strchr(err->v, '\n') : NULL;

	return end && !end[1] && !strncmp(err->v, base, n) && err->v[n] == ':';
}

/* Whether a library said that there is no memory or no thread and ended the process, which none of them lets its caller do. */
static bool
is_by_library(const struct end *end, const struct text *err)
{
	const bool aborted = WIFSIGNALED(end->status) && WTERMSIG(end->status) == SIGABRT;
	const bool failed = WIFEXITED(end->status) && WEXITSTATUS(end->status) == 1;

	return err->n && ((aborted && !strncmp(err->v, "fftw: alloc.c", 13)) ||
			  (failed && !strncmp(err->v, "\nlibgomp: ", 10)));
}

/* NULL when the run ended as it should, else what is wrong with it. */
static const char *
judge(const struct args *args, const struct end *end, const struct text *want)
{
	const char *to = args->common.out;
	const bool left = to && !access(to, F_OK);
	struct text err = slurp(ERR);
	const char *why = NULL;

	if (is_by_library(end, &err))
		;
	else if (!WIFEXITED(end->status))
		why = "was killed by a signal";
	else if (WEXITSTATUS(end->status) > 1)
		why = "ended with neither 0 nor 1";
	else if (WEXITSTATUS(end->status) == 0 && !same(to ? to : OUT, want))
		why = "exits with 0 and wrote other bytes";
	else if (WEXITSTATUS(end->status) == 1 && !is_one_line_of(args->command[0], &err))
		why = "does not say why it fails in one line";
	if (!why && left && !same(to, want))
		why = "left a part of its output";
	if (!why && end->litter)
		why = "left a file behind";
	if (why)
		printf("%s", err.v ? err.v : "");
	weir_free(err.v);
	return why;
}

static void
print_command(const struct args *args, long n, const char *why)
{
	printf("%s %ld:", args->kind_name, n);
	for (char **w = args->command; *w; w++)
		printf(" %s", *w);
	printf(" <%s: %s\n", args->input, why);
}

int
main(int argc, char **argv)
{
	const struct args args = parse(argc, argv);
	close(open(OUT, O_WRONLY | O_CREAT, 0666));
	close(open(ERR, O_WRONLY | O_CREAT, 0666));
	const struct server server = args.kind == MEMORY ? serve(&args) : (struct server){0};
	const struct end plain = run(&server, &args, 0);
	const struct text want = slurp(args.common.out ? args.common.out : OUT);
	long bad = 0, faults = 0;

	if (plain.status)
		die("%s fails undisturbed", args.command[0]);
	for (long n = 1; n <= plain.asked; n += getenv("FAULT_ALL") || n < 200 ? 1 : n / 16) {
		const struct end end = run(&server, &args, n);
		const char *why = judge(&args, &end, &want);
		if (why) {
			print_command(&args, n, why);
			bad++;
		}
		faults += end.met;
	}
	if (server.pid) {
		close(server.to);
		waitpid(server.pid, NULL, 0);
	}
	printf("%s: %ld faults of %s, %ld ended badly\n", args.command[0], faults, args.kind_name,
	       bad);
	return bad > 0;
}
