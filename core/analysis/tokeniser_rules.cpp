#include "analysis/tokeniser_rules.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "analysis/tokeniser_languages.h"
#include "base/unicode.h"

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
    const Entry* found = std::find_if(std::begin(entries), std::end(entries),
                                      [&](const Entry& entry) { return std::get<0>(entry) == name; });
    return found == std::end(entries) ? nullptr : found;
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
        if (entry == nullptr) throw std::invalid_argument("no such tokeniser style: " + std::string(word));
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

// Never 0, which marks a free slot.
std::uint64_t hash_word(const char32_t* word, std::size_t length) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (std::size_t i = 0; i < length; ++i) {
        char32_t c = word[i] == U'’' || word[i] == U'`' ? U'\'' : to_lower(word[i]);
        hash = (hash ^ c) * 0x100000001b3u;
    }
    return (hash ^ hash >> 32) | 1;
}

}  // namespace

void WordTable::add(std::u32string word) {
    std::size_t cut = word.size() > 2 ? word.find(U'|') : word.npos;  // ":|" is an emoticon
    if (cut != word.npos) word.erase(cut, 1);
    longest_ = std::max(longest_, word.size());
    if (3 * ++size_ > slots_.size()) {
        std::vector<Slot> before(std::max<std::size_t>(8, 2 * slots_.size()), Slot{0, 0});
        before.swap(slots_);
        for (const Slot& slot : before) {
            if (slot.hash != 0) insert(slot);
        }
    }
    insert({hash_word(word.data(), word.size()), cut == word.npos ? 0 : static_cast<int>(cut)});
}

void WordTable::insert(Slot entry) {
    std::size_t at = entry.hash & (slots_.size() - 1);
    while (slots_[at].hash != 0 && slots_[at].hash != entry.hash) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = entry;
}

int WordTable::find(const char32_t* word, std::size_t length) const {
    if (length == 0 || length > longest_) return -1;
    std::uint64_t hash = hash_word(word, length);
    for (std::size_t at = hash & (slots_.size() - 1); slots_[at].hash != 0; at = (at + 1) & (slots_.size() - 1)) {
        if (slots_[at].hash == hash) return slots_[at].number;
    }
    return -1;
}

TokeniserRules::TokeniserRules(std::string_view table) {
    read_table(*this, kCommonTable);
    read_table(*this, table);
}

std::string_view language_table(std::string_view language) {
    const auto* entry = find_named(kLanguageTables, language);
    if (entry == nullptr) throw std::invalid_argument("no tokeniser rules for language " + std::string(language));
    return entry->second;
}

std::vector<std::string_view> table_languages() {
    std::vector<std::string_view> names;
    for (const auto& entry : kLanguageTables) names.push_back(entry.first);
    return names;
}

}  // namespace tesla
