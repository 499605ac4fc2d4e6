// What compilers without builtins get (-DTESLA_PORTABLE), against plain definitions. Run by tests/test_core_safety.py.
#include "base/portable.h"

#include <cstdio>

#include "base/keyed_hash.h"

int main() {
    using namespace tesla;
    for (int low = 0; low < 64; ++low)
        for (int high = low; high < 64; ++high)
            if (lowest_bit(std::uint64_t{1} << low | std::uint64_t{1} << high) != low) return 1;
    std::FILE* file = std::tmpfile();
    if (!file || std::fputs("0123456789", file) < 0 || !seek_to(file, 7) || std::fgetc(file) != '7') return 2;
    // SipHash-1-3 of 0, 1, ..., 14 under the key 0, 1, ..., 15: value computed with CPython's algorithm.
    std::string_view text("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e", 15);
    const HashKey key{0x0706050403020100ULL, 0x0F0E0D0C0B0A0908ULL};
    std::printf("%016llx\n", static_cast<unsigned long long>(sip_hash(text, key)));
    return 0;
}
