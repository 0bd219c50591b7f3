/*
 * t/cudacpu itself: it means what CUDA means, in every order of its fibers, and finds the faults that it says it finds. On
 * a GPU, the same kernels there.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/par.h"
#include "gpu/gpu.h"
#include "t/check.h"
#include "t/check_gpu.h"
#include "t/cudacpu/selftest.h"

static const struct {
	const char *name;
	int (*run)(void);
} selftests[] = {
    {"every thread of a grid runs once, with its own indices", selftest_grid},
    {"a barrier, named or not, orders shared memory, static and dynamic", selftest_barrier},
    {"shuffles bring the lane that is meant, in groups and parts of a warp too", selftest_shuffle},
    {"votes count the threads of a block and the lanes of a warp", selftest_vote},
    {"atomics of all types lose nothing", selftest_atomic},
    {"packed fields, funnel shifts and bit counts", selftest_fields},
    {"Fourier transforms of all kinds, shapes and strides are the sums that define them",
     selftest_fft},
    {"the time of kernels stands still while a plan is made", selftest_plan},
    {"a stream hands data to another, and waits for its turn", selftest_streams},
    {"gpu/ahead.cu: items go up and come down beside the run of others", selftest_copies},
    {"gpu/ahead.cu: results of all devices have arrived, while their next run goes on too",
     selftest_settle},
    {"gpu/ahead.cu: memory that is taken for the next item counts once as room", selftest_room},
    {"a graph does again what was captured", selftest_graph},
    {"gpu/prim.cu: each number becomes the sum of those before it", selftest_scan},
    {"gpu/prim.cu: a sort is stable, and so is one after another", selftest_sort},
    {"gpu/prim.cu: inner products", selftest_dot},
    {"gpu/rate.cu: a device has rates", selftest_rates},
};

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

/* Each of the three waits is left out in turn, in every order. */
static void
check_waits(void)
{
	struct check_many m = {0};

	for (unsigned missing = 1; missing < SELFTEST_WAITS; missing *= 2) {
		int wrong = 0;
		for (int order = 0; order < CHECK_ORDERS; order++) {
			cudacpu_order(order, 1);
			wrong += selftest_waits(SELFTEST_WAITS & ~missing) != 0;
		}
		check_case(&m, wrong > 0, "without wait %u all was right", missing);
	}
	check_end(&m, "cudacpu: a missing wait shows");
}

/* The copies beside runs need a block each. Where there is no memory for one, the run does its own copies. */
static void
check_short_memory(void)
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

static void
check_faults(void)
{
	const char *said = wrong_without_cufft();
	int stale = 0;

	for (int order = 0; order < CHECK_ORDERS; order++) {
		cudacpu_order(order, 1);
		stale += wrong_without_barrier();
	}
	check(stale > 0, "cudacpu: a missing barrier shows", "no thread saw a stale word");
	if (!cudacpu_races && !cudacpu_traffic)
		check(wrong_fence(1) && !wrong_fence(0),
		      "cudacpu: a fence before the barrier that others need after it shows",
		      "other blocks saw the word");
	check_waits();
	check_short_memory();
	check(aborts(wrong_barrier_of_some),
	      "cudacpu: a barrier that some threads never reach aborts", "it went on");
	check(!strcmp(said,
		      "cannot load libcufft.so.12: there is none; WEIR_CUFFT may name the file"),
	      "gpu: a machine without cuFFT is told so", "%s", said);
	check(
	    wrong_search() == 0,
	    "gpu: cuFFT is found below CUDA_HOME and in Python's packages, unless WEIR_CUFFT names "
	    "a file",
	    "not in all places");
}

/* What a GPU refuses: a twin that did it would pass here and fail there. */
static void
check_refusals(void)
{
	check(wrong_stream(), "cudacpu: a launch into another device's stream is refused",
	      "it ran");
	check(wrong_copy(), "cudacpu: a copy past the end, or of the wrong kind, is refused",
	      "it was made");
	check(wrong_capture(),
	      "cudacpu: while it captures, a thread neither waits nor takes memory", "it did");
	check(wrong_shared(),
	      "cudacpu: shared memory above 48 KB must be allowed first, on each device",
	      "it was not asked for");
}

/* Memory of a device is its own. */
static void
check_memory(void)
{
	check(aborts(wrong_beyond), "cudacpu: a kernel that overruns a block of memory aborts",
	      "it went on");
	check(aborts(wrong_freed), "cudacpu: a kernel that uses memory after it was freed aborts",
	      "it went on");
	check(aborts(wrong_free),
	      "cudacpu: pinned memory that is freed before its copy is done aborts", "it went on");
	check(aborts(wrong_host_pointer),
	      "cudacpu: a kernel that is given a pointer to the host's memory aborts", "it ran");
	check(aborts(wrong_host_touch), "cudacpu: a host that touches a device's memory ends",
	      "it went on");
	if (!cudacpu_races && !cudacpu_traffic)
		return;
	check(aborts(wrong_hidden_pointer),
	      "cudacpu: a kernel that touches the host's memory aborts", "it went on");
	check(aborts(wrong_alignment), "cudacpu: an access that is not aligned aborts",
	      "it was made");
}

/* races.cu; the race of check_faults() was found by then. */
static void
check_races(void)
{
	const int found = cudacpu_races();

	check(found > 0, "cudacpu: a missing barrier is a race", "none was found");
	check(wrong_races(1) == 4,
	      "cudacpu: races within a warp and between blocks, and memory not written, are found",
	      "not all were");
	check(wrong_races(0) == 0,
	      "cudacpu: what __syncwarp(), fences and atomics order is no race", "one was found");
}

/* traffic.cu. */
static void
check_traffic(void)
{
	int first, wrong = wrong_traffic(&first);

	check(wrong == 0, "cudacpu: sectors and turns are those that one counts by hand",
	      "%d kernels are wrong; the first: %d", wrong, first);
}

/* All of them, in every order; how: what the names of these checks end in. */
static void
run_selftests(const char *how)
{
	for (size_t i = 0; i < sizeof selftests / sizeof *selftests; i++) {
		struct check_many m = {0};
		char name[160];
		if (selftests[i].run == selftest_room && !cudacpu_memory)
			continue; /* other processes take memory of a GPU and give it back */
		for (int order = 0; order < check_orders(); order++) {
			check_order(order);
			int wrong = selftests[i].run();
			check_case(&m, wrong == 0, "order %d: %d results wrong", order, wrong);
		}
		snprintf(name, sizeof name, "%s%s", selftests[i].name, how);
		check_end(&m, name);
	}
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
	run_selftests("");
	if (cudacpu_races)
		check(cudacpu_races() == 0, "cudacpu: these kernels have no races", "see above");
	if (cudacpu_fallback) {
		check_faults();
		check_memory();
		if (cudacpu_races)
			check_races();
		if (cudacpu_traffic)
			check_traffic();
		cudacpu_fallback(1);
		run_selftests(", by ucontext");
		cudacpu_fallback(0);
		check_refusals();
	}
	check_order(0);
}
