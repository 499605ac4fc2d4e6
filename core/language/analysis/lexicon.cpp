#include "language/analysis/lexicon.h"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "base/checks.h"
#include "base/portable.h"
#include "base/unicode.h"

namespace tesla {

namespace {

// Tells the texts of a batch apart.
class BatchTexts {
   public:
    explicit BatchTexts(std::size_t most) : numbers_(most) {}

    // Its number among those that differ.
    std::uint32_t number_of(const HashedText& text) {
        const auto fresh = static_cast<std::uint32_t>(texts_.size());
        const std::uint32_t number = numbers_.find_or_add(
            text.hash, fresh, [&](std::uint32_t known) { return texts_[known].text == text.text; });
        if (number == fresh) texts_.push_back(text);
        return number;
    }
    const std::vector<HashedText>& texts() const { return texts_; }

   private:
    FlatTable<> numbers_;
    std::vector<HashedText> texts_;
};

// Ascending numbers. Which comes next nobody can foresee: no branch depends on it.
bool have_common(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
    constexpr std::size_t kFew = 256;  // pairs: to compare all of them, many at once, is faster than to go through both in order
    if (a.size() * b.size() <= kFew) {
        std::uint32_t common = 0;
        for (const std::uint32_t x : a)
            for (const std::uint32_t y : b) common |= x == y;
        return common != 0;
    }
    const std::uint32_t *i = a.data(), *const i_end = i + a.size(), *j = b.data(), *const j_end = j + b.size();
    bool common = false;
    while (!common && i != i_end && j != j_end) {
        const std::uint64_t x = *i, y = *j;
        common = x == y;
        i += (x - y) >> 63;  // compilers make branches of `x < y`
        j += (y - x) >> 63;
    }
    return common;
}

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
        const std::uint32_t hash = mixed(sense);
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
    return have_common(senses(), other.senses());
}

std::uint32_t Interner::find(const HashedText& key) const {
    return ids_.find(key.hash, [&](std::uint32_t id) { return keys_[id] == key.text; });
}

// Memory is slow: some keys ahead it is asked for the slots, then for the keys in them.
void Interner::find_all(const HashedText* keys, std::size_t count, std::uint32_t* ids) const {
    constexpr std::size_t kAtOnce = 16;
    for (std::size_t start = 0; start < count; start += kAtOnce) {
        const std::size_t end = std::min(start + kAtOnce, count);
        for (std::size_t k = start; k < end; ++k) ids_.prefetch(keys[k].hash);
        for (std::size_t k = start; k < end; ++k)
            if (const std::uint32_t id = ids_.likely(keys[k].hash); id != kMissing) prefetch_memory(&keys_[id]);
        for (std::size_t k = start; k < end; ++k) ids[k] = find(keys[k]);
    }
}

std::uint32_t Interner::intern(const HashedText& key) {
    if (const std::uint32_t known = find(key); known != kMissing) return known;
    // All that may fail comes first: a key without a slot, or a slot without a key, would shift all later numbers.
    ids_.reserve(keys_.size() + 1);
    std::string owned(key.text);
    keys_.prepare();
    const auto id = static_cast<std::uint32_t>(keys_.size());
    keys_.append([&](std::string& slot) noexcept { slot = std::move(owned); });
    ids_.add(key.hash, id);
    return id;
}

std::size_t RecentWords::slots_for(std::size_t words) {
    std::size_t slots = 16;
    while (slots < kMostSlots && slots < words) slots *= 2;
    return slots;
}

void WordReader::read(const std::vector<std::string_view>& words, std::vector<std::uint32_t>& ids) {
    fresh_.clear();
    ids.clear();
    for (std::string_view word : words) {
        const auto next = static_cast<std::uint32_t>(known_.size() + fresh_.size());
        ids.push_back(recent_.number_of(word, next));
        if (ids.back() == next) fresh_.emplace_back(word);
    }
    const std::vector<std::uint32_t> fresh_ids = lexicon_.intern_distinct(fresh_);
    known_.insert(known_.end(), fresh_ids.begin(), fresh_ids.end());
    for (std::uint32_t& id : ids) id = known_[id];
}

std::vector<std::uint32_t> Lexicon::intern_words(const std::vector<std::string_view>& words) {
    std::vector<std::uint32_t> ids;
    WordReader(*this, words.size()).read(words, ids);
    return ids;
}

std::vector<std::uint32_t> Lexicon::find_words(const std::vector<HashedText>& words) {
    constexpr std::size_t kAtOnce = 512;  // then a thread that has new words gets its turn
    std::vector<std::uint32_t> ids(words.size());
    for (std::size_t start = 0; start < words.size(); start += kAtOnce) {
        std::shared_lock lock(words_mutex_);
        word_ids_.find_all(words.data() + start, std::min(kAtOnce, words.size() - start), ids.data() + start);
    }
    return ids;
}

std::vector<std::uint32_t> Lexicon::intern_distinct(const std::vector<HashedText>& words) {
    std::size_t known = words_.size();  // when all were looked for, and what this thread has entered since
    std::vector<std::uint32_t> ids = find_words(words);
    std::vector<std::size_t> missing;  // words
    for (std::size_t i = 0; i < words.size(); ++i)
        if (ids[i] == Interner::kMissing) missing.push_back(i);
    if (missing.empty()) return ids;
    BatchTexts fresh(missing.size());
    for (std::size_t i : missing) ids[i] = fresh.number_of(words[i]);
    std::vector<std::uint32_t> fresh_ids(fresh.texts().size(), Interner::kMissing);
    std::vector<HashedText> step_words;
    SharedRound(entering_).go(fresh_ids.size(), [&](std::size_t from, std::size_t to) {
        step_words.assign(fresh.texts().begin() + from, fresh.texts().begin() + to);
        if (words_.size() != known) {  // another thread has entered some
            const std::vector<std::uint32_t> entered = find_words(step_words);
            std::copy(entered.begin(), entered.end(), fresh_ids.begin() + from);
        }
        known += enter(step_words, fresh_ids.data() + from);
    });
    for (std::size_t i : missing) ids[i] = fresh_ids[ids[i]];
    return ids;
}

// Looking at new words takes longer than entering them, and other threads need not wait for it.
std::size_t Lexicon::enter(const std::vector<HashedText>& words, std::uint32_t* ids) {
    constexpr std::size_t kDecoded = 32;
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < words.size(); ++i)
        if (ids[i] == Interner::kMissing) missing.push_back(i);
    if (missing.empty()) return 0;
    std::array<std::u32string, kDecoded> forms;
    std::vector<const WordFeatures*> features(missing.size());
    std::vector<bool> alphanumeric;
    for (std::size_t start = 0; start < missing.size(); start += kDecoded) {
        const std::size_t some = std::min(kDecoded, missing.size() - start);
        for (std::size_t k = 0; k < some; ++k) {
            decode_utf8(words[missing[start + k]].text, forms[k]);
            alphanumeric.push_back(std::any_of(forms[k].begin(), forms[k].end(), is_alnum));
        }
        if (features_) features_->find(forms.data(), some, features.data() + start);
    }
    std::size_t entered = 0;
    std::unique_lock lock(words_mutex_);
    for (std::size_t k = 0; k < missing.size(); ++k) {
        words_.prepare();
        const std::uint32_t id = ids[missing[k]] = word_ids_.intern(words[missing[k]]);
        if (id != words_.size()) continue;  // it came before, or another thread was first
        words_.append([&](WordType& type) noexcept {
            type.features = features[k];
            type.alphanumeric = alphanumeric[k];
        });
        ++entered;
    }
    return entered;
}

