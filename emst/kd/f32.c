/* The engine for points in floats: see kd.h. */
#define VECTOR	       32
#define REAL	       float
#define REAL_INT       int32_t
#define REAL_KEY(x)    sort_key_float(x)
#define REAL_OF_KEY(k) sort_float(k)
#define RUN	       emst_kd_f32
#define RUN_PRIM       emst_prim_f32

#include "emst/kd/tree_body.h"
#include "emst/kd/join_body.h"
#include "emst/kd/prim_body.h"
#include "emst/kd/run_body.h"
