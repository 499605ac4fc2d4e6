#include "simd/targets.h"

#if defined(TESLA_X86)
#define TESLA_KIND avx2
#define TESLA_AVX2
#define TESLA_TARGET "avx2"
#include "simd/all.inc"
#endif
