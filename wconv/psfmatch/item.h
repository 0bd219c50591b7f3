/* What psfmatch reads and writes. On failure the program ends with a line that names the file. */
#ifndef WEIR_PSFMATCH_ITEM_H
#define WEIR_PSFMATCH_ITEM_H

#include "common/base/opt.h"
#include "common/stream/raw.h"
#include "wconv/psfmatch/psfmatch.h"

struct args {
	struct opt_common common;
	struct psfmatch_options o;
	bool has_smooth, has_convolve, subtract, sigma;
	const char *noise, *psf; /* the files of --noise and --psf, or NULL */
	char **path;
	size_t npath;
};

/* Parses and checks the options: args.c. */
struct args psfmatch_args(int argc, char **argv);

/* A picture of one plane, as floats. */
struct picture {
	struct img file; /* its header and payload */
	size_t w, h;
	float *v;
	long moved[2];	     /* of ref: see psfmatch_align() */
	unsigned char *lone; /* of new: see psfmatch_clean() */
};

struct picture psfmatch_read_picture(const char *path, const struct args *args);
void psfmatch_drop_picture(struct picture *p);

/* Refuses pictures of unlike sizes, and parts of unlike places, aligns the others, and frees them of lone bright pixels. */
void psfmatch_check_pair(struct picture *ref, struct picture *new, const struct args *args);

/* Writes the item that wconv reads: planes of coefficients, with the keys that describe them. corner: see psfmatch_find_corner().
   The kernels move ref, too. */
void psfmatch_write_kernels(struct raw_out *out, const struct psfmatch *m, const double corner[2],
			    const long moved[2], const struct args *args);

/* Writes v, a difference or its noise, with the header of new. */
void psfmatch_write_difference(struct raw_out *out, const struct picture *new, const float *v,
			       const struct args *args);

/* Finds x and y of the picture's first pixel as wconv counts them: a part of a picture does not begin at 0. */
void psfmatch_find_corner(const struct picture *p, const char *path, double corner[2]);

#endif
