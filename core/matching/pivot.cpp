#include "matching/pivot.h"

#include <algorithm>
#include <cmath>

namespace tesla {

namespace {

constexpr double kUnseenCount = 0.5;   // N of a single word that is not in the table (specification §6)
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

std::uint32_t PivotNgram::lemma(int from_end) const {
    const int shift = kLemmaKeyBits * from_end;
    return static_cast<std::uint32_t>((shift < 64 ? lemmas.low >> shift : lemmas.high >> (shift - 64)) - 1);
}

std::uint8_t PivotNgram::tag(int from_end) const { return static_cast<std::uint8_t>((tags >> (kTagKeyBits * from_end)) - 1); }

// The lock is held while numbers are copied, not while words are looked up: where two threads look up the same one, both are right.
std::vector<PivotLemma> PivotLemmaCache::look_up(const PhraseTable& table, const Lexicon& lexicon,
                                                 const std::uint32_t* lemmas, std::size_t count) {
    std::vector<PivotLemma> result(count, kUnknown);
    std::vector<std::uint32_t> unknown;
    const auto is_unknown = [](const PivotLemma& lemma) { return lemma.pivot == kUnknown.pivot; };
    {
        std::lock_guard lock(mutex_);
        for (std::size_t i = 0; i < count; ++i) {
            if (lexicon_ == lexicon.serial() && lemmas[i] < known_.size()) result[i] = known_[lemmas[i]];
            if (is_unknown(result[i])) unknown.push_back(lemmas[i]);
        }
    }
    if (unknown.empty()) return result;
    std::sort(unknown.begin(), unknown.end());
    unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
    std::vector<PivotLemma> looked_up;
    for (std::uint32_t lemma : unknown) {
        const std::string text = lexicon.lemma_text(lemma);
        PivotLemma& known = looked_up.emplace_back(PivotLemma{table.target.find(text), table.pivot.find(text)});
        if (is_unknown(known)) known.pivot = static_cast<std::uint32_t>(table.pivot.size()) + lemma;
    }
    std::lock_guard lock(mutex_);
    if (lexicon_ != lexicon.serial()) known_.clear();
    lexicon_ = lexicon.serial();
    if (unknown.back() >= known_.size()) known_.resize(unknown.back() + std::size_t{1}, kUnknown);
    for (std::size_t k = 0; k < unknown.size(); ++k) known_[unknown[k]] = looked_up[k];
    for (std::size_t i = 0; i < count; ++i)
        if (is_unknown(result[i])) result[i] = known_[lemmas[i]];
    return result;
}

void NgramMerger::merge(std::vector<PivotNgram>& ngrams) {
    if (ngrams.size() < 2) return;
    places_.reset(ngrams.size());
    std::uint32_t kept = 0;
    for (const PivotNgram& ngram : ngrams) {
        const std::uint32_t place =
            places_.find_or_add(table_hash(ngram.lemmas.low, ngram.lemmas.high, ngram.tags), kept,
                                [&](std::uint32_t known) { return same_words(ngrams[known], ngram); });
        if (place == kept)
            ngrams[kept++] = ngram;
        else
            ngrams[place].probability += ngram.probability;
    }
    ngrams.resize(kept);
}

// Dynamic programming from the end of the text, so that of equally good segmentations the one with the longer first
// phrase is at hand. Logarithms of counts; every phrase also costs the logarithm of their total.
void PivotBuilder::segment(const PivotTokens& text) {
    const double log_total = std::log(table_.total);
    steps_.assign(text.size + 1, Step{0, 0, 0, PhraseTable::kNoNode});
    for (std::size_t i = text.size; i-- > 0;) {
        Step& best = steps_[i];
        std::uint32_t node = text.lemma[i].target;
        for (std::uint32_t length = 1; length <= kLongestPhrase && i + length <= text.size; ++length) {
            if (length > 1) {
                std::uint32_t word = text.lemma[i + length - 1].target;
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
            network_.words.push_back({text.lemma[i].pivot, text.universal[i], text.function[i] != 0});
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
                ngrams_[n - 1].push_back(ngram);
                if (start + n == size && n <= longest_run) next_[n - 1].push_back(ngram);
            }
        }
        for (int k = 1; k <= longest_run; ++k) {
            for (PivotNgram ngram : runs_[k - 1]) {
                ngram.probability *= option.probability;
                for (int m = 1; m <= size && k + m <= longest_; ++m) {
                    ngram = with_word(ngram, words[m - 1]);
                    ngrams_[k + m - 1].push_back(ngram);
                    if (m == size && k + m <= longest_run) next_[k + m - 1].push_back(ngram);
                }
            }
        }
    }
    for (int k = 0; k < longest_run; ++k) {
        merger_.merge(next_[k]);
        std::swap(runs_[k], next_[k]);
    }
}

const std::vector<PivotNgram>* PivotBuilder::ngrams() {
    for (int n = 0; n < longest_; ++n) {
        runs_[n].clear();
        ngrams_[n].clear();
    }
    for (const PivotSegment& segment : network_.segments) add_segment(segment);
    for (int n = 0; n < longest_; ++n) {
        std::vector<PivotNgram>& ngrams = ngrams_[n];
        merger_.merge(ngrams);
        const auto is_rare = [this](const PivotNgram& ngram) { return ngram.probability <= settings_.min_ngram; };
        ngrams.erase(std::remove_if(ngrams.begin(), ngrams.end(), is_rare), ngrams.end());
    }
    return ngrams_;
}

}  // namespace tesla
