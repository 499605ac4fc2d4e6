// The lexicon when memory runs out: after any allocation that fails, numbers and words still belong together.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "language/analysis/lexicon.h"

namespace {

long allocations_left = -1;  // below 0: all succeed

void* allocate(std::size_t size) {
    if (allocations_left == 0) throw std::bad_alloc();
    if (allocations_left > 0) --allocations_left;
    if (void* memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

// Words that are read part by part have the numbers that they have all at once; words come again within a part and later.
bool reads_parts_as_a_whole() {
    std::vector<std::string> words;
    for (int i = 0; i < 3000; ++i) words.push_back((i % 3 == 0 ? "w" : "a longer word ") + std::to_string(i % 700));
    const std::vector<std::string_view> all(words.begin(), words.end());
    tesla::Lexicon lexicon(nullptr), other(nullptr);
    tesla::WordReader reader(lexicon, all.size());
    std::vector<std::uint32_t> ids, part;
    for (std::size_t from = 0; from < all.size(); from += 1000) {
        reader.read({all.begin() + from, all.begin() + from + 1000}, part);
        ids.insert(ids.end(), part.begin(), part.end());
    }
    for (std::size_t i = 0; i < all.size(); ++i)
        if (lexicon.form(ids[i]) != all[i]) return false;
    return ids == other.intern_words(all) && lexicon.word_count() == other.word_count();
}

int main() {
    using namespace tesla;
    if (!reads_parts_as_a_whole()) {
        std::printf("words that were read part by part have other numbers\n");
        return 1;
    }
    // 500 words fill the first slots: the next ones make the table grow. 4,090: the next ones need a new chunk.
    for (int before : {0, 500, 4090}) {
        for (long failing = 0; failing < 60; ++failing) {
            Lexicon lexicon(nullptr);
            std::vector<std::string> words;
            for (int i = 0; i < before + 30; ++i)
                words.push_back((i % 2 == 0 ? "word number " : "...................") + std::to_string(i));
            std::vector<std::string_view> first(words.begin(), words.begin() + before), all(words.begin(), words.end());
            std::vector<LemmaSenses> lemmas;
            const std::uint32_t senses[] = {7, 3};
            for (const std::string& word : words) lemmas.push_back({word, senses, word[0] == 'w' ? 2u : 0u});
            lexicon.intern_words(first);
            lexicon.intern_lemmas({lemmas.begin(), lemmas.begin() + before});
            for (int what = 0; what < 2; ++what) {
                allocations_left = failing;
                try {
                    what == 0 ? lexicon.intern_words(all) : lexicon.intern_lemmas(lemmas);
                } catch (const std::bad_alloc&) {
                }
                allocations_left = -1;
            }
            const std::vector<std::uint32_t> ids = lexicon.intern_words(all), lemma_ids = lexicon.intern_lemmas(lemmas);
            for (std::size_t i = 0; i < words.size(); ++i) {
                const bool letters = words[i][0] == 'w';
                const bool good = lexicon.form(ids[i]) == words[i] && ids[i] < lexicon.word_count() &&
                                  lexicon.lemma_text(lemma_ids[i]) == words[i] && lemma_ids[i] < lexicon.lemma_count() &&
                                  lexicon.lemma(lemma_ids[i]).senses().size() == (letters ? 2 : 0) &&
                                  ids[i] == i && lemma_ids[i] == i;
                if (!good) {
                    std::printf("allocation %ld after %d words: word %zu has number %u of %zu\n", failing, before, i, ids[i],
                                lexicon.word_count());
                    return 1;
                }
            }
            if (lexicon.word_count() != words.size() || lexicon.lemma_count() != words.size()) {
                std::printf("allocation %ld after %d words: %zu words\n", failing, before, lexicon.word_count());
                return 1;
            }
        }
    }
    return 0;
}
