// Which n-gram types of two texts are linked (specification §9): equal, synonyms, or cut into parts that are, in order.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "matching/celab/text.h"

namespace tesla::celab {

struct Neighbour {
    std::int32_t type;  // of the other side
    std::int32_t link;  // the number of the link, the same seen from both sides
};

// The links seen from one side.
struct Adjacency {
    std::vector<std::int32_t> begin = {0};
    std::vector<Neighbour> neighbours;

    std::size_t types() const { return begin.size() - 1; }
    std::size_t links() const { return neighbours.size(); }
    // Ascending by type.
    Range<Neighbour> of(std::int32_t type) const {
        return {neighbours.data() + begin[index(type)], neighbours.data() + begin[index(type) + 1]};
    }
};

struct Links {
    Adjacency from_reference, from_hypothesis;
};

// Finds links; keeps its working memory from pair to pair.
class Linker {
   public:
    Links link(const Text& reference, const Text& hypothesis);

   private:
    using Pair = std::pair<std::int32_t, std::int32_t>;  // reference type, hypothesis type

    void find_direct(const Text& reference, const Text& hypothesis);
    void join(const Text::KeyedTypes& x, const Text::KeyedTypes& y);
    void concatenate(const Text& reference, const Text& hypothesis);

    std::vector<Pair> direct_, found_;
    std::vector<std::int32_t> direct_begin_;
    std::vector<std::vector<std::uint64_t>> rows_;
    std::vector<std::vector<std::int32_t>> touched_;
    std::vector<std::uint64_t> first_in_hypothesis_;
    Interrupt interrupt_;
};

}  // namespace tesla::celab
