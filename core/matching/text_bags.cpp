#include "matching/text_bags.h"

#include <algorithm>
#include <optional>

#include "base/checks.h"
#include "base/interrupt.h"

namespace tesla {
namespace {

constexpr const char* kSkip = "skip";
constexpr std::size_t kFewWords = 512;  // in a call: then asking for memory would take much of the time
constexpr std::size_t kBuildingToken = 100;  // nanoseconds that a token takes to go into a text's bags

}  // namespace

// Makes the bags of one text after the other; they live in `memory`.
class TextBagBuilder {
   public:
    TextBagBuilder(const BagRecipe& recipe, std::pmr::memory_resource* memory)
        : features_(recipe.features),
          max_order_(recipe.highest_order(Similarity::MaxSim)),
          lemma_order_(recipe.highest_order(Similarity::Lemma)),
          tag_order_(recipe.highest_order(Similarity::Tag)),
          builder_(recipe.discount, memory) {}

    TextBags build(const TokenView& tokens) {
        builder_.begin(tokens);
        TextBags text{builder_.symbol_bag(max_order_), builder_.lemma_bags(lemma_order_), builder_.tag_bags(tag_order_), {}};
        for (const Feature& f : features_)
            if (f.gap > 0) text.skips.push_back(builder_.skip_bag(f.gap));
        return text;
    }

   private:
    const std::vector<Feature>& features_;
    const int max_order_, lemma_order_, tag_order_;
    BagBuilder builder_;
};

// Matches one pair of texts after the other; their bags were made for the same recipe.
class PairMatcher {
   public:
    PairMatcher(const Lexicon& lexicon, const BagRecipe& recipe)
        : features_(recipe.features),
          any_symbols_(recipe.highest_order(Similarity::MaxSim) > 0),
          any_lemmas_(recipe.highest_order(Similarity::Lemma) > 0),
          any_tags_(recipe.highest_order(Similarity::Tag) > 0),
          weights_(recipe.discount),
          matcher_(lexicon),
          matches_(recipe.features.size()) {}

    // One match for each feature.
    const Match* match(const TextBags& x, const TextBags& y) {
        if (any_symbols_) matcher_.begin_pair(x.symbols, y.symbols);
        Overlaps lemmas{}, tags{};
        if (any_lemmas_) lemmas = overlaps(x.lemmas, y.lemmas, weights_);
        if (any_tags_) tags = overlaps(x.tags, y.tags, weights_);
        std::size_t skip = 0;
        for (std::size_t c = 0; c < features_.size(); ++c) {
            const Feature& feature = features_[c];
            const auto n = static_cast<std::size_t>(feature.n);
            Match& m = matches_[c];
            if (feature.gap > 0) {
                m = match_keys(x.skips[skip], y.skips[skip]);
                ++skip;
            } else {
                switch (feature.similarity) {
                    case Similarity::MaxSim: m = match_symbols(x.symbols, y.symbols, feature.n); break;
                    case Similarity::Lemma: m = {lemmas[n - 1], x.lemmas.totals[n - 1], y.lemmas.totals[n - 1]}; break;
                    case Similarity::Tag: m = {tags[n - 1], x.tags.totals[n - 1], y.tags.totals[n - 1]}; break;
                }
            }
        }
        return matches_.data();
    }

   private:
    Match match_symbols(const SymbolBag& x, const SymbolBag& y, int n) {
        const std::int64_t scale = 2 * n;
        return {matcher_.optimum(n), scale * x.orders[n - 1].total, scale * y.orders[n - 1].total};
    }

