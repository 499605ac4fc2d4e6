#include "training/phrase_counter.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "base/checks.h"
#include "base/keyed_hash.h"
#include "training/line_words.h"

namespace tesla {
namespace {

std::size_t words_in(std::string_view line) {
    std::size_t count = 0;
    for_each_word(line, [&](std::string_view) { ++count; });
    return count;
}

}  // namespace

std::uint64_t PhraseCounter::next_id() {
    static std::atomic<std::uint64_t> last{0};
    return sip_hash(std::to_string(++last), process_hash_key());  // like no other, of this process or another
}

std::uint32_t PhraseCounter::Vocabulary::number(std::string_view word) {
    const auto [entry, is_new] = numbers_.try_emplace(std::string(word), static_cast<std::uint32_t>(words_.size() + 1));
    if (is_new) words_.emplace_back(word);
    return entry->second;
}

std::vector<std::uint32_t> PhraseCounter::Vocabulary::ranks() const {
    std::vector<std::uint32_t> order(words_.size()), ranks(words_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return words_[a] < words_[b]; });
    for (std::uint32_t place = 0; place < order.size(); ++place) ranks[order[place]] = place;
    return ranks;
}

void PhraseCounter::numbers_of(std::string_view line, Vocabulary& vocabulary, std::vector<std::uint32_t>& numbers) {
    numbers.clear();
    for_each_word(line, [&](std::string_view word) { numbers.push_back(vocabulary.number(word)); });
}

void PhraseCounter::add_sentences(const std::vector<std::string_view>& target, const std::vector<std::string_view>& pivot,
                                  const std::vector<std::string_view>& forward, const std::vector<std::string_view>& reverse) {
    require(pivot.size() == target.size() && forward.size() == target.size() && reverse.size() == target.size(),
            "the lists differ in length");
    for (std::size_t k = 0; k < target.size(); ++k) {
        const std::size_t m = words_in(target[k]), n = words_in(pivot[k]);
        Links links = parse_links(forward[k], m, n);
        if (reverse[k].data() != forward[k].data()) links = symmetrised(links, parse_links(reverse[k], m, n), m, n);
        add_sentence(target[k], pivot[k], links);
    }
}

void PhraseCounter::add_pairs(const std::vector<std::string_view>& target, const std::vector<std::string_view>& pivot,
                              const ArrayView<std::uint32_t>& counts) {
    require(pivot.size() == target.size() && counts.size == target.size(), "the lists differ in length");
    for (std::size_t k = 0; k < target.size(); ++k) add_pair(target[k], pivot[k], counts[k]);
}

void PhraseCounter::add_sentence(std::string_view target, std::string_view pivot, const Links& links) {
    numbers_of(target, target_, target_line_);
    numbers_of(pivot, pivot_, pivot_line_);
    for (const PhrasePair& pair : consistent_pairs(links, target_line_.size(), pivot_line_.size())) {
        PhraseCount record{{}, {}, 1};
        std::copy_n(target_line_.begin() + pair.target_start, pair.target_size, record.target.begin());
        std::copy_n(pivot_line_.begin() + pair.pivot_start, pair.pivot_size, record.pivot.begin());
        pending_.push_back(record);
    }
}

void PhraseCounter::add_pair(std::string_view target, std::string_view pivot, std::uint32_t count) {
    numbers_of(target, target_, target_line_);
    numbers_of(pivot, pivot_, pivot_line_);
    auto fits = [](const std::vector<std::uint32_t>& line) { return !line.empty() && line.size() <= kLongestPhrase; };
    if (!fits(target_line_) || !fits(pivot_line_) || count == 0) return;
    PhraseCount record{{}, {}, count};
    std::copy(target_line_.begin(), target_line_.end(), record.target.begin());
    std::copy(pivot_line_.begin(), pivot_line_.end(), record.pivot.begin());
    pending_.push_back(record);
}

void PhraseCounter::write_run(const std::string& path) {
    write_phrase_run(pending_, path, id_);
    pending_.clear();
}

}  // namespace tesla
