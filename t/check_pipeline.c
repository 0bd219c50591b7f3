/* common/stream/pipeline.c: items and pieces overlap, and come to each stage in their order. */
#include <pthread.h>
#include <unistd.h>

#include "common/base/stats.h"
#include "common/stream/pipeline.h"
#include "t/check.h"

/* Each of the first three is used by one stage. misplaced: items that came out of turn, or with the number of another. */
struct stream {
	size_t read, computed, written;
	size_t misplaced[PIPELINE_STAGES];
	struct raw_in *in;
	struct stats st;
	bool meets, second; /* whether the first item waits for the second; the second was read */
	pthread_mutex_t lock;
	pthread_cond_t moved;
};

/* Where items overlap, the second one is read while the first one is computed; else this waits for ever. */
static void
meet(struct stream *s, size_t item, bool computed)
{
	pthread_mutex_lock(&s->lock);
	s->second |= item == 2;
	pthread_cond_broadcast(&s->moved);
	while (computed && s->meets && !s->second)
		pthread_cond_wait(&s->moved, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

/* Every third item ends with the computing. */
static bool
take_item(void *stream)
{
	struct stream *s = stream;
	unsigned char v;
	struct img x;

	if (!raw_next(s->in, &x))
		return false;
	const size_t item = raw_item(s->in);
	raw_read(s->in, &v, 1);
	img_free(&x);
	s->misplaced[PIPELINE_READ] += ++s->read != item || v != item;
	stats_charge(&s->st, STATS_READ);
	meet(s, item, false);
	pipeline_pass(PIPELINE_COMPUTE);
	meet(s, item, true);
	s->misplaced[PIPELINE_COMPUTE] += ++s->computed != item || raw_item(s->in) != item;
	stats_charge(&s->st, STATS_COMPUTE);
	if (item % 3 == 0)
		return true;
	pipeline_pass(PIPELINE_WRITE);
	s->misplaced[PIPELINE_WRITE] +=
	    ++s->written != item - (item - 1) / 3 || raw_item(s->in) != item;
	stats_charge(&s->st, STATS_WRITE);
	return true;
}

static void
run(struct check_many *m, char *path, size_t n, bool together)
{
	struct stream s = {.meets = together && n > 1,
			   .lock = PTHREAD_MUTEX_INITIALIZER,
			   .moved = PTHREAD_COND_INITIALIZER};

	stats_start(&s.st);
	s.in = raw_open(&path, 1, 0);
	pipeline_items(s.in, together, take_item, &s);
	check_case(m,
		   s.read == n && s.computed == n && s.written == n - n / 3 && !s.misplaced[0] &&
		       !s.misplaced[1] && !s.misplaced[2],
		   "%zu items: %zu read, %zu computed, %zu written; misplaced: %zu, %zu, %zu", n,
		   s.read, s.computed, s.written, s.misplaced[0], s.misplaced[1], s.misplaced[2]);
	raw_close(s.in);
}

/* Pieces, as the three stages see them: two buffers between one stage and the next. */
struct pieces {
	size_t n, read, computed, written;
	size_t wrong[2]; /* computed; written */
	size_t source[2], sink[2];
	bool meets; /* the first piece is computed when the second one has been read */
	pthread_mutex_t lock;
	pthread_cond_t moved;
};

static bool
read_piece(void *pieces)
{
	struct pieces *p = pieces;

	if (p->read == p->n)
		return false;
	p->source[p->read % 2] = p->read;
	pthread_mutex_lock(&p->lock);
	p->read++;
	pthread_cond_broadcast(&p->moved);
	pthread_mutex_unlock(&p->lock);
	return true;
}

static void
compute_piece(void *pieces)
{
	struct pieces *p = pieces;

	pthread_mutex_lock(&p->lock);
	while (p->meets && p->read < 2)
		pthread_cond_wait(&p->moved, &p->lock);
	pthread_mutex_unlock(&p->lock);
	p->wrong[0] += p->source[p->computed % 2] != p->computed;
	p->sink[p->computed % 2] = p->computed;
	p->computed++;
}

static void
write_piece(void *pieces)
{
	struct pieces *p = pieces;

	p->wrong[1] += p->sink[p->written % 2] != p->written;
	p->written++;
}

static void
run_pieces(struct check_many *m, size_t n, size_t slots, bool together, bool at_hand)
{
	struct pieces p = {.n = n,
			   .meets = together && n > 1 && !at_hand,
			   .lock = PTHREAD_MUTEX_INITIALIZER,
			   .moved = PTHREAD_COND_INITIALIZER};

	pipeline_run(&(struct pipeline_work){.read = read_piece,
					     .compute = compute_piece,
					     .write = write_piece,
					     .with = &p,
					     .at_hand = at_hand,
					     .slots = slots},
		     together);
	check_case(m, p.computed == n && p.written == n && !p.wrong[0] && !p.wrong[1],
		   "%zu pieces, %zu slots: %zu computed, %zu written, %zu wrong", n, slots,
		   p.computed, p.written, p.wrong[0] + p.wrong[1]);
}

void
check_pipeline(void)
{
	char path[] = "/tmp/weir-pipeline-XXXXXX";
	struct check_many m = {0};
	const int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");

	if (!f)
		die("no file in /tmp");
	for (size_t n = 1; n < 24; n++) {
		fprintf(f, "P5 1 1 255\n%c", (int)n);
		fflush(f);
		run(&m, path, n, false);
		run(&m, path, n, true);
	}
	fclose(f);
	unlink(path);
	for (size_t n = 0; n < 2000; n = 3 * n + 1)
		for (size_t slots = 2; slots <= 4; slots++) {
			run_pieces(&m, n, slots, false, false);
			run_pieces(&m, n, slots, true, false);
			run_pieces(&m, n, slots, true, true);
		}
	check_end(&m, "pipeline: items and pieces overlap, and come to each stage in their order");
}
