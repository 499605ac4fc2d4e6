// The levels of ascending numbers against std::upper_bound: sizes around full groups, equal numbers, the largest number.
#include "base/ascending_numbers.h"

#include <cstdio>

namespace {

using namespace tesla;

int test_size(std::size_t size, std::uint64_t kinds) {
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t i = 0; i < size; ++i) numbers.push_back(UINT64_MAX - i * 0x9E3779B97F4A7C15u % kinds);
    std::sort(numbers.begin(), numbers.end());
    const AscendingNumbers levels(numbers);
    int failures = 0;
    const auto compare = [&](std::uint64_t most) {
        const auto after = std::upper_bound(numbers.begin(), numbers.end(), most);
        failures += levels.count_up_to(most) != static_cast<std::size_t>(after - numbers.begin());
    };
    for (std::uint64_t number : numbers) {
        compare(number - 1);
        compare(number);
        compare(number + 1);  // 0 after the largest
    }
    compare(0);
    compare(UINT64_MAX);
    if (failures) std::printf("%zu numbers of %llu kinds: %d wrong\n", size, static_cast<unsigned long long>(kinds), failures);
    return failures;
}

}  // namespace

int main() {
    int failures = 0;
    for (std::size_t size : {0, 1, 2, 7, 8, 9, 63, 64, 65, 500, 512, 513, 4097})
        for (std::uint64_t kinds : {std::uint64_t{1}, std::uint64_t{20}, UINT64_MAX}) failures += test_size(size, kinds);
    return failures != 0;
}