std::vector<std::uint32_t> Lexicon::intern_lemmas(const std::vector<LemmaSenses>& lemmas) {
    std::vector<HashedText> texts;
    texts.reserve(lemmas.size());
    for (const LemmaSenses& given : lemmas) texts.emplace_back(given.text);
    std::vector<std::uint32_t> ids(lemmas.size());
    std::lock_guard lock(lemmas_mutex_);
    lemma_ids_.find_all(texts.data(), texts.size(), ids.data());
    for (std::size_t i = 0; i < lemmas.size(); ++i) {
        const LemmaSenses& given = lemmas[i];
        std::uint32_t& id = ids[i];
        if (id == Interner::kMissing) id = lemma_ids_.find(texts[i]);  // one of those before it may be the same
        if (id == Interner::kMissing) {
            Lemma fresh(given);
            lemmas_.prepare();
            id = lemma_ids_.intern(texts[i]);
            lemmas_.append([&](Lemma& lemma) noexcept { lemma = std::move(fresh); });
        } else if (const std::vector<std::uint32_t>& known = lemmas_[id].senses();
                   known.size() != given.count || !std::is_permutation(known.begin(), known.end(), given.senses)) {
            throw std::invalid_argument("the lemma '" + std::string(given.text) + "' is given with different senses");
        }
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
    require_in_range(std::none_of(definitions.begin(), definitions.end(), is_wrong), "no such word or lemma");
    for (WordDefinition& definition : definitions) {
        WordType& type = words_[definition.word];
        if (type.lemma.load(std::memory_order_relaxed) != WordType::kUndefined) continue;  // another thread was first
        if (!definition.parts.empty()) has_compounds_.store(true, std::memory_order_release);  // before anyone can see the word's
        type.parts = std::move(definition.parts);
        type.lemma.store(definition.lemma, std::memory_order_release);
    }
}

}  // namespace tesla
