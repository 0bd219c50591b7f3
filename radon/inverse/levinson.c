#include "radon/inverse/levinson.h"
#include "radon/loops/loops.h"

void
levinson(const double *t, size_t n, double least, double *a, double *e, double *alive,
	 double *steps)
{
	radon_loops()->levinson(t, n, least, a, e, alive, steps);
}
