// Which references each pair of a batch has.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/array_view.h"
#include "base/checks.h"

namespace tesla {

struct ReferenceIndex {
    const std::int64_t* numbers;  // of texts: one row per stream of references, one column per pair; -1 where there is none
    std::size_t streams, pairs;

    // Calls visit(text) for the references that a pair has.
    template <class Visit>
    void for_each(std::size_t pair, Visit&& visit) const {
        for (std::size_t stream = 0; stream < streams; ++stream)
            if (const std::int64_t text = numbers[stream * pairs + pair]; text >= 0) visit(static_cast<std::size_t>(text));
    }
    // Refuses numbers of texts that do not exist, and pairs without any reference.
    void check(const ArrayView<std::int64_t>& hypotheses, std::size_t texts) const {
        require(pairs == hypotheses.size, "the indices do not belong together");
        for (std::size_t pair = 0; pair < pairs; ++pair) {
            require_in_range(static_cast<std::uint64_t>(hypotheses[pair]) < texts, "no such text");
            bool any = false;
            for (std::size_t stream = 0; stream < streams; ++stream) {
                const std::int64_t text = numbers[stream * pairs + pair];
                require_in_range(text < 0 || static_cast<std::uint64_t>(text) < texts, "no such text");
                any |= text >= 0;
            }
            require(any, "a pair has no reference");
        }
    }
};

}  // namespace tesla
