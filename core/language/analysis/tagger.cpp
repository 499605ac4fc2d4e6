#include "language/analysis/tagger.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "base/checks.h"
#include "base/hashing.h"
#include "base/rounding.h"
#include "base/unicode.h"

namespace tesla {
namespace {

constexpr std::size_t kLabelsOfPair = 2 * kLanes;
constexpr int kHalf = 8;  // bits of one of the two weights in a lane
constexpr int kZeroWeight = 1 << (kHalf - 1);  // is added to every weight
constexpr std::size_t kSecondNeighbours = 2;  // words whose rows are not summed up beforehand
constexpr std::size_t kTogether = 8;          // texts or words that take turns

// Calls `work` with the number of pairs of vectors as a constant: sums stay in registers, if the compiler knows it.
template <std::size_t kPairs = kMaxPairs, class Work>
void for_pairs(std::size_t pairs, Work&& work) {
    if constexpr (kPairs > 1)
        if (pairs < kPairs) return for_pairs<kPairs - 1>(pairs, work);
    work(std::integral_constant<std::size_t, kPairs>{});
}

// For every label how far it is from the end: the more the earlier it comes, and never 0.
const std::array<Lanes, kMaxVectors> kFromEnd = [] {
    std::array<Lanes, kMaxVectors> places{};
    for (std::size_t i = 0; i < kMaxLabels; ++i) places[i / kLanes][i % kLanes] = static_cast<std::int16_t>(kMaxLabels - i);
    return places;
}();

}  // namespace

Tagger::Tagger(const TaggerArrays& arrays) : labels_(arrays.labels) {
    require(labels_ >= 1 && labels_ <= kMaxLabels, "a tagger has 1 to 64 labels");
    require(arrays.feature_deltas.size == arrays.row_lengths.size, "the tagger's rows and features differ in number");
    require(arrays.row_labels.size == arrays.row_weights.size, "the tagger's labels and weights differ in number");
    require(arrays.suffix_deltas.size == arrays.suffix_classes.size, "the tagger's lexicon is incomplete");
    require(arrays.row_lengths.size < (std::size_t{1} << (32 - kKindBits)) / kMaxPairs, "the tagger has too many features");
    pairs_ = units_of(labels_, kLabelsOfPair);
    for (std::size_t i = labels_; i < kMaxLabels; ++i) floor_[i / kLanes][i % kLanes] = std::numeric_limits<std::int16_t>::min();

    std::vector<std::uint32_t> rows(arrays.row_lengths.size);
    std::size_t start = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t length = arrays.row_lengths[i];
        require(length <= labels_ && start + length <= arrays.row_labels.size,
                "the tagger's rows do not add up to its weights");
        rows[i] = add_row(arrays.row_labels.data + start, arrays.row_weights.data + start, length);
        start += length;
    }
    require(start == arrays.row_labels.size, "the tagger's rows do not add up to its weights");
    rows_.build(hashes_of_differences(arrays.feature_deltas), rows);

    const auto& classes = arrays.suffix_classes;
    lexicon_.build(hashes_of_differences(arrays.suffix_deltas), {classes.data, classes.data + classes.size});
    find_features(std::u32string(), boundary_);
    index_labels();
}

std::uint32_t Tagger::add_row(const std::uint8_t* labels, const std::int8_t* values, std::size_t length) {
    for (std::size_t i = 0; i < length; ++i) {
        require(labels[i] < labels_, "the tagger has a weight for a label that it does not have");
        require(i == 0 || labels[i - 1] < labels[i], "the labels of one of the tagger's rows do not ascend");
    }
    if (length == 0) return kNoRow;
    if (length <= 2) {
        const auto number = [](std::int8_t value) -> std::uint32_t { return static_cast<std::uint8_t>(value); };
        const std::uint32_t first = std::uint32_t{labels[0]} << kFirstLabelAt | number(values[0]) << kFirstValueAt;
        if (length == 1) return kInline | first;  // and nothing for label 0
        return kInline | first | std::uint32_t{labels[1]} << kSecondLabelAt | number(values[1]) << kSecondValueAt;
    }
    std::size_t room = 1;  // vectors: a power of two
    while (room < pairs_) room *= 2;
    const std::size_t start = dense_size_;
    dense_size_ += room;
    if (dense_size_ > dense_.size() * kLineLanes) dense_.emplace_back();
    UnsignedLanes* const row = dense_[start / kLineLanes].lanes + start % kLineLanes;
    UnsignedLanes zeros{};
    for (std::size_t lane = 0; lane < kLanes; ++lane) zeros[lane] = kZeroWeight << kHalf | kZeroWeight;
    std::fill_n(row, pairs_, zeros);
    for (std::size_t i = 0; i < length; ++i) {
        UnsignedLanes& lanes = row[labels[i] / kLabelsOfPair];
        const std::size_t lane = labels[i] % kLanes;
        const int unit = labels[i] % kLabelsOfPair < kLanes ? 1 : 1 << kHalf;
        lanes[lane] = static_cast<std::uint16_t>(lanes[lane] + values[i] * unit);
    }
    return static_cast<std::uint32_t>(start << kKindBits | kDense);
}

