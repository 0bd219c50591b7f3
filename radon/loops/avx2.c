/* The loops for registers of 32 bytes. */
#if defined(__x86_64__)
#define TARGET __attribute__((target("arch=x86-64-v3")))
#else
#define TARGET
#endif
#define WIDE  4
#define TURNS 3
#define LOOPS radon_loops_avx2
#include "radon/loops/loops_body.h"
