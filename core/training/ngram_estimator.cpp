#include "training/ngram_estimator.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/checks.h"

namespace tesla {
namespace {

constexpr std::uint64_t kProgressStep = 1 << 16;  // records; Python, which is told, may raise

// Reports every so many records.
class Ticker {
   public:
    explicit Ticker(const NgramEstimator::Progress& progress) : progress_(progress) {}
    void tick() {
        if (++done_ % kProgressStep == 0) progress_(kProgressStep);
    }
    void finish() { progress_(done_ % kProgressStep); }

   private:
    const NgramEstimator::Progress& progress_;
    std::uint64_t done_ = 0;
};

double discount(const NgramEstimator::Discounts& discounts, double count) {
    if (!(count >= 1)) return 0;  // a damaged file can hold any count; its checksum is read last
    return discounts[static_cast<std::size_t>(std::min(count, 3.0)) - 1];
}

NgramRecord reversed(const NgramRecord& record, unsigned n) {
    NgramRecord result = record;
    std::reverse(result.key.begin(), result.key.begin() + n);
    return result;
}

}  // namespace

NgramEstimator::NgramEstimator(unsigned order, std::uint32_t vocabulary, std::vector<std::uint64_t> thresholds,
                               std::string folder, std::size_t memory)
    : order_(order),
      vocabulary_(vocabulary),
      thresholds_(std::move(thresholds)),
      folder_(std::move(folder)),
      memory_(memory),
      adjusted_(order),
      kept_(order),
      count_of_counts_(order) {
    require(order >= 1 && order <= kLongestNgram, "the order must be 1 to 5");
    require(vocabulary > kSentenceEnd, "the vocabulary has no room for its special words");
    require(thresholds_.size() == order && std::is_sorted(thresholds_.begin(), thresholds_.end()),
            "there must be one threshold an order, and they must not descend");
    require(thresholds_[0] == 0, "single words are not left out: the first threshold is 0");
    counts_ = std::make_unique<NgramSorter>(path("counts", order), order, memory, true);
    for (unsigned n = 1; n <= order; ++n)
        backoffs_.push_back(std::make_unique<NgramSorter>(path("backoffs", n), n, memory / 4));
}

NgramEstimator::~NgramEstimator() = default;

std::string NgramEstimator::path(const char* what, unsigned n) const {
    return folder_ + "/" + what + "-" + std::to_string(n);
}

std::string NgramEstimator::result_path(unsigned n) const { return path("result", n); }

EstimatedNgrams NgramEstimator::read(unsigned n, std::uint64_t start, std::uint64_t count) const {
    EstimatedNgrams ngrams;
    RecordReader reader(result_path(n), start);
    NgramRecord record;
    for (std::uint64_t i = 0; i < count && reader.next(record); ++i) {
        ngrams.words.insert(ngrams.words.end(), record.key.begin(), record.key.begin() + n);
        ngrams.parents.push_back(record.tag);
        ngrams.probability.push_back(record.x);
        ngrams.backoff.push_back(record.y);
    }
    return ngrams;
}

void NgramEstimator::add_sentence(const std::uint32_t* words, std::size_t length) {
    require(counts_ != nullptr, "the counts were adjusted already");
    for (std::size_t i = 0; i <= length; ++i) {
        NgramRecord record;
        record.x = 1;
        for (std::size_t k = 0; k < order_; ++k)  // last word first; before the sentence there is nothing but starts
            record.key[k] = k > i ? kSentenceStart : i - k == length ? kSentenceEnd : words[i - k];
        for (std::size_t k = 0; k < order_; ++k)
            require(record.key[k] < vocabulary_, "a word number is beyond the vocabulary");
        counts_->add(record);
    }
}

void NgramEstimator::adjust_counts(const Progress& progress) {
    require(counts_ != nullptr && adjusted_writers_.empty(), "the counts were adjusted already");
    for (unsigned n = 1; n <= order_; ++n)
        adjusted_writers_.push_back(std::make_unique<RecordWriter>(path("adjusted", n)));
    Ticker ticker(progress);
    counts_->finish();
    std::vector<NgramRecord> open(order_);  // the n-gram of each order whose records are being read: x adjusted, y seen
    std::vector<bool> is_open(order_, false);
    NgramRecord record, previous;
    bool first = true;
    auto close = [&](unsigned n) {
        if (is_open[n - 1]) write_adjusted(n, open[n - 1]);
        is_open[n - 1] = false;
    };
    while (counts_->next(record)) {
        ticker.tick();
        unsigned common = 0;
        while (!first && common < order_ && record.key[common] == previous.key[common]) ++common;
        for (unsigned n = common + 1; n <= order_; ++n) close(n);
        for (unsigned n = 1; n <= order_; ++n) {
            NgramRecord& gram = open[n - 1];
            if (n > common) {
                gram = NgramRecord{};
                std::copy_n(record.key.begin(), n, gram.key.begin());
                is_open[n - 1] = true;
            }
            const bool begins_sentence = record.key[n - 1] == kSentenceStart;
            gram.y += record.x;
            if (n == order_ || begins_sentence)
                gram.x += record.x;
            else if (n + 1 > common)
                gram.x += 1;  // a word not yet seen before this n-gram
            if (begins_sentence) break;
        }
        previous = record;
        first = false;
    }
    for (unsigned n = 1; n <= order_; ++n) {
        close(n);
        adjusted_writers_[n - 1]->close();
        adjusted_[n - 1] = adjusted_writers_[n - 1]->count();
    }
    ticker.finish();
    counts_.reset();
}

void NgramEstimator::write_adjusted(unsigned n, NgramRecord record) {
    record.tag = record.y > static_cast<double>(thresholds_[n - 1]);  // is it part of the model?
    if (record.x >= 1 && record.x <= 4) ++count_of_counts_[n - 1][static_cast<std::size_t>(record.x) - 1];
    adjusted_writers_[n - 1]->write(record);
}

void NgramEstimator::estimate(unsigned n, const Discounts& discounts, const Progress& progress) {
    require(!counts_ && n == estimated_ + 1 && n <= order_, "the orders come one after the other, after the counts are adjusted");
    ++estimated_;
    if (n == 1) {
        estimate_unigrams(discounts);
        return;
    }
    NgramSorter weighted(path("weighted", n), n, memory_);
    weigh_contexts(n, discounts, weighted, progress);
    interpolate(n, weighted, progress);
}

void NgramEstimator::estimate_unigrams(const Discounts& discounts) {
    std::vector<double> counts(vocabulary_, 0.0);
    RecordReader reader(path("adjusted", 1));
    double total = 0, freed = 0;
    for (NgramRecord record; reader.next(record);) {
        require(record.key[0] < vocabulary_, "a word number is beyond the vocabulary");
        counts[record.key[0]] = record.x;
        total += record.x;
        freed += discount(discounts, record.x);
    }
    require(total > 0, "there is no text");
    const double uniform = freed / total / static_cast<double>(vocabulary_ - 1);  // nothing predicts a sentence's start
    RecordWriter writer(path("interpolated", 1));
    for (std::uint32_t word = 0; word < vocabulary_; ++word) {
        NgramRecord record;
        record.key[0] = word;
        const double count = counts[word];
        record.x = word == kSentenceStart ? 0 : (count - discount(discounts, count)) / total + uniform;
        writer.write(record);
    }
    writer.close();
    kept_[0] = vocabulary_;
}

// In order of contexts: the discounted share of every n-gram, and what its context leaves to the lower order.
void NgramEstimator::weigh_contexts(unsigned n, const Discounts& discounts, NgramSorter& weighted,
                                    const Progress& progress) {
    Ticker ticker(progress);
    NgramSorter by_context(path("contexts", n), n, memory_ / 2);
    {
        RecordReader reader(path("adjusted", n));
        for (NgramRecord record; reader.next(record);) by_context.add(reversed(record, n));
    }
    remove_file(path("adjusted", n));
    by_context.finish();
    std::vector<NgramRecord> group;
    auto close = [&] {
        double total = 0, freed = 0;
        bool any = false;
        for (const NgramRecord& record : group) {
            total += record.x;
            freed += record.tag ? discount(discounts, record.x) : record.x;
            any = any || record.tag;
        }
        if (any) {
            for (const NgramRecord& record : group) {
                if (!record.tag) continue;
                NgramRecord share = reversed(record, n);
                share.x = (record.x - discount(discounts, record.x)) / total;
                share.y = freed / total;
                weighted.add(share);
            }
            NgramRecord backoff = reversed(group.front(), n - 1);
            backoff.x = freed / total;
            backoffs_[n - 2]->add(backoff);
        }
        group.clear();
    };
    for (NgramRecord record; by_context.next(record);) {
        ticker.tick();
        if (!group.empty() && !same_key(group.front(), record, n - 1)) close();
        group.push_back(record);
    }
    if (!group.empty()) close();
    ticker.finish();
}

// In order of the last words: p(w | h) = share + weight left * p(w | h without its first word).
void NgramEstimator::interpolate(unsigned n, NgramSorter& weighted, const Progress& progress) {
    Ticker ticker(progress);
    weighted.finish();
    RecordReader lower_reader(path("interpolated", n - 1));
    RecordWriter writer(path("interpolated", n));
    NgramRecord lower;
    std::uint32_t line = 0;
    bool more = lower_reader.next(lower);
    for (NgramRecord record; weighted.next(record);) {
        ticker.tick();
        while (more && !same_key(lower, record, n - 1)) {
            more = lower_reader.next(lower);
            ++line;
        }
        if (!more) throw std::logic_error("an n-gram lacks its shorter one");
        record.x += record.y * lower.x;
        record.y = 1;
        record.tag = line;
        writer.write(record);
    }
    writer.close();
    kept_[n - 1] = writer.count();
    ticker.finish();
}

void NgramEstimator::join_backoffs(const Progress& progress) {
    require(estimated_ == order_ && !joined_, "the backoff weights come once, after the last order");
    joined_ = true;
    Ticker ticker(progress);
    for (unsigned n = 1; n <= order_; ++n) {
        NgramSorter& backoffs = *backoffs_[n - 1];
        backoffs.finish();
        RecordReader reader(path("interpolated", n));
        RecordWriter writer(result_path(n));
        NgramRecord backoff;
        bool more = backoffs.next(backoff);
        for (NgramRecord record; reader.next(record);) {
            ticker.tick();
            const bool is_context = more && same_key(backoff, record, n);
            record.y = is_context ? backoff.x : 1;
            if (is_context) more = backoffs.next(backoff);
            writer.write(record);
        }
        writer.close();
        if (more) throw std::logic_error("a context is no n-gram of the model");
        remove_file(path("interpolated", n));
    }
    ticker.finish();
}

}  // namespace tesla
