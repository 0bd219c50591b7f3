/*
 * Finds K colours that replace all colours of a picture with little loss.
 *
 *	SSE = sum over colours i of w[i] min over j of |x[i] - c[j]|^2	x[i] colours, w[i] their pixels, c[j] the K centres
 *
 * No spanning tree is used. Classes of a tree lose 6 to 12 dB to this method on photographs, and Ward's method along the
 * edges of a tree loses to Ward's method over all pairs. The steps are:
 *
 *   1. The octree makes some hundred classes (seeds_make()), and Ward's method joins them until K are left.
 *   2. Light nodes of the octree become one colour each (cells_thin()), so that step 3 has some thousand colours instead of all.
 *   3. Rounds of Lloyd's method; between rounds, classes are joined and split where that lowers the SSE (swaps_make()). For
 *      small K, swaps are then tried one at a time (swaps_try()).
 *   4. Rounds of Lloyd's method over all colours.
 *
 * Sources: J. H. Ward 1963; F. Murtagh 1983 (nearest-neighbour chain); S. P. Lloyd 1982; P. Fraenti, J. Kivijaervi 2000
 * (swaps).
 */
#ifndef EMST_PALETTE_H
#define EMST_PALETTE_H

#include <stddef.h>
#include <stdint.h>

enum { PALETTE_MOST = 256 };

/*
 * Sets label[i] to the class, 0 .. k-1, of each of n colours. code[n] holds the colours r<<16 | g<<8 | b in ascending
 * order, weight[n] their pixels. 1 <= k <= PALETTE_MOST. When n <= k, every colour is a class of its own. The result is the
 * same for any number of threads. 0 or -ENOMEM.
 */
int palette_make(const uint32_t *code, const uint64_t *weight, size_t n, size_t k, int threads,
		 uint32_t *label);

#endif
