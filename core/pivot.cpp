#include "pivot.h"

#include <algorithm>
#include <cmath>

namespace tesla {

namespace {

constexpr double kUnseenCount = 0.5;   // N of a single word that is not in the table (SPEC §6)
constexpr double kTie = 1e-9;          // scores this close are equal: sums of logarithms round differently
constexpr int kLemmaKeyBits = 32, kTagKeyBits = 8;

PivotNgram with_word(PivotNgram ngram, const PivotWord& word) {
    ngram.lemmas = appended(ngram.lemmas, word.lemma + 1ull, kLemmaKeyBits);
    ngram.tags = appended(ngram.tags, word.tag + 1ull, kTagKeyBits);
    ngram.functions += word.function;
    return ngram;
}

bool same_words(const PivotNgram& a, const PivotNgram& b) {
    return a.lemmas == b.lemmas && a.tags == b.tags && a.functions == b.functions;
}

}  // namespace

PivotLookup::PivotLookup(const PhraseTable& table, const Lexicon& lexicon, const std::uint32_t* lemmas,
                         std::size_t count) {
    std::uint32_t most = count ? *std::max_element(lemmas, lemmas + count) : 0;
    constexpr std::uint32_t kNew = 0xFFFFFFFF;
    places_.assign(most + std::size_t{1}, kNew);
    for (std::size_t i = 0; i < count; ++i) {
        if (places_[lemmas[i]] != kNew) continue;
        places_[lemmas[i]] = static_cast<std::uint32_t>(entries_.size());
        const std::string text = lexicon.lemma_text(lemmas[i]);
        std::uint32_t pivot = table.pivot.find(text);
        if (pivot == WordList::kMissing) pivot = static_cast<std::uint32_t>(table.pivot.size()) + lemmas[i];
        entries_.push_back({lemmas[i], table.target.find(text), pivot});
    }
}

// Dynamic programming from the end of the text, so that of equally good segmentations the one with the longer first
// phrase is at hand. Logarithms of counts; every phrase also costs the logarithm of their total.
void PivotBuilder::segment(const PivotTokens& text) {
    const double log_total = std::log(table_.total);
    steps_.assign(text.size + 1, Step{0, 0, 0, PhraseTable::kNoNode});
    for (std::size_t i = text.size; i-- > 0;) {
        Step& best = steps_[i];
        std::uint32_t node = lookup_.target(text.lemma[i]);
        for (std::uint32_t length = 1; length <= kLongestPhrase && i + length <= text.size; ++length) {
            if (length > 1) {
                std::uint32_t word = lookup_.target(text.lemma[i + length - 1]);
                node = node == PhraseTable::kNoNode || word == WordList::kMissing ? PhraseTable::kNoNode
                                                                                  : table_.child(node, word);
                if (node == PhraseTable::kNoNode) break;
            }
            bool known = node != PhraseTable::kNoNode && table_.node_count[node] > 0;
            if (!known && length > 1) continue;
            double count = known ? static_cast<double>(table_.node_count[node]) : kUnseenCount;
            const Step& rest = steps_[i + length];
            Step step{std::log(count) - log_total + rest.score, rest.phrases + 1, length,
                      known ? node : PhraseTable::kNoNode};
            double margin = kTie * (1 + std::abs(best.score));
            if (length == 1 || step.score > best.score + margin ||
                (step.score >= best.score - margin && step.phrases <= best.phrases))
                best = step;
        }
    }
}

const PivotNetwork& PivotBuilder::network(const PivotTokens& text) {
    segment(text);
    network_.segments.clear();
    network_.options.clear();
    network_.words.clear();
    for (std::uint32_t i = 0; i < text.size; i += steps_[i].length) {
        const Step& step = steps_[i];
        auto first = static_cast<std::uint32_t>(network_.options.size());
        auto add_option = [&](double probability, std::uint32_t size) {
            network_.options.push_back({probability, static_cast<std::uint32_t>(network_.words.size()), size});
        };
        if (step.node == PhraseTable::kNoNode) {
            add_option(1.0, 1);
            network_.words.push_back({lookup_.pivot(text.lemma[i]), text.universal[i], text.function[i] != 0});
        } else {
            auto count = static_cast<double>(table_.node_count[step.node]);
            for (std::uint32_t k = table_.node_option[step.node]; k < table_.node_option[step.node + 1]; ++k) {
                double probability = table_.option_count[k] / count;
                if (k > table_.node_option[step.node] && probability <= settings_.min_probability) break;
                std::uint32_t phrase = table_.option_phrase[k];
                std::uint32_t from = table_.phrase_ends[phrase], to = table_.phrase_ends[phrase + 1];
                add_option(probability, to - from);
                for (std::uint32_t w = from; w < to; ++w) {
                    std::uint32_t word = table_.phrase_words[w];
                    std::uint8_t tag = table_.pivot_tags[word];
                    network_.words.push_back({word, static_cast<std::uint8_t>(tag & ~PhraseTable::kFunctionBit),
                                              (tag & PhraseTable::kFunctionBit) != 0});
                }
            }
        }
        network_.segments.push_back(
            {i, i + step.length, first, static_cast<std::uint32_t>(network_.options.size()) - first});
    }
    return network_;
}

// Equal runs become one, which stands where the first of them stood.
void PivotBuilder::merge(std::vector<Run>& runs) {
    if (runs.size() < 2) return;
    std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
        if (!(a.ngram.lemmas == b.ngram.lemmas)) return a.ngram.lemmas < b.ngram.lemmas;
        if (a.ngram.tags != b.ngram.tags) return a.ngram.tags < b.ngram.tags;
        if (a.ngram.functions != b.ngram.functions) return a.ngram.functions < b.ngram.functions;
        return a.order < b.order;
    });
    std::size_t kept = 0;
    for (std::size_t i = 1; i < runs.size(); ++i) {
        if (same_words(runs[kept].ngram, runs[i].ngram))
            runs[kept].ngram.probability += runs[i].ngram.probability;
        else
            runs[++kept] = runs[i];
    }
    runs.resize(kept + 1);
    std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.order < b.order; });
}

