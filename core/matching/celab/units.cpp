// Specification §9: one unit per character of unspaced scripts, a run of letters and digits of other scripts,
// every other visible character on its own.
#include "base/unicode.h"
#include "matching/celab/text.h"

namespace tesla::celab {
namespace {

// Characters that show nothing and say nothing of where words end: soft hyphen, joiners, direction marks, selectors.
bool is_invisible(char32_t c) {
    if (c < 0xAD) return c < 0x20 || (c >= 0x7F && c < 0xA0);
    return c == 0xAD || (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) ||
           (c >= 0xFE00 && c <= 0xFE0F) || c == 0xFEFF || (c >= 0xE0000 && c <= 0xE0FFF);
}

bool is_halfwidth_kana(char32_t c) { return c >= 0xFF66 && c <= 0xFF9D; }
bool is_in_run(char32_t c) { return is_alnum(c) && !is_unspaced(c) && !is_halfwidth_kana(c); }
bool is_attached(char32_t c) { return (is_mark(c) && !is_unspaced(c)) || c == 0xFF9E || c == 0xFF9F; }

}  // namespace

std::vector<std::pair<std::int32_t, std::int32_t>> split_units(std::u32string_view text) {
    std::vector<std::pair<std::int32_t, std::int32_t>> units;
    units.reserve(text.size());
    bool adjacent = false, in_run = false;  // to the unit before; which is a run of letters and digits
    for (std::size_t i = 0; i < text.size(); ++i) {
        char32_t c = text[i];
        auto at = static_cast<std::int32_t>(i);
        if (is_space(c)) {
            adjacent = in_run = false;
        } else if (is_invisible(c)) {
            continue;
        } else if (adjacent && (is_attached(c) || (in_run && is_in_run(c)))) {
            units.back().second = at + 1;
        } else {
            units.emplace_back(at, at + 1);
            adjacent = true;
            in_run = is_in_run(c);
        }
    }
    return units;
}

}  // namespace tesla::celab
