#include "analysis/character_map.h"

#include "base/unicode.h"

namespace tesla {

WordTraits CharacterMap::apply(std::string_view word, std::string& changed) {
    thread_local std::u32string characters;
    decode_utf8(word, characters);
    changed.clear();
    WordTraits traits;
    bool alone = true;
    for (std::size_t i = 0; i < characters.size(); ++i) {
        const CharacterChange& change = change_of(characters[i] > kLast ? 0xFFFD : characters[i]);
        changed += change.text;
        alone &= change.alone;
        if (i == 0) traits.first = traits.all = change.traits;
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
