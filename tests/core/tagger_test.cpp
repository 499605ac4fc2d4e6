// The tagger against one that adds up weights feature by feature: few and many labels, sums that eight bits hold and others.
#include "language/analysis/tagger.h"

#include <cstdio>
#include <map>
#include <random>
#include <set>

#include "language/analysis/feature_store.h"

namespace {

using namespace tesla;

using Form = std::u32string;
using Labels = std::vector<std::uint16_t>;

const std::vector<std::vector<Form>> kTexts = {
    {U"The", U"dogs", U"of", U"1984", U"bark", U"."}, {}, {U"Dogs", U"bark", U"in", U"1066", U"-", U"quietly", U"."}, {U"barks"}};

struct Model {
    std::size_t labels;
    std::map<std::uint32_t, std::map<std::uint8_t, std::int8_t>> rows;  // by feature: weights by label
    std::map<std::uint32_t, std::uint8_t> classes;                      // by suffix
    SuffixLexicon lexicon;

    WordHashes look_at(const Form& form) const {
        return hash_word(form.data(), form.size(), lexicon.class_of(form.data(), form.size()));
    }
};

// All features that the texts may have, whatever their labels.
std::set<std::uint32_t> features_of_texts(const Model& model) {
    std::set<std::uint32_t> features;
    const WordHashes beyond = model.look_at({});
    const auto labels = static_cast<std::uint32_t>(model.labels);
    for (const auto& text : kTexts) {
        std::vector<WordHashes> words(2, beyond);
        for (const Form& form : text) words.push_back(model.look_at(form));
        words.insert(words.end(), 2, beyond);
        for (std::size_t i = 2; i + 2 < words.size(); ++i) {
            features.insert(words[i].own.begin(), words[i].own.end());
            for (std::uint32_t label = 0; label <= labels; ++label)
                for (std::uint32_t second = 0; second <= labels; ++second) {
                    const Position<WordHashes> at{&words[i - 2], &words[i - 1], &words[i], &words[i + 1], &words[i + 2], label, second};
                    for (std::uint32_t feature : context_features(at)) features.insert(feature);
                    visit_neighbours(at, [&](std::uint32_t feature) { features.insert(feature); });
                }
        }
    }
    features.erase(0);
    return features;
}

Model draw_model(std::size_t labels, int largest, std::mt19937& random) {
    Model model{labels, {}, {}, {}};
    std::vector<std::uint32_t> keys, classes;
    for (const Form& suffix : {Form(U"s"), Form(U"gs"), Form(U"y")})
        model.classes[SuffixLexicon::key(suffix.data(), suffix.size())] = static_cast<std::uint8_t>(suffix.size());
    for (const auto& [key, number] : model.classes) {
        keys.push_back(key);
        classes.push_back(number);
    }
    model.lexicon.build(keys, classes);
    for (std::uint32_t feature : features_of_texts(model)) {
        const std::size_t length = random() % 3 == 0 ? random() % (labels + 1) : random() % 3;
        for (std::size_t k = 0; k < length; ++k)
            model.rows[feature][static_cast<std::uint8_t>(random() % labels)] =
                static_cast<std::int8_t>(static_cast<int>(random() % (2 * largest + 1)) - largest);
    }
    return model;
}

Labels tag_simply(const Model& model, const std::vector<Form>& text) {
    const WordHashes beyond = model.look_at({});
    std::vector<WordHashes> words(2, beyond);
    for (const Form& form : text) words.push_back(model.look_at(form));
    words.insert(words.end(), 2, beyond);
    Labels found;
    std::uint32_t label = 0, second = 0;
    for (std::size_t i = 2; i + 2 < words.size(); ++i) {
        const Position<WordHashes> at{&words[i - 2], &words[i - 1], &words[i], &words[i + 1], &words[i + 2], label, second};
        std::vector<int> scores(model.labels);
        const auto add = [&](std::uint32_t feature) {
            if (const auto row = model.rows.find(feature); row != model.rows.end())
                for (const auto& [of, weight] : row->second) scores[of] += weight;
        };
        for (std::uint32_t feature : words[i].own) add(feature);
        for (std::uint32_t feature : context_features(at)) add(feature);
        visit_neighbours(at, add);
        found.push_back(static_cast<std::uint16_t>(std::max_element(scores.begin(), scores.end()) - scores.begin()));
        second = label;
        label = found.back() + 1U;
    }
    return found;
}

struct ModelArrays {
    std::vector<std::uint32_t> features, suffixes;
    std::vector<std::uint8_t> lengths, labels, classes;
    std::vector<std::int8_t> weights;

    explicit ModelArrays(const Model& model) {
        for (const auto& [feature, row] : model.rows) {
            features.push_back(feature);
            lengths.push_back(static_cast<std::uint8_t>(row.size()));
            for (const auto& [label, weight] : row) {
                labels.push_back(label);
                weights.push_back(weight);
            }
        }
        for (const auto& [key, number] : model.classes) {
            suffixes.push_back(key);
            classes.push_back(number);
        }
        features = hash_differences(features);
        suffixes = hash_differences(suffixes);
    }
    TaggerArrays of(std::size_t count) const {
        return {count,
                {features.data(), features.size()},
                {lengths.data(), lengths.size()},
                {labels.data(), labels.size()},
                {weights.data(), weights.size()},
                {suffixes.data(), suffixes.size()},
                {classes.data(), classes.size()}};
    }
};

// How many of the texts get other labels than they should. `wide` counts words with sums that eight bits do not hold.
int count_wrong(const Model& model, int& wide) {
    const Tagger tagger(ModelArrays(model).of(model.labels));
    FeatureStore store(tagger);
    WordRows rows(tagger);
    for (const auto& text : kTexts) {
        std::vector<const WordFeatures*> features(text.size());
        store.find(text.data(), text.size(), features.data());
        for (const WordFeatures* word : features) {
            rows.push_back(*word);
            wide += word->own_rows || word->previous_rows || word->next_rows;
        }
        rows.end_text();
    }
    Labels labels(rows.places());
    tagger.tag(rows, labels.data());
    int wrong = 0;
    for (std::size_t t = 0; t < kTexts.size(); ++t) {
        const auto from = labels.begin() + static_cast<std::ptrdiff_t>(rows.start(t));
        wrong += Labels(from, from + static_cast<std::ptrdiff_t>(kTexts[t].size())) != tag_simply(model, kTexts[t]);
    }
    return wrong;
}

}  // namespace

int main() {
    std::mt19937 random(1);
    int wrong = 0;
    for (const int largest : {3, 127}) {
        int wide = 0;
        for (const std::size_t labels : {1, 5, 16, 17, 40, 64})
            for (int k = 0; k < 5; ++k) wrong += count_wrong(draw_model(labels, largest, random), wide);
        if (largest == 127 && wide == 0) return std::printf("no sum is too large for eight bits\n");
    }
    if (wrong != 0) std::printf("%d texts have wrong labels\n", wrong);
    return wrong != 0;
}
