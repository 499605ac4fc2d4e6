#include "metrics/groups.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/checks.h"
#include "base/interrupt.h"
#include "base/recycled_memory.h"
#include "base/share.h"
#include "base/unicode.h"
#include "language/analysis/sentence_starts.h"
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

// Calls compare(x, y, row) with the texts of every segment, for each stream that has it. `reader_of` makes of a batch what
// reads its texts.
template <class ReaderOf, class Compare>
void for_each_segment(const std::vector<AnalysedStream>& references, const AnalysedTexts& hypothesis, std::size_t columns,
                      const FeatureGroup::TakeRow& take, ReaderOf reader_of, Compare compare) {
    auto reader = reader_of(hypothesis);
    std::vector<decltype(reader)> readers;
    for (const AnalysedStream& stream : references) {
        require(stream.texts.texts.size() == hypothesis.texts.size(), "a stream has another number of texts");
        check_ascending(stream.present, hypothesis.texts.size());
        readers.push_back(reader_of(stream.texts));
    }
    std::vector<std::size_t> next(references.size());  // number of each stream, counted among those that are present
    std::vector<double> row(columns);
    ReusedArena arena;
    Interrupt interrupt;
    for (std::size_t i = 0; i < hypothesis.texts.size(); ++i) {
        {
            std::optional<decltype(reader.read(i, arena.memory()))> y;
            for (std::size_t s = 0; s < references.size(); ++s) {
                const ArrayView<std::int64_t>& present = references[s].present;
                if (next[s] == present.size || static_cast<std::size_t>(present[next[s]]) != i) continue;
                ++next[s];
                interrupt.step(kLeastPerPair);
                if (!y) y.emplace(reader.read(i, arena.memory()));
                compare(readers[s].read(i, arena.memory()), *y, row.data());
                take(s, i, row.data());
            }
        }
        arena.empty();
    }
}

double measured(const Match& match, Measure measure, double alpha) {
    if (match.reference == 0 && match.hypothesis == 0) return kNoValue;
    return measure == Measure::Precision ? match.precision() : measure == Measure::Recall ? match.recall() : match.f(alpha);
}
double measured(const SharedMeaning& shared, Measure measure, double alpha) {
    if (!shared.exists()) return kNoValue;
    return measure == Measure::Precision ? shared.precision() : measure == Measure::Recall ? shared.recall() : shared.f(alpha);
}

// Reads the characters of texts.
struct CharacterReader {
    CharacterBag read(std::size_t i, std::pmr::memory_resource* memory) { return CharacterBag(texts[i], scratch, memory); }

    const std::vector<std::string_view>& texts;
    CharacterScratch scratch = {};
};

std::int64_t length_of(std::string_view text) { return static_cast<std::int64_t>(count_characters(text)); }

// A text for SlidingGroup.
struct MeasuredBag {
    CharacterBag bag;
    std::int64_t length;  // in characters
};
struct MeasuredReader {
    MeasuredBag read(std::size_t i, std::pmr::memory_resource* memory) {
        return {reader.read(i, memory), length_of(reader.texts[i])};
    }

    CharacterReader reader;
};

// Reads the tokens of texts for the guards; `sentences` says whether anyone asks where they begin.
struct GuardReader {
    GuardReader(const AnalysedTexts& of, CriticalWords& critical, bool sentences)
        : tokens(of.tokens), words(critical),
          starts(sentences ? sentence_starts(tokens, of.texts) : std::vector<std::uint8_t>(tokens.start.size())) {
        critical.learn(tokens);
    }

    GuardText read(std::size_t i, std::pmr::memory_resource* memory) {
        const auto from = static_cast<std::size_t>(tokens.offsets[i]);
        numbers.clear();
        negations.clear();
        words.append_numbers(tokens, i, numbers);
        words.append_negations(tokens, i, negations);
        return GuardText({tokens.lemma.data() + from, tokens.function.data() + from, numbers.data(), negations.data(),
                          starts.data() + from, numbers.size()},
                         memory);
    }

    const TokenArrays& tokens;
    const CriticalWords& words;
    std::vector<std::uint8_t> starts;
    std::vector<std::uint32_t> numbers;  // of the last text that was read
    std::vector<std::uint8_t> negations;
};

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

