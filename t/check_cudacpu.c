/*
 * t/cudacpu itself: it means what CUDA means, in every order of its fibers, and finds the faults that it says it finds. On
 * a GPU, the same kernels there.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/par.h"
#include "t/check_gpu.h"

static void
run_selftests(void)
{
	for (const struct cudacpu_selftest *s = cudacpu_selftests; s->name; s++) {
		struct check_many m = {0};
		if (s->alone && !cudacpu_memory)
			continue; /* other processes take memory of a GPU and give it back */
		for (size_t order = 0; order < check_orders(); order++) {
			check_order(order);
			const int wrong = s->run();
			check_case(&m, wrong == 0, "order %zu: %d results wrong", order, wrong);
		}
		check_end(&m, s->name);
	}
}

/*
 * Whether the fault was found, in a process that has no thread but its own: a team of more would wait for ever for those of the
 * parent that were not back from their last loop at the fork.
 */
static bool
is_found(const struct cudacpu_fault *f)
{
	enum { FOUND = 77 };
	FILE *const said = tmpfile();
	char text[4096] = "";
	int status = 0;
	const pid_t child = said ? fork() : -1;

	if (child == 0) {
		omp_set_num_threads(1);
		dup2(fileno(said), 2);
		signal(SIGABRT, SIG_DFL);
		_exit(f->found() ? FOUND : 0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return false;
	rewind(said);
	text[fread(text, 1, sizeof text - 1, said)] = 0;
	fclose(said);
	return *f->says ? status && strstr(text, f->says)
			: WIFEXITED(status) && WEXITSTATUS(status) == FOUND;
}

static void
faults_are_found(void)
{
	char name[128];

	for (const struct cudacpu_fault *f = cudacpu_faults; f->name; f++)
		if (!f->watched || cudacpu_races) {
			snprintf(name, sizeof name, "cudacpu: found: %s", f->name);
			check(is_found(f), name, "it was not");
		}
}

/* The copies beside runs need a block each. Where there is no memory for one, the run does its own copies. */
static void
copies_give_way(void)
{
	struct check_many m = {0};

	for (size_t mib = 9; mib < 28; mib += 3) {
		cudacpu_memory(mib << 20);
		const int wrong = selftest_copies();
		check_case(&m, wrong == 0, "%zu MiB: %d bytes wrong", mib, wrong);
	}
	cudacpu_memory((size_t)1 << 40);
	check_end(&m, "gpu: copies beside runs give way where memory is short");
}

void
check_cudacpu(void)
{
	char why[GPU_WHY];
	struct gpu *g = gpu_open("", why);

	if (!g) {
		check_skip("cudacpu", why);
		return;
	}
	gpu_close(g);
	run_selftests();
	if (cudacpu_races)
		check(cudacpu_races() == 0, "cudacpu: these kernels have no races", "see above");
	if (cudacpu_memory) {
		faults_are_found();
		copies_give_way();
	}
	check_order(0);
}
