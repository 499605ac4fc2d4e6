#include "simd/targets.h"

#if defined(TESLA_ARM_DOT)
#define TESLA_KIND neondot
#define TESLA_NEON
#define TESLA_DOT
#define TESLA_TARGET "arch=armv8.2-a+dotprod"
#include "simd/all.inc"
#endif
