#include "metrics/groups.h"

#include <algorithm>
#include <string_view>

#include "analysis/sentence_starts.h"
#include "matching/characters.h"
#include "matching/guards.h"
#include "matching/measures.h"
#include "matching/surface.h"
#include "matching/vector_texts.h"
#include "metrics/combination.h"

namespace tesla {
namespace {

template <class Texts>
struct Holding : FeatureGroup::Prepared {
    template <class... Arguments>
    explicit Holding(Arguments&&... arguments) : texts(std::forward<Arguments>(arguments)...) {}
    Texts texts;
};

// A group prepares all texts that it compares, so that they are of its own kind.
template <class Texts>
const Texts& texts_of(const FeatureGroup::Prepared& prepared) {
    return static_cast<const Holding<Texts>&>(prepared).texts;
}

Rows chosen(const Measures& measures, const ChosenMeasures& names) {
    const std::size_t columns = measures.columns, rows = columns ? measures.f.size() / columns : 0;
    Rows out(rows * columns * names.size());
    double* to = out.data();
    for (std::size_t row = 0; row < rows; ++row)
        for (Measure name : names) {
            const std::vector<double>& from = name == Measure::Precision ? measures.precision
                                              : name == Measure::Recall  ? measures.recall
                                                                         : measures.f;
            to = std::copy_n(from.data() + row * columns, columns, to);
        }
    return out;
}

// What the same match is with the sides exchanged.
Measures exchanged(Measures measures) {
    std::swap(measures.precision, measures.recall);
    std::swap(measures.f, measures.exchanged_f);
    return measures;
}

std::pair<Rows, Rows> chosen_both_ways(Measures&& measures, const ChosenMeasures& names) {
    Rows forth = chosen(measures, names);
    return {std::move(forth), chosen(exchanged(std::move(measures)), names)};
}

}  // namespace

// The tokens as bags read them.
class NgramGroup::Columns {
   public:
    Columns(const NgramGroup& group, const TokenArrays& tokens)
        : view_{tokens.offsets, tokens.lemma, tokens.tag, tokens.function} {
        if (group.form_ == WordForm::UntaggedLemma) {
            no_tags_.resize(tokens.tag.size());
            view_.tag = no_tags_;
        } else if (group.form_ == WordForm::Surface) {
            group.facts_->learn(tokens.word, {});
            folded_.reserve(tokens.word.size());
            for (std::uint32_t word : tokens.word) folded_.push_back((*group.facts_)[word].folded);
            view_.lemma = folded_;
        }
    }
    const TokenColumns& view() const { return view_; }