void NgramGroup::compare_segments(const std::vector<AnalysedStream>& references, const AnalysedTexts& hypothesis,
                                  const std::vector<bool>&, const TakeRow& take) const {
    const Columns y(*this, hypothesis.tokens);
    std::vector<Columns> kept;
    kept.reserve(references.size());  // views point into what is kept
    std::vector<ReferenceStream> streams;
    for (const AnalysedStream& stream : references)
        streams.push_back({kept.emplace_back(*this, stream.texts.tokens).view(), stream.present});
    const std::size_t problems = recipe_.features.size();
    std::vector<double> row(columns());
    matcher_.match(streams, y.view(), [&](std::size_t stream, std::size_t text, const Match* matches) {
        double* next = row.data();
        for (Measure measure : measures_)
            for (std::size_t k = 0; k < problems; ++k) *next++ = measured(matches[k], measure, alpha_);
        take(stream, text, row.data());
    });
}

CharacterGroup::CharacterGroup(int max_order, double alpha, ChosenMeasures measures)
    : max_order_(max_order), alpha_(alpha), measures_(std::move(measures)) {
    check_character_order(max_order);
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

void CharacterGroup::compare_segments(const std::vector<AnalysedStream>& references, const AnalysedTexts& hypothesis,
                                      const std::vector<bool>&, const TakeRow& take) const {
    std::int64_t matches[kMaxCharacterOrder];
    for_each_segment(
        references, hypothesis, columns(), take, [](const AnalysedTexts& batch) { return CharacterReader{batch.texts}; },
        [&](const CharacterBag& x, const CharacterBag& y, double* row) {
            CharacterBag::overlap(x, y, max_order_, matches);
            for (Measure measure : measures_)
                for (int n = 1; n <= max_order_; ++n)
                    *row++ = measured(Match{matches[n - 1], x.total(n), y.total(n)}, measure, alpha_);
        });
}

struct SlidingGroup::Texts {
    explicit Texts(const std::vector<std::string_view>& texts) : bags(texts) {
        for (std::string_view text : texts) lengths.push_back(length_of(text));
    }
    CharacterBags bags;
    std::vector<std::int64_t> lengths;  // in characters
};

std::unique_ptr<FeatureGroup::Prepared> SlidingGroup::prepare(const AnalysedTexts& texts) const {
    return std::make_unique<Holding<Texts>>(texts.texts);
}

Rows SlidingGroup::slid(const std::vector<double>& f, const Texts& references, const ArrayView<std::int64_t>& index) const {
    const auto orders = static_cast<std::size_t>(orders_), all = static_cast<std::size_t>(orders_ + growth_);
    Rows rows(index.size * orders);
    for (std::size_t k = 0; k < index.size; ++k)
        slide(f.data() + k * all, references.lengths[static_cast<std::size_t>(index[k])], rows.data() + k * orders);
    return rows;
}

void SlidingGroup::slide(const double* f, std::int64_t length, double* row) const {
    const double beyond = static_cast<double>(length - shortest_) / static_cast<double>(longest_ - shortest_);
    const double share = std::clamp(beyond, 0.0, 1.0);
    for (int n = 0; n < orders_; ++n) {
        const double low = f[n], high = f[n + growth_];
        row[n] = share > 0 ? low + share * (high - low) : low;
    }
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

void SlidingGroup::compare_segments(const std::vector<AnalysedStream>& references, const AnalysedTexts& hypothesis,
                                    const std::vector<bool>&, const TakeRow& take) const {
    std::int64_t matches[kMaxCharacterOrder];
    double f[kMaxCharacterOrder];
    for_each_segment(
        references, hypothesis, columns(), take, [](const AnalysedTexts& batch) { return MeasuredReader{{batch.texts}}; },
        [&](const MeasuredBag& x, const MeasuredBag& y, double* row) {
            CharacterBag::overlap(x.bag, y.bag, orders_ + growth_, matches);
            for (int n = 1; n <= orders_ + growth_; ++n)
                f[n - 1] = measured(Match{matches[n - 1], x.bag.total(n), y.bag.total(n)}, Measure::F, alpha_);
            slide(f, x.length, row);
        });
}

// Features of rare words do not exist where words have no weights.
SurfaceGroup::SurfaceGroup(WordFacts& facts) : facts_(facts) {
    if (facts.weighted()) return;
    for (std::size_t column = 0; column < kSurfaceColumns; ++column) {
        const std::string_view name = kSurfaceFeatures[column];
        if (name.substr(0, 4) == "rare" || name == "unknown") missing_.push_back(column);
    }
}

std::size_t SurfaceGroup::columns() const { return kSurfaceColumns; }

std::unique_ptr<FeatureGroup::Prepared> SurfaceGroup::prepare(const AnalysedTexts& texts) const {
    return std::make_unique<Holding<Surfaces>>(texts.texts, texts.tokens, facts_);
}

Rows SurfaceGroup::compare(const Prepared& reference, const Prepared& hypothesis, const TextPairs& pairs) const {
    Rows rows = Surfaces::compare(texts_of<Surfaces>(reference), texts_of<Surfaces>(hypothesis), pairs);
    for (std::size_t at = 0; at < rows.size(); at += kSurfaceColumns) mark_missing(rows.data() + at);
    return rows;
}

void SurfaceGroup::compare_segments(const std::vector<AnalysedStream>& references, const AnalysedTexts& hypothesis,
                                    const std::vector<bool>& read, const TakeRow& take) const {
    const SurfaceParts parts = surface_parts(read);
    SurfaceMatcher matcher(parts);
    for_each_segment(
        references, hypothesis, kSurfaceColumns, take,
        [&](const AnalysedTexts& batch) { return SurfaceReader(batch.texts, batch.tokens, facts_, parts); },
        [&](const SurfaceText& x, const SurfaceText& y, double* row) {
            matcher.compare(x, y, row);
            mark_missing(row);
        });
}

void SurfaceGroup::mark_missing(double* row) const {
    for (std::size_t column : missing_) row[column] = kNoValue;
}

std::size_t VectorGroup::columns() const { return kVectorProblems * measures_.size(); }

std::unique_ptr<FeatureGroup::Prepared> VectorGroup::prepare(const AnalysedTexts& texts) const {
    return std::make_unique<Holding<VectorTexts>>(texts.tokens, vectors_);
}

Rows VectorGroup::compare(const Prepared& reference, const Prepared& hypothesis, const TextPairs& pairs) const {
    return chosen(VectorTexts::match(texts_of<VectorTexts>(reference), texts_of<VectorTexts>(hypothesis), pairs, alpha_),
                  measures_);
}

void VectorGroup::compare_segments(const std::vector<AnalysedStream>& references, const AnalysedTexts& hypothesis,
                                   const std::vector<bool>& read, const TakeRow& take) const {
    bool best = false;
    for (std::size_t column = 0; column < columns(); ++column)
        best |= read[column] && (column % kVectorProblems == kBest0 || column % kVectorProblems == kBest5);
    VectorMatcher matcher(vectors_.dimensions(), best);
    for_each_segment(
        references, hypothesis, columns(), take,
        [&](const AnalysedTexts& batch) { return VectorReader(batch.tokens, vectors_); },
        [&](const VectorText& x, const VectorText& y, double* row) {
            const VectorMatcher::Problems problems = matcher.match(x, y);
            for (Measure measure : measures_)
                for (const SharedMeaning& shared : problems) *row++ = measured(shared, measure, alpha_);
        });
}

std::size_t GuardGroup::columns() const { return kGuardColumns; }

std::unique_ptr<FeatureGroup::Prepared> GuardGroup::prepare(const AnalysedTexts& texts) const {
    GuardReader reader(texts, words_, true);
    return std::make_unique<Holding<Guards>>(
        texts.texts.size(), [&](std::size_t i, std::pmr::memory_resource* memory) { return reader.read(i, memory); });
}

Rows GuardGroup::compare(const Prepared& reference, const Prepared& hypothesis, const TextPairs& pairs) const {
    Rows rows = Guards::compare(texts_of<Guards>(reference), texts_of<Guards>(hypothesis), pairs);
    for (std::size_t at = 0; at < rows.size(); at += kGuardColumns) mark_missing(rows.data() + at);
    return rows;
}

void GuardGroup::compare_segments(const std::vector<AnalysedStream>& references, const AnalysedTexts& hypothesis,
                                  const std::vector<bool>& read, const TakeRow& take) const {
    GuardMatcher matcher;
    for_each_segment(
        references, hypothesis, kGuardColumns, take,
        [&](const AnalysedTexts& batch) { return GuardReader(batch, words_, read[kStrayColumn]); },
        [&](const GuardText& x, const GuardText& y, double* row) {
            matcher.compare(x, y, row);
            mark_missing(row);
        });
}

// `negation` does not exist where the language has no list of negations.
void GuardGroup::mark_missing(double* row) const {
    if (!words_.knows_negations()) row[kNegationColumn] = kNoValue;
}

}  // namespace tesla
