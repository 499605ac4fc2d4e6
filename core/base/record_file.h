// Files of records that long work keeps on disk for itself. The head says who wrote them, how many there are, and a checksum:
// a file that was cut or changed, or belongs to other work, is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#ifdef _WIN32
#include <filesystem>
#endif

namespace tesla {

// Files by their names in UTF-8, whatever the system's own encoding: on Windows the C library takes names in a code page.
inline std::FILE* open_named(const std::string& path, const char* mode) {
#ifdef _WIN32
    const std::string narrow(mode);
    return _wfopen(std::filesystem::u8path(path).c_str(), std::wstring(narrow.begin(), narrow.end()).c_str());
#else
    return std::fopen(path.c_str(), mode);
#endif
}
inline void remove_named(const std::string& path) {
#ifdef _WIN32
    _wremove(std::filesystem::u8path(path).c_str());
#else
    std::remove(path.c_str());
#endif
}

class RecordChecksum {
   public:
    template <class Record>
    void add(const Record& record) {
        static_assert(sizeof(Record) % sizeof(std::uint32_t) == 0);
        std::uint32_t words[sizeof(Record) / sizeof(std::uint32_t)];
        std::memcpy(words, &record, sizeof record);
        for (const std::uint32_t word : words) {
            sum_ = (sum_ ^ word) * 0x9E3779B97F4A7C15ULL;
            sum_ ^= sum_ >> 32;
        }
    }
    std::uint64_t value() const { return sum_; }

   private:
    std::uint64_t sum_ = 0x7465736C61;
};

struct RecordFileHead {
    static constexpr std::uint64_t kMagic = 0x31736E7572414C54;  // "TLAruns1"

    std::uint64_t magic = kMagic, owner = 0, count = 0, checksum = 0;
};

}  // namespace tesla