// One more segment: n-grams inside its options, and those that come in from the left. `runs_[k - 1]` holds the runs of
// k words that end just before it.
void PivotBuilder::add_segment(const PivotSegment& segment) {
    const int longest_run = longest_ - 1;
    for (int k = 0; k < longest_run; ++k) next_[k].clear();
    for (std::uint32_t o = segment.first_option; o < segment.first_option + segment.options; ++o) {
        const PivotOption& option = network_.options[o];
        const PivotWord* words = network_.words.data() + option.first;
        const int size = static_cast<int>(option.size);
        for (int start = 0; start < size; ++start) {
            PivotNgram ngram{{}, 0, 0, option.probability};
            for (int n = 1; n <= longest_ && start + n <= size; ++n) {
                ngram = with_word(ngram, words[start + n - 1]);
                emit(n, ngram);
                if (start + n == size && n <= longest_run)
                    next_[n - 1].push_back({ngram, static_cast<std::uint32_t>(next_[n - 1].size())});
            }
        }
        for (int k = 1; k <= longest_run; ++k) {
            for (const Run& run : runs_[k - 1]) {
                PivotNgram ngram = run.ngram;
                ngram.probability *= option.probability;
                for (int m = 1; m <= size && k + m <= longest_; ++m) {
                    ngram = with_word(ngram, words[m - 1]);
                    emit(k + m, ngram);
                    if (m == size && k + m <= longest_run)
                        next_[k + m - 1].push_back({ngram, static_cast<std::uint32_t>(next_[k + m - 1].size())});
                }
            }
        }
    }
    for (int k = 0; k < longest_run; ++k) {
        merge(next_[k]);
        std::swap(runs_[k], next_[k]);
    }
}

const std::vector<PivotNgram>* PivotBuilder::ngrams() {
    for (int n = 0; n < longest_; ++n) {
        runs_[n].clear();
        found_[n].clear();
    }
    for (const PivotSegment& segment : network_.segments) add_segment(segment);
    for (int n = 0; n < longest_; ++n) {
        merge(found_[n]);
        ngrams_[n].clear();
        for (const Run& run : found_[n])
            if (run.ngram.probability > settings_.min_ngram) ngrams_[n].push_back(run.ngram);
    }
    return ngrams_;
}

}  // namespace tesla
