// From sorted runs of counted phrase pairs to the arrays of a table: pruning, renumbering, the trie.
#include <algorithm>
#include <map>
#include <utility>

#include "training/phrase_counter.h"
#include "training/phrase_runs.h"

namespace tesla {
namespace {

int size_of(const Phrase& phrase) {
    return static_cast<int>(std::find(phrase.begin(), phrase.end(), 0u) - phrase.begin());
}

Phrase renumbered(Phrase phrase, const std::vector<std::uint32_t>& ranks) {
    for (std::uint32_t& word : phrase)
        if (word > 0) word = ranks[word - 1] + 1;
    return phrase;
}

struct KeptOption {
    Phrase pivot;
    std::uint32_t count;
};
struct KeptPhrase {
    Phrase target;
    std::uint32_t count;
    std::uint32_t first_option, options;
};

// Which of the words 1..size occur, and their new numbers from 0 on.
class Renumbering {
   public:
    explicit Renumbering(std::size_t size) : places_(size + 1) {}
    void use(const Phrase& phrase) {
        for (std::uint32_t word : phrase)
            if (word > 0) places_[word] = 1;
    }
    void number() {
        std::uint32_t next = 0;
        for (std::uint32_t& place : places_)
            if (place) place = ++next;
    }
    std::uint32_t operator()(std::uint32_t word) const { return places_[word] - 1; }
    template <class Text>
    std::vector<std::string> used(const Text& sorted) const {
        std::vector<std::string> words;
        for (std::size_t i = 1; i < places_.size(); ++i)
            if (places_[i]) words.push_back(sorted[i - 1]);
        return words;
    }

   private:
    std::vector<std::uint32_t> places_;
};

std::vector<std::string> sorted_words(const std::vector<std::string>& words) {
    std::vector<std::string> sorted = words;
    std::sort(sorted.begin(), sorted.end());
    return sorted;
}

// The trie level by level: a node is the run of phrases that share its words.
void build_trie(const std::vector<KeptPhrase>& phrases, const std::vector<KeptOption>& options, const Renumbering& target,
                const std::map<Phrase, std::uint32_t>& pivot_phrases, std::size_t target_words, TableArrays& table) {
    struct Node {
        std::size_t first, last;  // phrases
        int depth;                // words in common
    };
    std::vector<Node> level;
    std::size_t at = 0;
    for (std::uint32_t word = 0; word < target_words; ++word) {
        std::size_t first = at;
        while (at < phrases.size() && target(phrases[at].target[0]) == word) ++at;
        level.push_back({first, at, 1});
        table.node_word.push_back(word);
    }
    table.node_option.push_back(0);
    while (!level.empty()) {
        std::vector<Node> below;
        for (const Node& node : level) {
            std::size_t i = node.first;
            table.node_child.push_back(static_cast<std::uint32_t>(table.node_word.size()));
            std::uint32_t count = 0;
            if (i < node.last && size_of(phrases[i].target) == node.depth) {  // the shortest comes first
                count = phrases[i].count;
                for (std::uint32_t k = 0; k < phrases[i].options; ++k) {
                    const KeptOption& option = options[phrases[i].first_option + k];
                    table.option_phrase.push_back(pivot_phrases.at(option.pivot));
                    table.option_count.push_back(option.count);
                }
                ++i;
            }
            table.node_count.push_back(count);
            table.node_option.push_back(static_cast<std::uint32_t>(table.option_phrase.size()));
            while (i < node.last) {
                std::uint32_t word = phrases[i].target[node.depth];
                std::size_t first = i;
                while (i < node.last && phrases[i].target[node.depth] == word) ++i;
                table.node_word.push_back(target(word));
                below.push_back({first, i, node.depth + 1});
            }
        }
        level = std::move(below);
    }
    table.node_child.push_back(static_cast<std::uint32_t>(table.node_word.size()));
}

// The phrases that a table keeps, and their options.
struct KeptPairs {
    std::vector<KeptPhrase> phrases;
    std::vector<KeptOption> options;
};

// Pairs come sorted by target; prunes those of one target after the other.
class Pruner {
   public:
    Pruner(std::uint32_t min_count, double min_probability) : min_count_(min_count), min_probability_(min_probability) {}

    void add(const Phrase& target, const KeptOption& option, TableArrays& table) {
        if (target != target_) {
            end_target(table);
            target_ = target;
        }
        ++table.pairs;
        group_.push_back(option);
    }
    KeptPairs finish(TableArrays& table) {
        end_target(table);
        std::sort(kept_.phrases.begin(), kept_.phrases.end(),
                  [](const KeptPhrase& a, const KeptPhrase& b) { return a.target < b.target; });
        return std::move(kept_);
    }

   private:
    void end_target(TableArrays& table) {
        if (group_.empty()) return;
        std::uint32_t count = 0;
        for (const KeptOption& option : group_) count = added(count, option.count);
        table.total += count;
        ++table.phrases;
        if (count >= min_count_) keep(count);
        group_.clear();
    }
    void keep(std::uint32_t count) {
        std::sort(group_.begin(), group_.end(), [](const KeptOption& a, const KeptOption& b) {
            return a.count != b.count ? a.count > b.count : a.pivot < b.pivot;
        });
        const auto first = static_cast<std::uint32_t>(kept_.options.size());
        for (const KeptOption& option : group_) {
            if (kept_.options.size() > first && option.count / static_cast<double>(count) <= min_probability_) break;
            kept_.options.push_back(option);
        }
        kept_.phrases.push_back({target_, count, first, static_cast<std::uint32_t>(kept_.options.size()) - first});
    }

    std::uint32_t min_count_;
    double min_probability_;
    Phrase target_{};
    std::vector<KeptOption> group_;  // of `target_`
    KeptPairs kept_;
};

}  // namespace

TableArrays PhraseCounter::merge(const std::vector<std::string>& paths, std::uint32_t min_count,
                                 double min_probability) const {
    TableArrays table;
    const std::vector<std::uint32_t> target_ranks = target_.ranks(), pivot_ranks = pivot_.ranks();
    Pruner pruner(min_count, min_probability);
    merge_phrase_runs(paths, {id_, target_ranks.size(), pivot_ranks.size()}, [&](const PhraseCount& pair) {
        pruner.add(renumbered(pair.target, target_ranks), {renumbered(pair.pivot, pivot_ranks), pair.count}, table);
    });
    const KeptPairs kept = pruner.finish(table);

    Renumbering target(target_ranks.size()), pivot(pivot_ranks.size());
    std::map<Phrase, std::uint32_t> pivot_phrases;
    for (const KeptPhrase& phrase : kept.phrases) target.use(phrase.target);
    for (const KeptOption& option : kept.options) {
        pivot.use(option.pivot);
        pivot_phrases.emplace(option.pivot, 0);
    }
    target.number();
    pivot.number();
    table.target_words = target.used(sorted_words(target_.words()));
    table.pivot_words = pivot.used(sorted_words(pivot_.words()));
    table.phrase_ends.push_back(0);
    std::uint32_t next = 0;
    for (auto& [words, number] : pivot_phrases) {
        number = next++;
        for (std::uint32_t word : words)
            if (word > 0) table.phrase_words.push_back(pivot(word));
        table.phrase_ends.push_back(static_cast<std::uint32_t>(table.phrase_words.size()));
    }
    build_trie(kept.phrases, kept.options, target, pivot_phrases, table.target_words.size(), table);
    return table;
}

}  // namespace tesla
