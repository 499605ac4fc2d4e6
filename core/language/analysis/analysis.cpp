#include "language/analysis/analysis.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "base/checks.h"
#include "base/unicode.h"

namespace tesla {
namespace {

constexpr std::size_t kBytesPerToken = 4;  // or more, in most texts
constexpr std::size_t kFirstBytes = std::size_t{1} << 16;  // of text: they tell how many tokens the rest has
constexpr std::size_t kReadTogether = 2048;  // words, or a few more
constexpr std::size_t kTaggedTogether = 64;  // texts of each group

}  // namespace

void TokenArrays::resize(std::size_t tokens) {
    for (auto* array : {&word, &lemma, &start, &end}) array->resize(tokens);
    tag.resize(tokens);
    for (auto* array : {&universal, &function}) array->resize(tokens);
}

// Cuts texts into the tokens of a draft. Words are looked up many at a time.
class Draft::Reader {
   public:
    // `bytes`: of all texts; `longest`: of the longest one.
    Reader(Draft& draft, const Tokeniser& tokeniser, std::size_t bytes, std::size_t longest)
        : draft_(draft), tokeniser_(tokeniser), bytes_(bytes), words_read_(draft.lexicon_, bytes / kBytesPerToken) {
        spans_.reserve(longest / kBytesPerToken);
        draft.tokens_.reserve(std::min(bytes, kFirstBytes) / kBytesPerToken);
    }
    void add(std::string_view text) {
        bytes_read_ += text.size();
        decode_utf8(text, decoded_);
        tokeniser_.tokenise(decoded_.data(), decoded_.size(), spans_);
        const bool ascii = decoded_.size() == text.size();
        if (!ascii) find_bytes();
        make_room(spans_.size());
        for (Span s : spans_) {
            const std::uint32_t from = ascii ? s.start : byte_of_[s.start], to = ascii ? s.end : byte_of_[s.end];
            words_.push_back(text.substr(from, to - from));
            draft_.tokens_.push_back({0, s.start, s.end});
        }
        draft_.offsets_.push_back(draft_.tokens_.size());
        if (words_.size() >= kReadTogether) read_words();
    }
    // The numbers of all words.
    const std::vector<std::uint32_t>& finish() {
        read_words();
        return words_read_.ids();
    }

   private:
    void find_bytes() {
        byte_of_.resize(decoded_.size() + 1);
        std::uint32_t at = 0;
        for (std::size_t i = 0; i < decoded_.size(); ++i) {
            byte_of_[i] = at;
            at += utf8_length(decoded_[i]);
        }
        byte_of_[decoded_.size()] = at;
    }
    void make_room(std::size_t count) {  // not more than is needed: memory that is touched first is slow
        auto& tokens = draft_.tokens_;
        const std::size_t needed = tokens.size() + count;
        if (needed <= tokens.capacity()) return;
        const double expected = static_cast<double>(needed) * static_cast<double>(bytes_) / static_cast<double>(bytes_read_);
        tokens.reserve(std::max(needed + needed / 2, static_cast<std::size_t>(1.05 * expected)));
    }
    void read_words() {
        words_read_.read(words_, ids_);
        Token* token = draft_.tokens_.data() + draft_.tokens_.size() - words_.size();
        for (std::uint32_t id : ids_) (token++)->word = id;
        words_.clear();
    }

    Draft& draft_;
    const Tokeniser& tokeniser_;
    std::size_t bytes_, bytes_read_ = 0;
    WordReader words_read_;
    std::vector<Span> spans_;
    std::vector<std::string_view> words_;  // of the last tokens
    std::vector<std::uint32_t> ids_;
    std::u32string decoded_;
    std::vector<std::uint32_t> byte_of_;  // code point -> byte, for texts beyond ASCII
};

Draft::Draft(Lexicon& lexicon, const Tokeniser& tokeniser, const std::vector<const Texts*>& groups) : lexicon_(lexicon) {
    std::size_t bytes = 0, longest = 0;
    for (const Texts* texts : groups) {
        for (std::string_view text : *texts) {
            bytes += text.size();
            longest = std::max(longest, text.size());
        }
        groups_.push_back(groups_.back() + texts->size());
    }
    offsets_.reserve(groups_.back() + 1);
    Reader reader(*this, tokeniser, bytes, longest);
    for (const Texts* texts : groups)
        for (std::string_view text : *texts) reader.add(text);
    find_undefined(reader.finish());
}

void Draft::find_undefined(const std::vector<std::uint32_t>& words) {
    for (std::uint32_t word : words)
        if (!lexicon_.is_defined(word)) undefined_.push_back(word);
    if (undefined_.empty()) return;
    // Their numbers lie close together: they were given when this batch, or another one at the same time, met the words.
    const auto [lowest, highest] = std::minmax_element(undefined_.begin(), undefined_.end());
    const std::uint32_t first = *lowest;
    std::vector<bool> seen(*highest - first + std::size_t{1});
    std::size_t kept = 0;
    for (std::uint32_t word : undefined_) {
        if (seen[word - first]) continue;
        seen[word - first] = true;
        undefined_[kept++] = word;
    }
    undefined_.resize(kept);
}

void Draft::define_plain(const PlainLemmas& lemmas, const SenseIndex* senses) {
    if (!undefined_.empty()) undefined_ = tesla::define_plain(lexicon_, undefined_, lemmas, senses);
}

// The tokens of some texts, and their labels, tagged together.
class Draft::Tagging {
   public:
    Tagging(Lexicon& lexicon, const std::vector<LabelMeaning>& meanings) : lexicon_(lexicon), meanings_(meanings) {
        if (!lexicon.tagger()) return;
        require(meanings.size() >= lexicon.tagger()->labels(), "the tagger has labels without a meaning");
        rows_.emplace(*lexicon.tagger());
    }
    void begin() {
        if (rows_) rows_->clear();
    }
    void add_text(const ArrayView<Token>& tokens) {
        if (!rows_) return;
        for (const Token& token : tokens) rows_->push_back(*lexicon_.word(token.word).features);
        rows_->end_text();
    }
    void tag() {
        if (!rows_) return;
        labels_.resize(rows_->places());
        lexicon_.tagger()->tag(*rows_, labels_.data());
    }

