#include "matching/matching.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "base/checks.h"
#include "base/portable.h"

namespace tesla {

Similarity similarity_named(std::string_view name) {
    if (name == "ms") return Similarity::MaxSim;
    if (name == "lem") return Similarity::Lemma;
    if (name == "pos") return Similarity::Tag;
    throw std::invalid_argument("no similarity is called '" + std::string(name) + "'");
}

void MaxSimMatcher::begin_pair(const SymbolBag& reference, const SymbolBag& hypothesis) {
    x_ = &reference;
    y_ = &hypothesis;
    dense_ = reference.lemma.size() * hypothesis.lemma.size() <= dense_cells_;
    lemma_x_.clear();
    lemma_y_.clear();
    const auto find = [&](const auto& ids, std::vector<const Lemma*>& lemmas) {
        for (std::uint32_t id : ids) {
            lemmas.push_back(&lexicon_.lemma(id));
            prefetch_memory(lemmas.back());
        }
    };
    find(reference.lemma, lemma_x_);
    find(hypothesis.lemma, lemma_y_);
    for (const auto* lemmas : {&lemma_x_, &lemma_y_})
        for (const Lemma* lemma : *lemmas) lemma->prefetch();
    link_first_.clear();
    gains_order_ = 1;
    if (dense_) fill_matrix();
}

std::uint8_t MaxSimMatcher::symbol_similarity(std::uint32_t a, std::uint32_t b) const {
    if (x_->lemma[a] == y_->lemma[b]) return 2;
    bool same_tag = x_->tag[a] == y_->tag[b] && x_->tag[a] != 0;  // tag 0: untagged, like nothing
    return static_cast<std::uint8_t>(same_tag + lemma_x_[a]->shares_sense(*lemma_y_[b]));
}

void MaxSimMatcher::fill_matrix() {
    const std::size_t nx = x_->lemma.size(), ny = y_->lemma.size();
    stride_ = SmallTransport::row_width(ny);
    static_assert(SmallTransport::kBlock % kAtOnce == 0);
    matrix_.assign(nx * stride_ + 1, 0);  // one more: `join_gains` may read it
    tags_y_.assign(y_->tag.begin(), y_->tag.end());
    tags_y_.resize(stride_, 0);
    lemmas_y_.assign(y_->lemma.begin(), y_->lemma.end());
    lemmas_y_.resize(stride_, kNoWord);
    sensed_y_.clear();
    alike_y_.resize(ny + 1);
    for (std::uint32_t b = 0; b < ny; ++b)
        if (lemma_y_[b]->signature() != 0) sensed_y_.push_back({b, lemma_y_[b]->signature()});
    for (std::uint32_t a = 0; a < nx; ++a) fill_row(a, matrix_.data() + a * stride_);
}

void MaxSimMatcher::link_symbols() {
    if (!link_first_.empty()) return;
    link_first_.assign(1, 0);
    links_.clear();
    for (std::size_t a = 0; a < x_->lemma.size(); ++a) {
        add_links(matrix_.data() + a * stride_);
        link_first_.push_back(static_cast<std::uint32_t>(links_.size()));
    }
}

// As `symbol_similarity` for all symbols of y, with loops that compare many at once.
void MaxSimMatcher::fill_row(std::uint32_t symbol_x, std::uint8_t* row) {
    const std::uint32_t lemma = x_->lemma[symbol_x], *const lemmas = lemmas_y_.data();
    const std::uint16_t tag = x_->tag[symbol_x], *const tags = tags_y_.data();
    const std::size_t places = stride_;
    std::uint8_t some[kAtOnce];  // of their own: compilers know that nothing else lies there
    if (tag != 0)
        for (std::size_t start = 0; start < places; start += kAtOnce) {
            for (std::size_t b = 0; b < kAtOnce; ++b) some[b] = tags[start + b] == tag;
            std::memcpy(row + start, some, kAtOnce);
        }
    if (const std::uint64_t signature = lemma_x_[symbol_x]->signature()) {
        // All are written down and those that may share a sense count: which they are nobody can foresee.
        std::size_t count = 0;
        for (const Sensed& sensed : sensed_y_) {
            alike_y_[count] = sensed.symbol;
            count += ((sensed.signature & signature) != 0) & (lemmas[sensed.symbol] != lemma);
        }
        for (std::size_t k = 0; k < count; ++k)
            row[alike_y_[k]] += lemma_x_[symbol_x]->shares_sense(*lemma_y_[alike_y_[k]]);
    }
    for (std::size_t start = 0; start < places; start += kAtOnce) {
        std::memcpy(some, row + start, kAtOnce);
        for (std::size_t b = 0; b < kAtOnce; ++b) some[b] = lemmas[start + b] == lemma ? std::uint8_t{2} : some[b];
        std::memcpy(row + start, some, kAtOnce);
    }
}

// Most similarities are 0: eight of them are looked at as one number.
void MaxSimMatcher::add_links(const std::uint8_t* row) {
    for (std::uint32_t start = 0; start < stride_; start += kAtOnce) {
        for (std::uint64_t eight = eight_bytes(row + start); eight != 0;) {
            const int shift = lowest_bit(eight) & ~7;
            const std::uint64_t similarity = eight >> shift & 255;
            links_.push_back({start + static_cast<std::uint32_t>(shift) / 8, static_cast<std::uint8_t>(similarity)});
            eight -= similarity << shift;
        }
    }
}

std::int64_t MaxSimMatcher::optimum(int n) {
    if (!dense_) return optimum_with_flow(n);
    if (x_->is_sentence && y_->is_sentence) return optimum_of_sentences(n);
    settled_.reset(x_->orders[n - 1].weights, y_->orders[n - 1].weights);
    const auto add = [&](std::uint32_t i, std::uint32_t j, std::int32_t gain) { settled_.add_arc(i, j, gain); };
    return visit_similar_rows(n, add) ? settled_.solve() : optimum_through_hubs(n);
}

// Their n-grams lie in order of the text.
std::int64_t MaxSimMatcher::optimum_of_sentences(int n) {
    static_assert(kMostSentenceTokens <= SmallTransport::kMost && 2 * kMaxOrder <= SmallTransport::kLargestGain);
    const auto gains = [&](int order) -> std::vector<std::uint8_t>& { return order == 1 ? matrix_ : longer_gains_[order - 2]; };
    const auto ngrams = [](const SymbolBag& bag, int order) { return bag.orders[order - 1].weights.size(); };
    for (; gains_order_ < n; ++gains_order_) {
        const std::size_t nx = ngrams(*x_, gains_order_ + 1), ny = ngrams(*y_, gains_order_ + 1);
        gains(gains_order_ + 1).resize(nx * SmallTransport::row_width(ny) + 1);
        join_gains(matrix_.data(), stride_, gains(gains_order_).data(), nx, ny, gains(gains_order_ + 1).data());
    }
    return small_.solve(gains(n).data(), x_->orders[n - 1].weights.data(), ngrams(*x_, n), y_->orders[n - 1].weights.data(),
                        ngrams(*y_, n));
}

std::int64_t MaxSimMatcher::optimum_with_flow(int n) {
    if (!dense_) return optimum_through_hubs(n);
    begin_transport(n);
    const auto add = [&](std::uint32_t i, std::uint32_t j, std::int32_t gain) {
        transport_.add_arc(i, transport_.consumer(j), gain);
    };
    return visit_similar_rows(n, add) ? transport_.solve() : optimum_through_hubs(n);
}

void MaxSimMatcher::begin_transport(int n) {
    const auto& x = x_->orders[n - 1];
    const auto& y = y_->orders[n - 1];
    transport_.reset(x.weights.size(), y.weights.size());
    std::copy(x.weights.begin(), x.weights.end(), transport_.supply.begin());
    std::copy(y.weights.begin(), y.weights.end(), transport_.demand.begin());
}

std::int64_t MaxSimMatcher::optimum_through_hubs(int n) {
    begin_transport(n);
    add_hub_arcs(n);
    add_sense_arcs(n);
    std::stable_sort(transport_.arcs.begin(), transport_.arcs.end(),
                     [](const Arc& a, const Arc& b) { return a.tail < b.tail; });
    return transport_.solve();
}

// Long texts: similarity of two rows in halves of a token, 0 if any position has none.
std::int32_t MaxSimMatcher::row_gain(int n, std::uint32_t row_x, std::uint32_t row_y) const {
    const std::uint32_t* a = x_->orders[n - 1].rows.data() + static_cast<std::size_t>(row_x) * n;
    const std::uint32_t* b = y_->orders[n - 1].rows.data() + static_cast<std::size_t>(row_y) * n;
    std::int32_t gain = 0;
    for (int i = 0; i < n; ++i) {
        std::uint8_t s = symbol_similarity(a[i], b[i]);
        if (s == 0) return 0;
        gain += s;
    }
    return gain;
}

template <class Visit>
bool MaxSimMatcher::visit_similar_rows(int n, Visit visit) {
    static_assert(kMaxOrder == 3);
    link_symbols();
    return n == 1 ? visit_similar<1>(visit) : n == 2 ? visit_similar<2>(visit) : visit_similar<3>(visit);
}

template <int n, class Visit>
bool MaxSimMatcher::visit_similar(Visit visit) {
    const auto& x = x_->orders[n - 1];
    const auto& y = y_->orders[n - 1];
    std::size_t arcs = 0;
    for (std::uint32_t i = 0; i < x.weights.size(); ++i) {
        std::size_t visited = 0;
        const std::uint32_t* row = x.rows.data() + static_cast<std::size_t>(i) * n;
        const std::uint8_t* similar[n];  // at every position: to the symbols of y
        for (int k = 1; k < n; ++k) similar[k] = matrix_.data() + row[k] * stride_;
        for (std::uint32_t link = link_first_[row[0]]; link < link_first_[row[0] + 1]; ++link) {
            const auto [head, head_similarity] = links_[link];
            for (std::uint32_t j = y.first[head]; j < y.first[head + 1]; ++j) {
                const std::uint32_t* other = y.rows.data() + static_cast<std::size_t>(j) * n;
                std::int32_t gain = head_similarity;
                bool all = true;
                for (int k = 1; k < n; ++k) {
                    const std::uint8_t s = similar[k][other[k]];
                    all &= s != 0;
                    gain += s;
                }
                if (!all) continue;
                visit(i, j, gain);
                ++arcs;
            }
            visited += y.first[head + 1] - y.first[head];
        }
        if (arcs > kMostArcs) return false;
        interrupt_.step(visited);
    }
    return true;
}

// Long texts: all rows that agree in a pattern (at every position either the lemma, worth 2, or the tag, worth 1)
// meet in one hub. The best common pattern of two rows is their similarity, but for senses.
void MaxSimMatcher::add_hub_arcs(int n) {
    struct Entry {
        WideKey key;
        std::uint32_t row;
        bool operator<(const Entry& o) const { return key == o.key ? row < o.row : key < o.key; }
    };
    auto entries_of = [&](const SymbolBag& bag, unsigned pattern) {
        const auto& order = bag.orders[n - 1];
        std::vector<Entry> entries;
        for (std::uint32_t i = 0; i < order.weights.size(); ++i) {
            WideKey key;
            bool complete = true;
            for (int k = 0; k < n; ++k) {
                std::uint32_t symbol = order.rows[static_cast<std::size_t>(i) * n + k];
                bool by_lemma = (pattern >> k) & 1;
                complete = complete && (by_lemma || bag.tag[symbol] != 0);
                key = appended(key, by_lemma ? bag.lemma[symbol] : bag.tag[symbol], kLemmaBits);
            }
            if (complete) entries.push_back({key, i});
        }
        std::sort(entries.begin(), entries.end());
        return entries;
    };
    for (unsigned pattern = 0; pattern < (1U << n); ++pattern) {
        std::int32_t gain = n;
        for (int k = 0; k < n; ++k) gain += (pattern >> k) & 1;
        std::vector<Entry> left = entries_of(*x_, pattern), right = entries_of(*y_, pattern);
        for (std::size_t i = 0, j = 0; i < left.size() && j < right.size();) {
            if (left[i].key < right[j].key) {
                ++i;
            } else if (right[j].key < left[i].key) {
                ++j;
            } else {
                WideKey key = left[i].key;
                std::uint32_t hub = transport_.add_hub();
                for (; i < left.size() && left[i].key == key; ++i) transport_.add_arc(left[i].row, hub, gain);
                for (; j < right.size() && right[j].key == key; ++j)
                    transport_.add_arc(hub, transport_.consumer(right[j].row), 0);
            }
        }
    }
}

// Long texts: the pairs of rows in which some position is linked by a sense only get arcs of their own.
void MaxSimMatcher::add_sense_arcs(int n) {
    const std::size_t hub_arcs = transport_.arcs.size();
    const auto& x = x_->orders[n - 1];
    const auto& y = y_->orders[n - 1];
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> by_sense;  // sense -> symbols of y
    for (std::uint32_t b = 0; b < lemma_y_.size(); ++b)
        for (std::uint32_t sense : lemma_y_[b]->senses()) by_sense[sense].push_back(b);
    std::vector<std::vector<std::uint32_t>> linked(lemma_x_.size());  // symbol of x -> symbols of y, by a sense only
    for (std::uint32_t a = 0; a < lemma_x_.size(); ++a) {
        for (std::uint32_t sense : lemma_x_[a]->senses()) {
            const auto symbols = by_sense.find(sense);
            if (symbols == by_sense.end()) continue;
            for (std::uint32_t b : symbols->second)
                if (y_->lemma[b] != x_->lemma[a]) linked[a].push_back(b);
        }
        std::sort(linked[a].begin(), linked[a].end());
        linked[a].erase(std::unique(linked[a].begin(), linked[a].end()), linked[a].end());
    }
    auto by_sense_only = [&](std::uint32_t a, std::uint32_t b) {
        return std::binary_search(linked[a].begin(), linked[a].end(), b);
    };
    for (int k = 0; k < n; ++k) {
        std::vector<std::vector<std::uint32_t>> rows_of(lemma_y_.size());  // symbol of y -> rows with it at position k
        for (std::uint32_t j = 0; j < y.weights.size(); ++j)
            rows_of[y.rows[static_cast<std::size_t>(j) * n + k]].push_back(j);
        for (std::uint32_t i = 0; i < x.weights.size(); ++i) {
            const std::uint32_t* row = x.rows.data() + static_cast<std::size_t>(i) * n;
            for (std::uint32_t b : linked[row[k]]) {
                interrupt_.step(10 * rows_of[b].size());
                for (std::uint32_t j : rows_of[b]) {
                    const std::uint32_t* other = y.rows.data() + static_cast<std::size_t>(j) * n;
                    bool earlier = false;  // this pair of rows was already met at an earlier position
                    for (int e = 0; e < k && !earlier; ++e) earlier = by_sense_only(row[e], other[e]);
                    if (earlier) continue;
                    if (std::int32_t gain = row_gain(n, i, j)) transport_.add_arc(i, transport_.consumer(j), gain);
                }
                if (transport_.arcs.size() - hub_arcs > kMostArcs)
                    throw TextTooLong("two texts are too long and repetitive: over 2 million pairs of n-grams share a sense: "
                                      "split them into segments");
            }
        }
    }
}

std::vector<FlowEntry> MaxSimMatcher::flow() const {
    auto suppliers = static_cast<std::uint32_t>(transport_.supply.size());
    auto consumers = static_cast<std::uint32_t>(transport_.demand.size());
    struct Share {
        std::uint32_t row;
        std::int32_t gain;
        std::int64_t amount;
    };
    std::map<std::uint32_t, std::vector<Share>> into, out_of;  // hub -> what goes through it, in order of rows
    std::map<std::pair<std::uint32_t, std::uint32_t>, FlowEntry> entries;
    auto add = [&](std::uint32_t i, std::uint32_t j, std::int32_t gain, std::int64_t amount) {
        auto [at, fresh] = entries.try_emplace({i, j}, FlowEntry{i, j, gain, 0});
        at->second.amount += amount;
    };
    for (std::size_t k = 0; k < transport_.arcs.size(); ++k) {
        const Arc& arc = transport_.arcs[k];
        std::int64_t amount = transport_.flow[k];
        if (amount == 0) continue;
        if (arc.tail >= suppliers)
            out_of[arc.tail].push_back({arc.head - suppliers, 0, amount});
        else if (arc.head >= suppliers + consumers)
            into[arc.head].push_back({arc.tail, arc.gain, amount});
        else
            add(arc.tail, arc.head - suppliers, arc.gain, amount);
    }
    for (auto& [hub, shares] : into) {
        std::vector<Share>& buyers = out_of[hub];
        for (std::size_t i = 0, j = 0; i < shares.size() && j < buyers.size();) {
            std::int64_t amount = std::min(shares[i].amount, buyers[j].amount);
            add(shares[i].row, buyers[j].row, shares[i].gain, amount);
            if ((shares[i].amount -= amount) == 0) ++i;
            if ((buyers[j].amount -= amount) == 0) ++j;
        }
    }
    std::vector<FlowEntry> result;
    for (const auto& [pair, entry] : entries) result.push_back(entry);
    return result;
}

}  // namespace tesla
