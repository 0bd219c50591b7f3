/*
 * The engine for points in floats on CPUs without AVX2: see kd.h. Such a CPU runs nothing else, so all leaves are compiled once.
 */
#include "common/base/cpu.h"

#undef CPU_CLONES
#define CPU_CLONES(give, type, name, params, args) static type name params

#define VECTOR	       16
#define REAL	       float
#define REAL_INT       int32_t
#define REAL_KEY(x)    sort_key_float(x)
#define REAL_OF_KEY(k) sort_float(k)
#define RUN	       emst_kd_f32_narrow
#define RUN_PRIM       emst_prim_f32

#include "emst/kd/tree_body.h"
#include "emst/kd/join_body.h"
#include "emst/kd/run_body.h"
