/*
 * The core. The files f32_avx512.c, f64_generic.c etc. compile it once for each precision and level, and the plan chooses
 * the one that suits the CPU. WEIR_CLONES on single functions cannot do this: every layout here depends on the width of a
 * vector.
 */
#if defined(TARGET) && defined(__x86_64__)
#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#ifdef __clang__
#define PUSH(what)	     PRAGMA(clang attribute push(__attribute__((what)), apply_to = function))
#define FOR_TARGET(t, bytes) PUSH(target(t)) PUSH(min_vector_width(bytes * 8))
#else
#define FOR_TARGET(t, bytes) PRAGMA(GCC target(t))
#endif
FOR_TARGET(TARGET, BYTES)
#endif

#include "wconv/core/lanes.h"

#include "wconv/core/fft.h"

#include "wconv/core/rows_body.h"

#include "wconv/core/feed_body.h"

#include "wconv/core/near_body.h"
#include "wconv/core/product_body.h"
#include "wconv/core/small_body.h"

#include "wconv/core/tile_body.h"
#include "wconv/core/mend_body.h"
#include "wconv/core/tasks_body.h"

#include "wconv/core/scatter_body.h"
#include "wconv/core/scatter_near_body.h"
#include "wconv/core/scatter_tasks_body.h"

const struct wconv_core CORE = {LEVEL, LANES,  sizeof(real),   scratch, feed,	 kernel, rows,
				tile,  finish, spread_scratch, spread,	collect, fold};

#if defined(TARGET) && defined(__x86_64__) && defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute pop
#endif
