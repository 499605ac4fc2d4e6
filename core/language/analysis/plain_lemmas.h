// The lemmas of plain words, found without Python: those that a table or simplemma's dictionary holds, and those that
// neither holds where nothing but rules for word ends is left to try.
//
// A shortcut of `Lemmatiser` (analysis/lemmas.py), which says what a lemma is and which finds all others: signs of Arabic
// and Hebrew, words of other languages than English that simplemma takes apart. Both must agree on every plain word.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/front_coded.h"
#include "base/text_notes.h"
#include "language/analysis/english_lemmas.h"
#include "language/analysis/lexicon.h"
#include "language/analysis/sense_index.h"

namespace tesla {

// Words, or ends of words, with the edits (`edit_between` of lemmas.py) that lead to their lemmas.
class EditTable {
   public:
    // Throws std::invalid_argument for an empty edit, and where there are not as many edits as keys. A key that comes again
    // has its last edit.
    EditTable(const std::vector<std::string>& keys, const std::vector<std::string>& edits);

    bool empty() const { return edits_.empty(); }
    const std::u32string* find(std::string_view key) const { return edits_.find(key); }  // null where it has none

   private:
    NotedTexts<std::u32string> edits_{std::size_t{1} << 14};
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
    // A word as the steps of `find` read it. Each thread has one, which keeps its memory.
    struct Spelling {
        enum class Kind { Plain, Signs, Mixed };  // letters alone, signs alone, or anything

        bool has_digit() const {
            return std::any_of(form.begin(), form.end(), [](char32_t c) { return c >= '0' && c <= '9'; });
        }

        Kind kind = Kind::Plain;
        std::string_view word;   // its apostrophes are straight
        std::u32string form;     // the same; not for letters of ASCII
        std::string straight, lower, capitalised, listed;
    };
    enum class Answer { Listed, Missing, Unknown };  // Unknown: Python may change the case in another way

    bool read(std::string_view word, Spelling& spelling) const;
    bool find_in_dictionary(Spelling& spelling, std::string& lemma) const;
    Answer ask_in_either_case(Spelling& spelling) const;
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
