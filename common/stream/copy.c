#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/base/stats.h"
#include "common/stream/raw.h"

enum { BLOCK = 1 << 20 }; /* bytes that are copied at a time */

void
raw_copy(struct raw_in *in, struct raw_out *out, const struct img *x, bool quiet, struct stats *st)
{
	const size_t most = BLOCK / img_type_size(x->type);
	void *block = weir_xalloc(BLOCK, 1);
	struct progress bar;
	size_t count;

	img_count(x, &count);
	raw_head(out, x);
	progress_start(&bar, quiet);
	for (size_t done = 0; done < count;) {
		const size_t n = count - done < most ? count - done : most;

		raw_read(in, block, n);
		stats_charge(st, STATS_READ);
		raw_write(out, block, n);
		stats_charge(st, STATS_WRITE);
		done += n;
		progress_step(&bar, (double)done / (double)count);
	}
	progress_end(&bar);
	weir_free(block);
}
