#include "matching/celab/text.h"

#include <algorithm>

namespace tesla::celab {

std::uint32_t Vocabulary::intern(std::string_view joined) {
    entries_.prepare();
    std::uint32_t id = ids_.intern(joined);
    if (id == entries_.size()) entries_.append([](Entry&) noexcept {});
    return id;
}

void Vocabulary::define(std::uint32_t id, const std::uint32_t* categories, std::size_t count) {
    std::lock_guard lock(mutex_);
    Entry& entry = entries_[id];
    if (entry.defined.load(std::memory_order_relaxed)) return;  // another thread was first
    entry.categories.assign(categories, categories + count);
    entry.defined.store(true, std::memory_order_release);
}

const std::vector<std::uint32_t>& Vocabulary::categories(std::uint32_t id) const {
    static const std::vector<std::uint32_t> none;
    return defined(id) ? entries_[id].categories : none;
}

Text::Text(Vocabulary& vocabulary, const std::vector<std::string_view>& units, int order, std::vector<double> weights)
    : order_(order), units_(static_cast<int>(units.size())), joined_(units.size() * index(order)),
      weights_(std::move(weights)) {
    std::string text;
    std::vector<std::size_t> ends;  // of the n-grams that begin at a place, in `text`
    for (int start = 0; start < units_; ++start) {
        text.clear();
        ends.clear();
        for (int length = 1; length <= longest(start); ++length) {
            text += units[index(start + length - 1)];
            ends.push_back(text.size());
        }
        const auto lock = vocabulary.lock();  // for one place at a time: other threads need not wait for a whole text
        for (int length = 1; length <= longest(start); ++length)
            joined_[span(start, length)] = vocabulary.intern(std::string_view(text).substr(0, ends[index(length - 1)]));
    }
}

bool Text::same_units(std::size_t a, std::size_t b) const {
    std::size_t order = index(order_);
    std::size_t length = a % order;
    if (b % order != length) return false;
    for (std::size_t k = 0; k <= length; ++k)
        if (joined_[(a / order + k) * order] != joined_[(b / order + k) * order]) return false;
    return true;
}

void Text::find_types(const Vocabulary& vocabulary) {
    std::vector<std::uint64_t> spans;  // joined text, then position: equal n-grams come together, in order
    spans.reserve(joined_.size());
    for (int start = 0; start < units_; ++start)
        for (int length = 1; length <= longest(start); ++length)
            spans.push_back(std::uint64_t{joined_[span(start, length)]} << 32 | span(start, length));
    std::sort(spans.begin(), spans.end());

    types_.clear();
    categories_.clear();
    type_of_.assign(joined_.size(), -1);
    std::vector<std::uint32_t> model;  // a span of each type
    for (std::size_t i = 0; i < spans.size(); ++i) {
        auto joined = static_cast<std::uint32_t>(spans[i] >> 32);
        auto at = static_cast<std::uint32_t>(spans[i]);
        // Only texts whose units have several characters hold equal joined texts cut in different ways.
        std::size_t type = types_.size();
        while (type > 0 && types_[type - 1].joined == joined && !same_units(model[type - 1], at)) --type;
        if (type == 0 || types_[type - 1].joined != joined) {
            type = types_.size() + 1;
            types_.push_back({joined, number(at % index(order_)) + 1, 0, 0});
            model.push_back(at);
        }
        type_of_[at] = number(type - 1);
        ++types_[type - 1].end;
    }
    number_by_occurrence();
    std::int32_t total = 0;
    for (Type& type : types_) {
        std::int32_t count = type.end;
        type.begin = type.end = total;
        total += count;
    }
    starts_.resize(spans.size());
    for (std::size_t at = 0; at < type_of_.size(); ++at)
        if (type_of_[at] >= 0) {
            Type& type = types_[index(type_of_[at])];
            starts_[index(type.end++)] = number(at) / order_;
        }
    for (std::size_t type = 0; type < types_.size(); ++type)
        for (std::uint32_t category : vocabulary.categories(types_[type].joined))
            categories_.emplace_back(category, number(type));
    std::sort(categories_.begin(), categories_.end());
}

// The vocabulary's numbers tell what was seen before, in this text and in others. Types are numbered by where they first
// stand, so that nothing that comes of them, not even the last bit of a sum, depends on other texts.
void Text::number_by_occurrence() {
    std::vector<std::int32_t> number_of(types_.size(), -1);
    std::vector<Type> ordered;
    ordered.reserve(types_.size());
    for (std::int32_t& type : type_of_) {
        if (type < 0) continue;
        std::int32_t& new_number = number_of[index(type)];
        if (new_number < 0) {
            new_number = number(ordered.size());
            ordered.push_back(types_[index(type)]);
        }
        type = new_number;
    }
    by_joined_.clear();
    by_joined_.reserve(types_.size());
    for (std::size_t type = 0; type < types_.size(); ++type)
        by_joined_.emplace_back(types_[type].joined, number_of[type]);
    types_ = std::move(ordered);
}

}  // namespace tesla::celab
