#include "language/analysis/detection.h"

#include <algorithm>
#include <iterator>

#include "base/checks.h"
#include "base/hashing.h"
#include "base/unicode.h"

namespace tesla {
namespace {

struct ScriptStart {
    char32_t first;
    Script script;
};
constexpr ScriptStart kScriptStarts[] = {
    {0x0041, Script::Latin},      {0x0250, Script::None},   {0x0370, Script::Greek},    {0x0400, Script::Cyrillic},
    {0x0530, Script::Armenian},   {0x0590, Script::Hebrew}, {0x0600, Script::Arabic},   {0x0700, Script::None},
    {0x0750, Script::Arabic},     {0x0780, Script::None},   {0x08A0, Script::Arabic},   {0x0900, Script::Devanagari},
    {0x0980, Script::None},       {0x0E00, Script::Thai},   {0x0E80, Script::None},     {0x10A0, Script::Georgian},
    {0x1100, Script::Hangul},     {0x1200, Script::None},   {0x1C80, Script::Cyrillic}, {0x1C90, Script::Georgian},
    {0x1CC0, Script::None},       {0x1E00, Script::Latin},  {0x1F00, Script::Greek},    {0x2000, Script::None},
    {0x2D00, Script::Georgian},   {0x2D30, Script::None},   {0x3005, Script::Han},      {0x3008, Script::None},
    {0x3041, Script::Kana},       {0x3100, Script::None},   {0x3130, Script::Hangul},   {0x3190, Script::None},
    {0x31F0, Script::Kana},       {0x3200, Script::None},   {0x3400, Script::Han},      {0xA000, Script::None},
    {0xA640, Script::Cyrillic},   {0xA6A0, Script::None},   {0xAC00, Script::Hangul},   {0xD7B0, Script::None},
    {0xF900, Script::Han},        {0xFB00, Script::Latin},  {0xFB13, Script::Armenian}, {0xFB1D, Script::Hebrew},
    {0xFB50, Script::Arabic},     {0xFE00, Script::None},   {0xFE70, Script::Arabic},   {0xFF00, Script::Latin},
    {0xFF66, Script::Kana},       {0xFFA0, Script::None},   {0x20000, Script::Han},     {0x32000, Script::None},
};
constexpr char32_t kFirstOther = 0x0700;

// Cyrillic signs for thousands and millions: marks that enclose a letter are none.
bool is_enclosing(char32_t c) { return c == 0x488 || c == 0x489 || (c >= 0xA670 && c <= 0xA672); }

// The hash of letters c0, c1, ... is the mixed sum of (ci + 1) * kGolden^i; a gap is 0.
constexpr std::size_t kLongestNgram = 4;

class StretchHash {
   public:
    void add(char32_t letter) {
        sum_ += (std::uint64_t{letter} + 1) * power_;
        power_ *= kGolden;
    }
    std::uint64_t value() const { return scrambled(scrambled(sum_), 29); }