   private:
    TokenColumns view_;
    std::vector<std::uint16_t> no_tags_;
    std::vector<std::uint32_t> folded_;
};

std::unique_ptr<FeatureGroup::Prepared> NgramGroup::prepare(const AnalysedTexts& texts) const {
    const Columns columns(*this, texts.tokens);
    return std::make_unique<Holding<BatchBags>>(lexicon_, columns.view(), recipe_);
}

Rows NgramGroup::compare(const Prepared& reference, const Prepared& hypothesis, const TextPairs& pairs) const {
    return chosen(BatchBags::match(texts_of<BatchBags>(reference), texts_of<BatchBags>(hypothesis), pairs, alpha_, false),
                  measures_);
}

std::pair<Rows, Rows> NgramGroup::compare_both_ways(const Prepared& texts, const TextPairs& pairs) const {
    const BatchBags& bags = texts_of<BatchBags>(texts);
    return chosen_both_ways(BatchBags::match(bags, bags, pairs, alpha_, true), measures_);
}

std::vector<Rows> NgramGroup::compare_segments(const std::vector<AnalysedStream>& references,
                                               const AnalysedTexts& hypothesis) const {
    const Columns y(*this, hypothesis.tokens);
    std::vector<Columns> kept;
    kept.reserve(references.size());  // views point into what is kept
    std::vector<ReferenceStream> streams;
    for (const AnalysedStream& stream : references)
        streams.push_back({kept.emplace_back(*this, stream.texts.tokens).view(), stream.present});
    std::vector<Rows> rows;
    for (const Measures& measures : match_segments(lexicon_, streams, y.view(), recipe_, alpha_))
        rows.push_back(chosen(measures, measures_));
    return rows;
}

std::unique_ptr<FeatureGroup::Prepared> CharacterGroup::prepare(const AnalysedTexts& texts) const {
    return std::make_unique<Holding<CharacterBags>>(texts.texts);
}

Rows CharacterGroup::compare(const Prepared& reference, const Prepared& hypothesis, const TextPairs& pairs) const {
    return chosen(CharacterBags::match(texts_of<CharacterBags>(reference), texts_of<CharacterBags>(hypothesis), pairs, max_order_,
                                       alpha_, false),
                  measures_);
}

std::pair<Rows, Rows> CharacterGroup::compare_both_ways(const Prepared& texts, const TextPairs& pairs) const {
    const CharacterBags& bags = texts_of<CharacterBags>(texts);
    return chosen_both_ways(CharacterBags::match(bags, bags, pairs, max_order_, alpha_, true), measures_);
}

struct SlidingGroup::Texts {
    explicit Texts(const std::vector<std::string_view>& texts) : bags(texts) {
        for (std::string_view text : texts)
            lengths.push_back(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
    }
    CharacterBags bags;
    std::vector<std::int64_t> lengths;  // in characters
};

std::unique_ptr<FeatureGroup::Prepared> SlidingGroup::prepare(const AnalysedTexts& texts) const {
    return std::make_unique<Holding<Texts>>(texts.texts);
}

Rows SlidingGroup::slid(const std::vector<double>& f, const Texts& references, const ArrayView<std::int64_t>& index) const {
    const auto orders = static_cast<std::size_t>(orders_), growth = static_cast<std::size_t>(growth_);
    Rows rows(index.size * orders);
    for (std::size_t k = 0; k < index.size; ++k) {
        const std::int64_t beyond = references.lengths[static_cast<std::size_t>(index[k])] - shortest_;
        const double share = std::clamp(static_cast<double>(beyond) / static_cast<double>(longest_ - shortest_), 0.0, 1.0);
        for (std::size_t n = 0; n < orders; ++n) {
            const double low = f[k * (orders + growth) + n], high = f[k * (orders + growth) + n + growth];
            rows[k * orders + n] = share > 0 ? low + share * (high - low) : low;
        }
    }
    return rows;
}

Rows SlidingGroup::compare(const Prepared& reference, const Prepared& hypothesis, const TextPairs& pairs) const {
    const Texts &x = texts_of<Texts>(reference), &y = texts_of<Texts>(hypothesis);
    return slid(CharacterBags::match(x.bags, y.bags, pairs, orders_ + growth_, alpha_, false).f, x, pairs.reference);
}

std::pair<Rows, Rows> SlidingGroup::compare_both_ways(const Prepared& texts, const TextPairs& pairs) const {
    const Texts& both = texts_of<Texts>(texts);
    const Measures measures = CharacterBags::match(both.bags, both.bags, pairs, orders_ + growth_, alpha_, true);
    return {slid(measures.f, both, pairs.reference), slid(measures.exchanged_f, both, pairs.hypothesis)};
}

std::size_t SurfaceGroup::columns() const { return kSurfaceColumns; }

std::unique_ptr<FeatureGroup::Prepared> SurfaceGroup::prepare(const AnalysedTexts& texts) const {
    return std::make_unique<Holding<Surfaces>>(texts.texts, texts.tokens, facts_);
}

Rows SurfaceGroup::compare(const Prepared& reference, const Prepared& hypothesis, const TextPairs& pairs) const {
    Rows rows = Surfaces::compare(texts_of<Surfaces>(reference), texts_of<Surfaces>(hypothesis), pairs);
    if (!facts_.weighted())
        for (std::size_t column = 0; column < kSurfaceColumns; ++column) {
            const std::string_view name = kSurfaceFeatures[column];
            if (name.substr(0, 4) != "rare" && name != "unknown") continue;
            for (std::size_t at = column; at < rows.size(); at += kSurfaceColumns) rows[at] = kMissing;
        }
    return rows;
}

std::size_t VectorGroup::columns() const { return kVectorProblems * measures_.size(); }

std::unique_ptr<FeatureGroup::Prepared> VectorGroup::prepare(const AnalysedTexts& texts) const {
    return std::make_unique<Holding<VectorTexts>>(texts.tokens, vectors_, true);
}

Rows VectorGroup::compare(const Prepared& reference, const Prepared& hypothesis, const TextPairs& pairs) const {
    return chosen(VectorTexts::match(texts_of<VectorTexts>(reference), texts_of<VectorTexts>(hypothesis), pairs, alpha_),
                  measures_);
}

std::size_t GuardGroup::columns() const { return kGuardColumns; }

std::unique_ptr<FeatureGroup::Prepared> GuardGroup::prepare(const AnalysedTexts& texts) const {
    const TokenArrays& tokens = texts.tokens;
    const std::vector<std::uint32_t> numbers = words_.numbers(tokens);
    const std::vector<std::uint8_t> negations = words_.negations(tokens);
    const std::vector<std::uint8_t> starts = sentence_starts(tokens, texts.texts);
    return std::make_unique<Holding<Guards>>(
        GuardTokens{tokens.offsets, tokens.lemma, tokens.function, numbers, negations, starts});
}

Rows GuardGroup::compare(const Prepared& reference, const Prepared& hypothesis, const TextPairs& pairs) const {
    Rows rows = Guards::compare(texts_of<Guards>(reference), texts_of<Guards>(hypothesis), pairs);
    if (!words_.knows_negations())
        for (std::size_t at = kNegationColumn; at < rows.size(); at += kGuardColumns) rows[at] = kMissing;
    return rows;
}

}  // namespace tesla
