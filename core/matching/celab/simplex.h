// The simplex method over paths: see paths.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "matching/celab/index.h"
#include "matching/celab/path_finder.h"
#include "matching/celab/paths.h"

namespace tesla::celab {

// One connected part of the program, in its own numbering: first the budgets, then a row a stretch.
struct Part {
    std::vector<std::int32_t> budgets, kinds, stretches;
};

class Simplex {
   public:
    // `local` is working memory: a number a budget of the program.
    Simplex(const BudgetProgram& program, const Part& part, std::vector<std::int32_t>& local);

    double solve();
    void report(std::vector<Use>& uses) const;  // the n-grams of the optimum

   private:
    struct Column {
        double gain = 0;
        std::int32_t stretch = -1;  // -1: a slack
        std::vector<Choice> choices;
        std::vector<std::pair<std::size_t, double>> entries;
    };

    const Stretch& stretch(std::size_t i) const { return program_.stretches[index(part_.stretches[i])]; }
    std::size_t row_of(std::int32_t budget) const { return index(local_[index(budget)]); }

    bool find_entering(Column& entering);
    void find_cheapest_budgets();
    void make_column(std::size_t stretch, Column& column);
    double worth_of_choices(const Stretch& at) const;
    void pivot(Column& entering);
    std::size_t choose_leaving() const;
    bool is_less(std::size_t i, std::size_t j) const;
    bool is_accurate() const;
    void refactor();
    double optimum();

    const BudgetProgram& program_;
    const Part& part_;
    std::vector<std::int32_t>& local_;
    std::size_t size_;
    PathFinder finder_;
    std::vector<double> inverse_;  // of the basis, size × size
    std::vector<Column> basis_;
    std::vector<double> value_, prices_, bounds_, direction_, kind_price_;
    std::vector<std::size_t> kind_row_;  // the cheapest budget of each kind
    std::vector<std::size_t> nonzero_;
    std::vector<Choice> choices_;
    Interrupt interrupt_;
};

}  // namespace tesla::celab
