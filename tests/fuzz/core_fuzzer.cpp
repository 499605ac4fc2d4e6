// Coverage-guided fuzzing of the core without Python (`make fuzz`). The first byte chooses what the rest goes through.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory_resource>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/front_coded.h"
#include "base/unicode.h"
#include "language/analysis/analysis.h"
#include "language/analysis/plain_lemmas.h"
#include "language/analysis/segmenter.h"
#include "language/analysis/tagger.h"
#include "language/lm/ngram_model.h"
#include "language/pivot/phrase_table.h"
#include "matching/bags.h"
#include "matching/celab/celab.h"
#include "matching/celab/paths.h"
#include "matching/characters.h"
#include "matching/matching.h"
#include "matching/pivot.h"
#include "matching/surface.h"

namespace {

using namespace tesla;

void require(bool condition) {
    if (!condition) std::abort();
}

// Bytes as numbers and texts.
class Input {
   public:
    Input(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
    std::uint8_t byte() {
        if (left_ == 0) return 0;
        --left_;
        return *data_++;
    }
    std::string bytes(std::size_t most) {
        std::string found(reinterpret_cast<const char*>(data_), std::min(most, left_));
        data_ += found.size();
        left_ -= found.size();
        return found;
    }
    template <class T>
    std::vector<T> numbers() {
        std::vector<T> found(byte() % 32);
        for (T& number : found) {
            number = static_cast<T>(byte() % 8);
            if (byte() % 16 == 0)  // now and then something large
                for (std::size_t i = 0; i < sizeof(T); ++i) number = static_cast<T>(number << 7 ^ byte());
        }
        return found;
    }
    // What Python would hand over: valid UTF-8.
    std::string text() {
        const std::string raw = bytes(byte() * 8);
        std::string good;
        std::u32string characters;
        decode_utf8(raw, characters);
        for (char32_t c : characters) append_utf8(c > 0x10FFFF || (c >= 0xD800 && c < 0xE000) ? 0xFFFD : c, good);
        require(is_utf8(good));
        return good;
    }

   private:
    const std::uint8_t* data_;
    std::size_t left_;
};

void fuzz_words(Input& in) {
    const auto languages = Tokeniser::languages();
    const Tokeniser tokeniser{languages[in.byte() % languages.size()]};
    Lexicon lexicon(nullptr);
    const std::string x = in.text(), y = in.text();
    const Draft::Texts group{x, y};
    const Draft draft(lexicon, tokeniser, {&group});
    const std::vector<std::uint32_t> words = draft.undefined_words();
    std::vector<LemmaSenses> lemmas;
    std::vector<std::string> texts;
    std::vector<std::uint32_t> senses;
    for (std::uint32_t word : words) texts.push_back(lexicon.form(word).substr(0, 3));
    for (std::size_t i = 0; i < words.size(); ++i) senses.push_back(static_cast<std::uint32_t>(texts[i].size()));
    std::vector<WordDefinition> definitions;
    for (std::size_t i = 0; i < words.size(); ++i) lemmas.push_back({texts[i], &senses[i], 1});
    const std::vector<std::uint32_t> ids = lexicon.intern_lemmas(lemmas);
    for (std::size_t i = 0; i < words.size(); ++i) definitions.push_back({words[i], ids[i], {}});
    lexicon.define_words(std::move(definitions));
    const TokenArrays tokens = draft.finish({}, in.byte() % 2 == 0).front();
    const std::vector<std::uint16_t> tags(tokens.word.size(), static_cast<std::uint16_t>(in.byte() % 2));
    std::vector<std::uint8_t> function(tokens.word.size());
    for (std::uint8_t& flag : function) flag = in.byte() % 2;
    auto view = [&](std::size_t i) {
        const auto from = static_cast<std::size_t>(tokens.offsets[i]), to = static_cast<std::size_t>(tokens.offsets[i + 1]);
        return TokenView{tokens.lemma.data() + from, tags.data() + from, function.data() + from, to - from};
    };
    const Discount discount{1, 1 + in.byte() % 50};
    const bool merge = in.byte() % 2 == 0;
    BagBuilder builder(discount);
    auto bag = [&](std::size_t i) {
        builder.begin(view(i));
        return merge ? builder.symbol_bag(3) : builder.token_bag(3);
    };
    const SymbolBag a = bag(0), b = bag(1);
    MaxSimMatcher dense(lexicon), hubs(lexicon, 0);
    dense.begin_pair(a, b);
    hubs.begin_pair(a, b);
    for (int n = 1; n <= 3; ++n) {
        const std::int64_t best = dense.optimum(n);
        require(best == hubs.optimum(n));  // two ways to the same optimum
        require(best >= 0 && best <= 2 * n * std::min(a.orders[n - 1].total, b.orders[n - 1].total));
        dense.flow();
        hubs.flow();
    }
    if (merge) {
        builder.begin(view(0));
        builder.lemma_bags(3);
        builder.tag_bags(3);
        builder.skip_bag(4);
    }
    CharacterMap lowering(
        [](char32_t c) {
            CharacterChange change;
            append_utf8(to_lower(c), change.text);
            return change;
        },
        [](std::string_view word) { return std::string(word); });
    WordFacts facts(lexicon, lowering, nullptr);
    facts.learn(tokens.word, tokens.lemma);
    std::pmr::monotonic_buffer_resource memory;
    SurfaceScratch surface_scratch;
    auto surface = [&](std::size_t i, const std::string& text) {
        const auto from = static_cast<std::size_t>(tokens.offsets[i]), to = static_cast<std::size_t>(tokens.offsets[i + 1]);
        return SurfaceText({tokens.word.data() + from, tokens.lemma.data() + from, function.data() + from, to - from}, facts,
                           text, surface_scratch, &memory);
    };
    double row[kSurfaceColumns];
    SurfaceMatcher().compare(surface(0, x), surface(1, y), row);
    for (double value : row) require(value == value);
    std::int64_t matches[kMaxCharacterOrder];
    CharacterScratch scratch;
    CharacterBag::overlap(CharacterBag(x, scratch), CharacterBag(y, scratch), kMaxCharacterOrder, matches);
}

void fuzz_celab(Input& in) {
    celab::Vocabulary vocabulary;
    const int order = 1 + in.byte() % celab::kMaxOrder;
    const bool synonyms = in.byte() % 2 == 0;
    std::vector<std::string> texts = {in.text(), in.text()};
    std::vector<celab::Text> made;
    for (const std::string& text : texts) {
        std::u32string characters;
        decode_utf8(text, characters);
        std::vector<std::string> units;
        for (const auto& [start, end] : celab::split_units(characters)) {
            std::string& unit = units.emplace_back();
            for (std::int32_t i = start; i < end; ++i) append_utf8(characters[static_cast<std::size_t>(i)], unit);
        }
        if (units.size() > 200) units.resize(200);
        made.emplace_back(vocabulary, std::vector<std::string_view>(units.begin(), units.end()), order, std::vector<double>{});
    }
    if (synonyms)
        for (std::uint32_t id = 0; id < vocabulary.size(); ++id) {
            const std::uint32_t category = id % 7;
            if (id % 3 == 0) vocabulary.define(id, &category, 1);
        }
    for (celab::Text& text : made) text.find_types(vocabulary);
    try {
        const celab::Solution found = celab::Solver(300).solve(made[0], made[1], true);
        require(found.reference.covered <= found.reference.total * (1 + 1e-9) + 1e-9);
        require(found.hypothesis.covered <= found.hypothesis.total * (1 + 1e-9) + 1e-9);
    } catch (const celab::TooLarge&) {
    }
}

void fuzz_dictionary(Input& in) {
    const std::string word = in.text();
    const FrontCodedDictionary dictionary("SMFC1" + in.bytes(4096));
    const PlainLemmas plain(EditTable({"a"}, {"1b"}), EditTable({}, {}), &dictionary, std::vector<std::string>{}, true,
                            in.byte() % 2 == 0);
    std::string lemma;
    if (plain.find(word, lemma)) require(is_utf8(lemma));
}

void fuzz_tagger(Input& in) {
    const auto features = in.numbers<std::uint32_t>();
    const auto lengths = in.numbers<std::uint8_t>(), labels = in.numbers<std::uint8_t>(), classes = in.numbers<std::uint8_t>();
    const auto weights = in.numbers<std::int8_t>();
    const auto suffixes = in.numbers<std::uint32_t>();
    const Tagger tagger({std::size_t{in.byte()}, features, lengths, labels, weights, suffixes, classes});
    std::u32string form;
    decode_utf8(in.text(), form);
    SingleWord word;
    tagger.find_features(form, word);
    WordRows texts(tagger);
    texts.clear();
    for (std::size_t text = 0; text < 3; ++text) {
        for (std::size_t i = 0; i <= text; ++i) texts.push_back(word.features);
        texts.end_text();
    }
    std::vector<std::uint16_t> found(texts.places());
    tagger.tag(texts, found.data());
    for (std::size_t text = 0; text < texts.texts(); ++text)
        for (std::size_t i = 0; i <= text; ++i) require(found[texts.start(text) + i] < tagger.labels());
}

void fuzz_segmenter(Input& in) {
    SegmenterArrays arrays;
    arrays.feature_deltas = in.numbers<std::uint32_t>();
    arrays.feature_places = in.numbers<std::uint8_t>();
    arrays.weights = in.numbers<std::int8_t>();
    arrays.transitions = in.numbers<std::int16_t>();
    arrays.transitions.resize((kPlaces + 1) * kPlaces);
    arrays.word_deltas = in.numbers<std::uint32_t>();
    arrays.variants = in.numbers<std::uint32_t>();
    const Segmenter segmenter(arrays);
    std::u32string text;
    decode_utf8(in.text(), text);
    std::size_t end = 0;
    if (text.empty()) return;
    segmenter.segment(text.data(), text.size(), 0, text.size(), [&](std::size_t first, std::size_t last) {
        require(first == end && last > first);
        end = last;
    });
    require(end == text.size());
}

void fuzz_table(Input& in) {
    const auto target = in.numbers<std::uint8_t>(), pivot = in.numbers<std::uint8_t>(), tags = in.numbers<std::uint8_t>();
    std::vector<std::uint32_t> arrays[10];
    for (auto& array : arrays) array = in.numbers<std::uint32_t>();
    const PhraseTable table{{target, arrays[0]}, {pivot, arrays[1]}, tags, arrays[2], arrays[3], arrays[4], arrays[5],
                            arrays[6], arrays[7], arrays[8], arrays[9], 1.0 + in.byte()};
    table.check();
    std::vector<PivotLemma> lemmas;
    for (std::uint8_t number : in.numbers<std::uint8_t>())
        lemmas.push_back({number < table.target.size() ? number : WordList::kMissing, std::uint32_t{number}});
    const std::vector<std::uint8_t> flags(lemmas.size());
    PivotBuilder builder(table, {0.01, 0.001}, kLongestPivotNgram);
    builder.network({lemmas.data(), flags.data(), flags.data(), lemmas.size()});
    builder.ngrams();
}

void fuzz_language_model(Input& in) {
    const std::size_t order = 1 + in.byte() % 4;
    std::vector<std::vector<std::uint32_t>> words(order), children(order - 1);
    std::vector<std::vector<float>> logs(order);
    for (std::size_t n = 0; n < order; ++n) {
        words[n] = in.numbers<std::uint32_t>();
        for (std::size_t i = 0; i < words[n].size(); ++i) logs[n].push_back(-static_cast<float>(in.byte()) / 16);
        if (n > 0) children[n - 1] = in.numbers<std::uint32_t>();
    }
    if (in.byte() % 2 == 0)
        for (std::size_t i = 0; i < words[0].size(); ++i) words[0][i] = static_cast<std::uint32_t>(i);
    const NgramModel model(words, logs, children, 0.001);
    std::vector<std::uint32_t> sentence;
    for (std::uint32_t word : in.numbers<std::uint32_t>()) sentence.push_back(word % model.vocabulary());
    std::vector<double> out(sentence.size() + 1);
    model.score(sentence.data(), sentence.size(), out.data());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static void (*const kTargets[])(Input&) = {fuzz_words,     fuzz_celab, fuzz_dictionary,    fuzz_tagger,
                                               fuzz_segmenter, fuzz_table, fuzz_language_model};
    Input in(data, size);
    const std::uint8_t target = in.byte();
    try {
        kTargets[target % (sizeof(kTargets) / sizeof(kTargets[0]))](in);
    } catch (const std::invalid_argument&) {  // arrays that do not fit together
    } catch (const std::length_error&) {
    }
    return 0;
}
