#include "analysis/analysis.h"

#include <optional>
#include <stdexcept>
#include <unordered_set>

#include "base/unicode.h"

namespace tesla {
namespace {

constexpr std::size_t kBytesPerToken = 4;  // where there are more, vectors grow

}  // namespace

void TokenArrays::reserve(std::size_t texts, std::size_t tokens) {
    offsets.reserve(texts + 1);
    for (auto* array : {&word, &lemma, &start, &end}) array->reserve(tokens);
    tag.reserve(tokens);
    for (auto* array : {&universal, &function}) array->reserve(tokens);
}

Draft::Draft(Lexicon& lexicon, const Tokeniser& tokeniser, const std::vector<std::string_view>& texts)
    : lexicon_(lexicon) {
    std::u32string decoded;
    std::vector<Span> spans;
    std::vector<std::string_view> words;
    std::vector<std::uint32_t> byte_of;  // code point -> byte, for texts beyond ASCII
    std::size_t bytes = 0;
    for (std::string_view text : texts) bytes += text.size();
    words.reserve(bytes / kBytesPerToken);
    tokens_.reserve(bytes / kBytesPerToken);
    offsets_.reserve(texts.size() + 1);
    for (std::string_view text : texts) {
        decode_utf8(text, decoded);
        tokeniser.tokenise(decoded.data(), decoded.size(), spans);
        bool ascii = decoded.size() == text.size();
        if (!ascii) {
            byte_of.resize(decoded.size() + 1);
            std::uint32_t at = 0;
            for (std::size_t i = 0; i < decoded.size(); ++i) {
                byte_of[i] = at;
                char32_t c = decoded[i];
                at += c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
            }
            byte_of[decoded.size()] = at;
        }
        for (Span s : spans) {
            std::uint32_t from = ascii ? s.start : byte_of[s.start], to = ascii ? s.end : byte_of[s.end];
            words.push_back(text.substr(from, to - from));
            tokens_.push_back({0, s.start, s.end});
        }
        offsets_.push_back(tokens_.size());
    }
    std::vector<std::uint32_t> ids = lexicon.intern_words(words);
    for (std::size_t i = 0; i < ids.size(); ++i) tokens_[i].word = ids[i];
    find_undefined();
}

void Draft::find_undefined() {
    std::unordered_set<std::uint32_t> seen;
    for (const Token& token : tokens_) {
        if (lexicon_.is_defined(token.word)) continue;
        if (seen.insert(token.word).second) undefined_.push_back(token.word);
    }
}

void Draft::define_plain(const PlainLemmas& lemmas, const SenseIndex* senses) {
    if (!undefined_.empty()) undefined_ = tesla::define_plain(lexicon_, undefined_, lemmas, senses);
}

TokenArrays Draft::finish(const std::vector<LabelMeaning>& labels, bool keep_punctuation) const {
    static constexpr LabelMeaning kUntagged{0, 0, false, false};
    TokenArrays out;
    out.reserve(offsets_.size(), tokens_.size());
    std::vector<Token> split;
    std::optional<WordRow> row;
    if (lexicon_.tagger()) row.emplace(*lexicon_.tagger());
    std::vector<std::uint16_t> found;
    auto meaning = [&](std::size_t i) -> const LabelMeaning& {
        return row ? labels.at(found[i]) : kUntagged;
    };
    auto tag = [&](const Token* tokens, std::size_t count) {
        if (!row) return;
        row->clear();
        for (std::size_t i = 0; i < count; ++i) {
            const WordFeatures& features = *lexicon_.word(tokens[i].word).features;
            row->push_back(features);
            prefetch(&features);
        }
        found.resize(count);
        lexicon_.tagger()->tag(*row, found.data());
    };
    auto is_split = [&](const Token* tokens, std::size_t i) {
        return !lexicon_.word(tokens[i].word).parts.empty() && meaning(i).noun;
    };
    for (std::size_t text = 0; text + 1 < offsets_.size(); ++text) {
        const Token* tokens = tokens_.data() + offsets_[text];
        std::size_t count = offsets_[text + 1] - offsets_[text];
        tag(tokens, count);
        std::size_t whole = 0;  // tokens before the first that is split
        while (whole < count && !is_split(tokens, whole)) ++whole;
        if (whole < count) {
            split.assign(tokens, tokens + whole);
            for (std::size_t i = whole; i < count; ++i) {
                if (!is_split(tokens, i)) {
                    split.push_back(tokens[i]);
                    continue;
                }
                for (const CompoundPart& part : lexicon_.word(tokens[i].word).parts)
                    split.push_back({part.word, tokens[i].start + part.start, tokens[i].start + part.end});
            }
            tokens = split.data();
            count = split.size();
            tag(tokens, count);
        }
        for (std::size_t i = 0; i < count; ++i) {
            const WordType& type = lexicon_.word(tokens[i].word);
            if (!keep_punctuation && !type.alphanumeric) continue;
            const LabelMeaning& label = meaning(i);
            out.word.push_back(tokens[i].word);
            std::uint32_t lemma = type.lemma.load(std::memory_order_acquire);
            if (lemma == WordType::kUndefined) throw std::logic_error("a word has no lemma yet");
            out.lemma.push_back(lemma);
            out.start.push_back(tokens[i].start);
            out.end.push_back(tokens[i].end);
            out.tag.push_back(label.tag);
            out.universal.push_back(label.universal);
            out.function.push_back(label.function);
        }
        out.offsets.push_back(static_cast<std::int64_t>(out.word.size()));
    }
    return out;
}

}  // namespace tesla
