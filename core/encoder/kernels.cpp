#include "encoder/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

// Vectors of the compiler, where it has them.
#if !defined(TESLA_PORTABLE) && defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TESLA_VECTORS
#if defined(__x86_64__)
#define TESLA_X86_KERNELS
#include <immintrin.h>
#endif
#endif

#define TESLA_KERNEL portable
#define TESLA_TARGET
#if defined(TESLA_VECTORS)
#define TESLA_WIDTH 4
#define TESLA_INTEGERS 1
#else
#define TESLA_WIDTH 1
#define TESLA_INTEGERS 0
#endif
#include "encoder/kernel.inc"

#if defined(TESLA_X86_KERNELS)

#define TESLA_KERNEL avx2
#define TESLA_TARGET __attribute__((target("avx2")))
#define TESLA_WIDTH 8
#define TESLA_INTEGERS 2
#include "encoder/kernel.inc"

#define TESLA_KERNEL avx512vnni
#define TESLA_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#define TESLA_WIDTH 16
#define TESLA_INTEGERS 512
#include "encoder/kernel.inc"

#endif

namespace tesla {
namespace {

bool always() { return true; }

#if defined(TESLA_X86_KERNELS)
bool has_avx2() { return __builtin_cpu_supports("avx2"); }
bool has_avx512vnni() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
}
#endif

}  // namespace

const std::vector<EncoderKernel>& supported_kernels() {
    static const std::vector<EncoderKernel> kernels = [] {
        std::vector<EncoderKernel> supported;
        for (const EncoderKernel& kernel : {
#if defined(TESLA_X86_KERNELS)
                 EncoderKernel{"avx512vnni", has_avx512vnni, avx512vnni::encode},
                 EncoderKernel{"avx2", has_avx2, avx2::encode},
#endif
                 EncoderKernel{"portable", always, portable::encode}})
            if (kernel.supported()) supported.push_back(kernel);
        return supported;
    }();
    return kernels;
}

}  // namespace tesla