    // What the labels of the tokens of a text mean.
    class Labels {
       public:
        const LabelMeaning& operator[](std::size_t token) const { return labels_ ? meanings_[labels_[token]] : kUntagged; }

       private:
        friend class Tagging;
        static constexpr LabelMeaning kUntagged{0, 0, false, false};
        Labels(const std::uint16_t* labels, const LabelMeaning* meanings) : labels_(labels), meanings_(meanings) {}

        const std::uint16_t* labels_;
        const LabelMeaning* meanings_;
    };
    Labels labels(std::size_t text) const {
        return {rows_ ? labels_.data() + rows_->start(text) : nullptr, meanings_.data()};
    }

   private:
    Lexicon& lexicon_;
    const std::vector<LabelMeaning>& meanings_;
    std::optional<WordRows> rows_;
    std::vector<std::uint16_t> labels_;
};

std::vector<TokenArrays> Draft::finish(const std::vector<LabelMeaning>& labels, bool keep_punctuation) const {
    std::vector<TokenArrays> out(groups_.size() - 1);
    std::size_t most = 0;  // texts of a group
    for (std::size_t g = 0; g < out.size(); ++g) {
        const std::size_t first = groups_[g], end = groups_[g + 1];
        out[g].offsets.reserve(end - first + 1);
        out[g].resize(offsets_[end] - offsets_[first]);
        most = std::max(most, end - first);
    }
    std::vector<std::size_t> counts(out.size());  // tokens so far
    Tagging block(lexicon_, labels), again(lexicon_, labels);
    for (std::size_t done = 0; done < most; done += kTaggedTogether) {
        const auto for_each_text = [&](auto visit) {
            for (std::size_t g = 0; g < out.size(); ++g)
                for (std::size_t t = groups_[g] + done; t < std::min(groups_[g] + done + kTaggedTogether, groups_[g + 1]); ++t)
                    visit(g, t);
        };
        block.begin();
        for_each_text([&](std::size_t, std::size_t t) { block.add_text(tokens(t)); });
        block.tag();
        std::size_t in_block = 0;
        for_each_text([&](std::size_t g, std::size_t t) {
            append_text(t, block, in_block++, again, keep_punctuation, out[g], counts[g]);
        });
    }
    for (std::size_t g = 0; g < out.size(); ++g) out[g].resize(counts[g]);
    return out;
}

// The text is the one of the number `in_block` in `block`; where its compounds are split, it is tagged again. `out` has `count`
// tokens, and room for more.
void Draft::append_text(std::size_t text, const Tagging& block, std::size_t in_block, Tagging& again, bool keep_punctuation,
                        TokenArrays& out, std::size_t& count) const {
    const Tagging::Labels labels = block.labels(in_block);
    if (!lexicon_.has_compounds()) return append_tokens(tokens(text), labels, keep_punctuation, out, count);
    std::vector<Token> split;
    bool is_split = false;
    for (std::size_t i = 0; i < tokens(text).size; ++i) {
        const Token& token = tokens(text)[i];
        const std::vector<CompoundPart>& parts = lexicon_.word(token.word).parts;
        if (parts.empty() || !labels[i].noun) {
            split.push_back(token);
            continue;
        }
        is_split = true;
        for (const CompoundPart& part : parts) split.push_back({part.word, token.start + part.start, token.start + part.end});
    }
    if (!is_split) return append_tokens(split, labels, keep_punctuation, out, count);
    again.begin();
    again.add_text(split);
    again.tag();
    append_tokens(split, again.labels(0), keep_punctuation, out, count);
}

// All are written and those that count stay: whether punctuation comes next nobody can foresee.
template <class Labels>
void Draft::append_tokens(const ArrayView<Token>& tokens, const Labels& labels, bool keep_punctuation, TokenArrays& out,
                          std::size_t& count) const {
    if (count + tokens.size > out.word.size()) out.resize(count + tokens.size);
    std::uint32_t *word = out.word.data(), *lemma = out.lemma.data(), *start = out.start.data(), *end = out.end.data();
    std::uint16_t* tag = out.tag.data();
    std::uint8_t *universal = out.universal.data(), *function = out.function.data();
    std::size_t at = count;
    for (std::size_t i = 0; i < tokens.size; ++i) {
        const WordType& type = lexicon_.word(tokens[i].word);
        const LabelMeaning& label = labels[i];
        const bool counts = keep_punctuation | type.alphanumeric;
        word[at] = tokens[i].word;
        lemma[at] = type.lemma.load(std::memory_order_acquire);
        if ((lemma[at] == WordType::kUndefined) & counts) throw std::logic_error("a word has no lemma yet");
        start[at] = tokens[i].start;
        end[at] = tokens[i].end;
        tag[at] = label.tag;
        universal[at] = label.universal;
        function[at] = label.function;
        at += counts;
    }
    count = at;
    out.offsets.push_back(static_cast<std::int64_t>(count));
}

}  // namespace tesla