// Rows that are to be added to scores: collected first, so that the sums stay in registers meanwhile.
class Tagger::RowSum {
   public:
    void clear() { inline_count_ = dense_count_ = 0; }
    void add(std::uint32_t row) {
        // It is written to both lists and counts in one: branches that nobody can foresee take longer.
        inline_[inline_count_] = dense_[dense_count_] = row;
        inline_count_ += row & kInline;
        dense_count_ += (row & kDense) / kDense;
    }
    void add_inline(Lanes* scores) const {
        const auto add = [scores](std::uint32_t label, std::uint32_t value) {
            scores[label / kLanes][label % kLanes] += static_cast<std::int8_t>(value);
        };
        for (std::size_t i = 0; i < inline_count_; ++i) {
            add(inline_[i] >> kFirstLabelAt & kLabelMask, inline_[i] >> kFirstValueAt & 255);
            add(inline_[i] >> kSecondLabelAt & kLabelMask, inline_[i] >> kSecondValueAt);
        }
    }
    // With some sums that were made before.
    template <std::size_t kPairs, class... Packed>
    void add_dense(const Tagger& tagger, Lanes* scores, const Packed&... more) const {
        // Lanes are added up as they are. Overflow from the low halves into the high ones is undone at the end, for which
        // the sums of the high halves are needed.
        UnsignedLanes sum[kPairs]{}, high[kPairs]{};
        const auto add = [&](const UnsignedLanes* values) {
            for (std::size_t k = 0; k < kPairs; ++k) {
                sum[k] += values[k];
                high[k] += values[k] >> kHalf;
            }
        };
        (add(more.lanes), ...);
        for (std::size_t i = 0; i < dense_count_; ++i) add(tagger.dense_row(dense_[i]));
        for (std::size_t k = 0; k < kPairs; ++k) {
            scores[2 * k] += as_signed(sum[k] - (high[k] << kHalf));
            scores[2 * k + 1] += as_signed(high[k]);
        }
    }

   private:
    static constexpr std::size_t kMost =
        kOwnFeatures + kSecondNeighbours + kContextFeatures + 2 * std::tuple_size_v<NeighbourRows>;
    std::size_t inline_count_ = 0, dense_count_ = 0;
    std::uint32_t inline_[kMost + 1], dense_[kMost + 1];
};

void Tagger::index_labels() {
    const auto count = static_cast<std::uint32_t>(labels_ + 1);  // 0: beyond the start
    label_rows_.reserve(count * count);
    shape_rows_.resize(count);
    for (std::uint32_t label = 0; label < count; ++label)
        for (std::uint32_t second = 0; second < count; ++second) {
            const auto hashes = label_features(label, second);
            label_rows_.push_back({rows_.find(hashes[0]), rows_.find(hashes[1])});
        }
    for (std::uint32_t label = 0; label < count; ++label)
        for (std::uint32_t shape = 0; shape < kShapes; ++shape)
            shape_rows_[label][shape] = rows_.find(shape_feature(label, shape));
}

