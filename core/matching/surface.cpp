#include "matching/surface.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/checks.h"
#include "base/common_items.h"
#include "base/portable.h"
#include "base/share.h"
#include "base/subsequence.h"
#include "base/unicode.h"

namespace tesla {
namespace {

// Latin with its extensions is one block; beyond it 256 characters at a time come near enough to scripts.
std::uint32_t script_block(char32_t c) { return c < 0x250 ? 0 : static_cast<std::uint32_t>(c >> 8); }

bool is_sign(CharClass kind) { return kind == CharClass::Punctuation || kind == CharClass::Symbol; }

const std::array<bool, 256> kAsciiSigns = [] {
    std::array<bool, 256> signs{};
    for (char32_t c = 0; c < 0x80; ++c) signs[c] = is_sign(char_class(c));
    return signs;
}();

bool before(const ScriptCount& script, std::uint32_t block) { return script.block < block; }

struct Share {
    double precision, recall;
};

// Where neither side has anything there is nothing to disagree about.
Share shares(std::size_t common, std::size_t of_x, std::size_t of_y) {
    return of_x == 0 && of_y == 0 ? Share{1, 1} : Share{share_of(common, of_y), share_of(common, of_x)};
}

// Like the shares above, but a side without such words has nothing wrong (numbers, names).
Share lenient_shares(std::size_t common, std::size_t of_x, std::size_t of_y) {
    return {of_y == 0 ? 1 : share_of(common, of_y), of_x == 0 ? 1 : share_of(common, of_x)};
}

double sum(const std::pmr::vector<double>& weights) { return std::accumulate(weights.begin(), weights.end(), 0.0); }

Share weighted_shares(double common, const std::pmr::vector<double>& of_x, const std::pmr::vector<double>& of_y) {
    if (of_x.empty() && of_y.empty()) return {1, 1};
    const double x = sum(of_x), y = sum(of_y);
    return {y > 0 ? common / y : 0, x > 0 ? common / x : 0};
}

constexpr std::uint32_t kBits = 64;  // of a block of tokens

// The beginning is enough: CPUs go on by themselves.
void prefetch_text(std::string_view text) {
    constexpr std::size_t kLine = 64, kAhead = 4 * kLine;
    for (std::size_t at = 0; at < std::min(text.size(), kAhead); at += kLine) prefetch_memory(text.data() + at);
}

}  // namespace

SurfaceParts surface_parts(const std::vector<bool>& read) {
    const auto any = [&](std::initializer_list<std::string_view> names) {
        for (std::size_t column = 0; column < kSurfaceColumns; ++column)
            if (read[column] && std::count(names.begin(), names.end(), kSurfaceFeatures[column]) > 0) return true;
        return false;
    };
    return {any({"rareword.p", "rareword.r"}), any({"rarelemma.p", "rarelemma.r"}), any({"order", "fragments"}), any({"foreign"})};
}

SurfaceText::SurfaceText(const SurfaceView& tokens, const WordFacts& facts, std::string_view utf8,
                         SurfaceScratch& scratch, std::pmr::memory_resource* memory, const SurfaceParts& parts)
    : lemmas(tokens.lemma, tokens.lemma + tokens.size, memory), words(tokens.size, memory),
      function(tokens.function, tokens.function + tokens.size, memory), lemma_weights(memory), word_weights(memory),
      numbers(memory), capitals(memory), punctuation(memory), unknown(memory), scripts(memory) {
    read_words(tokens, facts, scratch, parts);
    read_characters(utf8, scratch, parts);
}

void SurfaceText::read_words(const SurfaceView& tokens, const WordFacts& facts, SurfaceScratch& scratch,
                             const SurfaceParts& parts) {
    const double unlisted = facts.unlisted();
    if (parts.rare_words) word_weights.reserve(tokens.size);
    if (parts.rare_lemmas) lemma_weights.reserve(tokens.size);
    scratch.capitals.resize(tokens.size);
    auto capitals_end = scratch.capitals.begin();
    for (std::size_t i = 0; i < tokens.size; ++i) {
        const WordFact& fact = facts[tokens.word[i]];
        words[i] = fact.folded;
        if (parts.rare_words) word_weights.push_back(fact.weight);
        if (parts.rare_lemmas) lemma_weights.push_back(facts.lemma_weight(tokens.lemma[i]));
        if (fact.shape & kHasDigit) numbers.push_back(fact.folded);
        *capitals_end = fact.folded;  // without a branch
        capitals_end += (fact.shape & kCapitalised) != 0;
        // A word is unknown if neither it nor its lemma is listed.
        if (fact.weight == unlisted && facts.lemma_weight(tokens.lemma[i]) == unlisted && !(fact.shape & kHasDigit))
            unknown.push_back(fact.folded);
    }
    capitals.assign(scratch.capitals.begin(), capitals_end);
    std::sort(numbers.begin(), numbers.end());
    std::sort(capitals.begin(), capitals.end());
}

void SurfaceText::read_characters(std::string_view utf8, SurfaceScratch& scratch, const SurfaceParts& parts) {
    std::size_t script = 0;  // of the letter before: neighbours are mostly of one script
    const auto read = [&](char32_t c) {
        const CharClass kind = char_class(c);
        if (is_sign(kind)) punctuation.push_back(c);
        if (parts.scripts && kind == CharClass::Letter) read_letter(c, script);
    };
    if (parts.scripts || !read_ascii_signs(utf8, scratch)) {
        decode_utf8(utf8, scratch.text);
        for (char32_t c : scratch.text) read(c);
    }
    std::sort(punctuation.begin(), punctuation.end());
}

// Nothing is read, and false returned, if there are other characters.
bool SurfaceText::read_ascii_signs(std::string_view utf8, SurfaceScratch& scratch) {
    scratch.text.resize(utf8.size());
    char32_t* end = scratch.text.data();
    unsigned char bits = 0;
    for (char c : utf8) {  // without a branch
        const auto byte = static_cast<unsigned char>(c);
        bits |= byte;
        *end = byte;
        end += kAsciiSigns[byte];
    }
    if (bits >= 0x80) return false;
    punctuation.assign(scratch.text.data(), end);
    return true;
}

void SurfaceText::read_letter(char32_t c, std::size_t& script) {
    const std::uint32_t block = script_block(c);
    if (script == scripts.size() || scripts[script].block != block) {
        const auto place = std::lower_bound(scripts.begin(), scripts.end(), block, before);
        script = static_cast<std::size_t>(place - scripts.begin());
        if (place == scripts.end() || place->block != block) scripts.insert(place, {block, 0});
    }
    ++scripts[script].letters;
    ++letters;
}

void SurfaceMatcher::compare(const SurfaceText& x, const SurfaceText& y, double* row) {
    auto put = [&row](Share share) {
        *row++ = share.precision;
        *row++ = share.recall;
    };
    const Common common = compare_lemmas(x, y);
    const auto functions = [](const SurfaceText& text) {
        return static_cast<std::size_t>(std::count_if(text.function.begin(), text.function.end(), [](auto f) { return f != 0; }));
    };
    const std::size_t of_x = functions(x), of_y = functions(y);
    put(shares(common.content, x.size() - of_x, y.size() - of_y));
    put(shares(common.function, of_x, of_y));
    put(parts_.rare_words ? weighted_shares(common_rare_words(x, y), x.word_weights, y.word_weights) : Share{0, 0});
    put(parts_.rare_lemmas ? weighted_shares(common.rare_lemmas, x.lemma_weights, y.lemma_weights) : Share{0, 0});
    put(lenient_shares(count_common(x.numbers, y.numbers), x.numbers.size(), y.numbers.size()));
    put(lenient_shares(count_common(x.capitals, y.capitals), x.capitals.size(), y.capitals.size()));

    if (parts_.alignment || !sentences_) find_occurrences();
    const std::size_t in_order = common_subsequence(y.size());
    put({share_of(in_order, y.size()), share_of(in_order, x.size())});
    std::size_t runs = 0, matched = 0;
    if (parts_.alignment) {
        align();
        runs = chunks();
        matched = static_cast<std::size_t>(
            std::count_if(aligned_.begin(), aligned_.end(), [](std::uint32_t place) { return place != kNowhere; }));
    }
    *row++ = parts_.alignment ? share_in_order() : 0;
    put(shares(count_common(x.punctuation, y.punctuation), x.punctuation.size(), y.punctuation.size()));

    // From here on penalties: a copy of the reference has none.
    *row++ = matched == 0 ? 1 : matched == 1 ? 0 : share_of(runs - 1, matched - 1);
    const auto x_size = static_cast<double>(x.size()), y_size = static_cast<double>(y.size());
    *row++ = std::max(0.0, 1 - (y_size + 1) / (x_size + 1));
    *row++ = std::max(0.0, 1 - (x_size + 1) / (y_size + 1));
    std::size_t foreign = 0;
    for (const ScriptCount& script : y.scripts) {
        const auto same = std::lower_bound(x.scripts.begin(), x.scripts.end(), script.block, before);
        if (same == x.scripts.end() || same->block != script.block) foreign += script.letters;
    }
    *row++ = share_of(foreign, y.letters);
    *row++ = unknown_words(x, y);
    *row++ = share_of(common.repeated, y.size());
}

SurfaceMatcher::Common SurfaceMatcher::compare_lemmas(const SurfaceText& x, const SurfaceText& y) {
    sentences_ = EqualWords::are_sentences(x.size(), y.size());
    if (sentences_) equal_.find(x.lemmas.data(), x.size(), y.lemmas.data(), y.size());
    if (!sentences_ || parts_.alignment) return number_lemmas(x, y);  // which an alignment reads
    const std::uint64_t function_x = bits_of_flags(x.function.data(), x.size());
    const std::uint64_t function_y = bits_of_flags(y.function.data(), y.size());
    Common common;
    for (std::size_t i = 0; i < y.size(); ++i) {
        const std::uint64_t so_far = equal_.in_y(i) & first_bits(i + 1);
        const bool function = y.function[i] != 0;
        const int of_x = count_bits(equal_.in_x(i) & (function ? function_x : ~function_x));
        const int of_y = count_bits(so_far & (function ? function_y : ~function_y));
        const bool partner = of_y <= of_x;
        common.content += partner & !function;
        common.function += partner & function;
        common.repeated += !function & (of_y > std::max(of_x, 1));
        if (parts_.rare_lemmas && count_bits(so_far) <= count_bits(equal_.in_x(i))) common.rare_lemmas += y.lemma_weights[i];
    }
    return common;
}

// A token of y has a partner if x has the lemma at least as often as y up to there; it is repeated if it is a content word
// which y has up to there more than once, and more often than x.
SurfaceMatcher::Common SurfaceMatcher::number_lemmas(const SurfaceText& x, const SurfaceText& y) {
    numbers_.reset(x.size() + y.size());
    x_.resize(x.size());
    y_.resize(y.size());
    counts_.assign(x.size() + y.size(), {});
    for (std::size_t i = 0; i < x.size(); ++i) {
        x_[i] = numbers_.number_of(x.lemmas[i]);
        ++counts_[x_[i]].x[x.function[i] != 0];
    }
    Common common;
    for (std::size_t i = 0; i < y.size(); ++i) {
        y_[i] = numbers_.number_of(y.lemmas[i]);
        Count& count = counts_[y_[i]];
        const bool function = y.function[i] != 0;
        const bool partner = ++count.y[function] <= count.x[function];
        common.content += partner & !function;
        common.function += partner & function;
        common.repeated += !function && count.y[false] > std::max(count.x[false], 1U);
        if (parts_.rare_lemmas && count.y[false] + count.y[true] <= count.x[false] + count.x[true])
            common.rare_lemmas += y.lemma_weights[i];
    }
    return common;
}

double SurfaceMatcher::common_rare_words(const SurfaceText& x, const SurfaceText& y) {
    numbers_.reset(x.size() + y.size());
    counts_.assign(x.size() + y.size(), {});
    for (std::uint32_t word : x.words) ++counts_[numbers_.number_of(word)].x[0];
    double common = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        Count& count = counts_[numbers_.number_of(y.words[i])];
        if (++count.y[0] <= count.x[0]) common += y.word_weights[i];
    }
    return common;
}