    const std::vector<Feature>& features_;
    const bool any_symbols_, any_lemmas_, any_tags_;
    const NgramWeights weights_;
    MaxSimMatcher matcher_;
    std::vector<Match> matches_;
};

void TokenColumns::check() const {
    check_csr(offsets, lemma.size);
    check_columns(lemma.size, {tag.size, function.size});
}

Feature feature_named(const std::string& similarity, int n) {
    if (similarity == kSkip) {
        require(n >= 0 && n <= kMaxGap, "skip bigrams have 0 to 1000 tokens between them");
        return {Similarity::Lemma, 2, n};
    }
    require(n >= 1 && n <= kMaxOrder, "n-grams have 1 to 3 tokens");
    return {similarity_named(similarity), n};
}

int BagRecipe::highest_order(Similarity similarity) const {
    int highest = 0;
    for (const Feature& f : features)
        if (f.similarity == similarity && f.gap == 0) highest = std::max(highest, f.n);
    return highest;
}

void BagRecipe::check(const TokenColumns& tokens, const Lexicon& lexicon) const {
    tokens.check();
    // Only this similarity asks the lexicon; for the others a number need not be that of a lemma.
    if (highest_order(Similarity::MaxSim) > 0) check_below(tokens.lemma, lexicon.lemma_count(), "no such lemma");
}

BatchBags::BatchBags(const Lexicon& lexicon, const TokenColumns& tokens, BagRecipe recipe)
    : lexicon_(lexicon), recipe_(std::move(recipe)) {
    recipe_.check(tokens, lexicon);
    TextBagBuilder builder(recipe_, &memory_);
    texts_.reserve(tokens.size());
    Interrupt interrupt;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        texts_.push_back(builder.build(tokens[i]));
        interrupt.step(kBuildingToken * tokens[i].size);
    }
}

Measures BatchBags::match(const BatchBags& reference, const BatchBags& hypothesis, const TextPairs& pairs, double alpha,
                          bool both_ways) {
    require(reference.recipe_ == hypothesis.recipe_ && &reference.lexicon_ == &hypothesis.lexicon_,
            "the bags do not belong together");
    Measures measures(pairs.size(), reference.recipe_.features.size(), alpha, both_ways);
    PairMatcher matcher(reference.lexicon_, reference.recipe_);
    for_each_pair(pairs, reference.texts_, hypothesis.texts_, [&](std::size_t k, const TextBags& x, const TextBags& y) {
        const Match* const matches = matcher.match(x, y);
        for (std::size_t c = 0; c < measures.columns; ++c) measures.set(k, c, matches[c]);
    });
    return measures;
}

// What one thread needs to match one segment after the other.
struct SegmentMatcher::Work {
    Work(const Lexicon& lexicon, const BagRecipe& recipe) : builder(recipe, arena.memory()), matcher(lexicon, recipe) {}

    ReusedArena arena;
    TextBagBuilder builder;
    PairMatcher matcher;
    Interrupt interrupt;
};

SegmentMatcher::SegmentMatcher(const Lexicon& lexicon, BagRecipe recipe) : lexicon_(lexicon), recipe_(std::move(recipe)) {}
SegmentMatcher::~SegmentMatcher() = default;

// Bags live no longer than their segment, so that the same memory, which the cache holds, serves all segments.
void SegmentMatcher::match(const std::vector<ReferenceStream>& references, const TokenColumns& hypothesis,
                           const Take& take) const {
    recipe_.check(hypothesis, lexicon_);
    const std::size_t segments = hypothesis.size();
    std::size_t words = hypothesis.lemma.size;
    for (const auto& [tokens, present] : references) {
        recipe_.check(tokens, lexicon_);
        require(tokens.size() == segments, "a stream has another number of texts");
        check_ascending(present, segments);
        words += tokens.lemma.size;
    }
    std::unique_ptr<Work> work = spare_.take([this] { return std::make_unique<Work>(lexicon_, recipe_); });
    std::vector<std::size_t> next(references.size());  // number of each stream, counted among those that are present
    for (std::size_t i = 0; i < segments; ++i) {
        std::optional<TextBags> y;
        work->interrupt.step(kBuildingToken * hypothesis[i].size);
        for (std::size_t s = 0; s < references.size(); ++s) {
            const auto& [tokens, present] = references[s];
            if (next[s] == present.size || static_cast<std::size_t>(present[next[s]]) != i) continue;
            ++next[s];
            if (!y) y = work->builder.build(hypothesis[i]);
            take(s, i, work->matcher.match(work->builder.build(tokens[i]), *y));
        }
        y.reset();
        work->arena.empty();
    }
    if (words <= kFewWords) spare_.keep(std::move(work));
}

}  // namespace tesla
