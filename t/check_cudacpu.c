/*
 * t/cudacpu itself: it means what CUDA means, in every order of its fibers, and finds the faults that it says it finds. On
 * a GPU, the same kernels there.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/par.h"
#include "gpu/gpu.h"
#include "t/check.h"
#include "t/check_gpu.h"
#include "t/cudacpu/selftest.h"

static void
run_selftests(void)
{
	for (const struct cudacpu_selftest *s = cudacpu_selftests; s->name; s++) {
		struct check_many m = {0};
		if (s->alone && !cudacpu_memory)
			continue; /* other processes take memory of a GPU and give it back */
		for (int order = 0; order < check_orders(); order++) {
			check_order(order);
			const int wrong = s->run();
			check_case(&m, wrong == 0, "order %d: %d results wrong", order, wrong);
		}
		check_end(&m, s->name);
	}
}

/*
 * Whether f() ends in an abort; what it says is not shown. The child has no thread but its own: a team of more would wait
 * for ever for those of the parent that were not back from their last loop at the fork.
 */
static bool
aborts(void (*f)(void))
{
	const pid_t child = fork();
	int status = 0;

	if (child == 0) {
		omp_set_num_threads(1);
		dup2(open("/dev/null", O_WRONLY), 2);
		signal(SIGABRT, SIG_DFL);
		f();
		_exit(0);
	}
	return child > 0 && waitpid(child, &status, 0) == child &&
	       !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void
faults_are_found(void)
{
	const bool watched = cudacpu_races || cudacpu_traffic;

	for (const struct cudacpu_fault *f = cudacpu_faults; f->name; f++)
		if (!f->watched || watched)
			check(f->found ? f->found() : aborts(f->aborts), f->name, "it was not");
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
