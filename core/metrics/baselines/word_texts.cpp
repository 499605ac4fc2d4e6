#include "metrics/baselines/word_texts.h"

#include <utility>

#include "base/checks.h"

namespace tesla {

void WordTexts::replace_words(const std::vector<std::string_view>& forms) {
    constexpr std::uint32_t kRemoved = 0xFFFFFFFF;
    require(forms.size() == words().size(), "there is not one form per word");
    std::size_t bytes = 0;
    for (std::string_view form : forms) bytes += form.size();
    auto vocabulary = std::make_unique<WordNumbers>(bytes);
    std::vector<std::uint32_t> renumbered;
    renumbered.reserve(forms.size());
    for (std::string_view form : forms) renumbered.push_back(form.empty() ? kRemoved : vocabulary->number_of(form));
    std::size_t kept = 0, at = 0;
    for (std::size_t text = 0; text < size(); ++text) {
        for (const std::size_t end = offsets_[text + 1]; at < end; ++at) {
            const std::uint32_t number = renumbered[numbers_[at]];
            if (number != kRemoved) numbers_[kept++] = number;
        }
        offsets_[text + 1] = kept;
    }
    numbers_.resize(kept);
    vocabulary_ = std::move(vocabulary);
}

}  // namespace tesla
