#include "matching/celab/simplex.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace tesla::celab {
namespace {

constexpr double kImproves = 1e-9;       // a smaller reduced cost is no improvement
constexpr double kPivot = 1e-7;          // a smaller entry is zero: entries are fractions with small denominators
constexpr double kSame = 1e-12;          // ratios that differ by less are equal
constexpr double kAccurate = 1e-11;      // larger rounding errors are swept away
constexpr std::size_t kCheckAfter = 64;  // pivots
constexpr std::size_t kPatience = 500;   // pivots a row; the worst texts seen need twenty

}  // namespace

Simplex::Simplex(const BudgetProgram& program, const Part& part, std::vector<std::int32_t>& local)
    : program_(program), part_(part), local_(local), size_(part.budgets.size() + part.stretches.size()),
      finder_(program.order), inverse_(size_ * size_, 0.0), basis_(size_), value_(size_), prices_(size_, 0.0) {
    for (std::size_t i = 0; i < part.budgets.size(); ++i) {
        local_[index(part.budgets[i])] = number(i);
        value_[i] = program.budgets[index(part.budgets[i])];
    }
    for (std::size_t i = 0; i < part.stretches.size(); ++i)
        value_[part.budgets.size() + i] = static_cast<double>(stretch(i).copies.size());
    bounds_ = value_;
    kind_price_.resize(program.kinds.size());
    kind_row_.resize(program.kinds.size());
    for (std::size_t i = 0; i < size_; ++i) {
        inverse_[i * size_ + i] = 1;
        basis_[i].entries = {{i, 1.0}};
    }
}

double Simplex::solve() {
    Column entering;
    const std::size_t patience = kPatience * (size_ + kCheckAfter);
    for (std::size_t pivots = 0; pivots < patience;) {
        interrupt_.look();
        if (find_entering(entering)) {
            pivot(entering);
            if (++pivots % kCheckAfter == 0 && !is_accurate()) refactor();
        } else if (is_accurate()) {
            return optimum();
        } else {
            refactor();
            pivots += kCheckAfter;
        }
    }
    throw TooLarge();
}

// Copies of a stretch are filled one after the other, so that whole optima come out whole.
void Simplex::report(std::vector<Use>& uses) const {
    std::vector<double> filled(part_.stretches.size(), 0.0);
    for (std::size_t i = 0; i < size_; ++i) {
        const Column& column = basis_[i];
        if (column.stretch < 0) continue;
        const Stretch& at = stretch(index(column.stretch));
        double& done = filled[index(column.stretch)];
        for (double left = value_[i]; left > kSame;) {
            std::size_t copy = static_cast<std::size_t>(done + kImproves);
            if (copy >= at.copies.size()) break;
            double step = std::min(left, static_cast<double>(copy + 1) - done);
            for (const Choice& c : column.choices) uses.push_back({at.copies[copy] + c.place, c.length, step});
            left -= step;
            done += step;
        }
    }
}

// The optimum, with the last rounding errors taken out: what is missing in the equations is made up for.
double Simplex::optimum() {
    std::vector<double> missing = bounds_;
    for (std::size_t k = 0; k < size_; ++k)
        for (const auto& [row, amount] : basis_[k].entries) missing[row] -= amount * value_[k];
    double sum = 0;
    for (std::size_t i = 0; i < size_; ++i) {
        for (std::size_t k = 0; k < size_; ++k) value_[i] += inverse_[i * size_ + k] * missing[k];
        double whole = std::round(value_[i]);
        if (std::abs(value_[i] - whole) < kImproves) value_[i] = whole;
        sum += value_[i] * basis_[i].gain;
    }
    return sum;
}

bool Simplex::find_entering(Column& entering) {
    double best = kImproves;
    entering.entries.clear();
    for (std::size_t i = 0; i < size_; ++i)
        if (-prices_[i] > best) {
            best = -prices_[i];
            entering = {0, -1, {}, {{i, 1.0}}};
        }
    find_cheapest_budgets();
    for (std::size_t i = 0; i < part_.stretches.size(); ++i) {
        double reduced = finder_.best(stretch(i), kind_price_, choices_) - prices_[part_.budgets.size() + i];
        if (reduced > best) {
            best = reduced;
            make_column(i, entering);
        }
    }
    return !entering.entries.empty();
}

void Simplex::find_cheapest_budgets() {
    for (std::int32_t kind : part_.kinds) {
        const auto& budgets = program_.kinds[index(kind)];
        auto cheaper = [&](std::int32_t a, std::int32_t b) { return prices_[row_of(a)] < prices_[row_of(b)]; };
        kind_row_[index(kind)] = row_of(*std::min_element(budgets.begin(), budgets.end(), cheaper));
        kind_price_[index(kind)] = prices_[kind_row_[index(kind)]];
    }
}

void Simplex::make_column(std::size_t i, Column& column) {
    const Stretch& at = stretch(i);
    column.stretch = number(i);
    column.choices = choices_;
    column.entries = {{part_.budgets.size() + i, 1.0}};
    for (const Choice& c : choices_)
        column.entries.emplace_back(kind_row_[index(at.kind[index(c.place * program_.order + c.length - 1)])], 1.0);
    column.gain = worth_of_choices(at);
}

