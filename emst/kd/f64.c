/* The engine for points in doubles: see kd.h. */
#define VECTOR	       32
#define REAL	       double
#define REAL_INT       int64_t
#define REAL_KEY(x)    sort_key_double(x)
#define REAL_OF_KEY(k) sort_double(k)
#define RUN	       emst_kd_f64
#define RUN_PRIM       emst_prim_f64

#include "emst/kd/tree_body.h"
#include "emst/kd/join_body.h"
#include "emst/kd/prim_body.h"
#include "emst/kd/run_body.h"
