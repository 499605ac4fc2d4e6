// The lemmas of plain words, found without Python: those that a table or simplemma's dictionary holds, and those that
// neither holds where nothing but rules for word ends is left to try.
//
// A shortcut of `Lemmatiser` (analysis/lemmas.py), which says what a lemma is and which finds all others: signs of Arabic
// and Hebrew, words of other languages than English that simplemma takes apart. Both must agree on every plain word.
#pragma once

#include <bitset>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "language/analysis/english_lemmas.h"
#include "base/front_coded.h"
#include "language/analysis/lexicon.h"
#include "language/analysis/sense_index.h"

namespace tesla {

// Words, or ends of words, with the edits (`edit_between` of lemmas.py) that lead to their lemmas.
class EditTable {
   public:
    // Throws std::invalid_argument for an empty edit, and where there are not as many edits as keys. A key that comes again
    // has its last edit.
    EditTable(const std::vector<std::string>& keys, const std::vector<std::string>& edits);
    EditTable(EditTable&&) = default;  // the keys do not move
    EditTable(const EditTable&) = delete;

    bool empty() const { return edits_.empty(); }
    const std::u32string* find(std::string_view key) const {  // null where it has none
        if (!marks_[mark_of(key)]) return nullptr;
        const auto found = edits_.find(key);
        return found == edits_.end() ? nullptr : &found->second;
    }

   private:
    static constexpr int kMarkBits = 14;
    static std::size_t mark_of(std::string_view key);

    std::bitset<std::size_t{1} << kMarkBits> marks_;  // of the keys, by their length and first letters: most words have none
    std::deque<std::string> keys_;
    std::unordered_map<std::string_view, std::u32string> edits_;
};

class PlainLemmas {
   public:
    // `forms` are whole words, `suffixes` ends of words; `dictionary` may be null. Unknown words that end in one of
    // `open_ends` are left to the lemmatiser, and without `open_ends` all of them are. `english`: simplemma's steps for English
    // are taken here.
    PlainLemmas(EditTable forms, EditTable suffixes, const FrontCodedDictionary* dictionary,
                std::optional<std::vector<std::string>> open_ends, bool numbers_are_lemmas, bool english);

    // Whether the lemma of `word` is known here; then it is written to `lemma`.
    bool find(std::string_view word, std::string& lemma) const;
    // Asks for the memory that `find` will most likely need.
    void prefetch(std::string_view word) const {
        if (dictionary_) dictionary_->prefetch(word);
    }

   private:
    bool find_unknown(std::string_view lower, std::string& lemma) const;
    void apply_rule(std::string_view lower, std::string& lemma) const;

    EditTable forms_, suffixes_;
    const FrontCodedDictionary* dictionary_;
    std::optional<std::vector<std::string>> open_ends_;
    bool numbers_are_lemmas_;
    std::optional<EnglishLemmas> english_;
};

// Defines the words whose lemmas are known, with the senses of these lemmas; returns the other words.
std::vector<std::uint32_t> define_plain(Lexicon& lexicon, const std::vector<std::uint32_t>& words,
                                        const PlainLemmas& lemmas, const SenseIndex* senses);

}  // namespace tesla
