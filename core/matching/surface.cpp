#include "matching/surface.h"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <numeric>

#include "base/checks.h"
#include "base/unicode.h"

namespace tesla {
namespace {

// Latin with its extensions is one block; beyond it 256 characters at a time come near enough to scripts.
std::uint32_t script_block(char32_t c) { return c < 0x250 ? 0 : static_cast<std::uint32_t>(c >> 8); }

// Any order of ids serves, as long as it is the same for all texts. In this one their lowest bits, which tell more than the
// highest, come first.
constexpr int kLowestBits = 6;
std::uint32_t turned(std::uint32_t id) { return id >> kLowestBits | id << (32 - kLowestBits); }

bool is_sign(CharClass kind) { return kind == CharClass::Punctuation || kind == CharClass::Symbol; }

bool before(const ScriptCount& script, std::uint32_t block) { return script.block < block; }

struct Share {
    double precision, recall;
};

// Where neither side has anything there is nothing to disagree about.
Share shares(const WeightedIds& x, const WeightedIds& y) {
    if (x.ids.empty() && y.ids.empty()) return {1, 1};
    const double common = x.overlap(y);
    return {y.total > 0 ? common / y.total : 0, x.total > 0 ? common / x.total : 0};
}

double fraction(std::size_t part, std::size_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Like the shares above, but a side without such words has nothing wrong (numbers, names).
Share lenient_shares(const WeightedIds& x, const WeightedIds& y) {
    const double common = x.overlap(y);
    return {y.ids.empty() ? 1 : common / y.total, x.ids.empty() ? 1 : common / x.total};
}

}  // namespace

void WeightedIds::reserve(std::size_t size) {
    ids.reserve(size);
    weights.reserve(size);
}

void WeightedIds::add(std::uint32_t id, double weight) {
    ids.push_back(id);
    weights.push_back(weight);
    total += weight;
}

double WeightedIds::overlap(const WeightedIds& other) const {
    double sum = 0;
    for (std::size_t i = 0, j = 0; i < ids.size() && j < other.ids.size();) {
        if (ids[i] == other.ids[j]) {
            sum += weights[i];
            ++i, ++j;
        } else if (ids[i] < other.ids[j]) {
            ++i;
        } else {
            ++j;
        }
    }
    return sum;
}

SurfaceText::SurfaceText(const SurfaceView& tokens, const WordFacts& facts, std::string_view utf8,
                         SurfaceScratch& scratch, std::pmr::memory_resource* memory)
    : content(memory), function(memory), rare_words(memory), rare_lemmas(memory), numbers(memory), capitals(memory),
      punctuation(memory), unknown(memory), lemmas(tokens.size, memory), occurrences(memory), scripts(memory) {
    std::transform(tokens.lemma, tokens.lemma + tokens.size, lemmas.begin(), turned);
    read_words(tokens, facts, scratch);
    read_characters(utf8, scratch);
}

void SurfaceText::read_words(const SurfaceView& tokens, const WordFacts& facts, SurfaceScratch& scratch) {
    const double unlisted = facts.unlisted();
    for (WeightedIds* bag : {&content, &function, &rare_words, &rare_lemmas}) bag->reserve(tokens.size);
    std::vector<std::uint64_t>& ordered = scratch.ordered;
    auto order_by = [&](auto id_at) {
        ordered.resize(tokens.size);
        for (std::size_t i = 0; i < tokens.size; ++i) ordered[i] = std::uint64_t{id_at(i)} << 32 | i;
        scratch.sorter.sort(ordered, 64 - kLowestBits, std::size_t{1} << kLowestBits);
    };
    order_by([this](std::size_t i) { return lemmas[i]; });
    occurrences.reserve(tokens.size);
    for (std::uint64_t entry : ordered) {
        const auto i = static_cast<std::uint32_t>(entry);
        occurrences.push_back(i);
        (tokens.function[i] ? function : content).add(lemmas[i], 1);
        rare_lemmas.add(lemmas[i], facts.lemma_weight(tokens.lemma[i]));
    }
    order_by([&](std::size_t i) { return turned(facts[tokens.word[i]].folded); });
    for (std::uint64_t entry : ordered) {
        const auto i = static_cast<std::uint32_t>(entry);
        const auto word = static_cast<std::uint32_t>(entry >> 32);
        const WordFact& fact = facts[tokens.word[i]];
        rare_words.add(word, fact.weight);
        if (fact.shape & kHasDigit) numbers.add(word, 1);
        if (fact.shape & kCapitalised) capitals.add(word, 1);
        // A word is unknown if neither it nor its lemma is listed.
        if (fact.weight == unlisted && facts.lemma_weight(tokens.lemma[i]) == unlisted && !(fact.shape & kHasDigit))
            unknown.push_back(word);
    }
}

void SurfaceText::read_characters(std::string_view utf8, SurfaceScratch& scratch) {
    std::u32string &text = scratch.text, &marks = scratch.marks;
    marks.clear();
    if (is_ascii(utf8)) {
        read_ascii(utf8, marks);
    } else {
        decode_utf8(utf8, text);
        auto script = scripts.begin();  // neighbours are mostly of one script
        for (char32_t c : text) {
            const CharClass kind = char_class(c);
            if (is_sign(kind)) marks.push_back(c);
            if (kind != CharClass::Letter) continue;
            const std::uint32_t block = script_block(c);
            if (script == scripts.end() || script->block != block) {
                script = std::lower_bound(scripts.begin(), scripts.end(), block, before);
                if (script == scripts.end() || script->block != block) script = scripts.insert(script, {block, 0});
            }
            ++script->letters;
            ++letters;
        }
    }
    std::sort(marks.begin(), marks.end());
    for (char32_t c : marks) punctuation.add(c, 1);
}

void SurfaceText::read_ascii(std::string_view text, std::u32string& marks) {
    for (char byte : text) {
        const auto c = static_cast<unsigned char>(byte);
        const CharClass kind = char_class(c);
        if (is_sign(kind)) marks.push_back(c);
        letters += kind == CharClass::Letter;
    }
    if (letters > 0) scripts.push_back({script_block(0), letters});
}

void SurfaceMatcher::compare(const SurfaceText& x, const SurfaceText& y, double* row) {
    auto put = [&row](Share share) {
        *row++ = share.precision;
        *row++ = share.recall;
    };
    put(shares(x.content, y.content));
    put(shares(x.function, y.function));
    put(shares(x.rare_words, y.rare_words));
    put(shares(x.rare_lemmas, y.rare_lemmas));
    put(lenient_shares(x.numbers, y.numbers));
    put(lenient_shares(x.capitals, y.capitals));

    find_occurrences(x, y);
    const std::size_t common = common_subsequence(x);
    put({fraction(common, y.lemmas.size()), fraction(common, x.lemmas.size())});
    align(x, y);
    const std::size_t runs = chunks();
    const auto matched = static_cast<std::size_t>(
        std::count_if(aligned_.begin(), aligned_.end(), [](std::uint32_t place) { return place != kNowhere; }));
    *row++ = share_in_order();
    put(shares(x.punctuation, y.punctuation));

    // From here on penalties: a copy of the reference has none.
    *row++ = matched == 0 ? 1 : matched == 1 ? 0 : fraction(runs - 1, matched - 1);
    const auto x_size = static_cast<double>(x.lemmas.size()), y_size = static_cast<double>(y.lemmas.size());
    *row++ = std::max(0.0, 1 - (y_size + 1) / (x_size + 1));
    *row++ = std::max(0.0, 1 - (x_size + 1) / (y_size + 1));
    std::size_t foreign = 0;
    for (const ScriptCount& script : y.scripts) {
        const auto same = std::lower_bound(x.scripts.begin(), x.scripts.end(), script.block, before);
        if (same == x.scripts.end() || same->block != script.block) foreign += script.letters;
    }
    *row++ = fraction(foreign, y.letters);
    *row++ = unknown_words(x, y);
    *row++ = repeated_words(x, y);
}

// The share of words that neither the language's lists nor the reference know.
double SurfaceMatcher::unknown_words(const SurfaceText& x, const SurfaceText& y) {
    std::size_t strange = 0;
    for (std::uint32_t word : y.unknown)
        strange += !std::binary_search(x.rare_words.ids.begin(), x.rare_words.ids.end(), word);
    return fraction(strange, y.lemmas.size());
}

// The share of words that repeat a content word more often than the reference has it.
double SurfaceMatcher::repeated_words(const SurfaceText& x, const SurfaceText& y) {
    std::size_t surplus = 0;
    const auto& theirs = x.content.ids;
    const auto& ours = y.content.ids;
    for (std::size_t i = 0, j = 0; j < ours.size();) {
        const std::uint32_t id = ours[j];
        std::size_t here = 0, there = 0;
        for (; j < ours.size() && ours[j] == id; ++j) ++here;
        for (; i < theirs.size() && theirs[i] <= id; ++i) there += theirs[i] == id;
        surplus += here - std::min(here, std::max<std::size_t>(there, 1));
    }
    return fraction(surplus, y.lemmas.size());
}

// Both texts have their tokens in the order of lemmas.
void SurfaceMatcher::find_occurrences(const SurfaceText& x, const SurfaceText& y) {
    occurrences_.resize(y.lemmas.size());
    const std::size_t size = x.occurrences.size();
    const auto lemma_at = [&x](std::size_t k) { return x.lemmas[x.occurrences[k]]; };
    Range range{0, 0};
    for (std::size_t k = 0; k < y.occurrences.size(); ++k) {
        const std::uint32_t place = y.occurrences[k], lemma = y.lemmas[place];
        if (k == 0 || lemma != y.lemmas[y.occurrences[k - 1]]) {
            range.begin = range.end;
            while (range.begin < size && lemma_at(range.begin) < lemma) ++range.begin;
            range.end = range.begin;
            while (range.end < size && lemma_at(range.end) == lemma) ++range.end;
        }
        occurrences_[place] = range;
    }
}

// Hyyrö (2004): sixty-four places of x at a time. A bit is 0 where the longest subsequence of x up to there with the
// tokens of y so far is longer by one than that of x before; the carry of a sum moves such a place to the left. Blocks
// of x without the lemma and without a carry stay as they are.
std::size_t SurfaceMatcher::common_subsequence(const SurfaceText& x) {
    constexpr std::uint32_t kBits = 64;
    blocks_.clear();
    block_of_.resize(x.occurrences.size());
    for (std::size_t k = 0; k < x.occurrences.size(); ++k) {
        const std::uint32_t place = x.occurrences[k], block = place / kBits;
        const bool another_lemma = k == 0 || x.lemmas[place] != x.lemmas[x.occurrences[k - 1]];
        if (another_lemma || blocks_.back().place != block) blocks_.push_back({block, 0});
        blocks_.back().matches |= std::uint64_t{1} << place % kBits;
        block_of_[k] = blocks_.size() - 1;
    }
    steps_.assign(x.lemmas.size() / kBits + 1, ~std::uint64_t{0});
    for (const Range range : occurrences_) {
        interrupt_.step(steps_.size());
        const auto [begin, end] = range;
        if (begin == end) continue;
        std::size_t next = block_of_[begin];
        const std::size_t last = block_of_[end - 1];
        std::uint64_t carry = 0;
        for (std::size_t at = 0; at < steps_.size() && (carry != 0 || next <= last); ++at) {
            if (carry == 0) at = blocks_[next].place;
            const bool here = next <= last && blocks_[next].place == at;
            const std::uint64_t before = steps_[at], matched = here ? before & blocks_[next++].matches : 0;
            const std::uint64_t sum = before + matched, carried = sum + carry;
            carry = sum < before || carried < sum;
            steps_[at] = carried | (before & ~matched);
        }
    }
    std::size_t length = 0;
    for (std::uint64_t block : steps_) length += std::bitset<kBits>(~block).count();
    return length;
}

// Gives every token of y an equal lemma of x that is still free: the one that continues the run of the token before,
// else the one nearest to the same relative place. Near linear, however often a word is repeated.
void SurfaceMatcher::align(const SurfaceText& x, const SurfaceText& y) {
    const auto size = static_cast<std::uint32_t>(x.lemmas.size());
    // free_right_[k]: the first free occurrence at or after k; free_left_[k]: one more than the last free one before k.
    free_left_.resize(size + 1);
    free_right_.resize(size + 1);
    std::iota(free_left_.begin(), free_left_.end(), 0U);
    std::iota(free_right_.begin(), free_right_.end(), 0U);
    auto find = [](std::vector<std::uint32_t>& parent, std::uint32_t k) {
        while (parent[k] != k) k = parent[k] = parent[parent[k]];
        return k;
    };
    aligned_.assign(y.lemmas.size(), kNowhere);
    std::uint32_t last = kNowhere;
    for (std::size_t i = 0; i < y.lemmas.size(); ++i) {
        const Range range = occurrences_[i];  // a lambda may not capture a structured binding
        const std::size_t begin = range.begin, end = range.end;
        const double target = static_cast<double>(i) * size / static_cast<double>(y.lemmas.size());
        auto from = [&](std::uint32_t place) {  // the first occurrence at or after a place
            return static_cast<std::uint32_t>(
                std::lower_bound(x.occurrences.begin() + static_cast<std::ptrdiff_t>(begin),
                                 x.occurrences.begin() + static_cast<std::ptrdiff_t>(end), place) - x.occurrences.begin());
        };
        std::uint32_t chosen = kNowhere;
        if (last != kNowhere && last + 1 < size) {
            const std::uint32_t next = from(last + 1);
            if (next < end && x.occurrences[next] == last + 1 && find(free_right_, next) == next) chosen = next;
        }
        if (chosen == kNowhere) {
            const std::uint32_t middle = from(static_cast<std::uint32_t>(std::ceil(target)));
            const std::uint32_t right = find(free_right_, middle), left = find(free_left_, middle);
            const bool has_right = right < end, has_left = left > begin;
            if (has_left && (!has_right || target - x.occurrences[left - 1] <= x.occurrences[right] - target))
                chosen = left - 1;
            else if (has_right)
                chosen = right;
        }
        last = kNowhere;
        if (chosen != kNowhere) {
            aligned_[i] = last = x.occurrences[chosen];
            free_right_[chosen] = chosen + 1;
            free_left_[chosen + 1] = chosen;
        }
    }
}

// Runs of neighbouring tokens that are aligned with neighbouring ones, as METEOR counts them.
std::size_t SurfaceMatcher::chunks() const {
    std::size_t runs = 0;
    for (std::size_t i = 0; i < aligned_.size(); ++i)
        if (aligned_[i] != kNowhere && (i == 0 || aligned_[i - 1] == kNowhere || aligned_[i] != aligned_[i - 1] + 1)) ++runs;
    return runs;
}

// The share of pairs of aligned tokens that stand in the same order on both sides; 1 where there is no such pair.
double SurfaceMatcher::share_in_order() {
    std::uint32_t largest = 0;
    for (std::uint32_t place : aligned_)
        if (place != kNowhere) largest = std::max(largest, place);
    counts_.assign(largest + 2, 0);  // Fenwick tree over places
    std::size_t seen = 0, ordered = 0;
    for (std::uint32_t place : aligned_) {
        if (place == kNowhere) continue;
        for (std::uint32_t k = place; k > 0; k -= k & (~k + 1)) ordered += counts_[k];
        for (std::uint32_t k = place + 1; k < counts_.size(); k += k & (~k + 1)) ++counts_[k];
        ++seen;
    }
    return seen < 2 ? 1 : fraction(ordered, seen * (seen - 1) / 2);
}

Surfaces::Surfaces(const std::vector<std::string_view>& texts, const TokenArrays& tokens, WordFacts& facts) {
    check_csr(tokens.offsets, texts.size(), tokens.word.size());
    facts.learn(tokens.word, tokens.lemma);
    texts_.reserve(texts.size());
    SurfaceScratch scratch;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto from = static_cast<std::size_t>(tokens.offsets[i]), to = static_cast<std::size_t>(tokens.offsets[i + 1]);
        const SurfaceView view{tokens.word.data() + from, tokens.lemma.data() + from, tokens.function.data() + from, to - from};
        texts_.emplace_back(view, facts, texts[i], scratch, &memory_);
    }
}

std::vector<double> Surfaces::compare(const Surfaces& reference, const Surfaces& hypothesis, const TextPairs& pairs) {
    std::vector<double> rows(pairs.size() * kSurfaceColumns);
    SurfaceMatcher matcher;
    for_each_pair(pairs, reference.texts_, hypothesis.texts_, [&](std::size_t k, const SurfaceText& x, const SurfaceText& y) {
        matcher.compare(x, y, rows.data() + k * kSurfaceColumns);
    });
    return rows;
}

}  // namespace tesla
