#include "language/analysis/character_map.h"

#include "base/unicode.h"

namespace tesla {

WordTraits CharacterMap::apply(std::string_view word, std::string& changed) {
    changed.clear();
    WordTraits traits;
    bool alone = true;
    for (std::size_t at = 0; at < word.size();) {
        const bool is_first = at == 0;
        const char32_t character = next_character(word, at);
        const CharacterChange& change = change_of(character > kLast ? 0xFFFD : character);
        if (change.text.size() == 1)  // appending texts takes most of the time
            changed.push_back(change.text[0]);
        else
            changed += change.text;
        alone &= change.alone;
        if (is_first) traits.first = traits.all = change.traits;
        traits.any |= change.traits;
        traits.all &= change.traits;
    }
    if (!alone) changed = of_word_(word);
    return traits;
}

const CharacterChange& CharacterMap::ask(char32_t c) {
    CharacterChange change = of_character_(c);
    std::lock_guard lock(adding_);
    std::atomic<Page*>& page = pages_[c / kPage];
    if (!page.load(std::memory_order_relaxed)) {
        owned_.push_back(std::make_unique<Page>());
        page.store(owned_.back().get(), std::memory_order_release);
    }
    std::atomic<const CharacterChange*>& place = (*page.load(std::memory_order_relaxed))[c % kPage];
    if (!place.load(std::memory_order_relaxed))  // else another thread was first
        place.store(&changes_.emplace_back(std::move(change)), std::memory_order_release);
    return *place.load(std::memory_order_relaxed);
}

}  // namespace tesla
