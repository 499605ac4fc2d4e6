#include "encoder/kernels.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <stdexcept>

// The bits of the states rest on it that every operation is rounded to single precision, in the order of the source.
#if defined(__FAST_MATH__) || defined(_M_FP_FAST) || FLT_EVAL_METHOD != 0
#error "The encoder needs IEEE arithmetic in single precision: no -ffast-math, no /fp:fast, no x87 registers"
#endif

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

const std::vector<EncoderKernel>& supported_kernels() {
    static const std::vector<EncoderKernel> kernels = [] {
        std::vector<EncoderKernel> supported;
#if defined(TESLA_X86_KERNELS)
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni"))
            supported.push_back({"avx512vnni", avx512vnni::encode});
        if (__builtin_cpu_supports("avx2")) supported.push_back({"avx2", avx2::encode});
#endif
        supported.push_back({"portable", portable::encode});
        return supported;
    }();
    return kernels;
}

const EncoderKernel& kernel_named(const std::string& name) {
    for (const EncoderKernel& kernel : supported_kernels())
        if (name.empty() || name == kernel.name) return kernel;
    throw std::invalid_argument("this CPU has no kernel named " + name);
}

}  // namespace tesla
