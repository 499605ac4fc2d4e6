// The hard rest of a covering program: n-grams that occur more often than they can be matched, and what they cover.
//
// Along a text, chosen n-grams cover the span [a, b) just when the furthest end of those that begin at or before a is at
// least b. So, at given prices of n-grams, the best choice is a longest path with at most order + 1 states a place. The
// matrix "span lies in n-gram" is totally balanced (no three n-grams cover three spans in a cycle), so the program
// without budgets has whole optima, and with budgets its optimum is a mixture of choices: a linear program over paths,
// solved exactly by the simplex method, in which the paths that improve are found by that longest-path search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tesla::celab {

// A piece of text within which choices concern each other; equal pieces are one stretch with several copies.
struct Stretch {
    std::vector<std::int32_t> kind;   // places × order: of the n-gram of each length that may be used here, or -1
    std::vector<std::int32_t> floor;  // by place: how far what begins here is covered in any case
    std::vector<double> gain;         // places × (order + 1): worth of covering all that begins here up to each length
    std::vector<std::int32_t> copies;  // where in the text they begin

    std::size_t places() const { return floor.size(); }
};

struct BudgetProgram {
    int order = 0;
    std::vector<double> budgets;
    std::vector<std::vector<std::int32_t>> kinds;  // the budgets that an n-gram of each kind may draw on
    std::vector<Stretch> stretches;
};

struct Use {
    std::int32_t start, length;
    double weight;
};

// Memory grows with the square of the number of rows (budgets and stretches) that hang together, time faster.
struct TooLarge : std::length_error {
    TooLarge() : std::length_error("too many n-grams compete with each other") {}
};

// The optimum; the n-grams used to reach it are appended to `uses` if that is given. Throws TooLarge where more than
// `limit` rows hang together.
double maximise(const BudgetProgram& program, std::size_t limit, std::vector<Use>* uses);

}  // namespace tesla::celab
