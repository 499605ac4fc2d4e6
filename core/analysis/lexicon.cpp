#include "analysis/lexicon.h"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "base/keyed_hash.h"
#include "base/portable.h"
#include "base/unicode.h"

namespace tesla {

namespace {

std::uint64_t mix(std::uint64_t v) {
    v ^= v >> 32;
    v *= 0xD6E8FEB86659FD93ULL;
    v ^= v >> 32;
    v *= 0xD6E8FEB86659FD93ULL;
    return v ^ (v >> 32);
}

std::uint32_t hash_of(std::string_view key) { return static_cast<std::uint32_t>(keyed_hash(key)); }

// Of words within a batch.
struct KeyedHash {
    std::size_t operator()(std::string_view key) const { return static_cast<std::size_t>(keyed_hash(key)); }
};

// Recognises words that a batch has had lately, by their bytes alone. It forgets, and knows short words only.
class RecentWords {
   public:
    explicit RecentWords(std::size_t words) : slots_(slots_for(words)) {}

    // The number that was given with this word before, or else `number`, which it keeps.
    std::uint32_t number_of(std::string_view word, std::uint32_t number) {
        if (word.empty() || word.size() > kShortText) return number;
        const std::uint64_t bytes = short_text(word);
        Slot& slot = slots_[mix(bytes) & (slots_.size() - 1)];
        if (slot.word != bytes) slot = {bytes, number};
        return slot.number;
    }

   private:
    struct Slot {
        std::uint64_t word = 0;
        std::uint32_t number = 0;
    };
    static std::size_t slots_for(std::size_t words) {
        std::size_t slots = 16;
        while (slots < kMostSlots && slots < words) slots *= 2;
        return slots;
    }
    static constexpr std::size_t kMostSlots = 2048;

    std::vector<Slot> slots_;
};

}  // namespace

const std::vector<std::uint32_t> Lemma::kNone;

Lemma::Lemma(const LemmaSenses& given) {
    if (given.count == 0) return;
    known_ = std::make_unique<Known>();
    std::vector<std::uint32_t>& senses = known_->senses;
    senses.assign(given.senses, given.senses + given.count);
    std::sort(senses.begin(), senses.end());
    WideSignature& wide = known_->signature;
    for (std::uint32_t sense : senses) {
        const std::uint64_t hash = mix(sense);
        wide[hash / 64 % wide.size()] |= 1ULL << (hash % 64);
    }
    for (std::uint64_t word : wide) signature_ |= word;
}

bool Lemma::shares_sense(const Lemma& other) const {
    if ((signature_ & other.signature_) == 0) return false;
    std::uint64_t common = 0;
    for (std::size_t i = 0; i < std::tuple_size_v<WideSignature>; ++i)
        common |= known_->signature[i] & other.known_->signature[i];
    if (common == 0) return false;
    const std::uint32_t *i = senses().data(), *const i_end = i + senses().size();
    const std::uint32_t *j = other.senses().data(), *const j_end = j + other.senses().size();
    bool shared = false;
    while (!shared && i != i_end && j != j_end) {  // whose turn it is nobody can foresee: no branch depends on it
        const std::uint32_t x = *i, y = *j;
        shared = x == y;
        i += x < y;
        j += y < x;
    }
    return shared;
}

std::size_t Interner::slot_of(std::string_view key, std::uint32_t hash) const {
    std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
        const Slot& slot = slots_[i];
        if (slot.id == kMissing || (slot.hash == hash && keys_[slot.id] == key)) return i;
    }
}

std::uint32_t Interner::find(std::string_view key) const { return slots_[slot_of(key, hash_of(key))].id; }

// Memory is slow: some keys ahead it is asked for the slots, then for the keys in them.
void Interner::find_all(const std::vector<std::string_view>& keys, std::uint32_t* ids) const {
    constexpr std::size_t kAtOnce = 16;
    const std::size_t mask = slots_.size() - 1;
    std::uint32_t hashes[kAtOnce];
    for (std::size_t start = 0; start < keys.size(); start += kAtOnce) {
        const std::size_t count = std::min(kAtOnce, keys.size() - start);
        for (std::size_t k = 0; k < count; ++k) {
            hashes[k] = hash_of(keys[start + k]);
            prefetch_memory(&slots_[hashes[k] & mask]);
        }
        for (std::size_t k = 0; k < count; ++k) {
            const Slot& slot = slots_[hashes[k] & mask];
            if (slot.hash == hashes[k] && slot.id != kMissing) prefetch_memory(&keys_[slot.id]);
        }
        for (std::size_t k = 0; k < count; ++k) ids[start + k] = slots_[slot_of(keys[start + k], hashes[k])].id;
    }
}

std::uint32_t Interner::intern(std::string_view key) {
    std::uint32_t hash = hash_of(key);
    std::size_t at = slot_of(key, hash);
    if (slots_[at].id != kMissing) return slots_[at].id;
    // All that may fail comes first: a key without a slot, or a slot without a key, would shift all later numbers.
    if ((keys_.size() + 1) * 2 > slots_.size()) {
        grow();
        at = slot_of(key, hash);
    }
    std::string owned(key);
    keys_.prepare();
    auto id = static_cast<std::uint32_t>(keys_.size());
    keys_.append([&](std::string& slot) noexcept { slot = std::move(owned); });
    slots_[at] = {hash, id};
    return id;
}

void Interner::grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    std::size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
        if (slot.id == kMissing) continue;
        std::size_t i = slot.hash & mask;
        while (slots_[i].id != kMissing) i = (i + 1) & mask;
        slots_[i] = slot;
    }
}

