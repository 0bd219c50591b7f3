#include <string.h>

#include "common/base/die.h"
#include "common/base/fft.h"
#include "common/base/mem.h"
#include "common/stream/pipeline.h"
#include "gpu/use.h"
#include "usfft/job.h"

const char *const weir_prog = "usfft";

/* The points of --batch are the first item of the input, and no work by themselves. */
static size_t
count_slices(const void *batch, const struct img *x)
{
	bool *is_points = (bool *)(uintptr_t)batch;
	const bool first = *is_points;

	(void)x;
	*is_points = false;
	return !first;
}

/* Finds the share of --part: some of the items. */
static void
open_share(struct job *j, char **path, size_t npath)
{
	const struct args *a = &j->a;
	const char *const files[] = {a->points, a->targets, a->start, a->coils,
				     item_weighs_by_file(j) ? a->weights : NULL};
	uint64_t hash = part_begin(&a->common);
	bool batch = a->batch;

	for (size_t i = 0; a->common.part.n && i < sizeof files / sizeof *files; i++)
		hash = files[i] ? part_hash_file(hash, files[i]) : hash;
	if (a->common.part.n)
		hash = part_hash_files(hash, path, npath);
	slices_open(&j->share, &a->common, hash, j->in, count_slices, &batch);
}

static void
open_files(struct job *j, char **path, size_t npath)
{
	const size_t max = j->a.common.max_bytes;

	if (j->a.wisdom && fft_wisdom_read(j->a.wisdom))
		die("%s: not FFTW's wisdom", j->a.wisdom);
	if (j->a.points) {
		raw_load_file(j->a.points, max, true, &j->points);
		item_take_points(j, j->a.points, &j->points, false, &j->at);
	}
	if (j->a.targets) {
		raw_load_file(j->a.targets, max, true, &j->targets);
		item_take_points(j, j->a.targets, &j->targets, false, &j->to);
	}
	item_load_weights(j);
	item_load_inverse(j);
	j->in = raw_open(path, npath, max);
	open_share(j, path, npath);
	j->out = raw_create(j->a.common.out, RAW_AS_RAW);
	if (j->a.batch) {
		if (!raw_next(j->in, &j->points))
			raw_die(j->in, "no points");
		raw_map(j->in, &j->points);
		item_take_points(j, raw_name(j->in), &j->points, false, &j->at);
	}
	j->fixed = j->a.points || j->a.batch;
}

/* Reports the seconds of the stages on the CPU. */
static void
report_stages(struct job *j)
{
	stats_add(&j->st, "sort", "%.9f", j->took.sort);
	stats_add(&j->st, "spread", "%.9f", j->took.spread);
	stats_add(&j->st, "fft", "%.9f", j->took.fft);
	stats_add(&j->st, "deconvolve", "%.9f", j->took.modes);
}

static void
finish(struct job *j)
{
	int err = j->a.wisdom ? fft_wisdom_write(j->a.wisdom) : 0;

	if (err)
		die("%s: %s", j->a.wisdom, strerror(-err));
	if (j->weights_out)
		raw_finish(j->weights_out);
	slices_close(&j->share, j->out);
	if (!j->run.gpu)
		report_stages(j);
	if (j->run.plan)
		stats_add(&j->st, "taps", "%d", usfft_taps(j->run.plan));
	gpu_report(j->run.gpu, &j->st);
	stats_close(&j->st, j->in, j->out, &j->a.common);
	gpu_close(j->run.gpu);
	group_free(j);
	transform_free(&j->run);
	usfft_sky_free(j->sky);
	weir_free(j->weights);
	weir_free(j->maps);
	weir_free(j->start);
	img_free(&j->points);
	img_free(&j->targets);
}

static void
transform_item(struct job *j, struct img *x)
{
	item_read(j, x);
	stats_charge(&j->st, STATS_READ);
	if (j->a.inverse)
		item_invert(j, x);
	else if (j->type == 1 && j->a.pixel)
		item_to_sky(j, x);
	else if (j->a.pixel)
		item_from_sky(j, x);
	else if (j->type == 1)
		item_points_to_modes(j, x);
	else if (j->type == 2)
		item_modes_to_points(j, x);
	else
		item_points_to_points(j, x);
	j->st.items++;
	stats_charge(&j->st, STATS_WRITE);
	relay_flush(j->out);
}

static bool
transform_next(void *job)
{
	struct job *j = job;
	struct img x;

	if (!raw_next(j->in, &x))
		return false;
	const bool over = slices_over(&j->share, j->in);
	if (!over && slices_take(&j->share, j->in, &x, -1))
		transform_item(j, &x);
	group_flush_when_idle(j);
	img_free(&x);
	return !over;
}

static struct job *running;

/* An item that fails does not take the waiting ones before it with it. */
static void
flush_first(void)
{
	group_flush(running);
}

static void
transform_items(struct job *j)
{
	running = j;
	die_after(flush_first);
	relay_run(j->in, j->run.gpu, transform_next, j);
	group_flush(j);
	die_after(NULL);
	if (j->a.batch && raw_item(j->in) == 1)
		raw_die(j->in, "no values behind the points");
}

int
main(int argc, char **argv)
{
	struct job j = {0};
	char **path;
	size_t npath;

	weir_keep_heap(0);
	usfft_args(&j, argc, argv, &path, &npath);
	stats_start(&j.st);
	j.st.threads = j.o.threads;
	open_files(&j, path, npath);
	transform_items(&j);
	finish(&j);
	return 0;
}
