// Files of records that long work keeps on disk for itself. The head says who wrote them, how many there are, and a checksum:
// a file that was cut or changed, or belongs to other work, is refused.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#ifdef _WIN32
#include <filesystem>
#endif
#include <memory>
#include <stdexcept>
#include <string>

#include "base/hashing.h"

namespace tesla {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

[[noreturn]] inline void fail_file(const std::string& path, const char* what) {
    throw std::runtime_error(path + ": " + what + " (" + std::strerror(errno) + ")");
}

// Paths are UTF-8 everywhere. Windows would take them for the local code page, so it gets wide characters.
inline File open_file(const std::string& path, const char* mode) {
#ifdef _WIN32
    const std::wstring wide_mode(mode, mode + std::strlen(mode));
    File file(_wfopen(std::filesystem::u8path(path).c_str(), wide_mode.c_str()), &std::fclose);
#else
    File file(std::fopen(path.c_str(), mode), &std::fclose);
#endif
    if (!file) fail_file(path, "cannot be opened");
    std::setvbuf(file.get(), nullptr, _IOFBF, 1 << 18);
    return file;
}

inline void remove_file(const std::string& path) {
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
        for (const std::uint32_t word : words) sum_ = scrambled(sum_ ^ word);
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
