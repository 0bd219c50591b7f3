/* Functions that a WEIR_CLONES function calls must be inlined into it: otherwise they run at the lowest CPU level. */
#ifndef EMST_INLINE_H
#define EMST_INLINE_H

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#endif