// The share of words that neither the language's lists nor the reference know.
double SurfaceMatcher::unknown_words(const SurfaceText& x, const SurfaceText& y) {
    if (y.unknown.empty()) return 0;
    const bool sorts = x.size() > kBits;  // the few words of a short text are looked through faster
    if (sorts) {
        sorted_.assign(x.words.begin(), x.words.end());
        std::sort(sorted_.begin(), sorted_.end());
    }
    const auto knows = [&](std::uint32_t word) {
        return sorts ? std::binary_search(sorted_.begin(), sorted_.end(), word)
                     : std::find(x.words.begin(), x.words.end(), word) != x.words.end();
    };
    const auto known = static_cast<std::size_t>(std::count_if(y.unknown.begin(), y.unknown.end(), knows));
    return share_of(y.unknown.size() - known, y.size());
}

void SurfaceMatcher::find_occurrences() {
    first_.assign(x_.size() + y_.size() + 1, 0);
    for (std::uint32_t number : x_) ++first_[number + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    next_.assign(first_.begin(), first_.end());
    occurrences_.resize(x_.size());
    for (std::uint32_t i = 0; i < x_.size(); ++i) occurrences_[next_[x_[i]]++] = i;
}

std::size_t SurfaceMatcher::common_subsequence(std::size_t of_y) {
    if (!sentences_) return common_subsequence_of_long_texts();
    std::uint64_t steps = ~std::uint64_t{0};
    for (std::size_t i = 0; i < of_y; ++i) {
        std::uint64_t carry = 0;
        steps = next_subsequence_row(steps, equal_.in_x(i), carry);
    }
    return static_cast<std::size_t>(count_bits(~steps));
}

std::size_t SurfaceMatcher::common_subsequence_of_long_texts() {
    blocks_.clear();
    block_of_.resize(occurrences_.size());
    for (std::size_t k = 0; k < occurrences_.size(); ++k) {
        const std::uint32_t place = occurrences_[k], block = place / kBits;
        const bool another_lemma = k == 0 || x_[place] != x_[occurrences_[k - 1]];
        if (another_lemma || blocks_.back().block != block) blocks_.push_back({block, 0});
        blocks_.back().places |= std::uint64_t{1} << place % kBits;
        block_of_[k] = blocks_.size() - 1;
    }
    steps_.assign(x_.size() / kBits + 1, ~std::uint64_t{0});
    for (std::uint32_t number : y_) {
        interrupt_.step(steps_.size());
        const std::uint32_t begin = first_[number], end = first_[number + 1];
        if (begin == end) continue;
        advance_subsequence_row(steps_.data(), steps_.size(), blocks_.data() + block_of_[begin],
                                blocks_.data() + block_of_[end - 1] + 1);
    }
    std::size_t length = 0;
    for (std::uint64_t block : steps_) length += static_cast<std::size_t>(count_bits(~block));
    return length;
}

// Gives every token of y an equal lemma of x that is still free: the one that continues the run of the token before,
// else the one nearest to the same relative place. Near linear, however often a word is repeated.
void SurfaceMatcher::align() {
    const auto size = static_cast<std::uint32_t>(x_.size());
    // free_right_[k]: the first free occurrence at or after k; free_left_[k]: one more than the last free one before k.
    free_left_.resize(size + 1);
    free_right_.resize(size + 1);
    std::iota(free_left_.begin(), free_left_.end(), 0U);
    std::iota(free_right_.begin(), free_right_.end(), 0U);
    auto find = [](std::vector<std::uint32_t>& parent, std::uint32_t k) {
        while (parent[k] != k) k = parent[k] = parent[parent[k]];
        return k;
    };
    aligned_.assign(y_.size(), kNowhere);
    std::uint32_t last = kNowhere;
    for (std::size_t i = 0; i < y_.size(); ++i) {
        const std::uint32_t begin = first_[y_[i]], end = first_[y_[i] + 1];
        const double target = static_cast<double>(i) * size / static_cast<double>(y_.size());
        auto from = [&](std::uint32_t place) {  // the first occurrence at or after a place
            return static_cast<std::uint32_t>(
                std::lower_bound(occurrences_.begin() + begin, occurrences_.begin() + end, place) - occurrences_.begin());
        };
        std::uint32_t chosen = kNowhere;
        if (last != kNowhere && last + 1 < size) {
            const std::uint32_t next = from(last + 1);
            if (next < end && occurrences_[next] == last + 1 && find(free_right_, next) == next) chosen = next;
        }
        if (chosen == kNowhere) {
            const std::uint32_t middle = from(static_cast<std::uint32_t>(std::ceil(target)));
            const std::uint32_t right = find(free_right_, middle), left = find(free_left_, middle);
            const bool has_right = right < end, has_left = left > begin;
            if (has_left && (!has_right || target - occurrences_[left - 1] <= occurrences_[right] - target))
                chosen = left - 1;
            else if (has_right)
                chosen = right;
        }
        last = kNowhere;
        if (chosen != kNowhere) {
            aligned_[i] = last = occurrences_[chosen];
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
    tree_.assign(largest + 2, 0);  // Fenwick tree over places
    std::size_t seen = 0, ordered = 0;
    for (std::uint32_t place : aligned_) {
        if (place == kNowhere) continue;
        for (std::uint32_t k = place; k > 0; k -= k & (~k + 1)) ordered += tree_[k];
        for (std::uint32_t k = place + 1; k < tree_.size(); k += k & (~k + 1)) ++tree_[k];
        ++seen;
    }
    return seen < 2 ? 1 : share_of(ordered, seen * (seen - 1) / 2);
}

SurfaceReader::SurfaceReader(const std::vector<std::string_view>& texts, const TokenArrays& tokens, WordFacts& facts,
                             const SurfaceParts& parts)
    : texts_(texts), tokens_(tokens), facts_(facts), parts_(parts) {
    check_csr(tokens.offsets, texts.size(), tokens.word.size());
    facts.learn(tokens.word, tokens.lemma);
}

SurfaceText SurfaceReader::read(std::size_t i, std::pmr::memory_resource* memory) {
    const auto from = static_cast<std::size_t>(tokens_.offsets[i]), to = static_cast<std::size_t>(tokens_.offsets[i + 1]);
    const std::size_t ahead = std::min(to + (to - from), tokens_.word.size());  // the next text may be as long as this one
    for (std::size_t k = to; k < ahead; ++k) facts_.prefetch(tokens_.word[k]);
    if (i + 1 < texts_.size()) prefetch_text(texts_[i + 1]);
    const SurfaceView view{tokens_.word.data() + from, tokens_.lemma.data() + from, tokens_.function.data() + from, to - from};
    return SurfaceText(view, facts_, texts_[i], scratch_, memory, parts_);
}

Surfaces::Surfaces(const std::vector<std::string_view>& texts, const TokenArrays& tokens, WordFacts& facts) {
    SurfaceReader reader(texts, tokens, facts);
    texts_.reserve(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) texts_.push_back(reader.read(i, &memory_));
}

BatchArray<double> Surfaces::compare(const Surfaces& reference, const Surfaces& hypothesis, const TextPairs& pairs) {
    BatchArray<double> rows(pairs.size() * kSurfaceColumns);
    SurfaceMatcher matcher;
    for_each_pair(pairs, reference.texts_, hypothesis.texts_, [&](std::size_t k, const SurfaceText& x, const SurfaceText& y) {
        matcher.compare(x, y, rows.data() + k * kSurfaceColumns);
    });
    return rows;
}

}  // namespace tesla
