#include "matching/celab/celab.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "matching/celab/flow.h"
#include "matching/celab/index.h"

namespace tesla::celab {
namespace {

constexpr double kSlip = 1e-6;  // far above rounding, far below any real lack of a match

// How much of each type's occurrences must be matched, and how much may be.
struct Demand {
    std::vector<double> must, may;

    Demand(const Text& text, const std::vector<double>& used) {
        for (const Text::Type& type : text.types()) {
            double sum = 0;
            for (std::int32_t start : text.starts(type)) sum += used[text.span(start, type.length)];
            must.push_back(sum);
            may.push_back(type.count());
        }
    }
};

// A flow over the links that serves both sides' demands. It exists by the theorem of Mendelsohn and Dulmage, whose proof
// this is: first the one side, then the other, which only reroutes what the first has sent. Equal texts come first.
std::vector<double> joint_flow(const Text& reference, const Text& hypothesis, const Links& links, const Demand& x,
                               const Demand& y) {
    std::vector<double> flow(links.from_reference.links(), 0.0), lack = x.must, room = y.may;
    for (std::size_t i = 0; i < lack.size(); ++i)
        for (const Neighbour& to : links.from_reference.of(number(i))) {
            if (reference.types()[i].joined != hypothesis.type(to.type).joined) continue;
            double step = std::min(lack[i], room[index(to.type)]);
            flow[index(to.link)] = step;
            lack[i] -= step;
            room[index(to.type)] -= step;
        }
    TypeFlow forward(links.from_reference, links.from_hypothesis, flow);
    for (std::size_t i = 0; i < lack.size(); ++i)
        if (forward.send(number(i), lack[i], room) > kSlip)
            throw std::logic_error("the reference's n-grams cannot all be matched");

    std::vector<double> spare(y.must.size()), reference_room = x.may;
    for (std::size_t j = 0; j < spare.size(); ++j) spare[j] = y.may[j] - room[j] - y.must[j];
    for (std::size_t i = 0; i < lack.size(); ++i) reference_room[i] -= x.must[i];
    TypeFlow backward(links.from_hypothesis, links.from_reference, flow);
    for (std::size_t j = 0; j < spare.size(); ++j)
        if (spare[j] < 0 && backward.send(number(j), -spare[j], reference_room, &spare) > kSlip)
            throw std::logic_error("the hypothesis's n-grams cannot all be matched");
    return flow;
}

// What each occurrence has to give: first what it must, then, in order of the text, what its type sends more.
std::vector<double> shares(const Text& text, const std::vector<double>& used, const std::vector<double>& sent,
                           const Demand& demand) {
    std::vector<double> result = used;
    for (std::size_t t = 0; t < sent.size(); ++t) {
        const Text::Type& type = text.types()[t];
        double more = sent[t] - demand.must[t];
        for (std::int32_t start : text.starts(type)) {
            if (more <= TypeFlow::kNothing) break;
            double& share = result[text.span(start, type.length)];
            double step = std::min(more, 1 - share);
            share += step;
            more -= step;
        }
    }
    return result;
}

std::vector<MatchedPair> match_occurrences(const Text& reference, const Text& hypothesis, const Links& links,
                                           const Cover& x, const Cover& y) {
    Demand x_demand(reference, x.used), y_demand(hypothesis, y.used);
    std::vector<double> flow = joint_flow(reference, hypothesis, links, x_demand, y_demand);
    std::vector<double> x_sent(reference.types().size()), y_sent(hypothesis.types().size());
    for (std::size_t i = 0; i < x_sent.size(); ++i)
        for (const Neighbour& to : links.from_reference.of(number(i))) {
            x_sent[i] += flow[index(to.link)];
            y_sent[index(to.type)] += flow[index(to.link)];
        }
    std::vector<double> x_share = shares(reference, x.used, x_sent, x_demand);
    std::vector<double> y_share = shares(hypothesis, y.used, y_sent, y_demand);

    std::vector<MatchedPair> matches;
    for (std::size_t i = 0; i < x_sent.size(); ++i)
        for (const Neighbour& to : links.from_reference.of(number(i))) {
            const Text::Type &a = reference.types()[i], &b = hypothesis.type(to.type);
            Range<std::int32_t> givers = reference.starts(a), takers = hypothesis.starts(b);
            double left = flow[index(to.link)];
            for (std::size_t p = 0, q = 0; left > TypeFlow::kNothing && p < givers.size() && q < takers.size();) {
                double& give = x_share[reference.span(givers[p], a.length)];
                double& take = y_share[hypothesis.span(takers[q], b.length)];
                double step = std::min({left, give, take});
                if (step > TypeFlow::kNothing) matches.push_back({givers[p], a.length, takers[q], b.length, step});
                left -= step;
                give -= step;
                take -= step;
                if (give <= TypeFlow::kNothing) ++p;
                if (take <= TypeFlow::kNothing) ++q;
            }
        }
    std::sort(matches.begin(), matches.end(), [](const MatchedPair& a, const MatchedPair& b) {
        return std::tie(a.reference_start, a.reference_length, a.hypothesis_start, a.hypothesis_length) <
               std::tie(b.reference_start, b.reference_length, b.hypothesis_start, b.hypothesis_length);
    });
    return matches;
}

}  // namespace

Solution Solver::solve(const Text& reference, const Text& hypothesis, bool want_matches) {
    Links links = linker_.link(reference, hypothesis);
    Solution solution;
    const Adjacency &x = links.from_reference, &y = links.from_hypothesis;
    solution.reference = cover(reference, hypothesis, x, y, limit_, want_matches);
    solution.hypothesis = cover(hypothesis, reference, y, x, limit_, want_matches);
    if (want_matches)
        solution.matches = match_occurrences(reference, hypothesis, links, solution.reference, solution.hypothesis);
    return solution;
}

}  // namespace tesla::celab
