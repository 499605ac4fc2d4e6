// Threads that write to one lexicon and one that reads whatever is counted; the thread sanitizer watches.
#include <atomic>
#include <cstdio>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "language/analysis/lexicon.h"

int main() {
    using namespace tesla;
    Lexicon lexicon(nullptr);
    std::atomic<bool> done{false};
    std::atomic<int> wrong{0};
    auto write = [&](int own) {
        for (int batch = 0; batch < 20; ++batch) {
            std::vector<std::string> words;  // many that other threads meet at the same time, more than are entered at once
            for (int i = 0; i < 700; ++i) words.push_back("w" + std::to_string((batch * 350 + i) * (own % 2 + 1)));
            const std::vector<std::string_view> views(words.begin(), words.end());
            const std::vector<std::uint32_t> ids = lexicon.intern_words(views);
            std::vector<LemmaSenses> lemmas;
            const std::uint32_t senses[] = {1, 2, 3};
            for (const std::string& word : words) lemmas.push_back({word, senses, word.size() % 4});
            const std::vector<std::uint32_t> lemma_ids = lexicon.intern_lemmas(lemmas);
            std::vector<WordDefinition> definitions;
            for (std::size_t i = 0; i < ids.size(); ++i) definitions.push_back({ids[i], lemma_ids[i], {{ids[0], 0, 1}}});
            lexicon.define_words(std::move(definitions));
            for (std::size_t i = 0; i < ids.size(); ++i) {
                const std::uint32_t lemma = lexicon.word(ids[i]).lemma.load(std::memory_order_acquire);
                wrong += lexicon.form(ids[i]) != words[i] || lexicon.lemma_text(lemma) != words[i] ||
                         lexicon.word(ids[i]).parts.size() != 1;
            }
        }
    };
    std::thread reader([&] {
        while (!done) {
            if (const std::size_t words = lexicon.word_count(); words > 0) {
                const auto last = static_cast<std::uint32_t>(words - 1);
                wrong += !lexicon.word(last).alphanumeric || lexicon.form(last)[0] != 'w';
            }
            if (const std::size_t lemmas = lexicon.lemma_count(); lemmas > 0) {
                const auto last = static_cast<std::uint32_t>(lemmas - 1);
                wrong += lexicon.lemma(last).senses().size() != lexicon.lemma_text(last).size() % 4;
            }
        }
    });
    std::vector<std::thread> writers;
    for (int own = 0; own < 3; ++own) writers.emplace_back(write, own);
    for (std::thread& writer : writers) writer.join();
    done = true;
    reader.join();
    std::set<std::string> forms;
    for (std::uint32_t id = 0; id < lexicon.word_count(); ++id) wrong += !forms.insert(lexicon.form(id)).second;
    if (wrong != 0) std::printf("%d wrong\n", wrong.load());
    return wrong != 0;
}
