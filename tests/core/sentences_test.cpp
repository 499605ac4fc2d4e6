// Sentences are matched in another way than longer texts, and have the same optimum.
#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "language/analysis/lexicon.h"
#include "matching/matching.h"

using namespace tesla;

namespace {

std::mt19937 draw(7);

struct Text {
    std::vector<std::uint32_t> lemma;
    std::vector<std::uint16_t> tag;
    std::vector<std::uint8_t> function;

    Text(std::size_t size, std::uint32_t lemmas) {
        for (std::size_t i = 0; i < size; ++i) {
            lemma.push_back(draw() % lemmas);
            tag.push_back(static_cast<std::uint16_t>(draw() % 5));  // 0: untagged
            function.push_back(draw() % 3 == 0);
        }
    }
    TokenView view() const { return {lemma.data(), tag.data(), function.data(), lemma.size()}; }
};

void add_lemmas(Lexicon& lexicon, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::string text = "lemma " + std::to_string(i);
        const auto sense = [] { return static_cast<std::uint32_t>(draw() % 40); };
        const std::uint32_t senses[] = {sense(), 40 + sense()};
        lexicon.intern_lemmas({{text, senses, draw() % 3}});
    }
}

// Around the most tokens that a sentence has; of few lemmas, so that n-grams come again, also where a long text has fewer
// different ones than a sentence may have tokens.
bool sentences_match_as_long_texts() {
    constexpr std::uint32_t kLemmas = 30;
    Lexicon lexicon(nullptr);
    add_lemmas(lexicon, kLemmas);
    MaxSimMatcher matcher(lexicon), hubs(lexicon, 0);
    for (int round = 0; round < 300; ++round) {
        const auto size = [&] { return round % 2 == 0 ? draw() % 12 : kMostSentenceTokens - 3 + draw() % 8; };
        const Text x(size(), 1 + draw() % kLemmas), y(size(), 1 + draw() % kLemmas);
        BagBuilder builder(Discount{});
        const auto bag_of = [&](const Text& text) {
            builder.begin(text.view());
            return builder.symbol_bag(kMaxOrder);
        };
        const SymbolBag a = bag_of(x), b = bag_of(y);
        matcher.begin_pair(a, b);
        hubs.begin_pair(a, b);
        for (int n : {3, 1, 2})  // longer n-grams need the gains of shorter ones
            if (matcher.optimum(n) != hubs.optimum(n)) return false;
    }
    return true;
}

}  // namespace

int main() {
    if (!sentences_match_as_long_texts()) return std::puts("sentences: another optimum"), 1;
    return 0;
}
