#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>

#include "base/checks.h"
#include "training/phrase_counter.h"

namespace tesla {

Links parse_links(std::string_view line, std::size_t target_size, std::size_t pivot_size) {
    require(std::max(target_size, pivot_size) <= kLongestSentence, "a sentence has over 255 words");
    Links links;
    const char* at = line.data();
    const char* end = at + line.size();
    auto number = [&](std::size_t limit) {
        std::size_t value = 0;
        auto [next, error] = std::from_chars(at, end, value);
        if (error != std::errc() || value >= limit)
            throw std::invalid_argument("is no alignment of sentences with " + std::to_string(target_size) + " and " +
                                        std::to_string(pivot_size) + " words: '" + std::string(line.substr(0, 80)) + "'");
        at = next;
        return static_cast<std::uint16_t>(value);
    };
    while (true) {
        while (at != end && (*at == ' ' || *at == '\t')) ++at;
        if (at == end) break;
        std::uint16_t i = number(target_size);
        if (at == end || *at++ != '-') number(0);
        std::uint16_t j = number(pivot_size);
        links.emplace_back(i, j);
    }
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    return links;
}

Links symmetrised(const Links& forward, const Links& reverse, std::size_t target_size, std::size_t pivot_size) {
    enum : std::uint8_t { kUnion = 1, kChosen = 2 };
    std::vector<std::uint8_t> grid(target_size * pivot_size);
    std::vector<std::uint8_t> target_linked(target_size), pivot_linked(pivot_size);
    auto choose = [&](std::size_t i, std::size_t j) {
        grid[i * pivot_size + j] |= kChosen;
        target_linked[i] = pivot_linked[j] = 1;
    };
    for (const auto& [i, j] : forward) grid[i * pivot_size + j] |= kUnion;
    for (const auto& [i, j] : reverse) {
        if (grid[i * pivot_size + j]) choose(i, j);
        grid[i * pivot_size + j] |= kUnion;
    }
    // Grow: neighbours of chosen links, in either direction or diagonally, that give a word its first link.
    static constexpr int kNeighbours[8][2] = {{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}};
    for (bool grown = true; grown;) {
        grown = false;
        for (std::size_t i = 0; i < target_size; ++i)
            for (std::size_t j = 0; j < pivot_size; ++j) {
                if (!(grid[i * pivot_size + j] & kChosen)) continue;
                for (const auto& [di, dj] : kNeighbours) {
                    std::size_t a = i + static_cast<std::size_t>(di), b = j + static_cast<std::size_t>(dj);
                    if (a >= target_size || b >= pivot_size) continue;  // below 0 wraps around to far above
                    if ((!target_linked[a] || !pivot_linked[b]) && grid[a * pivot_size + b] == kUnion) {
                        choose(a, b);
                        grown = true;
                    }
                }
            }
    }
    // Final-and: links of either direction between words that both have none yet.
    for (const Links* direction : {&forward, &reverse})
        for (const auto& [i, j] : *direction)
            if (!target_linked[i] && !pivot_linked[j]) choose(i, j);
    Links links;
    for (std::size_t i = 0; i < target_size; ++i)
        for (std::size_t j = 0; j < pivot_size; ++j)
            if (grid[i * pivot_size + j] & kChosen)
                links.emplace_back(static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(j));
    return links;
}

std::vector<PhrasePair> consistent_pairs(const Links& links, std::size_t target_size, std::size_t pivot_size) {
    struct Reach {
        int first = 1 << 16, last = -1;  // the words of the other side that a word is linked with
    };
    std::vector<Reach> target(target_size), pivot(pivot_size);
    auto extend = [](Reach& reach, int at) {
        reach.first = std::min(reach.first, at);
        reach.last = std::max(reach.last, at);
    };
    for (const auto& [i, j] : links) {
        extend(target[i], j);
        extend(pivot[j], i);
    }
    std::vector<PhrasePair> pairs;
    const int longest = kLongestPhrase;
    for (int from = 0; from < static_cast<int>(target_size); ++from) {
        Reach reach;
        for (int to = from; to < std::min(static_cast<int>(target_size), from + longest); ++to) {
            if (target[to].last >= 0) {
                extend(reach, target[to].first);
                extend(reach, target[to].last);
            }
            if (reach.last < 0 || reach.last - reach.first >= longest) continue;
            bool consistent = true;
            for (int j = reach.first; j <= reach.last && consistent; ++j)
                consistent = pivot[j].last < 0 || (pivot[j].first >= from && pivot[j].last <= to);
            if (!consistent) continue;
            for (int first = reach.first; first >= 0 && reach.last - first < longest; --first) {
                if (first < reach.first && pivot[first].last >= 0) break;
                for (int last = reach.last; last < static_cast<int>(pivot_size) && last - first < longest; ++last) {
                    if (last > reach.last && pivot[last].last >= 0) break;
                    pairs.push_back({static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(to - from + 1),
                                     static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(last - first + 1)});
                }
            }
        }
    }
    return pairs;
}

}  // namespace tesla
