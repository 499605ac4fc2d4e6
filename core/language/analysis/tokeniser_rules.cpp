#include "language/analysis/tokeniser_rules.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "base/checks.h"
#include "base/hashing.h"
#include "base/unicode.h"
#include "language/analysis/tokeniser_languages.h"

namespace tesla {
namespace {

constexpr std::pair<std::string_view, bool TokeniserStyle::*> kSwitches[] = {
    {"split-hyphens", &TokeniserStyle::split_hyphens},
    {"open-hyphens", &TokeniserStyle::open_hyphens},
    {"leading-hyphens", &TokeniserStyle::leading_hyphens},
    {"keep-ranges", &TokeniserStyle::keep_ranges},
    {"ordinals", &TokeniserStyle::ordinals},
    {"year-ordinals", &TokeniserStyle::year_ordinals},
    {"split-initials", &TokeniserStyle::split_initials},
    {"keep-final-stop", &TokeniserStyle::keep_final_stop},
    {"split-runs", &TokeniserStyle::split_runs},
    {"final-apostrophes", &TokeniserStyle::final_apostrophes},
    {"segment-words", &TokeniserStyle::segment_words},
    {"han-words", &TokeniserStyle::han_words},
};

constexpr std::pair<std::string_view, WordTable TokeniserRules::*> kTables[] = {
    {"abbreviations", &TokeniserRules::abbreviations}, {"cut", &TokeniserRules::cut},
    {"heads", &TokeniserRules::heads},                 {"tails", &TokeniserRules::tails},
    {"apostrophes", &TokeniserRules::apostrophes},     {"whole", &TokeniserRules::whole},
    {"prefixes", &TokeniserRules::prefixes},           {"suffixes", &TokeniserRules::suffixes},
    {"units", &TokeniserRules::units},                 {"endings", &TokeniserRules::endings},
    {"currencies", &TokeniserRules::currencies},       {"internet", &TokeniserRules::internet},
    {"emoticons", &TokeniserRules::emoticons},
};

constexpr std::pair<std::string_view, std::u32string TokeniserRules::*> kCharacterSets[] = {
    {"inner", &TokeniserRules::inner},
    {"attached", &TokeniserRules::attached},
};

template <class Entry, std::size_t size>
const Entry* find_named(const Entry (&entries)[size], std::string_view name) {
    const Entry* match = std::find_if(std::begin(entries), std::end(entries),
                                      [&](const Entry& entry) { return std::get<0>(entry) == name; });
    return match == std::end(entries) ? nullptr : match;
}

// Takes the next word off the front of the line; empty at its end.
std::string_view next_word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(word.size());
    return word;
}

void read_word(TokeniserRules& rules, std::string_view key, std::string_view word) {
    std::u32string characters;
    decode_utf8(word, characters);
    if (key == "style") {
        const auto* entry = find_named(kSwitches, word);
        require(entry != nullptr, "no such tokeniser style: " + std::string(word));
        rules.style.*(entry->second) = true;
    } else if (const auto* table = find_named(kTables, key)) {
        (rules.*(table->second)).add(std::move(characters));
    } else if (const auto* set = find_named(kCharacterSets, key)) {
        rules.*(set->second) += characters;
    } else {
        throw std::invalid_argument("no such line in a tokeniser table: " + std::string(key));
    }
}

void read_table(TokeniserRules& rules, std::string_view table) {
    while (!table.empty()) {
        std::string_view line = table.substr(0, table.find('\n'));
        table.remove_prefix(std::min(line.size() + 1, table.size()));
        std::string_view key = next_word(line);
        for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
            read_word(rules, key, word);
        }
    }
}

char32_t folded(char32_t c) { return c == U'’' || c == U'`' ? U'\'' : to_lower(c); }

std::uint32_t hash_folded(const char32_t* word, std::size_t length) {
    Hasher hasher;
    for (std::size_t i = 0; i < length; ++i) hasher.add(folded(word[i]));
    return hasher.value();
}

}  // namespace

void WordTable::add(std::u32string word) {
    std::size_t cut = word.size() > 2 ? word.find(U'|') : word.npos;  // ":|" is an emoticon
    if (cut != word.npos) word.erase(cut, 1);
    longest_ = std::max(longest_, word.size());
    std::transform(word.begin(), word.end(), word.begin(), folded);
    beginnings_.resize(longest_ + 1);
    beginnings_[word.size()] |= beginning(word.front());
    const auto fresh = static_cast<std::uint32_t>(entries_.size());
    const std::uint32_t place = places_.find_or_add(hash_folded(word.data(), word.size()), fresh,
                                                    [&](std::uint32_t known) { return entries_[known].word == word; });
    if (place == fresh) entries_.emplace_back();
    entries_[place] = {std::move(word), cut == word.npos ? 0 : static_cast<int>(cut)};
}

int WordTable::find(const char32_t* word, std::size_t length) const {
    if (length == 0 || length > longest_ || (beginnings_[length] & beginning(folded(*word))) == 0) return -1;
    const std::uint32_t place = places_.find(hash_folded(word, length), [&](std::uint32_t known) {
        const std::u32string& entry = entries_[known].word;
        return std::equal(entry.begin(), entry.end(), word, word + length, [](char32_t a, char32_t b) { return a == folded(b); });
    });
    return place == places_.kMissing ? -1 : entries_[place].number;
}

TokeniserRules::TokeniserRules(std::string_view table) {
    read_table(*this, kCommonTable);
    read_table(*this, table);
}

std::string_view language_table(std::string_view language) {
    const auto* entry = find_named(kLanguageTables, language);
    require(entry != nullptr, "no tokeniser rules for language " + std::string(language));
    return entry->second;
}

std::vector<std::string_view> table_languages() {
    std::vector<std::string_view> names;
    for (const auto& entry : kLanguageTables) names.push_back(entry.first);
    return names;
}

}  // namespace tesla