double Simplex::worth_of_choices(const Stretch& at) const {
    double worth = 0;
    int reach = 0;
    auto choice = choices_.rbegin();  // they come from the last to the first
    for (std::size_t place = 0; place < at.places(); ++place) {
        reach = std::max(reach - (place > 0), at.floor[place]);
        if (choice != choices_.rend() && index(choice->place) == place) reach = std::max(reach, (choice++)->length);
        worth += at.gain[place * (index(program_.order) + 1) + index(reach)];
    }
    return worth;
}

void Simplex::pivot(Column& entering) {
    direction_.assign(size_, 0.0);
    for (const auto& [row, amount] : entering.entries)
        for (std::size_t i = 0; i < size_; ++i) direction_[i] += inverse_[i * size_ + row] * amount;
    std::size_t leaving = choose_leaving();
    double by = direction_[leaving], *pivot_row = &inverse_[leaving * size_];
    double reduced = entering.gain;
    for (const auto& [row, amount] : entering.entries) reduced -= prices_[row] * amount;
    value_[leaving] /= by;
    nonzero_.clear();  // most entries of an inverse are zero
    for (std::size_t k = 0; k < size_; ++k) {
        if (pivot_row[k] == 0) continue;
        pivot_row[k] /= by;
        prices_[k] += reduced * pivot_row[k];
        nonzero_.push_back(k);
    }
    for (std::size_t i = 0; i < size_; ++i) {
        if (i == leaving || direction_[i] == 0) continue;
        double times = direction_[i], *row = &inverse_[i * size_];
        for (std::size_t k : nonzero_) row[k] -= times * pivot_row[k];
        value_[i] = std::max(0.0, value_[i] - times * value_[leaving]);
    }
    std::swap(basis_[leaving], entering);
}

// The lexicographic rule: whatever column enters, no basis ever comes back.
std::size_t Simplex::choose_leaving() const {
    std::size_t best = size_;
    for (std::size_t i = 0; i < size_; ++i)
        if (direction_[i] > kPivot && (best == size_ || is_less(i, best))) best = i;
    if (best == size_) throw std::logic_error("a covering program is never unbounded");
    return best;
}

bool Simplex::is_less(std::size_t i, std::size_t j) const {
    double difference = value_[i] / direction_[i] - value_[j] / direction_[j];
    for (std::size_t k = 0; std::abs(difference) <= kSame && k < size_; ++k)
        difference = inverse_[i * size_ + k] / direction_[i] - inverse_[j * size_ + k] / direction_[j];
    return difference < 0;
}

// Whether values and prices still solve the equations of the basis.
bool Simplex::is_accurate() const {
    std::vector<double> rest = bounds_;
    for (std::size_t k = 0; k < size_; ++k) {
        double gain = basis_[k].gain;
        for (const auto& [row, amount] : basis_[k].entries) {
            rest[row] -= amount * value_[k];
            gain -= amount * prices_[row];
        }
        if (!(std::abs(gain) <= kAccurate * (1 + basis_[k].gain))) return false;
    }
    for (std::size_t i = 0; i < size_; ++i)
        if (!(std::abs(rest[i]) <= kAccurate * (1 + bounds_[i]))) return false;
    return true;
}

// Inverse, values and prices anew from the basic columns (Gauss–Jordan with row exchanges).
void Simplex::refactor() {
    std::vector<double> matrix(size_ * size_, 0.0);
    for (std::size_t k = 0; k < size_; ++k)
        for (const auto& [row, amount] : basis_[k].entries) matrix[row * size_ + k] += amount;
    std::fill(inverse_.begin(), inverse_.end(), 0.0);
    for (std::size_t i = 0; i < size_; ++i) inverse_[i * size_ + i] = 1;
    for (std::size_t k = 0; k < size_; ++k) {
        interrupt_.look();
        std::size_t largest = k;
        for (std::size_t i = k + 1; i < size_; ++i)
            if (std::abs(matrix[i * size_ + k]) > std::abs(matrix[largest * size_ + k])) largest = i;
        if (largest != k)
            for (std::size_t c = 0; c < size_; ++c) {
                std::swap(matrix[k * size_ + c], matrix[largest * size_ + c]);
                std::swap(inverse_[k * size_ + c], inverse_[largest * size_ + c]);
            }
        double by = matrix[k * size_ + k];
        for (std::size_t c = 0; c < size_; ++c) {
            matrix[k * size_ + c] /= by;
            inverse_[k * size_ + c] /= by;
        }
        for (std::size_t i = 0; i < size_; ++i) {
            double times = matrix[i * size_ + k];
            if (i == k || times == 0) continue;
            for (std::size_t c = 0; c < size_; ++c) {
                matrix[i * size_ + c] -= times * matrix[k * size_ + c];
                inverse_[i * size_ + c] -= times * inverse_[k * size_ + c];
            }
        }
    }
    prices_.assign(size_, 0.0);
    for (std::size_t i = 0; i < size_; ++i) {
        double value = 0;
        for (std::size_t k = 0; k < size_; ++k) {
            value += inverse_[i * size_ + k] * bounds_[k];
            prices_[k] += basis_[i].gain * inverse_[i * size_ + k];
        }
        value_[i] = std::max(0.0, value);
    }
}

}  // namespace tesla::celab
