// Text to tokens: Penn-style rules for English, tables of clitics and abbreviations for the other languages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace tesla {

struct Span {
    std::uint32_t start, end;  // code points into the text, end exclusive
};

class Segmenter;
struct TokeniserRules;

// Cuts a text (in NFC) into words, numbers, addresses and punctuation. Spans ascend, never overlap, hold no white
// space and cover every character but separators (white space, control and direction characters). Linear in the
// length of the text, whatever the text is. Const use is safe from many threads.
class Tokeniser {
   public:
    // Throws std::invalid_argument for a language without rules; "und" has the rules common to all. The segmenter,
    // which must outlive the tokeniser, finds the words in scripts without spaces; without one, a character is a token.
    explicit Tokeniser(std::string_view language, const Segmenter* segmenter = nullptr);
    ~Tokeniser();
    Tokeniser(Tokeniser&&) noexcept;

    // By rules of one's own, written as in tokeniser_languages.h; throws std::invalid_argument for unknown keys.
    static Tokeniser from_table(std::string_view table);

    void tokenise(const char32_t* text, std::size_t length, std::vector<Span>& out) const;

    static std::vector<std::string_view> languages();

   private:
    explicit Tokeniser(std::unique_ptr<const TokeniserRules> rules);

    std::unique_ptr<const TokeniserRules> rules_;
    const Segmenter* segmenter_ = nullptr;
};

}  // namespace tesla
