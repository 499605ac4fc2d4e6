#include "base/keyed_hash.h"

#include <random>

#include "base/portable.h"

namespace tesla {
namespace {

std::uint64_t rotated(std::uint64_t x, int by) { return x << by | x >> (64 - by); }

struct State {
    std::uint64_t a, b, c, d;

    void round() {
        a += b;
        b = rotated(b, 13) ^ a;
        a = rotated(a, 32);
        c += d;
        d = rotated(d, 16) ^ c;
        a += d;
        d = rotated(d, 21) ^ a;
        c += b;
        b = rotated(b, 17) ^ c;
        c = rotated(c, 32);
    }
    void absorb(std::uint64_t block) {
        d ^= block;
        round();
        a ^= block;
    }
};

HashKey drawn_key() {
    std::random_device device;
    auto draw = [&] { return std::uint64_t{device()} << 32 | device(); };
    const std::uint64_t first = draw();
    return {first, draw()};
}

const HashKey kKey = drawn_key();  // before anything is hashed: modules of Python are loaded as a whole

}  // namespace

const HashKey& process_hash_key() { return kKey; }

std::uint64_t sip_hash(std::string_view text, const HashKey& key) {
    State state{key.first ^ 0x736F6D6570736575ULL, key.second ^ 0x646F72616E646F6DULL, key.first ^ 0x6C7967656E657261ULL,
                key.second ^ 0x7465646279746573ULL};
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
    std::size_t i = 0;
    for (; i + 8 <= text.size(); i += 8) state.absorb(eight_bytes(bytes + i));
    state.absorb(few_bytes(bytes + i, text.size() - i) | static_cast<std::uint64_t>(text.size()) << 56);
    state.c ^= 0xFF;
    for (int k = 0; k < 3; ++k) state.round();
    return state.a ^ state.b ^ state.c ^ state.d;
}

}  // namespace tesla
