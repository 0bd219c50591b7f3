/*
 * The engine for points in doubles on CPUs without AVX2: see kd.h. Such a CPU runs nothing else, so all leaves are compiled once.
 */
#include "common/base/cpu.h"

#undef CPU_CLONES
#define CPU_CLONES(give, type, name, params, args) static type name params

#define VECTOR	       16
#define REAL	       double
#define REAL_INT       int64_t
#define REAL_KEY(x)    sort_key_double(x)
#define REAL_OF_KEY(k) sort_double(k)
#define RUN	       emst_kd_f64_narrow
#define RUN_PRIM       emst_prim_f64

#include "emst/kd/tree_body.h"
#include "emst/kd/join_body.h"
#include "emst/kd/run_body.h"
