// The groups of features that need nothing but the core; Python names their columns (tesla_eval.metrics.features).
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "language/analysis/word_facts.h"
#include "language/analysis/word_marks.h"
#include "language/analysis/word_vectors.h"
#include "matching/text_bags.h"
#include "metrics/feature_group.h"

namespace tesla {

enum class Measure { Precision, Recall, F };

// Which measures of all problems are columns: first one measure of all problems, then the next.
using ChosenMeasures = std::vector<Measure>;

// What the n-grams of words are made of.
enum class WordForm { Lemma, UntaggedLemma, Surface };

class NgramGroup : public FeatureGroup {
   public:
    // `facts` tells which surface forms are the same; it may be null where lemmas are compared.
    NgramGroup(const Lexicon& lexicon, WordForm form, WordFacts* facts, BagRecipe recipe, double alpha, ChosenMeasures measures)
        : lexicon_(lexicon), form_(form), facts_(facts), recipe_(std::move(recipe)), alpha_(alpha),
          measures_(std::move(measures)), matcher_(lexicon, recipe_) {}

    std::size_t columns() const override { return recipe_.features.size() * measures_.size(); }
    std::unique_ptr<Prepared> prepare(const AnalysedTexts& texts) const override;
    Rows compare(const Prepared& reference, const Prepared& hypothesis, const TextPairs& pairs) const override;
    std::pair<Rows, Rows> compare_both_ways(const Prepared& texts, const TextPairs& pairs) const override;
    void compare_segments(const std::vector<AnalysedStream>& references, const AnalysedTexts& hypothesis,
                          const std::vector<bool>& read, const TakeRow& take) const override;

   private:
    class Columns;

    const Lexicon& lexicon_;
    WordForm form_;
    WordFacts* facts_;
    BagRecipe recipe_;
    double alpha_;
    ChosenMeasures measures_;
    SegmentMatcher matcher_;
};

class CharacterGroup : public FeatureGroup {
   public:
    CharacterGroup(int max_order, double alpha, ChosenMeasures measures);

    std::size_t columns() const override { return static_cast<std::size_t>(max_order_) * measures_.size(); }
    std::unique_ptr<Prepared> prepare(const AnalysedTexts& texts) const override;
    Rows compare(const Prepared& reference, const Prepared& hypothesis, const TextPairs& pairs) const override;
    std::pair<Rows, Rows> compare_both_ways(const Prepared& texts, const TextPairs& pairs) const override;
    void compare_segments(const std::vector<AnalysedStream>& references, const AnalysedTexts& hypothesis,
                          const std::vector<bool>& read, const TakeRow& take) const override;

   private:
    int max_order_;
    double alpha_;
    ChosenMeasures measures_;
};

// F of n = 1 .. `orders` characters, of n + `growth` where the reference has `longest` characters or more, blanks included, and
// a mean of both where it has more than `shortest`: in a paragraph nearly all short n-grams of any text find a partner.
class SlidingGroup : public FeatureGroup {
   public:
    SlidingGroup(int orders, int growth, std::int64_t shortest, std::int64_t longest, double alpha)
        : orders_(orders), growth_(growth), shortest_(shortest), longest_(longest), alpha_(alpha) {}

    std::size_t columns() const override { return static_cast<std::size_t>(orders_); }
    std::unique_ptr<Prepared> prepare(const AnalysedTexts& texts) const override;
    Rows compare(const Prepared& reference, const Prepared& hypothesis, const TextPairs& pairs) const override;
    std::pair<Rows, Rows> compare_both_ways(const Prepared& texts, const TextPairs& pairs) const override;
    void compare_segments(const std::vector<AnalysedStream>& references, const AnalysedTexts& hypothesis,
                          const std::vector<bool>& read, const TakeRow& take) const override;

   private:
    struct Texts;
    Rows slid(const std::vector<double>& f, const Texts& references, const ArrayView<std::int64_t>& index) const;
    // `f` are those of n = 1 .. `orders` + `growth`, of a pair whose reference has so many characters.
    void slide(const double* f, std::int64_t length, double* row) const;

    int orders_, growth_;
    std::int64_t shortest_, longest_;
    double alpha_;
};

class SurfaceGroup : public FeatureGroup {
   public:
    explicit SurfaceGroup(WordFacts& facts);

    std::size_t columns() const override;
    std::unique_ptr<Prepared> prepare(const AnalysedTexts& texts) const override;
    Rows compare(const Prepared& reference, const Prepared& hypothesis, const TextPairs& pairs) const override;
    void compare_segments(const std::vector<AnalysedStream>& references, const AnalysedTexts& hypothesis,
                          const std::vector<bool>& read, const TakeRow& take) const override;

   private:
    void mark_missing(double* row) const;

    WordFacts& facts_;
    std::vector<std::size_t> missing_;  // columns of features that do not exist
};

class VectorGroup : public FeatureGroup {
   public:
    VectorGroup(WordVectors& vectors, double alpha, ChosenMeasures measures)
        : vectors_(vectors), alpha_(alpha), measures_(std::move(measures)) {}

    std::size_t columns() const override;
    std::unique_ptr<Prepared> prepare(const AnalysedTexts& texts) const override;
    Rows compare(const Prepared& reference, const Prepared& hypothesis, const TextPairs& pairs) const override;
    void compare_segments(const std::vector<AnalysedStream>& references, const AnalysedTexts& hypothesis,
                          const std::vector<bool>& read, const TakeRow& take) const override;

   private:
    WordVectors& vectors_;
    double alpha_;
    ChosenMeasures measures_;
};

class GuardGroup : public FeatureGroup {
   public:
    explicit GuardGroup(CriticalWords& words) : words_(words) {}

    std::size_t columns() const override;
    std::unique_ptr<Prepared> prepare(const AnalysedTexts& texts) const override;
    Rows compare(const Prepared& reference, const Prepared& hypothesis, const TextPairs& pairs) const override;
    void compare_segments(const std::vector<AnalysedStream>& references, const AnalysedTexts& hypothesis,
                          const std::vector<bool>& read, const TakeRow& take) const override;

   private:
    void mark_missing(double* row) const;

    CriticalWords& words_;
};

}  // namespace tesla
