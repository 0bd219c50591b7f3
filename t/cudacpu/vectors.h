/* The small vectors of CUDA, aligned as there; for cuda_runtime.h. */
#ifndef CUDACPU_VECTORS_H
#define CUDACPU_VECTORS_H

struct dim3 {
	unsigned x, y, z;
	constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c)
	{
	}
};

#define CUDACPU_VECTOR2(T, name)                 \
	struct alignas(2 * sizeof(T)) name {     \
		T x, y;                          \
	};                                       \
	static inline name make_##name(T x, T y) \
	{                                        \
		return {x, y};                   \
	}
#define CUDACPU_VECTOR4(T, name)                           \
	struct alignas(16) name {                          \
		T x, y, z, w;                              \
	};                                                 \
	static inline name make_##name(T x, T y, T z, T w) \
	{                                                  \
		return {x, y, z, w};                       \
	}
CUDACPU_VECTOR2(int, int2)
CUDACPU_VECTOR2(unsigned, uint2)
CUDACPU_VECTOR2(float, float2)
CUDACPU_VECTOR2(double, double2)
CUDACPU_VECTOR2(unsigned long long, ulonglong2)
CUDACPU_VECTOR4(int, int4)
CUDACPU_VECTOR4(unsigned, uint4)
CUDACPU_VECTOR4(float, float4)
#undef CUDACPU_VECTOR2
#undef CUDACPU_VECTOR4

#endif
