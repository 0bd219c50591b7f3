/* WEIR_BOTH before an inline function: the programs of gpu/ have it on the device too. */
#ifndef WEIR_BASE_BOTH_H
#define WEIR_BASE_BOTH_H

#ifdef __CUDACC__
#define WEIR_BOTH __host__ __device__
#else
#define WEIR_BOTH
#endif

#endif
