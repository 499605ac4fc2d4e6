#include "simd/kernels.h"

#include <cstdlib>
#include <stdexcept>

#include "simd/targets.h"

#if defined(TESLA_X86)
#if defined(_MSC_VER)
#include <intrin.h>
#else
#include <cpuid.h>
#endif
#elif defined(TESLA_ARM)
#if defined(__APPLE__)
#include <sys/sysctl.h>
#elif defined(_WIN32)
#include <windows.h>
#elif defined(__linux__)
#include <sys/auxv.h>
#endif
#endif

namespace tesla {
namespace {

#if defined(TESLA_X86)
struct Registers {
    std::uint32_t a = 0, b = 0, c = 0, d = 0;
};
Registers cpuid(std::uint32_t leaf) {
    Registers registers;
#if defined(_MSC_VER)
    int values[4];
    __cpuidex(values, static_cast<int>(leaf), 0);
    registers = {static_cast<std::uint32_t>(values[0]), static_cast<std::uint32_t>(values[1]),
                 static_cast<std::uint32_t>(values[2]), static_cast<std::uint32_t>(values[3])};
#else
    __cpuid_count(leaf, 0, registers.a, registers.b, registers.c, registers.d);
#endif
    return registers;
}
// The registers that the operating system saves.
std::uint64_t saved_registers() {
#if defined(_MSC_VER)
    return _xgetbv(0);
#else
    std::uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return std::uint64_t{high} << 32 | low;
#endif
}

constexpr bool has_all(std::uint64_t bits, std::uint64_t wanted) { return (bits & wanted) == wanted; }

void add_supported(std::vector<Kernels>& supported) {
    constexpr std::uint32_t kOsSaves = 1 << 27, kAvx2 = 1 << 5, kVnni = 1 << 11;
    constexpr std::uint32_t kAvx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;  // F, DQ, BW, VL
    if (cpuid(0).a < 7 || !has_all(cpuid(1).c, kOsSaves)) return;
    const Registers features = cpuid(7);
    const std::uint64_t saved = saved_registers();
    if (has_all(saved, 0xe6) && has_all(features.b, kAvx512) && has_all(features.c, kVnni))
        supported.push_back(avx512vnni::kernels);
    if (has_all(saved, 0x6) && has_all(features.b, kAvx2)) supported.push_back(avx2::kernels);
}
#elif defined(TESLA_ARM)
#if defined(TESLA_ARM_DOT)
bool has_dot_product() {
#if defined(__ARM_FEATURE_DOTPROD)
    return true;
#elif defined(__APPLE__)
    int has = 0;
    std::size_t size = sizeof has;
    return sysctlbyname("hw.optional.arm.FEAT_DotProd", &has, &size, nullptr, 0) == 0 && has != 0;
#elif defined(_WIN32)
    return IsProcessorFeaturePresent(43) != 0;  // PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE
#elif defined(__linux__)
    return (getauxval(AT_HWCAP) & 1 << 20) != 0;  // HWCAP_ASIMDDP
#else
    return false;
#endif
}
#endif

void add_supported(std::vector<Kernels>& supported) {
#if defined(TESLA_ARM_DOT)
    if (has_dot_product()) supported.push_back(neondot::kernels);
#endif
    supported.push_back(neon::kernels);
}
#else
void add_supported(std::vector<Kernels>&) {}
#endif

}  // namespace

const std::vector<Kernels>& supported_kernels() {
    static const std::vector<Kernels> kernels = [] {
        std::vector<Kernels> supported;
        add_supported(supported);
        supported.push_back(portable::kernels);
        return supported;
    }();
    return kernels;
}

const Kernels& kernels_named(const std::string& name) {
    for (const Kernels& kernels : supported_kernels())
        if (name == kernels.name) return kernels;
    std::string message = "this CPU has no kernel named " + name + "; it has";
    for (const Kernels& kernels : supported_kernels()) message += std::string(" ") + kernels.name;
    throw std::invalid_argument(message + " (TESLA_EVAL_KERNEL chooses one)");
}

const Kernels& chosen_kernels() {
    static const Kernels& chosen = [&]() -> const Kernels& {
        const char* name = std::getenv("TESLA_EVAL_KERNEL");
        return name && *name ? kernels_named(name) : supported_kernels().front();
    }();
    return chosen;
}

}  // namespace tesla
