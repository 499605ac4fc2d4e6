#include "simd/targets.h"

#if defined(TESLA_X86)
#define TESLA_KIND avx2
#define TESLA_AVX2
TESLA_BEGIN_TARGET("avx2")
#include "simd/all.inc"
TESLA_END_TARGET
#endif
