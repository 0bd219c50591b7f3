/* common/stream/pipeline.c: items overlap, and come to each stage in their order. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/die.h"
#include "common/base/stats.h"
#include "common/stream/pipeline.h"
#include "t/check.h"

void check_relay(void);

/* Each of the first three is used by one stage. misplaced: items that came out of turn, or with the number of another. */
struct stream {
	size_t read, computed, written;
	size_t misplaced[RELAY_STAGES];
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
	s->misplaced[RELAY_READ] += ++s->read != item || v != item;
	stats_charge(&s->st, STATS_READ);
	meet(s, item, false);
	relay_pass(RELAY_COMPUTE);
	meet(s, item, true);
	s->misplaced[RELAY_COMPUTE] += ++s->computed != item || raw_item(s->in) != item;
	stats_charge(&s->st, STATS_COMPUTE);
	if (item % 3 == 0)
		return true;
	relay_pass(RELAY_WRITE);
	s->misplaced[RELAY_WRITE] +=
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
	relay_run(s.in, together, take_item, &s);
	check_case(m,
		   s.read == n && s.computed == n && s.written == n - n / 3 && !s.misplaced[0] &&
		       !s.misplaced[1] && !s.misplaced[2],
		   "%zu items: %zu read, %zu computed, %zu written; misplaced: %zu, %zu, %zu", n,
		   s.read, s.computed, s.written, s.misplaced[0], s.misplaced[1], s.misplaced[2]);
	raw_close(s.in);
}

void
check_relay(void)
{
	char path[] = "/tmp/weir-relay-XXXXXX";
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
	check_end(&m, "relay: items overlap, and come to each stage in their order");
}
