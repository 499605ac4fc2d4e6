#include "language/analysis/character_map.h"

#include "base/unicode.h"

namespace tesla {

WordTraits CharacterMap::apply(std::string_view word, std::string& changed) {
    WordTraits traits;
    if (apply_to_plain(word, changed, traits)) return traits;
    changed.clear();
    traits = {};
    bool alone = true;
    for (std::size_t at = 0; at < word.size();) {
        const bool is_first = at == 0;
        const char32_t character = next_character(word, at);
        const CharacterChange& change = change_of(character > kLast ? 0xFFFD : character);
        changed += change.text;
        alone &= change.alone;
        if (is_first) traits.first = traits.all = change.traits;
        traits.any |= change.traits;
        traits.all &= change.traits;
    }
    if (!alone) changed = of_word_(word);
    return traits;
}

// False where a character is not plain, or not known yet.
bool CharacterMap::apply_to_plain(std::string_view word, std::string& changed, WordTraits& traits) const {
    changed.resize(word.size());
    char* to = changed.data();
    if (!word.empty()) traits.first = traits.all = plain_of(word[0]).traits;
    for (char byte : word) {
        const PlainChange change = plain_of(byte);
        if (!change.known) return false;
        *to++ = change.text;
        traits.any |= change.traits;
        traits.all &= change.traits;
    }
    return true;
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
    if (!place.load(std::memory_order_relaxed)) {  // else another thread was first
        if (c < kAscii && change.alone && change.text.size() == 1) plain_[c] = {true, change.text[0], change.traits};
        place.store(&changes_.emplace_back(std::move(change)), std::memory_order_release);
    }
    return *place.load(std::memory_order_relaxed);
}

}  // namespace tesla
