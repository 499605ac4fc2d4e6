#include "phrase_counter.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <queue>
#include <stdexcept>

namespace tesla {

namespace {

bool phrases_less(const PhraseCount& a, const PhraseCount& b) {
    return a.target != b.target ? a.target < b.target : a.pivot < b.pivot;
}
bool phrases_equal(const PhraseCount& a, const PhraseCount& b) { return a.target == b.target && a.pivot == b.pivot; }

std::uint32_t added(std::uint32_t a, std::uint32_t b) {
    constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
    return a > most - b ? most : a + b;
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File open_file(const std::string& path, const char* mode) {
    File file(std::fopen(path.c_str(), mode), &std::fclose);
    if (!file) throw std::runtime_error(path + ": cannot be opened");
    return file;
}

// The records of one sorted run, a block at a time.
class RunReader {
   public:
    explicit RunReader(const std::string& path) : path_(path), file_(open_file(path, "rb")) { advance(); }
    bool done() const { return at_ == block_.size(); }
    const PhraseCount& head() const { return block_[at_]; }
    void advance() {
        if (at_ + 1 < block_.size()) {
            ++at_;
            return;
        }
        block_.resize(kBlock);
        block_.resize(std::fread(block_.data(), sizeof(PhraseCount), kBlock, file_.get()));
        if (std::ferror(file_.get())) throw std::runtime_error(path_ + ": cannot be read");
        at_ = 0;
    }

   private:
    static constexpr std::size_t kBlock = 1 << 14;
    std::string path_;
    File file_;
    std::vector<PhraseCount> block_;
    std::size_t at_ = 0;
};

// All runs as one, equal pairs added up.
template <class Visit>
void merge_runs(const std::vector<std::string>& paths, Visit visit) {
    std::vector<RunReader> runs;
    for (const std::string& path : paths) runs.emplace_back(path);
    auto later = [&](std::size_t a, std::size_t b) { return phrases_less(runs[b].head(), runs[a].head()); };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> queue(later);
    for (std::size_t r = 0; r < runs.size(); ++r)
        if (!runs[r].done()) queue.push(r);
    PhraseCount current{};
    while (!queue.empty()) {
        std::size_t r = queue.top();
        queue.pop();
        PhraseCount next = runs[r].head();
        runs[r].advance();
        if (!runs[r].done()) queue.push(r);
        if (current.count > 0 && phrases_equal(current, next)) {
            current.count = added(current.count, next.count);
        } else {
            if (current.count > 0) visit(current);
            current = next;
        }
    }
    if (current.count > 0) visit(current);
}

// Calls `visit` with every word of a line; several spaces in a row are as one.
template <class Visit>
void for_each_word(std::string_view line, Visit visit) {
    for (std::size_t start = 0; start < line.size();) {
        std::size_t end = std::min(line.find(' ', start), line.size());
        if (end > start) visit(line.substr(start, end - start));
        start = end + 1;
    }
}

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

}  // namespace

std::size_t words_in(std::string_view line) {
    std::size_t count = 0;
    for_each_word(line, [&](std::string_view) { ++count; });
    return count;
}

std::uint32_t PhraseCounter::Vocabulary::number(std::string_view word) {
    auto [found, is_new] = numbers_.try_emplace(std::string(word), static_cast<std::uint32_t>(words_.size() + 1));
    if (is_new) words_.emplace_back(word);
    return found->second;
}

std::vector<std::uint32_t> PhraseCounter::Vocabulary::ranks() const {
    std::vector<std::uint32_t> order(words_.size()), ranks(words_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return words_[a] < words_[b]; });
    for (std::uint32_t place = 0; place < order.size(); ++place) ranks[order[place]] = place;
    return ranks;
}

void PhraseCounter::numbers_of(std::string_view line, Vocabulary& vocabulary, std::vector<std::uint32_t>& numbers) {
    numbers.clear();
    for_each_word(line, [&](std::string_view word) { numbers.push_back(vocabulary.number(word)); });
}

void PhraseCounter::add_sentence(std::string_view target, std::string_view pivot, const Links& links) {
    numbers_of(target, target_, target_line_);
    numbers_of(pivot, pivot_, pivot_line_);
    for (const PhrasePair& pair : consistent_pairs(links, target_line_.size(), pivot_line_.size())) {
        PhraseCount record{{}, {}, 1};
        std::copy_n(target_line_.begin() + pair.target_start, pair.target_size, record.target.begin());
        std::copy_n(pivot_line_.begin() + pair.pivot_start, pair.pivot_size, record.pivot.begin());
        pending_.push_back(record);
    }
}

void PhraseCounter::add_pair(std::string_view target, std::string_view pivot, std::uint32_t count) {
    numbers_of(target, target_, target_line_);
    numbers_of(pivot, pivot_, pivot_line_);
    auto fits = [](const std::vector<std::uint32_t>& line) { return !line.empty() && line.size() <= kLongestPhrase; };
    if (!fits(target_line_) || !fits(pivot_line_) || count == 0) return;
    PhraseCount record{{}, {}, count};
    std::copy(target_line_.begin(), target_line_.end(), record.target.begin());
    std::copy(pivot_line_.begin(), pivot_line_.end(), record.pivot.begin());
    pending_.push_back(record);
}

void PhraseCounter::write_run(const std::string& path) {
    std::sort(pending_.begin(), pending_.end(), phrases_less);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
        if (kept > 0 && phrases_equal(pending_[kept - 1], pending_[i]))
            pending_[kept - 1].count = added(pending_[kept - 1].count, pending_[i].count);
        else
            pending_[kept++] = pending_[i];
    }
    File file = open_file(path, "wb");
    if (std::fwrite(pending_.data(), sizeof(PhraseCount), kept, file.get()) != kept || std::fflush(file.get()) != 0)
        throw std::runtime_error(path + ": cannot be written; is the disk full?");
    pending_.clear();
}

