// Training of the tagger: an averaged perceptron in whole numbers, so that the result is the same to the bit everywhere.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "language/analysis/tagger_features.h"
#include "language/analysis/tagger_lexicon.h"

namespace tesla {

struct TrainedArrays {  // as TaggerArrays, owned
    std::vector<std::uint32_t> feature_deltas, suffix_deltas;
    std::vector<std::uint8_t> row_lengths, row_labels, suffix_classes;
    std::vector<std::int8_t> row_weights;
};

class TaggerTrainer {
   public:
    // `universal_of[label]` is the universal tag of a label.
    explicit TaggerTrainer(std::vector<int> universal_of);

    // Gives suffixes (see SuffixLexicon) their classes, 1..255; to be called before sentences are added.
    void set_lexicon(const std::vector<std::string>& suffixes, const std::vector<int>& classes);

    // `gold[i]`: a label, or -1 - u where only the universal tag u is known (then any label of u is right).
    void add_sentence(const std::vector<std::string>& forms, const std::vector<int>& gold);

    // Fixes the features: those seen fewer than `min_count` times are left out.
    void prepare(int min_count);

    // One pass over the sentences in an order drawn from `seed`; returns the number of words tagged wrongly.
    std::size_t run_epoch(std::uint64_t seed, int margin);

    // The averaged weights, rounded to 8 bits at `scale` units per 1.0; weights below `min_weight` units are dropped.
    TrainedArrays quantised(double scale, int min_weight) const;

   private:
    struct Weight {
        std::uint16_t label;
        std::int32_t value;
        std::int64_t total;  // sum of changes, each times the step of its making
    };
    struct Word {
        std::uint32_t type;
        std::int32_t gold;
    };
    struct Sentence {
        std::size_t begin, end;
    };

    std::uint32_t intern(const std::string& form);
    Position<WordHashes> position(const Sentence& sentence, std::size_t i, std::uint32_t label, std::uint32_t second_label) const;
    std::uint32_t feature_number(std::uint32_t hash) const;  // 0: none
    bool allowed(std::int32_t gold, std::size_t label) const {
        return gold >= 0 ? static_cast<std::size_t>(gold) == label : universal_of_[label] == -1 - gold;
    }
    void change(const std::vector<std::uint32_t>& features, std::size_t label, std::int32_t amount);

    std::vector<int> universal_of_;
    SuffixLexicon lexicon_;
    std::vector<std::uint32_t> suffix_keys_, suffix_classes_;  // sorted by key
    std::unordered_map<std::string, std::uint32_t> type_of_;
    std::vector<WordHashes> types_;  // after `prepare` feature numbers stand in the place of hashes
    WordHashes boundary_;
    std::vector<Word> words_;
    std::vector<Sentence> sentences_;
    std::unordered_map<std::uint32_t, std::uint32_t> feature_of_;  // hash -> feature number, from 1
    std::vector<std::vector<Weight>> rows_;
    std::int64_t step_ = 0;
    bool prepared_ = false;
};

}  // namespace tesla
