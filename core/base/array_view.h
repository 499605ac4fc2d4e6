// core/base: what every room of the core needs and no room owns.
//
// - arrays: those that others keep (here), those that grow without moving (stable_array.h);
// - checks of what callers hand over (checks.h), pairs of texts (pairs.h);
// - hash tables: the one that grows (flat_table.h), the one that is filled once (fixed_table.h), texts to values
//   (text_table.h) and which of them are surely missing (text_notes.h); simplemma's dictionary (front_coded.h). Two tables of
//   language/analysis are neither: SenseIndex cuts rows that its file has sorted by checksum into buckets, so that it builds
//   nothing; RecentWords is a cache that forgets;
// - hashes that files hold and hashes of one process (hashing.h, keyed_hash.h), checksums (crc32.h), random numbers (random.h);
// - sorted numbers to search in (ascending_numbers.h), what two sorted lists share (common_items.h), sorting a few
//   (small_sort.h), small vectors (lanes.h);
// - shares of a whole (share.h), common subsequences (subsequence.h), whole units (rounding.h);
// - characters and UTF-8 (unicode.h), what compilers call by different names (portable.h);
// - memory that batches share (recycled_memory.h), that calls leave to the next (spare.h), in large pages (large_pages.h);
// - locks that survive a fork (fork_safe.h), requests to stop (interrupt.h), temporary files (record_file.h).
//
// Nothing here knows Python, and nothing here includes another room.
#pragma once

#include <cstddef>
#include <vector>

namespace tesla {

template <class T>
struct ArrayView {
    const T* data = nullptr;
    std::size_t size = 0;

    ArrayView() = default;
    ArrayView(const T* first, std::size_t count) : data(first), size(count) {}
    template <class Allocator>
    ArrayView(const std::vector<T, Allocator>& values) : data(values.data()), size(values.size()) {}

    const T& operator[](std::size_t i) const { return data[i]; }
    const T* begin() const { return data; }
    const T* end() const { return data + size; }
};

}  // namespace tesla
