// One side of TESLA-CELAB: how much of a text its matched n-grams can cover (specification §9).
//
// The two sides are independent. What n-grams of one side can be matched at once is a transversal matroid's polytope,
// and by the theorem of Mendelsohn and Dulmage any choice on the one side and any choice on the other have one matching
// that serves both. So the optimum (specification §9) is the sum of both sides' optima, each over its n-grams, with one
// constraint a group of linked types: not more matched occurrences than the other side offers.
#pragma once

#include <vector>

#include "matching/celab/links.h"

namespace tesla::celab {

struct Cover {
    double covered = 0, total = 0;  // sums of m(X) c(X) and of m(X)
    std::vector<double> used;       // by span: how much of each n-gram must be matched; on request
};

// `limit` as in `maximise`.
Cover cover(const Text& own, const Text& other, const Adjacency& from_own, const Adjacency& from_other,
            std::size_t limit, bool want_used);

}  // namespace tesla::celab
