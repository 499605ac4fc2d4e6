#include "training/phrase_runs.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <queue>
#include <stdexcept>

#include "base/interrupt.h"
#include "base/record_file.h"

namespace tesla {
namespace {

bool phrases_less(const PhraseCount& a, const PhraseCount& b) {
    return a.target != b.target ? a.target < b.target : a.pivot < b.pivot;
}
bool phrases_equal(const PhraseCount& a, const PhraseCount& b) { return a.target == b.target && a.pivot == b.pivot; }

// The records of one sorted run, a block at a time.
class RunReader {
   public:
    RunReader(const std::string& path, const PhraseRunOwner& owner)
        : path_(path), owner_(owner), file_(open_file(path, "rb")) {
        refuse_unless(std::fread(&head_, sizeof head_, 1, file_.get()) == 1 && head_.magic == RecordFileHead::kMagic &&
                      head_.owner == owner.id);
        advance();
    }
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
        for (const PhraseCount& pair : block_) {
            checksum_.add(pair);
            refuse_unless(are_below(pair.target, owner_.target_words) && are_below(pair.pivot, owner_.pivot_words));
        }
        count_ += block_.size();
        refuse_unless(!block_.empty() || (count_ == head_.count && checksum_.value() == head_.checksum));
    }

   private:
    void refuse_unless(bool is_whole) const {
        if (!is_whole) throw std::runtime_error(path_ + ": is damaged, or was not written by this counter");
    }
    static bool are_below(const Phrase& phrase, std::size_t words) {
        return std::all_of(phrase.begin(), phrase.end(), [words](std::uint32_t word) { return word <= words; });
    }

    static constexpr std::size_t kBlock = 1 << 14;
    std::string path_;
    PhraseRunOwner owner_;
    File file_;
    RecordFileHead head_;
    RecordChecksum checksum_;
    std::uint64_t count_ = 0;
    std::vector<PhraseCount> block_;
    std::size_t at_ = 0;
};

}  // namespace

void write_phrase_run(std::vector<PhraseCount>& pairs, const std::string& path, std::uint64_t owner) {
    std::sort(pairs.begin(), pairs.end(), phrases_less);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (kept > 0 && phrases_equal(pairs[kept - 1], pairs[i]))
            pairs[kept - 1].count = added(pairs[kept - 1].count, pairs[i].count);
        else
            pairs[kept++] = pairs[i];
    }
    RecordChecksum checksum;
    for (std::size_t i = 0; i < kept; ++i) checksum.add(pairs[i]);
    const RecordFileHead head{RecordFileHead::kMagic, owner, kept, checksum.value()};
    File file = open_file(path, "wb");
    const bool written = std::fwrite(&head, sizeof head, 1, file.get()) == 1 &&
                         (kept == 0 || std::fwrite(pairs.data(), sizeof(PhraseCount), kept, file.get()) == kept);
    if (!written || std::fflush(file.get()) != 0)
        throw std::runtime_error(path + ": cannot be written; is the disk full?");
}

void merge_phrase_runs(const std::vector<std::string>& paths, const PhraseRunOwner& owner,
                       const std::function<void(const PhraseCount&)>& visit) {
    std::vector<RunReader> runs;
    for (const std::string& path : paths) runs.emplace_back(path, owner);
    auto later = [&](std::size_t a, std::size_t b) { return phrases_less(runs[b].head(), runs[a].head()); };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> queue(later);
    for (std::size_t r = 0; r < runs.size(); ++r)
        if (!runs[r].done()) queue.push(r);
    PhraseCount current{};
    Interrupt interrupt;
    while (!queue.empty()) {
        interrupt.step();
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

}  // namespace tesla
