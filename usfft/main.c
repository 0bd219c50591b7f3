#include "common/base/die.h"
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
	const char *const files[] = {a->points, a->targets, j->find_coils ? NULL : a->coils,
				     j->weights_file};
	uint64_t hash = share_begin(&a->common);
	bool batch = a->batch;

	for (size_t i = 0; a->common.share.n && i < sizeof files / sizeof *files; i++)
		hash = files[i] ? share_hash_file(hash, files[i]) : hash;
	if (a->common.share.n)
		hash = share_hash_files(hash, path, npath);
	slices_open(&j->share, &a->common, hash, j->in, count_slices, &batch);
}

static void
open_files(struct job *j, char **path, size_t npath)
{
	item_load_points(j, j->a.points, &j->points, &j->at);
	item_load_points(j, j->a.targets, &j->targets, &j->to);
	item_load_weights(j);
	item_load_coils(j);
	j->in = raw_open(path, npath, j->a.common.max_bytes);
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

static void
finish(struct job *j)
{
	if (j->weights_out)
		raw_finish(j->weights_out);
	if (j->coils_out)
		raw_finish(j->coils_out);
	slices_close(&j->share, j->out);
	if (!j->gpu) {
		stats_add(&j->st, "sort", "%.9f", j->took.sort);
		stats_add(&j->st, "spread", "%.9f", j->took.spread);
		stats_add(&j->st, "fft", "%.9f", j->took.fft);
		stats_add(&j->st, "deconvolve", "%.9f", j->took.modes);
	}
	if (j->plan)
		stats_add(&j->st, "taps", "%d", usfft_taps(j->plan));
	gpu_report(j->gpu, &j->st);
	stats_close(&j->st, j->in, j->out, &j->a.common);
	gpu_close(j->gpu);
	group_free(j);
	usfft_free(j->plan);
	usfft_sky_free(j->sky);
	weir_free_all(j->weights, j->maps, j->at.owned);
	img_free(&j->points);
	img_free(&j->targets);
}

static void
transform_item(struct job *j, struct img *x)
{
	static void (*const transform[])(struct job *, struct img *) = {
	    [1] = item_points_to_modes, [2] = item_modes_to_points, [3] = item_points_to_points};
	static void (*const sky[])(struct job *,
				   struct img *) = {[1] = sky_from_points, [2] = sky_to_points};

	item_read(j, x);
	stats_charge(&j->st, STATS_READ);
	(j->a.inverse ? item_invert : (j->a.pixel ? sky : transform)[j->type])(j, x);
	j->st.items++;
	stats_charge(&j->st, STATS_WRITE);
	pipeline_flush(j->out);
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
	pipeline_items(j->in, j->gpu, transform_next, j);
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
