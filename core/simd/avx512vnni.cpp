#include "simd/targets.h"

#if defined(TESLA_X86)
#define TESLA_KIND avx512vnni
#define TESLA_AVX512
#define TESLA_TARGET "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni"
#include "simd/all.inc"
#endif
