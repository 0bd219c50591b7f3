/* The loops for registers of 64 bytes. */
#if defined(__x86_64__)
#define TARGET __attribute__((target("arch=x86-64-v4")))
#else
#define TARGET
#endif
#define WIDE  8
#define TURNS 4
#define LOOPS radon_loops_avx512
#include "radon/loops/loops_body.h"
