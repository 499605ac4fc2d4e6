// Sorting more n-grams than fit into memory: sorted runs on disk, merged when they are read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/record_file.h"
#include "language/lm/ngram_model.h"

namespace tesla {

// An n-gram with what a step of the estimation knows about it; what `tag`, `x` and `y` mean is the step's business.
struct NgramRecord {
    std::array<std::uint32_t, kLongestNgram> key{};
    std::uint32_t tag = 0;
    double x = 0, y = 0;
};

// Whether the first `width` words of both keys are equal.
inline bool same_key(const NgramRecord& a, const NgramRecord& b, unsigned width) {
    for (unsigned i = 0; i < width; ++i)
        if (a.key[i] != b.key[i]) return false;
    return true;
}

// A file of records that is written once, from start to end. Failing to write throws std::runtime_error.
class RecordWriter {
   public:
    explicit RecordWriter(const std::string& path);
    void write(const NgramRecord& record);
    void close();
    std::uint64_t count() const { return count_; }

   private:
    std::string path_;
    File file_;
    std::uint64_t count_ = 0;
    RecordChecksum checksum_;
};

// Reads such a file, from record `start` on. Throws std::runtime_error for a file that was cut; for one that was changed at
// its end, if all of it is read.
class RecordReader {
   public:
    explicit RecordReader(const std::string& path, std::uint64_t start = 0);
    bool next(NgramRecord& record);

   private:
    std::string path_;
    File file_;
    RecordFileHead head_;
    RecordChecksum checksum_;
    std::uint64_t start_, left_ = 0;
};

// Takes records in any order, gives them back sorted by the first `width` words of their keys. With `add_up`, records
// with equal keys become one, whose `x` is the sum. At most `memory` bytes of records are held.
class NgramSorter {
   public:
    NgramSorter(std::string path, unsigned width, std::size_t memory, bool add_up = false);
    ~NgramSorter();

    void add(const NgramRecord& record);
    void finish();  // no more records are added; then they can be taken
    bool next(NgramRecord& record);

   private:
    struct Merge;
    void sort_held();
    void write_run();
    void merge_runs();
    std::string run_path(std::size_t run) const;
    void remove_runs();

    std::string path_;
    unsigned width_;
    std::size_t capacity_;
    bool add_up_;
    std::vector<NgramRecord> held_;
    std::size_t taken_ = 0;
    std::vector<std::string> runs_;
    std::size_t runs_made_ = 0;
    std::unique_ptr<Merge> merge_;
};

}  // namespace tesla
