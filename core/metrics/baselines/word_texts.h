// core/metrics/baselines: the usual metrics that ours are compared with, BLEU, ROUGE and TER, equal to sacreBLEU and rouge-score to the
// bit.
//
//     text ──sacrebleu_tokeniser, rouge──▶ words ──word_texts──▶ numbers ──bag_overlap, subsequence──▶ counts
//          ──bleu, rouge──▶ statistics, scores
//
// references.h says which references a pair has; edit_rate.h counts the edits of TER; porter_stemmer.h stems English words.
//
// A text becomes a sequence of numbers: equal words have equal numbers in all texts of a batch. Nothing after that looks at
// letters, and nothing in this folder knows Python; bindings/baselines.cpp does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/array_view.h"
#include "base/checks.h"
#include "base/flat_table.h"
#include "base/keyed_hash.h"

namespace tesla {

using WordSequence = ArrayView<std::uint32_t>;

// Words to numbers, in the order in which they are first met. It keeps the words.
class WordNumbers {
   public:
    // All different words together have at most `most_bytes` bytes.
    explicit WordNumbers(std::size_t most_bytes) : letters_(new char[most_bytes]), room_(most_bytes) {}

    std::uint32_t number_of(std::string_view word) {
        const auto fresh = static_cast<std::uint32_t>(words_.size());
        const auto is_word = [this, word](std::uint32_t number) { return words_[number] == word; };
        const std::uint32_t number = numbers_.find_or_add(table_hash(word), fresh, is_word);
        if (number == fresh) {
            require(word.size() <= room_, "the words have more letters than was said");
            words_.emplace_back(next_, word.size());
            next_ += word.copy(next_, word.size());
            room_ -= word.size();
        }
        return number;
    }
    const std::vector<std::string_view>& words() const { return words_; }  // by number

   private:
    std::unique_ptr<char[]> letters_;
    char* next_ = letters_.get();  // where the next word begins
    std::size_t room_;             // bytes from there on
    std::vector<std::string_view> words_;
    FlatTable<> numbers_;  // of the words
};

// The texts of a batch. Texts are added word by word.
class WordTexts {
   public:
    // All words that will be added together have at most `most_bytes` bytes.
    explicit WordTexts(std::size_t most_bytes) : vocabulary_(std::make_unique<WordNumbers>(most_bytes)) {}

    void add_word(std::string_view word) { numbers_.push_back(vocabulary_->number_of(word)); }
    void end_text() { offsets_.push_back(numbers_.size()); }

    std::size_t size() const { return offsets_.size() - 1; }
    WordSequence operator[](std::size_t text) const {
        return {numbers_.data() + offsets_[text], offsets_[text + 1] - offsets_[text]};
    }
    const std::vector<std::string_view>& words() const { return vocabulary_->words(); }

    // Gives every word another form; words with equal forms get the same number, those with an empty form are removed.
    // There is one form per word.
    void replace_words(const std::vector<std::string_view>& forms);

   private:
    std::unique_ptr<WordNumbers> vocabulary_;
    std::vector<std::uint32_t> numbers_;
    std::vector<std::size_t> offsets_ = {0};  // text i has the numbers from offsets_[i] to offsets_[i + 1]
};

}  // namespace tesla
