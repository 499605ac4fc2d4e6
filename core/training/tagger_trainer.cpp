#include "training/tagger_trainer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

#include "base/checks.h"
#include "base/hashing.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/unicode.h"
#include "language/analysis/tagger.h"

namespace tesla {
TaggerTrainer::TaggerTrainer(std::vector<int> universal_of) : universal_of_(std::move(universal_of)) {
    require(!universal_of_.empty() && universal_of_.size() <= kMaxLabels, "a tagger has 1 to 64 labels");
    boundary_ = hash_word(nullptr, 0, 0);
}

void TaggerTrainer::set_lexicon(const std::vector<std::string>& suffixes, const std::vector<int>& classes) {
    if (!sentences_.empty()) throw std::logic_error("the lexicon comes before the sentences");
    require(suffixes.size() == classes.size(), "suffixes and classes differ in number");
    std::map<std::uint32_t, std::uint32_t> class_of;  // where two suffixes collide, the first one stays
    std::u32string characters;
    for (std::size_t i = 0; i < suffixes.size(); ++i) {
        require(classes[i] >= 1 && classes[i] <= 255, "a lexicon class is 1 to 255");
        decode_utf8(suffixes[i], characters);
        class_of.emplace(SuffixLexicon::key(characters.data(), characters.size()), classes[i]);
    }
    for (const auto& [key, lexical_class] : class_of) {
        suffix_keys_.push_back(key);
        suffix_classes_.push_back(lexical_class);
    }
    lexicon_.build(suffix_keys_, suffix_classes_);
}

std::uint32_t TaggerTrainer::intern(const std::string& form) {
    const auto [entry, is_new] = type_of_.try_emplace(form, static_cast<std::uint32_t>(types_.size()));
    if (is_new) {
        std::u32string characters;
        decode_utf8(form, characters);
        const std::uint32_t lexical_class = lexicon_.class_of(characters.data(), characters.size());
        types_.push_back(hash_word(characters.data(), characters.size(), lexical_class));
    }
    return entry->second;
}

void TaggerTrainer::add_sentence(const std::vector<std::string>& forms, const std::vector<int>& gold) {
    if (prepared_) throw std::logic_error("sentences come before prepare()");
    require(forms.size() == gold.size(), "forms and labels differ in number");
    const std::size_t begin = words_.size();
    for (std::size_t i = 0; i < forms.size(); ++i) {
        const auto labels = static_cast<int>(universal_of_.size());
        const bool known = gold[i] >= 0 ? gold[i] < labels
                                        : std::count(universal_of_.begin(), universal_of_.end(), -1 - gold[i]) > 0;
        require(known, "a word has a label that the tagger does not have");
        words_.push_back({intern(forms[i]), gold[i]});
    }
    sentences_.push_back({begin, words_.size()});
}

Position<WordHashes> TaggerTrainer::position(const Sentence& sentence, std::size_t i, std::uint32_t label,
                                             std::uint32_t second_label) const {
    const auto word_at = [&](std::size_t at) {
        return at >= sentence.begin && at < sentence.end ? &types_[words_[at].type] : &boundary_;
    };
    return {word_at(i - 2), word_at(i - 1), word_at(i), word_at(i + 1), word_at(i + 2), label, second_label};
}

std::uint32_t TaggerTrainer::feature_number(std::uint32_t hash) const {
    const auto known = feature_of_.find(hash);
    return known == feature_of_.end() ? 0 : known->second;
}

void TaggerTrainer::prepare(int min_count) {
    if (prepared_) throw std::logic_error("prepare() comes once");
    prepared_ = true;
    std::unordered_map<std::uint32_t, int> counts;
    const auto count = [&](std::uint32_t hash) {
        if (hash != 0) ++counts[hash];
    };
    for (const Sentence& sentence : sentences_) {
        std::uint32_t label = 0, second_label = 0;
        for (std::size_t i = sentence.begin; i < sentence.end; ++i) {
            const auto at = position(sentence, i, label, second_label);
            for (std::uint32_t hash : at.word->own) count(hash);
            visit_neighbours(at, count);
            for (std::uint32_t hash : context_features(at)) count(hash);
            second_label = label;
            label = static_cast<std::uint32_t>(std::max(words_[i].gold, -1) + 1);
        }
    }
    for (const auto& [hash, number] : counts)
        if (number >= min_count) feature_of_.emplace(hash, static_cast<std::uint32_t>(feature_of_.size() + 1));
    rows_.resize(feature_of_.size() + 1);
    const auto resolve = [&](WordHashes& word) {
        for (std::uint32_t& feature : word.own) feature = feature_number(feature);
        for (std::uint32_t& feature : word.neighbour) feature = feature_number(feature);
    };
    for (WordHashes& word : types_) resolve(word);
    resolve(boundary_);
}

void TaggerTrainer::change(const std::vector<std::uint32_t>& features, std::size_t label, std::int32_t amount) {
    for (std::uint32_t feature : features) {
        auto& row = rows_[feature];
        auto weight = std::find_if(row.begin(), row.end(), [&](const Weight& w) { return w.label == label; });
        if (weight == row.end()) weight = row.insert(row.end(), {static_cast<std::uint16_t>(label), 0, 0});
        weight->value += amount;
        weight->total += amount * step_;
    }
}

std::size_t TaggerTrainer::run_epoch(std::uint64_t seed, int margin) {
    if (!prepared_) throw std::logic_error("prepare() comes before training");
    std::vector<std::size_t> order(sentences_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Random random(seed);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);

    const std::size_t labels = universal_of_.size();
    std::vector<std::int32_t> scores(labels);
    std::vector<std::uint32_t> features;
    const auto add = [&](std::uint32_t feature) {
        if (feature == 0) return;
        features.push_back(feature);
        for (const Weight& weight : rows_[feature]) scores[weight.label] += weight.value;
    };
    std::size_t errors = 0;
    Interrupt interrupt;
    for (std::size_t number : order) {
        interrupt.step();
        const Sentence& sentence = sentences_[number];
        std::uint32_t label = 0, second_label = 0;
        for (std::size_t i = sentence.begin; i < sentence.end; ++i) {
            ++step_;
            features.clear();
            std::fill(scores.begin(), scores.end(), 0);
            const auto at = position(sentence, i, label, second_label);
            for (std::uint32_t feature : at.word->own) add(feature);
            visit_neighbours(at, add);
            for (std::uint32_t hash : context_features(at)) add(feature_number(hash));
            std::size_t right = labels, wrong = labels;  // the best label that is allowed, the best that is not
            for (std::size_t k = 0; k < labels; ++k) {
                std::size_t& best = allowed(words_[i].gold, k) ? right : wrong;
                if (best == labels || scores[k] > scores[best]) best = k;
            }
            const bool correct = wrong == labels || scores[right] > scores[wrong];
            if (!correct) ++errors;
            if (wrong != labels && scores[right] - scores[wrong] <= margin) {
                change(features, right, 1);
                change(features, wrong, -1);
            }
            second_label = label;
            label = static_cast<std::uint32_t>(correct ? right : wrong) + 1;
        }
    }
    return errors;
}

TrainedArrays TaggerTrainer::quantised(double scale, int min_weight) const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> features(feature_of_.begin(), feature_of_.end());
    std::sort(features.begin(), features.end());
    TrainedArrays arrays;
    std::vector<std::uint32_t> hashes;
    const double steps = static_cast<double>(std::max<std::int64_t>(step_, 1));
    for (const auto& [hash, number] : features) {
        auto row = rows_[number];
        std::sort(row.begin(), row.end(), [](const Weight& a, const Weight& b) { return a.label < b.label; });
        std::uint8_t length = 0;
        for (const Weight& weight : row) {
            const double average = weight.value - static_cast<double>(weight.total) / steps;
            const double rounded = std::clamp(std::nearbyint(average * scale), -127.0, 127.0);
            if (rounded == 0 || std::abs(rounded) < min_weight) continue;
            arrays.row_labels.push_back(static_cast<std::uint8_t>(weight.label));
            arrays.row_weights.push_back(static_cast<std::int8_t>(rounded));
            ++length;
        }
        if (length == 0) continue;
        hashes.push_back(hash);
        arrays.row_lengths.push_back(length);
    }
    arrays.feature_deltas = hash_differences(hashes);
    arrays.suffix_deltas = hash_differences(suffix_keys_);
    arrays.suffix_classes.assign(suffix_classes_.begin(), suffix_classes_.end());
    return arrays;
}

}  // namespace tesla
