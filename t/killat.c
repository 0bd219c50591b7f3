/*
 * Kills a command at its Nth system call, as kill -9 would.
 *
 *	build/t/killat N COMMAND [ARGUMENT ...]
 *
 * Exits with 137 when the command was killed, else with the status of the command, which made fewer calls.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/die.h"

const char *const weir_prog = "killat";

enum { KILLED = 128 + SIGKILL };

static pid_t
start(char **command)
{
	const pid_t pid = fork();

	if (pid < 0)
		die("%s", strerror(errno));
	if (pid)
		return pid;
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		die("ptrace: %s", strerror(errno));
	execvp(*command, command);
	die("%s: %s", *command, strerror(errno));
}

int
main(int argc, char **argv)
{
	/* Each call stops the command twice: as it begins and as it ends. */
	long stops = argc > 2 ? 2 * atol(argv[1]) : 0;
	int status;

	if (stops < 2)
		die_usage("killat N COMMAND [ARGUMENT ...]");
	const pid_t pid = start(argv + 2);
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		if (WSTOPSIG(status) == SIGTRAP && --stops == 0)
			kill(pid, SIGKILL);
		ptrace(PTRACE_SYSCALL, pid, NULL,
		       WSTOPSIG(status) == SIGTRAP ? 0 : (long)WSTOPSIG(status));
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : KILLED;
}
