#include "training/ngram_sorter.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/portable.h"

namespace tesla {
namespace {

constexpr std::size_t kMostRuns = 128;  // open files at once; more runs are merged into one first

[[noreturn]] void refuse(const std::string& path) { throw std::runtime_error(path + ": is damaged, or cannot be read"); }

}  // namespace

// Lexicographic by the first `width` words.
struct KeyLess {
    unsigned width;
    bool operator()(const NgramRecord& a, const NgramRecord& b) const {
        for (unsigned i = 0; i < width; ++i)
            if (a.key[i] != b.key[i]) return a.key[i] < b.key[i];
        return false;
    }
};

RecordWriter::RecordWriter(const std::string& path) : path_(path), file_(open_file(path, "wb")) {
    const RecordFileHead unfinished{};
    if (std::fwrite(&unfinished, sizeof unfinished, 1, file_.get()) != 1) fail_file(path_, "cannot be written");
}

void RecordWriter::write(const NgramRecord& record) {
    if (std::fwrite(&record, sizeof record, 1, file_.get()) != 1) fail_file(path_, "cannot be written");
    checksum_.add(record);
    ++count_;
}

void RecordWriter::close() {
    const RecordFileHead head{RecordFileHead::kMagic, 0, count_, checksum_.value()};
    const bool written = seek_to(file_.get(), 0) && std::fwrite(&head, sizeof head, 1, file_.get()) == 1;
    if (std::fclose(file_.release()) != 0 || !written) fail_file(path_, "cannot be written");
}

RecordReader::RecordReader(const std::string& path, std::uint64_t start)
    : path_(path), file_(open_file(path, "rb")), start_(start) {
    if (std::fread(&head_, sizeof head_, 1, file_.get()) != 1 || head_.magic != RecordFileHead::kMagic) refuse(path_);
    left_ = head_.count - std::min(start, head_.count);
    if (start > 0 && !seek_to(file_.get(), sizeof head_ + (head_.count - left_) * sizeof(NgramRecord)))
        fail_file(path_, "cannot be read");
}

bool RecordReader::next(NgramRecord& record) {
    if (left_ == 0) {
        if (start_ == 0 && checksum_.value() != head_.checksum) refuse(path_);
        return false;
    }
    if (std::fread(&record, sizeof record, 1, file_.get()) != 1) refuse(path_);
    --left_;
    checksum_.add(record);
    return true;
}

// All runs side by side: a heap with the smallest record on top.
struct NgramSorter::Merge {
    Merge(const std::vector<std::string>& paths, unsigned width) : less{width} {
        for (const std::string& path : paths) {
            readers.emplace_back(path);
            refill(readers.size() - 1);
        }
    }
    bool next(NgramRecord& record) {
        if (heap.empty()) return false;
        std::pop_heap(heap.begin(), heap.end(), After{less});
        const std::size_t run = heap.back().second;
        record = heap.back().first;
        heap.pop_back();
        refill(run);
        return true;
    }

   private:
    using Item = std::pair<NgramRecord, std::size_t>;
    struct After {
        KeyLess less;
        bool operator()(const Item& a, const Item& b) const { return less(b.first, a.first); }
    };
    void refill(std::size_t run) {
        NgramRecord record;
        if (!readers[run].next(record)) return;
        heap.emplace_back(record, run);
        std::push_heap(heap.begin(), heap.end(), After{less});
    }
    KeyLess less;
    std::vector<RecordReader> readers;
    std::vector<Item> heap;
};

NgramSorter::NgramSorter(std::string path, unsigned width, std::size_t memory, bool add_up)
    : path_(std::move(path)),
      width_(width),
      capacity_(std::max<std::size_t>(memory / sizeof(NgramRecord), 16)),
      add_up_(add_up) {}

NgramSorter::~NgramSorter() { remove_runs(); }

void NgramSorter::add(const NgramRecord& record) {
    if (held_.size() == capacity_) write_run();
    held_.push_back(record);
}

void NgramSorter::finish() {
    if (runs_.empty()) {
        sort_held();
        return;
    }
    write_run();
    held_.shrink_to_fit();
    merge_ = std::make_unique<Merge>(runs_, width_);
}

bool NgramSorter::next(NgramRecord& record) {
    if (!merge_) {
        if (taken_ == held_.size()) return false;
        record = held_[taken_++];
        return true;
    }
    // Equal keys of several runs follow each other; the first of the next key waits in `held_`.
    if (held_.empty()) {
        if (!merge_->next(record)) return false;
    } else {
        record = held_.back();
        held_.clear();
    }
    if (!add_up_) return true;
    NgramRecord following;
    while (merge_->next(following)) {
        if (!same_key(record, following, width_)) {
            held_.push_back(following);
            break;
        }
        record.x += following.x;
    }
    return true;
}

void NgramSorter::sort_held() {
    std::sort(held_.begin(), held_.end(), KeyLess{width_});
    if (!add_up_ || held_.empty()) return;
    std::size_t last = 0;
    for (std::size_t i = 1; i < held_.size(); ++i) {
        if (same_key(held_[last], held_[i], width_))
            held_[last].x += held_[i].x;
        else
            held_[++last] = held_[i];
    }
    held_.resize(last + 1);
}

void NgramSorter::write_run() {
    if (held_.empty()) return;
    sort_held();
    if (runs_.size() == kMostRuns) merge_runs();
    runs_.push_back(run_path(runs_made_++));
    RecordWriter writer(runs_.back());
    for (const NgramRecord& record : held_) writer.write(record);
    writer.close();
    held_.clear();
}

void NgramSorter::merge_runs() {
    const std::string path = run_path(runs_made_++);
    RecordWriter writer(path);
    Merge merge(runs_, width_);
    for (NgramRecord record; merge.next(record);) writer.write(record);
    writer.close();
    remove_runs();
    runs_.push_back(path);
}

std::string NgramSorter::run_path(std::size_t run) const { return path_ + "." + std::to_string(run); }

void NgramSorter::remove_runs() {
    for (const std::string& run : runs_) remove_file(run);
    runs_.clear();
}

}  // namespace tesla
