#include "simd/targets.h"

#if defined(TESLA_ARM)
#define TESLA_KIND neon
#define TESLA_NEON
#include "simd/all.inc"
#endif
