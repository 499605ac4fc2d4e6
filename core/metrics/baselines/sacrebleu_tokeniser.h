// The tokenisers of sacreBLEU 2 that need no model: `13a`, `intl`, `zh`, `char` and `none`, equal to sacreBLEU's on any text.
//
// sacreBLEU rewrites a line by regular expressions, one after the other, and then splits it at white space. So does this,
// over the bytes of UTF-8: what has been matched is not matched again by the same expression, which decides how runs of
// punctuation are cut. `intl` takes the categories of characters from Unicode kMtevalUnicode (baselines/mteval_categories.h);
// sacreBLEU takes those of the installed package regex.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tesla {

class SacrebleuTokeniser {
   public:
    // Throws std::invalid_argument for a name that is none of the five.
    explicit SacrebleuTokeniser(std::string_view name);

    // The tokens of a text in UTF-8 (lone surrogates may be in it); they are valid until the next call.
    const std::vector<std::string_view>& tokens(std::string_view text);

   private:
    enum class Kind { None, Characters, V13a, International, Chinese };

    void cut_13a(std::string_view text);
    void cut_international(std::string_view text);
    void cut_chinese(std::string_view text);
    // The expressions that `13a` and `zh` have in common.
    void separate_western_punctuation();

    // Rewrites line_: `rewrite(from, end, to)` returns where the result ends; it has at most `most` bytes.
    template <class Rewrite>
    void rewrite_line(std::size_t most, Rewrite&& rewrite);

    Kind kind_;
    std::string line_, rewritten_;
    std::vector<std::string_view> tokens_;
};

}  // namespace tesla
