#include "simd/targets.h"

#define TESLA_KIND portable
#include "simd/all.inc"
