#include "language/analysis/text_analyser.h"

namespace tesla {

std::shared_ptr<const AnalysedText> RecentTexts::find(const HashedText& text) {
    std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < kKept; ++i)
        if (hashes_[i] == text.hash && texts_[i] && texts_[i]->text == text.text) return texts_[i];
    return nullptr;
}

void RecentTexts::keep(const HashedText& text, std::shared_ptr<const AnalysedText> analysed) {
    if (text.text.size() > kLongest) return;
    std::lock_guard lock(mutex_);
    hashes_[oldest_] = text.hash;
    texts_[oldest_].swap(analysed);
    oldest_ = (oldest_ + 1) % kKept;
}

void RecentTexts::forget() {
    std::lock_guard lock(mutex_);
    texts_.fill(nullptr);
}

std::vector<TokenArrays> TextAnalyser::analyse(const std::vector<const Texts*>& groups, bool keep_punctuation) const {
    Draft draft(lexicon_, tokeniser_, groups);
    if (lemmas_) draft.define_plain(*lemmas_, senses_);
    if (!draft.undefined_words().empty()) define_(draft.undefined_words());
    return draft.finish(labels_, keep_punctuation || keep_punctuation_);
}

std::vector<std::shared_ptr<const AnalysedText>> TextAnalyser::analyse_alone(const Texts& texts) {
    std::vector<std::shared_ptr<const AnalysedText>> analysed;
    std::vector<HashedText> hashed(texts.begin(), texts.end());
    std::vector<Texts> fresh;  // each a group of one text
    fresh.reserve(texts.size());
    std::vector<const Texts*> groups;
    for (const HashedText& text : hashed)
        if (!analysed.emplace_back(recent_.find(text))) groups.push_back(&fresh.emplace_back(1, text.text));
    std::vector<TokenArrays> arrays = analyse(groups, false);
    auto next = arrays.begin();
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (analysed[i]) continue;
        analysed[i] = std::make_shared<AnalysedText>(texts[i], std::move(*next++));
        recent_.keep(hashed[i], analysed[i]);
    }
    return analysed;
}

}  // namespace tesla
