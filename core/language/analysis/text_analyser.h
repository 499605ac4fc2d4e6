// One way from texts to tokens: all that one language needs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fork_safe.h"
#include "language/analysis/analysis.h"

namespace tesla {

// A text that was analysed alone; `texts` views `text`.
struct AnalysedText {
    AnalysedText(std::string_view given, TokenArrays&& arrays) : text(given), texts{text}, tokens(std::move(arrays)) {}
    AnalysedText(const AnalysedText&) = delete;

    const std::string text;
    const std::vector<std::string_view> texts;
    const TokenArrays tokens;
};

// The last short texts that were analysed alone: one that several others are compared with is analysed once.
class RecentTexts {
   public:
    std::shared_ptr<const AnalysedText> find(const HashedText& text);  // null: not among them
    void keep(const HashedText& text, std::shared_ptr<const AnalysedText> analysed);
    void forget();

   private:
    static constexpr std::size_t kKept = 64, kLongest = std::size_t{1} << 14;  // texts, bytes: longer ones would fill the memory

    ForkSafe<std::mutex> mutex_;
    std::array<std::uint32_t, kKept> hashes_{};
    std::array<std::shared_ptr<const AnalysedText>, kKept> texts_;
    std::size_t oldest_ = 0;
};

// Many threads may use it at the same time.
class TextAnalyser {
   public:
    // Gives a lemma to word types that have none yet. No lock is held meanwhile.
    using Define = std::function<void(const std::vector<std::uint32_t>&)>;
    using Texts = Draft::Texts;

    // With `lemmas` it defines plain words itself, and asks for the others.
    TextAnalyser(Lexicon& lexicon, const Tokeniser& tokeniser, const PlainLemmas* lemmas, const SenseIndex* senses,
                 Define define, std::vector<LabelMeaning> labels, bool keep_punctuation)
        : lexicon_(lexicon),
          tokeniser_(tokeniser),
          lemmas_(lemmas),
          senses_(senses),
          define_(std::move(define)),
          labels_(std::move(labels)),
          keep_punctuation_(keep_punctuation) {}

    // One batch for each group of texts; with punctuation if the analyser keeps it or the caller asks for it.
    std::vector<TokenArrays> analyse(const std::vector<const Texts*>& groups, bool keep_punctuation) const;
    // Each text alone.
    std::vector<std::shared_ptr<const AnalysedText>> analyse_alone(const Texts& texts);
    void forget_recent() { recent_.forget(); }

   private:
    Lexicon& lexicon_;
    const Tokeniser& tokeniser_;
    const PlainLemmas* lemmas_;
    const SenseIndex* senses_;
    Define define_;
    std::vector<LabelMeaning> labels_;
    const bool keep_punctuation_;
    RecentTexts recent_;
};

}  // namespace tesla