   private:
    std::uint64_t sum_ = 0, power_ = 1;
};

}  // namespace

Script script_of(char32_t letter) {
    const bool alphabetic = is_letter(letter);
    if (!alphabetic && (!is_mark(letter) || is_enclosing(letter))) return Script::None;
    const auto* next = std::upper_bound(std::begin(kScriptStarts), std::end(kScriptStarts), letter,
                                        [](char32_t c, const ScriptStart& start) { return c < start.first; });
    const Script script = next == std::begin(kScriptStarts) ? Script::None : std::prev(next)->script;
    return script == Script::None && alphabetic && letter >= kFirstOther ? Script::Other : script;
}

SpelledTexts::SpelledTexts(std::string_view utf8) {
    std::uint32_t text = 0;
    bool begins_word = true;
    for (std::size_t at = 0; at < utf8.size();) {
        const char32_t c = next_character(utf8, at);
        text += c == U'\n';
        const bool is_gap = script_of(c) == Script::None;
        if (!is_gap) add_letter(c, text, begins_word);
        begins_word = is_gap;
    }
}

void SpelledTexts::add_letter(char32_t letter, std::uint32_t text, bool begins_word) {
    if (begins_word) words_.push_back({letters_.size(), letters_.size(), text});
    letters_.push_back(letter);
    words_.back().end = letters_.size();
}

SpelledTexts SpelledTexts::of_script(Script script) const {
    SpelledTexts own;
    for (const Word& word : words_) {
        bool begins_word = true;
        for (std::size_t i = word.begin; i < word.end; ++i) {
            const bool is_gap = script_of(letters_[i]) != script;
            if (!is_gap) own.add_letter(letters_[i], word.text, begins_word);
            begins_word = is_gap;
        }
    }
    return own;
}

std::vector<std::size_t> SpelledTexts::letters_by_script() const {
    std::vector<std::size_t> counts(kScripts);
    for (char32_t letter : letters_) ++counts[static_cast<std::size_t>(script_of(letter))];
    return counts;
}

std::vector<std::pair<char32_t, std::int64_t>> SpelledTexts::letters() const {
    std::u32string sorted = letters_;
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::pair<char32_t, std::int64_t>> counted;
    for (char32_t letter : sorted) {
        if (counted.empty() || counted.back().first != letter) counted.emplace_back(letter, 0);
        ++counted.back().second;
    }
    return counted;
}

std::vector<std::uint16_t> SpelledTexts::word_hashes() const {
    std::vector<std::uint16_t> hashes;
    for (const Word& word : words_) {
        StretchHash hash;
        hash.add(0);
        for (std::size_t i = word.begin; i < word.end; ++i) hash.add(letters_[i]);
        hash.add(0);
        hashes.push_back(static_cast<std::uint16_t>(hash.value() >> 48));
    }
    return hashes;
}

std::vector<SpelledTexts::Bucket> SpelledTexts::ngram_buckets(int bits) const {
    require(bits >= 1 && bits <= 32, "a table has 2 to 2^32 buckets");
    std::vector<Bucket> buckets;
    std::u32string padded;
    for (const Word& word : words_) {
        padded.assign(1, 0).append(letters_, word.begin, word.end - word.begin).push_back(0);
        const auto add = [&](const StretchHash& hash) {
            buckets.push_back({static_cast<std::uint32_t>(hash.value() >> (64 - bits)), word.text});
        };
        for (std::size_t start = 0; start + 1 < padded.size(); ++start) {
            StretchHash hash;
            for (std::size_t i = start; i < std::min(start + kLongestNgram, padded.size()); ++i) {
                hash.add(padded[i]);
                if (i > 0) add(hash);  // the gap before the word is no n-gram by itself
            }
        }
        if (padded.size() <= kLongestNgram) continue;
        StretchHash whole;
        for (char32_t c : padded) whole.add(c);
        add(whole);
    }
    return buckets;
}

SpelledTexts::WeightedTexts SpelledTexts::weigh(const ArrayView<std::int8_t>& weights, std::size_t languages) const {
    int bits = 1;
    while (bits < 32 && (std::size_t{1} << bits) * languages < weights.size) ++bits;
    require(languages > 0 && (std::size_t{1} << bits) * languages == weights.size, "the weights have an invalid shape");
    WeightedTexts weighted;
    std::uint32_t text = 0;
    for (const Bucket& ngram : ngram_buckets(bits)) {
        if (weighted.sizes.empty() || ngram.text != text) {
            text = ngram.text;
            weighted.sizes.push_back(0);
            weighted.sums.resize(weighted.sizes.size() * languages);
        }
        ++weighted.sizes.back();
        std::int64_t* sums = weighted.sums.data() + (weighted.sizes.size() - 1) * languages;
        const std::int8_t* row = weights.data + ngram.bucket * languages;
        for (std::size_t language = 0; language < languages; ++language) sums[language] += row[language];
    }
    return weighted;
}

}  // namespace tesla
