/*
 * Side-by-side timing of commands. They run in turn, round after round, so that a noisy machine disturbs all alike;
 * the median of each is what counts.
 *
 *	build/t/interleave -n 5 'ours=wconv -k k.nrrd <a.pgm >/dev/null' 'scipy=python3 cell.py'
 *
 * prints a line per command: medians of wall and CPU seconds, the most memory any one process of it held, and both times
 * as multiples of the first one's. A command that fails ends the run.
 */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/opt.h"
#include "t/bench/bench.h"

const char *const weir_prog = "interleave";

struct args {
	struct opt_common common;
	int rounds;
	const char *before;
};

static const struct opt table[] = {{'n', "rounds", OPT_INT, AT(rounds), "N",
				    "rounds, each of which runs every command once; default 5", 1,
				    BENCH_MAXROUNDS},
				   {'b', "before", OPT_STR, AT(before), "COMMAND",
				    "a shell command that is run before each, out of its time"},
				   {0}};

static const struct opt_program program = {.what = "times shell commands in turn",
					   .table = table,
					   .operands = "LABEL=COMMAND ...",
					   .max_operands = SIZE_MAX};

struct command {
	char *label;
	const char *shell;
	double wall[BENCH_MAXROUNDS], cpu[BENCH_MAXROUNDS];
	long peak; /* KiB */
};

static void
set_command(struct command *c, char *operand)
{
	char *eq = strchr(operand, '=');

	if (!eq || eq == operand)
		die_usage("'%s' is not LABEL=COMMAND", operand);
	*eq = '\0';
	c->label = operand;
	c->shell = eq + 1;
}

static double
seconds(struct timeval t)
{
	return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static void
prepare(const char *before)
{
	if (before && system(before) != 0)
		die("'%s' fails", before);
}

static void
run(struct command *c, size_t round)
{
	const double start = clock_now();
	struct rusage use;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", c->shell, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &use) != pid)
		die("%s: cannot run it", c->label);
	if (status != 0)
		die("%s: '%s' fails", c->label, c->shell);
	c->wall[round] = clock_now() - start;
	c->cpu[round] = seconds(use.ru_utime) + seconds(use.ru_stime);
	c->peak = use.ru_maxrss > c->peak ? use.ru_maxrss : c->peak;
}

static void
report(struct command *c, size_t n, size_t rounds)
{
	printf("%-24s %10s %10s %10s %8s %8s\n", "", "wall s", "CPU s", "peak MB", "wall x",
	       "CPU x");
	for (size_t i = 0; i < n; i++) {
		const double wall = bench_median(c[i].wall, rounds);
		const double cpu = bench_median(c[i].cpu, rounds);
		printf("%-24s %10.3f %10.3f %10.1f %8.2f %8.2f\n", c[i].label, wall, cpu,
		       (double)c[i].peak / 1024, wall / bench_median(c[0].wall, rounds),
		       cpu / bench_median(c[0].cpu, rounds));
	}
}

int
main(int argc, char **argv)
{
	struct args args = {.rounds = 5};
	struct command *c;
	char **operand;
	size_t n;

	opt_parse(&program, argc, argv, &args, &operand, &n);
	if (!n)
		die_usage("no command; see --help");
	c = weir_calloc(n, sizeof *c);
	if (!c)
		die("no memory for %zu commands", n);
	for (size_t i = 0; i < n; i++)
		set_command(&c[i], operand[i]);
	for (size_t r = 0; r < (size_t)args.rounds; r++)
		for (size_t i = 0; i < n; i++) {
			prepare(args.before);
			run(&c[i], r);
		}
	report(c, n, (size_t)args.rounds);
	weir_free(c);
	return 0;
}