void Tagger::look_at(const std::u32string* forms, std::size_t count, WordLook* looks) const {
    WordHashes hashes[kTogether];
    for (std::size_t start = 0; start < count; start += kTogether) {
        const std::size_t some = std::min(kTogether, count - start);
        for (std::size_t k = 0; k < some; ++k) lexicon_.prefetch(forms[start + k].data(), forms[start + k].size());
        for (std::size_t k = 0; k < some; ++k) {
            const std::u32string& form = forms[start + k];
            hashes[k] = hash_word(form.data(), form.size(), lexicon_.class_of(form.data(), form.size()));
            for (std::uint32_t hash : hashes[k].own) rows_.prefetch(hash);
            for (std::uint32_t hash : hashes[k].neighbour) rows_.prefetch(hash);
        }
        for (std::size_t k = 0; k < some; ++k) {
            WordLook& look = looks[start + k];
            const auto& neighbour = hashes[k].neighbour;
            const auto row_of = [this](std::uint32_t hash) { return hash == 0 ? 0 : rows_.find(hash); };
            std::transform(hashes[k].own.begin(), hashes[k].own.end(), look.own.begin(), row_of);
            look.as_previous = look.as_next = {};
            std::transform(neighbour.begin(), neighbour.begin() + kNextAt, look.as_previous.begin(), row_of);
            std::transform(neighbour.begin() + kNextAt, neighbour.begin() + kSecondPreviousAt, look.as_next.begin(), row_of);
            look.second_previous = row_of(neighbour[kSecondPreviousAt]);
            look.second_next = row_of(neighbour[kSecondNextAt]);
            look.parts = hashes[k].parts;
            for (std::uint32_t row : look.own) prefetch_row(row);
        }
    }
}

template <std::size_t kPairs>
PackedScores Tagger::packed(const Lanes* scores) {
    Lanes low = scores[0], high = scores[0];
    for (std::size_t v = 1; v < 2 * kPairs; ++v) {
        low = lower(low, scores[v]);
        high = higher(high, scores[v]);
    }
    low = ~highest(~low);  // the lowest
    PackedScores packed{};
    if (highest(high)[0] - low[0] >= 1 << kHalf) return packed;
    for (std::size_t k = 0; k < kPairs; ++k) {
        packed.lanes[k] = as_unsigned(scores[2 * k] - low);
        packed.lanes[k] += as_unsigned(scores[2 * k + 1] - low) << kHalf;
    }
    return packed;
}

template <class Rows>
PackedScores Tagger::sum_of(const Rows& rows) const {
    RowSum sum;
    for (std::uint32_t row : rows) sum.add(row);
    LabelScores scores{};
    sum.add_inline(scores.data());
    PackedScores result;
    for_pairs(pairs_, [&](auto pairs) {
        sum.add_dense<pairs.value>(*this, scores.data());
        result = packed<pairs.value>(scores.data());
    });
    return result;
}
template PackedScores Tagger::sum_of(const NeighbourRows& rows) const;

WordFeatures Tagger::own_features(const WordLook& look) const {
    WordFeatures features{};
    features.own = sum_of(look.own);
    features.own_rows = rows_beside(features.own, look.own);
    features.second_previous = look.second_previous;
    features.second_next = look.second_next;
    features.parts = look.parts;
    return features;
}

void Tagger::find_features(const std::u32string& form, SingleWord& word) const {
    look_at(&form, 1, &word.look);
    word.features = own_features(word.look);
    word.as_previous = sum_of(word.look.as_previous);
    word.as_next = sum_of(word.look.as_next);
    word.features.as_previous = &word.as_previous;
    word.features.as_next = &word.as_next;
    word.features.previous_rows = rows_beside(word.as_previous, word.look.as_previous);
    word.features.next_rows = rows_beside(word.as_next, word.look.as_next);
}

// A text that is being tagged, and what is known of its next word.
struct Tagger::Running {
    const WordFeatures *const *word, *const *end;
    std::uint16_t* out;
    std::uint32_t label, second_label;  // of the words before
    PairHashes pairs;
    LabelHashes with_labels;
    RowSum rows;
    Lanes scores[kMaxVectors];

    bool ended() const { return word == end; }
    Position<WordFeatures> position() const { return {word[-2], word[-1], word[0], word[1], word[2], label, second_label}; }
};

void Tagger::ask_for_rows(Running& text) const {
    constexpr std::ptrdiff_t kAhead = 4;
    if (text.end - text.word > kAhead) prefetch(text.word[kAhead]);
    const Position<WordFeatures> at = text.position();
    prefetch(at.second_next->as_next);
    prefetch(at.second_next->as_previous);
    text.pairs = pair_features(at);
    text.with_labels = word_and_label_features(at);
    for (std::uint32_t hash : text.pairs) rows_.prefetch(hash);
    for (std::uint32_t hash : text.with_labels) rows_.prefetch(hash);
}