TableArrays PhraseCounter::merge(const std::vector<std::string>& paths, std::uint32_t min_count,
                                 double min_probability) const {
    TableArrays table;
    const std::vector<std::uint32_t> target_ranks = target_.ranks(), pivot_ranks = pivot_.ranks();
    std::vector<KeptPhrase> phrases;
    std::vector<KeptOption> options, group;
    Phrase phrase{};
    auto finish = [&] {
        if (group.empty()) return;
        std::uint32_t count = 0;
        for (const KeptOption& option : group) count = added(count, option.count);
        table.total += count;
        ++table.phrases;
        if (count >= min_count) {
            std::sort(group.begin(), group.end(), [](const KeptOption& a, const KeptOption& b) {
                return a.count != b.count ? a.count > b.count : a.pivot < b.pivot;
            });
            auto first = static_cast<std::uint32_t>(options.size());
            for (const KeptOption& option : group) {
                if (options.size() > first && option.count / static_cast<double>(count) <= min_probability) break;
                options.push_back(option);
            }
            phrases.push_back({phrase, count, first, static_cast<std::uint32_t>(options.size()) - first});
        }
        group.clear();
    };
    merge_runs(paths, [&](const PhraseCount& pair) {
        Phrase target = renumbered(pair.target, target_ranks);
        if (target != phrase) {
            finish();
            phrase = target;
        }
        ++table.pairs;
        group.push_back({renumbered(pair.pivot, pivot_ranks), pair.count});
    });
    finish();
    std::sort(phrases.begin(), phrases.end(),
              [](const KeptPhrase& a, const KeptPhrase& b) { return a.target < b.target; });

    Renumbering target(target_ranks.size()), pivot(pivot_ranks.size());
    std::map<Phrase, std::uint32_t> pivot_phrases;
    for (const KeptPhrase& kept : phrases) target.use(kept.target);
    for (const KeptOption& option : options) {
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
    build_trie(phrases, options, target, pivot_phrases, table.target_words.size(), table);
    return table;
}

}  // namespace tesla
