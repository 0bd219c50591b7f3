/* The loops for registers of 16 bytes, which every CPU has. */
#define WIDE  2
#define TURNS 3
#define TARGET
#define LOOPS radon_loops_generic
#include "radon/loops/loops_body.h"