template <std::size_t kPairs>
void Tagger::collect_rows(Running& text) const {
    const Position<WordFeatures> at = text.position();
    text.rows.clear();
    text.rows.add(at.second_previous->second_previous);
    text.rows.add(at.second_next->second_next);
    for (std::uint32_t row : label_rows_[text.label * (labels_ + 1) + text.second_label]) text.rows.add(row);
    text.rows.add(shape_rows_[text.label][at.word->parts.shape]);
    for (std::uint32_t hash : text.pairs) text.rows.add(rows_.find(hash));
    for (std::uint32_t hash : text.with_labels) text.rows.add(rows_.find(hash));
    const auto add_all = [&](const auto* rows) {
        if (!rows) return;
        for (std::uint32_t row : *rows) text.rows.add(row);
    };
    add_all(at.word->own_rows);
    add_all(at.previous->previous_rows);
    add_all(at.next->next_rows);
    std::copy_n(floor_.begin(), 2 * kPairs, text.scores);
    text.rows.add_inline(text.scores);
}

// The first label with the highest score.
template <std::size_t kPairs>
std::uint32_t Tagger::best_label(const Lanes* scores) {
    Lanes best = scores[0];
    for (std::size_t v = 1; v < 2 * kPairs; ++v) best = higher(best, scores[v]);
    best = highest(best);
    Lanes place{};
    for (std::size_t v = 0; v < 2 * kPairs; ++v) place = higher(place, where_equal(scores[v], best, kFromEnd[v]));
    return kMaxLabels - static_cast<std::uint32_t>(highest(place)[0]);
}

// A label depends on those before it, and its rows may lie anywhere in memory, which is slow. So texts take turns: while
// memory is asked for the rows of one, the others go on.
template <std::size_t kPairs>
void Tagger::tag_with(const WordRows& texts, std::uint16_t* labels) const {
    Running running[kTogether];
    std::size_t count = 0, next = 0;
    const auto begin_next = [&](Running& text) {
        while (next < texts.texts() && texts.start(next) == texts.end(next)) ++next;
        if (next == texts.texts()) return false;
        text.word = texts.words_.data() + texts.start(next);
        text.end = texts.words_.data() + texts.end(next);
        text.out = labels + texts.start(next);
        text.label = text.second_label = 0;
        ++next;
        return true;
    };
    while (count < kTogether && begin_next(running[count])) ++count;
    while (count > 0) {
        for (std::size_t t = 0; t < count; ++t) ask_for_rows(running[t]);
        for (std::size_t t = 0; t < count; ++t) collect_rows<kPairs>(running[t]);
        for (std::size_t t = 0; t < count; ++t) {
            Running& text = running[t];
            const Position<WordFeatures> at = text.position();
            text.rows.template add_dense<kPairs>(*this, text.scores, at.word->own, *at.previous->as_previous, *at.next->as_next);
            const std::uint32_t best = best_label<kPairs>(text.scores);
            *text.out++ = static_cast<std::uint16_t>(best);
            text.second_label = text.label;
            text.label = best + 1;
            ++text.word;
        }
        for (std::size_t t = count; t-- > 0;)
            if (running[t].ended() && !begin_next(running[t])) running[t] = running[--count];
    }
}

void Tagger::tag(const WordRows& texts, std::uint16_t* labels) const {
    for_pairs(pairs_, [&](auto pairs) { tag_with<pairs.value>(texts, labels); });
}

std::vector<std::uint16_t> Tagger::tag_forms(const std::vector<std::string>& forms) const {
    std::vector<SingleWord> words(forms.size());
    std::u32string characters;
    WordRows rows(*this);
    for (std::size_t i = 0; i < forms.size(); ++i) {
        decode_utf8(forms[i], characters);
        find_features(characters, words[i]);
        rows.push_back(words[i].features);
    }
    rows.end_text();
    std::vector<std::uint16_t> labels(rows.places());
    tag(rows, labels.data());
    const auto first = labels.begin() + static_cast<std::ptrdiff_t>(rows.start(0));
    return {first, first + static_cast<std::ptrdiff_t>(forms.size())};
}

}  // namespace tesla
