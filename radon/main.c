/* radon: the Radon transform of seismic gathers, its inverses, removal of multiples. */
#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/stats.h"
#include "gpu/use.h"
#include "radon/stream/gathers.h"

const char *const weir_prog = "radon";

/* Returns the fingerprint of the input files and of the files that options name. */
static uint64_t
fingerprint(const struct gathers_options *o, char *const *path, size_t npath)
{
	uint64_t hash = share_begin(o->common);

	if (!o->common->share.n)
		return hash;
	if (o->offsets)
		hash = share_hash_file(hash, o->offsets);
	if (o->polygons)
		hash = share_hash_file(hash, o->polygons);
	return share_hash_files(hash, path, npath);
}

int
main(int argc, char **argv)
{
	struct gathers_options o = {0};
	struct slices share;
	struct raw_out *out;
	struct stats st;
	char **operand;
	size_t n;

	weir_keep_heap(0);
	radon_args(argc, argv, &o, &operand, &n);
	stats_start(&st);
	st.threads = o.radon.threads;
	if (!o.gpu)
		par_start(o.radon.threads);
	struct raw_in *in = raw_open(operand, n, o.common->max_bytes);
	slices_open(&share, o.common, fingerprint(&o, operand, n), in, gathers_count, &o);
	o.share = &share;
	out = raw_create(o.common->out, RAW_FOLLOW);
	gathers_run(&o, in, out, &st);
	slices_close(&share, out);
	gpu_report(o.gpu, &st);
	stats_close(&st, in, out, o.common);
	gpu_close(o.gpu);
	polygons_free(&o.radon.mute);
	return 0;
}