FeatureStore::Slot* FeatureStore::slot_of(const WordFeatures& features) {
    constexpr std::size_t kMostSteps = 8;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t step = 0, i = features.hash(); step < kMostSteps; ++step, ++i) {
        Slot& slot = slots_[i & mask];
        if (!slot || *slot == features) return &slot;
    }
    return nullptr;
}

const WordFeatures* FeatureStore::keep(const WordFeatures& features) {
    Slot* slot = slot_of(features);
    if (slot && *slot) return *slot;
    if ((kept_.size() + 1) * 2 > slots_.size()) {
        grow();
        slot = slot_of(features);
    }
    kept_.prepare();
    kept_.append([&](WordFeatures& place) noexcept { place = features; });
    const WordFeatures* kept = &kept_[kept_.size() - 1];
    if (slot) *slot = kept;
    return kept;
}

void FeatureStore::grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (Slot known : old)
        if (Slot* slot = known ? slot_of(*known) : nullptr) *slot = known;
}

std::vector<std::uint32_t> Lexicon::intern_words(const std::vector<std::string_view>& words) {
    RecentWords recent(words.size());
    std::vector<std::string_view> distinct;  // but for some that come again
    std::vector<std::uint32_t> ids;
    ids.reserve(words.size());
    for (std::string_view word : words) {
        const auto next = static_cast<std::uint32_t>(distinct.size());
        ids.push_back(recent.number_of(word, next));
        if (ids.back() == next) distinct.push_back(word);
    }
    const std::vector<std::uint32_t> distinct_ids = intern_distinct(distinct);
    for (std::uint32_t& id : ids) id = distinct_ids[id];
    return ids;
}

std::vector<std::uint32_t> Lexicon::find_words(const std::vector<std::string_view>& words) {
    std::vector<std::uint32_t> ids(words.size());
    std::shared_lock lock(words_mutex_);
    word_ids_.find_all(words, ids.data());
    return ids;
}

std::vector<std::uint32_t> Lexicon::intern_distinct(const std::vector<std::string_view>& words) {
    std::vector<std::uint32_t> ids = find_words(words);
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < words.size(); ++i)
        if (ids[i] == Interner::kMissing) missing.push_back(i);
    if (missing.empty()) return ids;
    // Looking at new words takes longer than entering them, and other threads need not wait for it.
    std::unordered_map<std::string_view, std::uint32_t, KeyedHash> fresh;
    std::vector<std::string_view> forms;
    std::vector<WordFeatures> looks;
    std::vector<bool> alphanumeric;
    std::u32string form;
    fresh.reserve(missing.size());
    forms.reserve(missing.size());
    looks.reserve(missing.size());
    for (std::size_t i : missing) {
        auto [found, is_new] = fresh.try_emplace(words[i], static_cast<std::uint32_t>(looks.size()));
        ids[i] = found->second;
        if (!is_new) continue;
        decode_utf8(words[i], form);
        forms.push_back(words[i]);
        alphanumeric.push_back(std::any_of(form.begin(), form.end(), is_alnum));
        looks.push_back(tagger_ ? tagger_->features(form.data(), form.size()) : WordFeatures{});
    }
    std::vector<std::uint32_t> entered(looks.size());
    {
        std::unique_lock lock(words_mutex_);
        for (std::size_t i = 0; i < looks.size(); ++i) {
            words_.prepare();
            const WordFeatures* features = features_.keep(looks[i]);
            entered[i] = word_ids_.intern(forms[i]);
            if (entered[i] != words_.size()) continue;  // another thread was first
            words_.append([&](WordType& type) noexcept {
                type.features = features;
                type.alphanumeric = alphanumeric[i];
            });
        }
    }
    for (std::size_t i : missing) ids[i] = entered[ids[i]];
    return ids;
}

std::vector<std::uint32_t> Lexicon::intern_lemmas(const std::vector<LemmaSenses>& lemmas) {
    std::vector<std::uint32_t> ids;
    ids.reserve(lemmas.size());
    std::lock_guard lock(lemmas_mutex_);
    for (const LemmaSenses& given : lemmas) {
        std::uint32_t id = lemma_ids_.find(given.text);
        if (id == Interner::kMissing) {
            Lemma fresh(given);
            lemmas_.prepare();
            id = lemma_ids_.intern(given.text);
            lemmas_.append([&](Lemma& lemma) noexcept { lemma = std::move(fresh); });
        } else if (const std::vector<std::uint32_t>& known = lemmas_[id].senses();
                   known.size() != given.count || !std::is_permutation(known.begin(), known.end(), given.senses)) {
            throw std::invalid_argument("the lemma '" + std::string(given.text) + "' is given with different senses");
        }
        ids.push_back(id);
    }
    return ids;
}

void Lexicon::define_words(std::vector<WordDefinition>&& definitions) {
    std::lock_guard lock(definitions_mutex_);
    const std::size_t words = words_.size(), lemmas = lemmas_.size();
    auto is_wrong = [&](const WordDefinition& definition) {
        return definition.word >= words || definition.lemma >= lemmas ||
               std::any_of(definition.parts.begin(), definition.parts.end(),
                           [&](const CompoundPart& part) { return part.word >= words; });
    };
    if (std::any_of(definitions.begin(), definitions.end(), is_wrong)) throw std::out_of_range("no such word or lemma");
    for (WordDefinition& definition : definitions) {
        WordType& type = words_[definition.word];
        if (type.lemma.load(std::memory_order_relaxed) != WordType::kUndefined) continue;  // another thread was first
        type.parts = std::move(definition.parts);
        type.lemma.store(definition.lemma, std::memory_order_release);
    }
}

}  // namespace tesla
