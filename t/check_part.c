/* The shares of --part: what they cover, how the keys are read, and that fingerprints tell files apart. */
#include <unistd.h>

#include "common/base/opt.h"
#include "common/stream/share.h"
#include "t/check.h"

static void
shares_are_the_whole(void)
{
	static const size_t units[] = {0, 1, 2, 6, 7, 8, 1000, SIZE_MAX - 1, SIZE_MAX};
	static const size_t ns[] = {1, 2, 3, 7, 64, 1000, SHARE_MOST};
	struct check_many many = {0};

	for (size_t u = 0; u < sizeof units / sizeof *units; u++)
		for (size_t k = 0; k < sizeof ns / sizeof *ns; k++) {
			const size_t n = ns[k], most = units[u] / n + (units[u] % n != 0);
			size_t at = 0, first, end;
			bool good = true;
			for (size_t i = 0; i < n; i++) {
				share_range(&(struct share){i, n}, units[u], &first, &end);
				good &= first == at && end >= first && end - first <= most;
				at = end;
			}
			check_case(&many, good && at == units[u], "%zu units in %zu shares",
				   units[u], n);
		}
	check_end(&many,
		  "part: the shares in order have each unit once, and differ by one at most");
}

static bool
same_place(const struct share_place *a, const struct share_place *b)
{
	bool same = a->item == b->item && a->items == b->items && a->piece == b->piece &&
		    a->pieces == b->pieces && a->pnm == b->pnm && a->tile == b->tile &&
		    a->ncut == b->ncut;

	for (size_t i = 0; same && i < a->ncut; i++)
		same = a->cut[i].axis == b->cut[i].axis && a->cut[i].first == b->cut[i].first &&
		       a->cut[i].total == b->cut[i].total &&
		       (a->cut[i].min == b->cut[i].min ||
			(isnan(a->cut[i].min) && isnan(b->cut[i].min)));
	return same;
}

/* A share of a stack is described, read back, and restored to the stack. */
static void
keys_come_back(void)
{
	struct share_place place = {.item = 3,
				    .items = 9,
				    .piece = 1,
				    .pieces = 4,
				    .pnm = true,
				    .tile = false},
			   back;
	struct share p = {2, 5}, q;
	struct why why;
	uint64_t hash;
	struct img x;

	img_init(&x, IMG_U8, 3, (size_t[]){4, 100, 8});
	x.axis[1].min = .1;
	x.axis[1].spacing = .3;
	share_cut(&x, &place, 2, 5, 1);
	share_cut(&x, &place, 1, 30, 20);
	share_set(&x, &p, 0x0123456789abcdef, &place);
	const int r = share_of(&x, &q, &hash, &back, &why);
	check(!r && q.i == 2 && q.n == 5 && hash == 0x0123456789abcdef && same_place(&place, &back),
	      "part: the keys of a share come back", "%s", r ? why.text : img_key(&x, "place"));
	share_restore(&x, &back);
	check(x.axis[1].n == 100 && x.axis[2].n == 8 && x.axis[1].min == .1 && !x.nkey &&
		  x.format == IMG_PNM,
	      "part: a share tells the description of the whole", "%zu rows", x.axis[1].n);
	img_free(&x);
}

static void
malformed_keys_are_refused(void)
{
	static const char good[] = "1/2 0123456789abcdef";
	static const char *const cases[][2] = {
	    {"1/2", "0/1 0/1 1:0/9"},
	    {"2/2 0123456789abcdef", "0/1 0/1 1:0/9"},
	    {"1/2 0123456789abcde", "0/1 0/1 1:0/9"},
	    {"1/2 0123456789ABCDEF", "0/1 0/1 1:0/9"},
	    {good, ""},
	    {good, "1/1 0/1 1:0/9"},
	    {good, "0/1 1/1 1:0/9"},
	    {good, "0/1 1:0/9"},
	    {good, "0/1 0/1 1:0/0"},
	    {good, "0/1 0/1 1:5/9"}, /* 5 rows from 5 on are more than 9 */
	    {good, "0/1 0/1 1:18446744073709551615/18446744073709551615"},
	    {good, "0/1 0/1 2:0/9"}, /* there is no such axis */
	    {good, "0/1 0/1 0:0/4"}, /* samples that are not together */
	    {good, "0/1 0/1 1:0/9 1:0/9"},
	    {good, "0/1 0/1 1:0/9@nan"},
	    {good, "0/1 0/1 1:0/9@1x"},
	    {good, "0/1 0/1 1:0/9 x"},
	    {good, "0/1 0/1 1:0/9 0:0/4 0:0/4"},
	    {good, "0/1 0/1 pnm tile 1:0/9@1 %s"}};
	struct check_many many = {0};
	struct share_place place;
	struct why why;
	uint64_t hash;
	struct share p;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct img x;
		img_init(&x, IMG_U8, 2, (size_t[]){4, 5});
		img_set_key(&x, "part", "%s", cases[i][0]);
		img_set_key(&x, "place", "%s", cases[i][1]);
		check_case(&many, share_of(&x, &p, &hash, &place, &why), "part:=%s place:=%s",
			   cases[i][0], cases[i][1]);
		img_free(&x);
	}
	check_end(&many, "part: malformed keys are refused");
}

/* Returns the fingerprint of a file of n bytes, all 0 except that byte `at` is 1. */
static uint64_t
print_of(size_t n, size_t at)
{
	char path[] = "/tmp/weir-part.XXXXXX", *bytes = calloc(n ? n : 1, 1);
	const int fd = mkstemp(path);
	struct opt_common o = {.history = "prog -k x"};
	uint64_t hash = 0;

	if (at < n)
		bytes[at] = 1;
	if (fd >= 0 && write(fd, bytes, n) == (ssize_t)n)
		hash = share_hash_files(share_begin(&o), (char *[]){path}, 1);
	if (fd >= 0)
		close(fd);
	unlink(path);
	free(bytes);
	return hash;
}

static void
fingerprints_differ(void)
{
	const size_t large = 1000000;
	const uint64_t a = print_of(large, SIZE_MAX);
	struct opt_common o = {.history = "prog -k x"}, other = {.history = "prog -k y"};

	check(a && a == print_of(large, SIZE_MAX), "part: a file has one fingerprint", "%llx",
	      (unsigned long long)a);
	check(a != print_of(large - 1, SIZE_MAX) && a != print_of(large, 0) &&
		  a != print_of(large, large - 1) && print_of(5, 0) != print_of(5, 4) &&
		  share_begin(&o) != share_begin(&other),
	      "part: size, first and last byte and options change the fingerprint", "%llx",
	      (unsigned long long)a);
}

void
check_part(void)
{
	shares_are_the_whole();
	keys_come_back();
	malformed_keys_are_refused();
	fingerprints_differ();
}
