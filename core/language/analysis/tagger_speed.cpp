#include "language/analysis/tagger_speed.h"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <limits>
#include <unordered_map>

#include "base/unicode.h"
#include "language/analysis/feature_store.h"

namespace tesla {
namespace {

template <class Work>
double shortest_time(int repeats, Work&& work) {
    double shortest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < repeats; ++i) {
        const std::clock_t start = std::clock();  // processor time: other programs do not count
        work();
        shortest = std::min(shortest, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return shortest;
}

}  // namespace

TaggerSpeed measure_tagger(const Tagger& tagger, const std::vector<std::vector<std::string>>& sentences, int repeats) {
    FeatureStore store(tagger);
    std::unordered_map<std::string, const WordFeatures*> types;
    std::u32string characters;
    for (const auto& sentence : sentences)
        for (const std::string& form : sentence)
            if (const auto [type, is_new] = types.try_emplace(form); is_new) {
                decode_utf8(form, characters);
                store.find(&characters, 1, &type->second);
            }
    WordRows rows(tagger);
    double words = 0;
    for (const auto& sentence : sentences) {
        for (const std::string& form : sentence) rows.push_back(*types.at(form));
        rows.end_text();
        words += static_cast<double>(sentence.size());
    }
    std::vector<std::uint16_t> labels(rows.places());
    const double warm = shortest_time(repeats, [&] { tagger.tag(rows, labels.data()); });
    const double cold = shortest_time(repeats, [&] {
        for (const auto& sentence : sentences) tagger.tag_forms(sentence);
    });
    return {words / warm, words / cold};
}

}  // namespace tesla
